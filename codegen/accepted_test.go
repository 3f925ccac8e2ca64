package codegen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/typecheck"
)

// TestWhatIsAcceptedCompiles generates Go from every golden program that the checker accepts, and has Go check it:
// the generator knows all of the language that the checker knows.
func TestWhatIsAcceptedCompiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "typecheck", "*", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata/typecheck holds no goldens (%v)", err)
	}
	accepted := 0
	for _, name := range files {
		t.Run(filepath.Base(filepath.Dir(name))+"/"+filepath.Base(name), func(t *testing.T) {
			if compilesIfAccepted(t, readArchive(t, name)) {
				accepted++
			}
		})
	}
	if accepted < 20 {
		t.Errorf("only %d programs were accepted", accepted)
	}
}

// compilesIfAccepted reports whether the checker accepts the program in an archive.
func compilesIfAccepted(t *testing.T, a *txtar.Archive) bool {
	var sources []*ast.File
	for _, f := range a.Files {
		if !strings.HasSuffix(f.Name, ".aeon") {
			continue
		}
		file, diags := lang.Parse(f.Name, f.Data)
		if failed(diags) {
			return false
		}
		sources = append(sources, file)
	}
	var opts codegen.Options
	info, diags := typecheck.Check(sources, typecheck.Options{Import: func(string) (*typecheck.Package, error) {
		text, err := os.ReadFile(filepath.Join("..", "testdata", "typecheck", "shapes.aeon"))
		if err != nil {
			return nil, err
		}
		shapes := check(t, "shapes.aeon", string(text))
		opts.Imports = append(opts.Imports, codegen.Import{Info: shapes, Path: "generated/shapes"})
		return shapes.Package, nil
	}})
	if failed(diags) {
		return false
	}
	for _, d := range diags {
		if d.Code == diag.LaterVersion {
			t.Errorf("only a warning: %v", d)
		}
	}
	files, err := codegen.Generate(info, opts)
	if err != nil {
		t.Fatal(err)
	}
	if len(opts.Imports) == 0 { // TestPrograms compiles programs of several packages
		if bad := sharedChecker().check(files, false); bad != "" {
			t.Error(bad)
		}
	}
	return true
}
