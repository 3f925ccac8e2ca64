package plants

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlantsFit checks that each bug can still be planted, and that its package type-checks with it if it is in Go: most of them together.
func TestPlantsFit(t *testing.T) {
	all, err := newSchema(plants)
	if err != nil {
		t.Fatal(err)
	}
	c := newChecker(t)
	if err := c.check(all.texts); err != nil {
		t.Error(err)
	}
	names := map[string]bool{}
	for _, p := range plants {
		if names[p.name] {
			t.Errorf("there are two bugs of the name %s", p.name)
		}
		names[p.name] = true
		if _, ok := all.numbers[p.name]; ok {
			continue
		}
		texts, err := p.files()
		if err == nil {
			err = c.check(texts)
		}
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}

// checker type-checks packages with bugs. What they import comes from the archives of the Go command.
type checker struct {
	packages map[string]*listed // by their folders, "runtime/exec"
	fset     *token.FileSet
	files    map[string]*ast.File // without bugs
	config   types.Config
}

// listed is what go list says of a package.
type listed struct {
	Dir, ImportPath, Export string
	GoFiles                 []string
}

func newChecker(t *testing.T) *checker {
	t.Helper()
	c := &checker{packages: map[string]*listed{}, fset: token.NewFileSet(), files: map[string]*ast.File{}}
	args := []string{"list", "-export", "-deps", "-json=Dir,ImportPath,Export,GoFiles"}
	for _, p := range plants {
		for _, e := range p.edits {
			if path.Ext(e.file) == ".go" {
				args = append(args, "./"+path.Dir(e.file))
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	archives := map[string]string{}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		l := &listed{}
		if err := d.Decode(l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		archives[l.ImportPath] = l.Export
		if dir, err := filepath.Rel(top, l.Dir); err == nil {
			c.packages[filepath.ToSlash(dir)] = l
		}
	}
	c.config.Importer = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(archives[path]) })
	return c
}

// check type-checks the packages of files with these texts.
func (c *checker) check(texts map[string]string) (err error) {
	bad, dirs := map[string]*ast.File{}, map[string]bool{}
	for name, text := range texts {
		if path.Ext(name) != ".go" {
			continue // a test embeds it
		}
		if bad[name], err = parser.ParseFile(c.fset, name, text, parser.SkipObjectResolution); err != nil {
			return err
		}
		dirs[path.Dir(name)] = true
	}
	for dir := range dirs {
		l := c.packages[dir]
		var files []*ast.File
		for _, name := range l.GoFiles {
			f, err := bad[path.Join(dir, name)], error(nil)
			if f == nil {
				f, err = c.file(filepath.Join(l.Dir, name))
			}
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		if _, err := c.config.Check(l.ImportPath, c.fset, files, nil); err != nil {
			return err
		}
	}
	return nil
}

// file returns a file of a package, which is read once.
func (c *checker) file(name string) (f *ast.File, err error) {
	if c.files[name] == nil {
		c.files[name], err = parser.ParseFile(c.fset, name, nil, parser.SkipObjectResolution)
	}
	return c.files[name], err
}
