package codegen_test

import (
	"flag"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/lang"
	aeon "github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// goChecker type-checks generated packages in process, which takes milliseconds where a build takes seconds.
type goChecker struct {
	mu  sync.Mutex
	imp types.Importer
}

// sharedChecker knows the runtime from the archives of the Go command.
var sharedChecker = sync.OnceValue(func() *goChecker {
	return &goChecker{imp: compiled("github.com/aeon-lang/aeon/runtime")}
})

// compiled imports packages, and all that they import, from the archives of the Go command.
func compiled(pkgs ...string) types.Importer {
	out, err := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, pkgs...)...).Output()
	if err != nil {
		panic(err)
	}
	archives := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, archive, _ := strings.Cut(strings.TrimSpace(line), "\t")
		archives[path] = archive
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(archives[path]) })
}

// check returns what is wrong with the files as a Go package, or "". Mapped ones have //line directives.
func (c *goChecker) check(files []codegen.File, mapped bool) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, f := range files {
		g, err := parser.ParseFile(fset, f.Name, f.Content, parser.ParseComments)
		if err != nil {
			return err.Error()
		}
		if bad := foreign(g); bad != "" && !mapped {
			return bad
		}
		parsed = append(parsed, g)
	}
	conf := types.Config{Importer: c.imp}
	if _, err := conf.Check("generated", fset, parsed, nil); err != nil {
		return err.Error()
	}
	return ""
}

// foreign reports imports and directives that no program can ask for.
func foreign(f *ast.File) string {
	for _, i := range f.Imports {
		switch i.Path.Value {
		case `"time"`, `"github.com/aeon-lang/aeon/runtime"`, `"github.com/aeon-lang/aeon/runtime/value"`:
		default:
			return "import of " + i.Path.Value
		}
	}
	for _, g := range f.Comments {
		for _, c := range g.List {
			for _, directive := range []string{"//go:", "//line ", "/*line ", "//export ", "//extern ", "//sys"} {
				if strings.HasPrefix(c.Text, directive) {
					return "directive " + c.Text
				}
			}
		}
	}
	return ""
}

// FuzzGenerate: whatever the checker accepts becomes Go that compiles, imports nothing else and contains no
// directives.
func FuzzGenerate(f *testing.F) {
	for _, folder := range []string{"run", "golden"} {
		for _, file := range archives(f, folder) {
			for _, x := range readArchive(f, file).Files {
				if strings.HasSuffix(x.Name, ".aeon") {
					f.Add(withPackage(string(x.Data)))
				}
			}
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "testdata", "lang", "steakhouse.aeon"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 20_000 {
			return
		}
		file, diags := lang.Parse("fuzz.aeon", []byte(text))
		if failed(diags) {
			return
		}
		info, diags := typecheck.Check([]*aeon.File{file}, typecheck.Options{})
		if failed(diags) {
			return
		}
		files, err := codegen.Generate(info, codegen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if fuzzing() { // go/types under coverage is too slow; Generate has parsed its output
			return
		}
		if bad := sharedChecker().check(files, false); bad != "" {
			t.Fatal(bad)
		}
	})
}

// fuzzing reports whether inputs are being searched for, not just the known ones run.
func fuzzing() bool {
	return flag.Lookup("test.fuzz").Value.String() != "" || flag.Lookup("test.fuzzworker").Value.String() == "true"
}
