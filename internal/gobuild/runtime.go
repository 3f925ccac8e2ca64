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
	if err := c.store(dir, runtimeFiles(rt, c.virtualDir())); err != nil {
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

// virtualDir is the directory in which Go finds the source of the runtime, through an overlay. There is no such directory:
// Go's build cache knows a package by its directory and its content, so that it knows those of the runtime again in
// whatever cache and version of aeonc they are, and compiles only those that differ.
func (c *Cache) virtualDir() string {
	return filepath.Join(filepath.VolumeName(c.dir)+string(filepath.Separator), programModule, "runtime")
}

// overlay adds to replace where the source of the runtime really is.
func (c *Cache) overlay(rt aeon.Runtime, replace map[string]string) {
	virtual, real := c.virtualDir(), filepath.Join(c.runtimeDir(rt), "aeon")
	replace[filepath.Join(virtual, "go.mod")] = filepath.Join(real, "go.mod")
	for _, f := range rt.Files {
		name := filepath.FromSlash(f.Path)
		replace[filepath.Join(virtual, name)] = filepath.Join(real, name)
	}
}

// runtimeFiles lists the two modules of a runtime entry: the runtime's own, and
// the one that programs are compiled in, which replaces the first by what is in the directory virtual.
func runtimeFiles(rt aeon.Runtime, virtual string) []File {
	files := []File{
		{"aeon/go.mod", fmt.Appendf(nil, "module %s\n\ngo %s\n", aeon.ModulePath, rt.GoVersion)},
		{"program/go.mod", programMod(goLine(rt), virtual)},
		{"program/" + storeMod, programMod(rt.Requirements, virtual)},
		{"program/" + storeSum, rt.Sums},
	}
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
