package codegen_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/typecheck"
)

var update = flag.Bool("update", false, "rewrite the expected results in testdata")

// check parses and checks one file; errors in it fail the test and give nil.
func check(t testing.TB, name, text string) *typecheck.Info {
	t.Helper()
	file, diags := lang.Parse(name, []byte(text))
	if len(diags) == 0 {
		var info *typecheck.Info
		info, diags = typecheck.Check([]*ast.File{file}, typecheck.Options{})
		if !failed(diags) {
			return info
		}
	}
	for _, d := range diags {
		t.Error(d)
	}
	return nil
}

func failed(diags []diag.Diagnostic) bool {
	for _, d := range diags {
		if d.Severity == diag.Error {
			return true
		}
	}
	return false
}

// generate returns the Go files of a program. With mapped, positions are reported as in /aeon/NAME.
func generate(t testing.TB, name, text string, mapped bool) []codegen.File {
	t.Helper()
	opts := codegen.Options{}
	if mapped {
		opts.SourceName = func(src *ast.Source) string { return "/aeon/" + src.Name }
	}
	info := check(t, name, text)
	if info == nil {
		return nil
	}
	files, err := codegen.Generate(info, opts)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return files
}

// loadProgram loads one file as a program, with what it imports; errors in them fail the test.
func loadProgram(t testing.TB, file string) *load.Package {
	t.Helper()
	p, err := load.NewLoader().Load(load.Unit{Dir: filepath.Dir(file), Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range p.Closure() {
		for _, d := range q.Diagnostics {
			if d.Severity == diag.Error {
				t.Fatal(d)
			}
		}
	}
	return p
}

// repository returns the folder of go.mod.
func repository(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}

// archives returns the txtar files of a folder below testdata/codegen; there must be some.
func archives(t testing.TB, folder string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("..", "testdata", "codegen", folder, "*.txtar"))
	if err != nil || len(list) == 0 {
		t.Fatalf("testdata/codegen/%s holds no archives (%v)", folder, err)
	}
	return list
}

func readArchive(t testing.TB, name string) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// module is a Go module of generated packages: a link takes long, so all programs of a test go into
// one executable.
type module struct {
	dir       string
	pkgs      []string
	optimised bool // what is run is to be measured
}

// newModule makes a module that imports the runtime of this repository.
func newModule(t testing.TB) *module {
	m := &module{dir: t.TempDir()}
	m.write(t, "go.mod", "module generated\n\ngo 1.26\n\nrequire github.com/aeon-lang/aeon v0.0.0\n\nreplace github.com/aeon-lang/aeon => "+repository(t)+"\n")
	return m
}

func (m *module) write(t testing.TB, name, text string) {
	t.Helper()
	file := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// add puts files into the package generated/name.
func (m *module) add(t testing.TB, name string, files []codegen.File) {
	t.Helper()
	for _, f := range files {
		m.write(t, filepath.Join(name, f.Name), string(f.Content))
	}
	m.pkgs = append(m.pkgs, "generated/"+name)
}

// addProgram adds a program and what it imports as name, name/1, name/2, …; positions are reported as in /aeon if
// mapped is set.
func (m *module) addProgram(t testing.TB, name string, p *load.Package, mapped bool) {
	t.Helper()
	var opts codegen.Options
	if mapped {
		opts.SourceName = func(src *ast.Source) string { return "/aeon/" + filepath.Base(src.Name) }
	}
	all := p.Closure()
	for i, q := range all {
		opts.Entry = mapped && q == p
		files, err := codegen.Generate(q.Info, opts)
		if err != nil {
			t.Fatalf("%s: %v", q.Dir, err)
		}
		dir := name
		if q != p {
			dir = fmt.Sprintf("%s/%d", name, i+1)
		}
		opts.Imports = append(opts.Imports, codegen.Import{Info: q.Info, Path: "generated/" + dir})
		m.add(t, dir, files)
	}
}

// run runs a go command in the module and returns its output.
func (m *module) run(t testing.TB, args ...string) string {
	t.Helper()
	if !m.optimised && (args[0] == "run" || args[0] == "build") { // in little time, rather than to run fast
		args = slices.Insert(args, 1, "-gcflags=generated/...=-N -l -dwarf=false", "-ldflags=-s -w")
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOGC=400")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
