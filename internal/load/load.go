package load

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/typecheck"
)

// readMax bounds what is read of one file. The parser refuses far smaller ones;
// this keeps a file that is huge by mistake out of memory.
const readMax = 64 << 20

// Package is a loaded package.
type Package struct {
	Dir   string // absolute, without symbolic links: the identity of the package
	Path  string // the import path under which it was first reached; "" for what a command names
	Files []*ast.File
	Info  *typecheck.Info
	// Diagnostics of this package alone, sorted.
	Diagnostics []diag.Diagnostic
	// Imports are the packages it imports, in the order of the first mention.
	Imports []*Package
}

// Name returns the name that the package clauses give, or that of the directory
// where they are missing.
func (p *Package) Name() string {
	for _, f := range p.Files {
		if f.Package != nil {
			return f.Package.Name.Text
		}
	}
	return filepath.Base(p.Dir)
}

// HasErrors reports whether the package, or one that it imports, is wrong.
func (p *Package) HasErrors() bool {
	if diag.HasErrors(p.Diagnostics) {
		return true
	}
	for _, i := range p.Imports {
		if i.HasErrors() {
			return true
		}
	}
	return false
}

// Closure returns the package and all it imports, every one after what it
// imports itself.
func (p *Package) Closure() []*Package {
	var out []*Package
	seen := map[*Package]bool{}
	var visit func(*Package)
	visit = func(p *Package) { // as deep as imports nest, which maxImportDepth bounds
		if seen[p] {
			return
		}
		seen[p] = true
		for _, i := range p.Imports {
			visit(i)
		}
		out = append(out, p)
	}
	visit(p)
	return out
}

// Loader loads packages, each once. It is used by one goroutine.
type Loader struct {
	// Go returns what finds the Go packages that code in a directory means by import paths; see typecheck.Options. It is set before
	// use, or nil.
	Go func(dir string, paths []string) func(path string) (*typecheck.GoPackage, error)

	loaded  map[string]*Package // by Dir; nil while it is being loaded
	loading []string            // directories, from the first to the innermost import
	order   []*Package
}

// maxImportDepth bounds how deep imports may nest.
const maxImportDepth = 200

// NewLoader returns an empty loader.
func NewLoader() *Loader { return &Loader{loaded: map[string]*Package{}} }

// Packages returns everything loaded so far, imports before importers.
func (l *Loader) Packages() []*Package { return l.order }

// Load reads, parses and checks a unit and what it imports. What is wrong with
// the program is in the diagnostics of the packages; the error says that a file
// could not be read.
func (l *Loader) Load(u Unit) (*Package, error) {
	dir, err := canonical(u.Dir)
	if err != nil {
		return nil, err
	}
	p := l.loaded[dir]
	if p == nil {
		return l.load(dir, "", u.Files)
	}
	if !p.is(u.Files) {
		return nil, &NotFoundError{u.Dir, fmt.Sprintf("only some files of %s are named, but another package imports the whole of it; name the directory instead", u.Dir)}
	}
	return p, nil
}

// is reports whether p was made of these files and no others.
func (p *Package) is(names []string) bool {
	return slices.EqualFunc(p.Files, names, func(f *ast.File, name string) bool {
		return filepath.Base(f.Src.Name) == filepath.Base(name)
	})
}

func (l *Loader) load(dir, path string, names []string) (*Package, error) {
	p := &Package{Dir: dir, Path: path}
	l.loaded[dir] = nil
	l.loading = append(l.loading, dir)
	defer func() { l.loading = l.loading[:len(l.loading)-1] }()
	for _, name := range names {
		src, err := ReadSource(name)
		if err != nil {
			return nil, err
		}
		file, diags := lang.Parse(name, src)
		p.Files = append(p.Files, file)
		p.Diagnostics = append(p.Diagnostics, diags...)
	}
	var failed error // reading an imported file
	var goPackages func(string) (*typecheck.GoPackage, error)
	if paths := typecheck.GoPaths(p.Files); l.Go != nil && len(paths) > 0 {
		goPackages = l.Go(dir, paths)
	}
	info, diags := typecheck.Check(p.Files, typecheck.Options{Path: path, Go: goPackages, Import: func(path string) (*typecheck.Package, error) {
		imported, err := l.imported(dir, path)
		if err != nil {
			var unreadable readError
			if errors.As(err, &unreadable) {
				failed = err
			}
			return nil, err
		}
		if one, other := p.namesakes(imported); one != nil {
			return nil, fmt.Errorf("two packages of the program are named %s, in %s and %s; actors are known by the names of their package and class, so rename one", one.Name(), Relative(one.Dir), Relative(other.Dir))
		}
		p.addImport(imported)
		if imported.HasErrors() {
			return nil, fmt.Errorf("%s has errors of its own", path)
		}
		return imported.Info.Package, nil
	}})
	if failed != nil {
		return nil, failed
	}
	p.Info = info
	p.Diagnostics = diag.Sort(append(p.Diagnostics, diag.Outside(diags, p.Diagnostics)...))
	l.loaded[dir] = p
	l.order = append(l.order, p)
	return p, nil
}

