package build

import (
	"fmt"
	"path/filepath"

	"github.com/aeon-lang/aeon"
)

// programModule is the path of the module that programs are compiled in. The
// name is reserved, so no real module can have it.
const programModule = "aeon.invalid"

// install makes sure that the cache holds the runtime's source, intact, and
// returns the directory of the module to compile programs in.
func (c *Cache) install(rt aeon.Runtime) (moduleDir string, err error) {
	dir := c.runtimeDir(rt)
	if err := c.store(dir, runtimeFiles(rt)); err != nil {
		return "", err
	}
	return filepath.Join(dir, "program"), nil
}

func (c *Cache) runtimeDir(rt aeon.Runtime) string {
	return filepath.Join(c.dir, "runtime", rt.Hash[:32])
}

// runtimeFiles lists the two modules of a runtime entry: the runtime's own, and
// the one that programs are compiled in, which replaces the first by its copy.
func runtimeFiles(rt aeon.Runtime) []File {
	files := []File{
		{"aeon/go.mod", fmt.Appendf(nil, "module %s\n\ngo %s\n", aeon.ModulePath, rt.GoVersion)},
	}
	mod := programMod(rt, "../aeon")
	files = append(files, File{"program/" + mod.Name, mod.Data})
	for _, f := range rt.Files {
		files = append(files, File{"aeon/" + f.Path, f.Data})
	}
	return files
}

// programMod returns the go.mod of a module to compile programs in, which finds the runtime's module in the directory copied.
func programMod(rt aeon.Runtime, copied string) File {
	return File{"go.mod", fmt.Appendf(nil, "module %s\n\ngo %s\n\nrequire %[3]s v0.0.0\n\nreplace %[3]s => %[4]q\n",
		programModule, rt.GoVersion, aeon.ModulePath, copied)}
}
