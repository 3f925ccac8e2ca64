package batch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"

	"github.com/aeon-lang/aeon/build"
	"github.com/aeon-lang/aeon/internal/assert"
)

// mergeMax is how many programs go into one Go package. Half of what the Go compiler does for a small program
// is to instantiate the containers of the runtime, and a package of many programs shares those. It needs memory
// for a package, 0.4 GB for 25 programs, 0.8 GB for 63 and 1.3 GB for 125.
const mergeMax = 63

// merge puts the package of a program into one that it shares with others: every name at the top level gets a suffix,
// and nothing else changes, lines included. It returns the name that AeonPackage has now.
func merge(into *build.Package, pkg build.Package) (descriptor string, err error) {
	suffix := fmt.Sprintf("_p%d", len(into.Files))
	fset := token.NewFileSet()
	var files []*ast.File
	for _, f := range pkg.Files {
		file, err := parser.ParseFile(fset, f.Name, f.Data, parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		files = append(files, file)
	}
	info := types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: nothing{}, Error: func(error) {}} // what the runtime declares is not known, and not asked for
	checked, _ := conf.Check(pkg.Name, fset, files, &info)
	for i, file := range files {
		other := foreign(file)
		text := rename(fset.File(file.Pos()), file, pkg.Files[i].Data, func(id *ast.Ident) string {
			obj := info.Defs[id]
			if obj == nil {
				obj = info.Uses[id]
			}
			switch {
			case id == file.Name:
				return into.Name
			case obj == nil && !other[id]: // the checker does not look into what it knows the runtime must declare
				obj = checked.Scope().Lookup(id.Name)
			}
			if obj != nil && obj.Parent() == checked.Scope() && id.Name != "init" {
				return id.Name + suffix
			}
			return id.Name
		})
		into.Files = append(into.Files, build.File{Name: fmt.Sprintf("f%d%s", len(into.Files), pkg.Files[i].Name), Data: text})
	}
	return "AeonPackage" + suffix, nil
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

// rename returns the text of a file with other names for its identifiers.
func rename(pos *token.File, file *ast.File, text []byte, name func(*ast.Ident) string) []byte {
	var idents []*ast.Ident
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			idents = append(idents, id)
		}
		return true
	})
	slices.SortFunc(idents, func(a, b *ast.Ident) int { return int(a.Pos() - b.Pos()) })
	var out []byte
	at := 0
	for _, id := range idents {
		start := pos.Offset(id.Pos())
		assert.That(start >= at && string(text[start:start+len(id.Name)]) == id.Name, "an identifier stands where the parser says")
		out = append(append(out, text[at:start]...), name(id)...)
		at = start + len(id.Name)
	}
	return append(out, text[at:]...)
}

// nothing imports no package.
type nothing struct{}

// Import implements types.Importer.
func (nothing) Import(path string) (*types.Package, error) {
	return nil, fmt.Errorf("%s is not loaded", path)
}