// namesakes returns a package that p has already, which may be p itself, and another one of the same name that
// comes with the import of i; nil if there are none.
func (p *Package) namesakes(i *Package) (one, other *Package) {
	have := map[string]*Package{}
	for _, q := range p.Closure() {
		have[q.Name()] = q
	}
	for _, q := range i.Closure() {
		if same := have[q.Name()]; same != nil && same != q {
			return same, q
		}
	}
	return nil, nil
}

func (p *Package) addImport(i *Package) {
	for _, have := range p.Imports {
		if have == i {
			return
		}
	}
	p.Imports = append(p.Imports, i)
}

// imported loads the package that an import path means in dir.
func (l *Loader) imported(dir, path string) (*Package, error) {
	target, err := resolve(dir, path)
	if err != nil {
		return nil, err
	}
	named := target
	if target, err = canonical(named); err != nil {
		return nil, fmt.Errorf("there is no directory %s", Relative(named))
	}
	p, known := l.loaded[target]
	switch {
	case known && p == nil:
		return nil, l.cycle(target)
	case known && p.Path != "": // imported before, and so whole
		return p, nil
	}
	if len(l.loading) > maxImportDepth {
		return nil, fmt.Errorf("imports nest more than %d deep", maxImportDepth)
	}
	files, err := sourcesIn(Relative(target))
	if err != nil {
		return nil, readError{err}
	}
	if known {
		if !p.is(files) {
			return nil, fmt.Errorf("only some files of %s were named to be compiled, and an import takes the whole of a package; name the directory instead", Relative(target))
		}
		return p, nil
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no %s files in %s", Extension, Relative(target))
	}
	return l.load(target, path, files)
}

func (l *Loader) cycle(target string) error {
	var names []string
	for _, dir := range l.loading {
		if len(names) > 0 || dir == target {
			names = append(names, filepath.Base(dir))
		}
	}
	return fmt.Errorf("it imports itself: %s -> %s", strings.Join(names, " -> "), filepath.Base(target))
}

// resolve returns the directory that an import path means in dir.
func resolve(dir, path string) (string, error) {
	if strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../") {
		return filepath.Join(dir, filepath.FromSlash(path)), nil
	}
	root, module := enclosingModule(dir)
	switch rest, inside := strings.CutPrefix(path, module+"/"); {
	case module == "":
		return "", fmt.Errorf("outside a Go module an import begins with ./ or ../")
	case path == module:
		return root, nil
	case inside:
		return filepath.Join(root, filepath.FromSlash(rest)), nil
	}
	return "", fmt.Errorf("it is neither in module %s nor does it begin with ./ or ../", module)
}

// enclosingModule finds the Go module that dir lies in; "" if there is none.
func enclosingModule(dir string) (root, module string) {
	for {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			for line := range strings.Lines(string(data)) {
				if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "module" {
					return dir, strings.Trim(fields[1], "\"`")
				}
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ""
		}
		dir = parent
	}
}

// GoImportPath returns the path under which Go code imports the package in dir, which need not exist yet.
func GoImportPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	root, module := enclosingModule(abs)
	if module == "" {
		return "", fmt.Errorf("%s lies in no Go module, so the generated packages could not import each other\n\t`go mod init` makes a module", dir)
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil {
		return "", err
	}
	return path.Join(module, filepath.ToSlash(rel)), nil
}

// readError says that a file cannot be read, as opposed to what is wrong in it.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }

// ReadSource reads a source file. What is far beyond the size of any program is
// cut off; the parser refuses the rest for its size.
func ReadSource(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, readError{err}
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, readMax))
	if err != nil {
		return nil, readError{err}
	}
	return src, nil
}

// Relative shortens an absolute path for messages, if it lies below the current
// directory; any other path is returned as it is.
func Relative(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(wd); err == nil {
		wd = real
	}
	if rel, err := filepath.Rel(wd, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}
