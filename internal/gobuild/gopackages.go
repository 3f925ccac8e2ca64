package gobuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/typecheck"
)

// GoPackages reads the Go packages whose functions `extern go` blocks bind: those of the standard library, and those that Go
// finds in the module of the sources. It is used by one goroutine.
type GoPackages struct {
	standard map[string]goPackage            // by path
	ofModule map[string]map[string]goPackage // by directory and path
	fset     *token.FileSet
}

// goPackage is what is known of a path: a package, or why there is none.
type goPackage struct {
	pkg *typecheck.GoPackage
	err error
}

// NewLoader returns a loader that finds Go packages.
func NewLoader() *load.Loader {
	g := &GoPackages{standard: map[string]goPackage{}, ofModule: map[string]map[string]goPackage{}, fset: token.NewFileSet()}
	l := load.NewLoader()
	l.Go = g.Import
	return l
}

// Import returns a function that returns the packages that Go code in dir means by these import paths. Its error says why there is
// none, as a part of a sentence.
func (g *GoPackages) Import(dir string, paths []string) func(path string) (*typecheck.GoPackage, error) {
	if g.ofModule[dir] == nil {
		g.ofModule[dir] = map[string]goPackage{}
	}
	theirs := g.ofModule[dir]
	if slices.Contains(paths, typecheck.GoBodyPath) {
		if _, known := theirs[typecheck.GoBodyPath]; !known {
			theirs[typecheck.GoBodyPath] = g.beside(dir)
		}
	}
	unknown := func() []string {
		return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
			_, known := g.standard[path]
			_, found := theirs[path]
			return known || found
		})
	}
	var err error
	if list := slices.DeleteFunc(unknown(), isOfModule); len(list) > 0 {
		err = g.findStandard(list)
	}
	if list := unknown(); err == nil && len(list) > 0 {
		g.findInModule(dir, list)
	}
	return func(path string) (*typecheck.GoPackage, error) {
		if p, ok := g.standard[path]; ok {
			return p.pkg, p.err
		}
		if err != nil {
			return nil, err
		}
		return theirs[path].pkg, theirs[path].err
	}
}

// isOfModule reports whether a path is none of the standard library, whose first element has no dot: Go need not be asked.
func isOfModule(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}

// beside returns the Go package with the bodies `= go` of the sources in dir. Its errors go on a sentence that says so.
func (g *GoPackages) beside(dir string) goPackage {
	fail := func(format string, args ...any) goPackage { return goPackage{err: fmt.Errorf(format, args...)} }
	if info, err := os.Stat(filepath.Join(dir, "go")); err != nil || !info.IsDir() {
		return fail("there is no directory go in %s", load.Relative(dir))
	}
	golang, err := findGo(aeon.RuntimeSource().GoVersion)
	if err != nil {
		return goPackage{err: err}
	}
	where := load.Relative(filepath.Join(dir, "go"))
	if mod, err := golang.asUser(dir, "env", "GOMOD").Output(); err != nil {
		return goPackage{err: err}
	} else if file := strings.TrimSpace(string(mod)); file == "" || file == os.DevNull {
		return fail("%s lies in no Go module: `go mod init` makes one", where)
	}
	found, err := list(golang.asUser(dir), []string{typecheck.GoBodyPath})
	if err != nil {
		return goPackage{err: err}
	}
	for path, p := range found {
		switch {
		case p.name == "main":
			return fail("the Go package in %s is a program, which cannot be imported", where)
		case p.failure != "" || p.archive == "":
			if e := p.why(dir, path); e != nil {
				return goPackage{err: e}
			}
			return fail("Go finds no package in %s, or does not compile it: `go vet` there says why", where)
		}
		return g.read(path, p)
	}
	return fail("Go finds no package in %s", where)
}

// findStandard finds packages of the standard library, which are the same everywhere.
func (g *GoPackages) findStandard(paths []string) error {
	rt := aeon.RuntimeSource()
	golang, err := findGo(rt.GoVersion)
	if err != nil {
		return err
	}
	cache, err := DefaultCache()
	if err != nil {
		return err
	}
	module, err := cache.install(rt)
	if err != nil {
		return err
	}
	found, err := list(in(golang.command(context.Background(), cache), module), paths)
	for path, p := range found {
		switch {
		case !p.standard || p.failure != "":
		case p.name == "main", strings.HasPrefix(path, "vendor/"), strings.Contains("/"+path+"/", "/internal/"):
			g.standard[path] = goPackage{err: errors.New("only Go's own code can import it")}
		default:
			g.standard[path] = g.read(path, p)
		}
	}
	return err
}

// findInModule finds packages in the module that dir lies in, by the environment of the user.
func (g *GoPackages) findInModule(dir string, paths []string) {
	golang, err := findGo(aeon.RuntimeSource().GoVersion)
	found := map[string]listed{}
	if err == nil {
		found, err = list(golang.asUser(dir), paths)
	}
	for _, path := range paths {
		switch p, ok := found[path]; {
		case err != nil:
			g.ofModule[dir][path] = goPackage{err: fmt.Errorf("it is not of Go's standard library, and %w", err)}
		case ok && p.name == "main":
			g.ofModule[dir][path] = goPackage{err: errors.New("it is a program, which cannot be imported")}
		case !ok || p.failure != "" || p.archive == "":
			if e := p.why(dir, path); e != nil {
				g.ofModule[dir][path] = goPackage{err: e}
			} else {
				g.ofModule[dir][path] = goPackage{err: fmt.Errorf("it is not of Go's standard library, and in %s Go does not find it", load.Relative(dir))}
			}
		default:
			g.ofModule[dir][path] = g.read(path, p)
		}
	}
}

// read reads the types of a package from what Go's compiler has exported.
func (g *GoPackages) read(path string, p listed) goPackage {
	// An archive has the types of other packages that its own functions mention.
	pkg, err := importer.ForCompiler(g.fset, "gc", func(string) (io.ReadCloser, error) { return os.Open(p.archive) }).Import(path)
	if err != nil {
		return goPackage{err: err}
	}
	return goPackage{pkg: &typecheck.GoPackage{Types: pkg, Standard: p.standard}}
}

// listed is what go list says of a package.
type listed struct {
	standard                       bool
	name, archive, failure, failAt string // failAt is file:line:column, if failure does not say where it is
}

// list runs go list by a command that has no arguments yet.
func list(cmd *exec.Cmd, paths []string) (map[string]listed, error) {
	const format = `{{.ImportPath}}{{"\t"}}{{.Standard}}{{"\t"}}{{.Name}}{{"\t"}}{{.Export}}{{"\t"}}` +
		`{{with .Error}}{{printf "%q\t%q" .Err .Pos}}{{else}}{{if not .Export}}{{with .DepsErrors}}{{with index . 0}}{{printf "%q\t%q" .Err .Pos}}{{end}}{{end}}{{end}}{{end}}`
	cmd.Args = append(append(cmd.Args, "list", "-e", "-export", "-f", format, "--"), paths...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		text, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return nil, fmt.Errorf("go list failed: %s", text)
	}
	found := map[string]listed{}
	for line := range strings.Lines(string(out)) {
		if parts := strings.Split(strings.TrimRight(line, "\n"), "\t"); len(parts) >= 5 {
			l := listed{standard: parts[1] == "true", name: parts[2], archive: parts[3]}
			if len(parts) == 6 {
				l.failure, _ = strconv.Unquote(parts[4])
				l.failAt, _ = strconv.Unquote(parts[5])
			}
			found[parts[0]] = l
		}
	}
	return found, nil
}
