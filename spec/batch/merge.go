package batch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/internal/gobuild"
)

// mergeMax is how many programs go into one Go package. Half of what the Go compiler does for a small program
// is to instantiate the containers of the runtime, and a package of many programs shares those. It needs memory
// for a package, 0.4 GB for 25 programs, 0.8 GB for 63 and 1.3 GB for 125.
const mergeMax = 63

// merge puts a package of a program into one that it shares with others: every name at the top level gets the suffix of the program,
// and nothing else changes, lines included. What it imports of its program is in shared packages as well: moved says in which.
func merge(into *gobuild.Package, pkg gobuild.Package, suffix string, moved map[string]gobuild.Package) error {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, f := range pkg.Files {
		file, err := parser.ParseFile(fset, f.Name, f.Data, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	info := types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: nothing{}, Error: func(error) {}} // what other packages declare is not known, and not asked for
	checked, _ := conf.Check(pkg.Name, fset, files, &info)
	for i, file := range files {
		other := foreign(file)
		theirs := imported(file, moved)
		text := rename(fset.File(file.Pos()), file, pkg.Files[i].Data, func(n ast.Node) string {
			id, ok := n.(*ast.Ident)
			if !ok {
				return theirs[n]
			}
			obj := info.Defs[id]
			if obj == nil {
				obj = info.Uses[id]
			}
			switch {
			case id == file.Name:
				return into.Name
			case theirs[id] != "":
				return id.Name + suffix
			case obj == nil && !other[id]: // the checker does not look into what it knows another package must declare
				obj = checked.Scope().Lookup(id.Name)
			}
			if obj != nil && obj.Parent() == checked.Scope() && id.Name != "init" {
				return id.Name + suffix
			}
			return id.Name
		})
		into.Files = append(into.Files, gobuild.File{Name: fmt.Sprintf("f%d%s", len(into.Files), pkg.Files[i].Name), Data: text})
	}
	return nil
}

// imported returns what stands in a file for packages of its program: the paths of imports with what becomes of them, and the names behind a dot.
func imported(file *ast.File, moved map[string]gobuild.Package) map[ast.Node]string {
	out := map[ast.Node]string{}
	names := map[string]bool{}
	for _, spec := range file.Imports {
		from, _ := strconv.Unquote(spec.Path.Value)
		to, ok := moved[from]
		if !ok {
			continue
		}
		out[spec.Path] = strconv.Quote(gobuild.ImportPath(to.Dir, to.Name))
		name := path.Base(from)
		if spec.Name != nil {
			name = spec.Name.Name
		} else {
			out[spec.Path] = name + " " + out[spec.Path]
		}
		names[name] = true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && names[x.Name] {
				out[s.Sel] = "moved"
			}
		}
		return true
	})
	return out
}

// foreign returns the identifiers that name members of something: what is behind a dot, and keys of composite literals.
func foreign(file *ast.File) map[*ast.Ident]bool {
	out := map[*ast.Ident]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			out[n.Sel] = true
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				out[id] = true
			}
		}
		return true
	})
	return out
}

// rename returns the text of a file with other names for its identifiers, and other paths for those of its imports that name gives one.
func rename(pos *token.File, file *ast.File, text []byte, name func(ast.Node) string) []byte {
	var nodes []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			nodes = append(nodes, n)
		case *ast.ImportSpec:
			if name(n.Path) != "" {
				nodes = append(nodes, n.Path)
			}
		}
		return true
	})
	slices.SortFunc(nodes, func(a, b ast.Node) int { return int(a.Pos() - b.Pos()) })
	var out []byte
	at := 0
	for _, n := range nodes {
		start, end := pos.Offset(n.Pos()), pos.Offset(n.End())
		assert.That(start >= at && end <= len(text), "a node stands where the parser says")
		out = append(append(out, text[at:start]...), name(n)...)
		at = end
	}
	return append(out, text[at:]...)
}

// nothing imports no package.
type nothing struct{}

// Import implements types.Importer.
func (nothing) Import(path string) (*types.Package, error) {
	return nil, fmt.Errorf("%s is not loaded", path)
}
