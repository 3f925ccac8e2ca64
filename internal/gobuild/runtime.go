package gobuild

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

// storeMod and storeSum take the places of go.mod and go.sum where a program is compiled with the store.
const (
	storeMod = "store.mod"
	storeSum = "store.sum"
)

// runtimeFiles lists the two modules of a runtime entry: the runtime's own, and
// the one that programs are compiled in, which replaces the first by its copy.
func runtimeFiles(rt aeon.Runtime) []File {
	files := []File{
		{"aeon/go.mod", fmt.Appendf(nil, "module %s\n\ngo %s\n", aeon.ModulePath, rt.GoVersion)},
	}
	files = append(files,
		File{"program/go.mod", programMod(goLine(rt), "../aeon")},
		File{"program/" + storeMod, programMod(rt.Requirements, "../aeon")},
		File{"program/" + storeSum, rt.Sums})
	for _, f := range rt.Files {
		files = append(files, File{"aeon/" + f.Path, f.Data})
	}
	return files
}

// goLine is all that a program without the store requires.
func goLine(rt aeon.Runtime) []byte { return fmt.Appendf(nil, "go %s\n", rt.GoVersion) }

// programMod returns the go.mod of a module to compile programs in, with these lines of requirements, which finds
// the runtime's module in the directory copied.
func programMod(requirements []byte, copied string) []byte {
	return fmt.Appendf(nil, "module %s\n\n%s\nrequire %[3]s v0.0.0\n\nreplace %[3]s => %[4]q\n",
		programModule, requirements, aeon.ModulePath, copied)
}
