package gobuild

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon"
)

// A program's store is made of the very modules that this repository tests it with.
func TestTheStoreOfAProgramHasTheModulesOfThisRepository(t *testing.T) {
	c := NewCache(filepath.Join(t.TempDir(), "cache"))
	module, err := c.install(aeon.RuntimeSource())
	if err != nil {
		t.Fatal(err)
	}
	golang, err := findGo(aeon.RuntimeSource().GoVersion)
	if err != nil {
		t.Fatal(err)
	}
	main := []File{{"m/main.go", []byte("package main\n\nimport _ \"" + aeon.GRPCPackage + "\"\n\nfunc main() {}\n")}} // it has the other one
	if err := writeTree(module, main); err != nil {
		t.Fatal(err)
	}
	const format = `{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}{{end}}{{end}}`
	writeOverlay(t, c, module)
	program := golang.command(t.Context(), c, "list", "-deps", "-overlay", "overlay.json", "-modfile="+filepath.Join(module, storeMod), "-f", format, "./m")
	program.Dir = module
	repository := exec.Command("go", "list", "-deps", "-f", format, aeon.GRPCPackage)
	repository.Env = append(program.Env, "CGO_ENABLED=0")
	got, want := modules(t, program), modules(t, repository)
	if got = slices.DeleteFunc(got, func(m string) bool { return strings.HasPrefix(m, aeon.ModulePath+" ") }); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("a program gets\n%s\nthe repository has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// writeOverlay writes the overlay that shows Go the runtime's source to module.
func writeOverlay(t *testing.T, c *Cache, module string) {
	t.Helper()
	replace := map[string]string{}
	c.overlay(aeon.RuntimeSource(), replace)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := writeTree(module, []File{{"overlay.json", overlay}}); err != nil {
		t.Fatal(err)
	}
}

// What Go has compiled of the runtime for one cache of aeonc it finds for another.
func TestAnotherCacheFindsTheRuntimeCompiled(t *testing.T) {
	golang, err := findGo(aeon.RuntimeSource().GoVersion)
	if err != nil {
		t.Fatal(err)
	}
	archive := func() string {
		c := NewCache(filepath.Join(t.TempDir(), "cache"))
		module, err := c.install(aeon.RuntimeSource())
		if err != nil {
			t.Fatal(err)
		}
		writeOverlay(t, c, module)
		list := golang.command(t.Context(), c, "list", "-export", "-overlay", "overlay.json", "-f", "{{.Export}}", aeon.ModulePath+"/runtime")
		list.Dir = module
		return strings.Join(modules(t, list), " ")
	}
	if one, two := archive(), archive(); one != two || one == "" {
		t.Errorf("one cache has it as %s, the other as %s", one, two)
	}
}

// Installing aeonc, with or without a C compiler, puts all modules of the store into Go's module cache.
func TestInstallingAeoncFetchesTheModulesOfTheStore(t *testing.T) {
	list := func(pkg string, env ...string) []string {
		cmd := exec.Command("go", "list", "-deps", "-f", `{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}{{end}}{{end}}`, pkg)
		cmd.Env = append(cmd.Environ(), env...)
		return modules(t, cmd)
	}
	installed := map[string][]string{}
	for _, cgo := range []string{"CGO_ENABLED=0", "CGO_ENABLED=1"} {
		installed[cgo] = list(aeon.ModulePath+"/cmd/aeonc", cgo)
	}
	for _, env := range []string{"GOOS=linux", "GOOS=darwin", "GOOS=windows"} {
		for _, m := range list(aeon.StorePackage, env, "CGO_ENABLED=0") {
			for cgo, has := range installed {
				if !slices.Contains(has, m) {
					t.Errorf("%s: %s is not among those of aeonc with %s", env, m, cgo)
				}
			}
		}
	}
}

func modules(t *testing.T, cmd *exec.Cmd) []string {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	list := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(list)
	return slices.Compact(list)
}
