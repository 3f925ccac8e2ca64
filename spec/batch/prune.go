package batch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/internal/gobuild"
)

// prunable matches the names of generated functions that code of other packages, other hosts or the journal may
// call, and that a program in one executable needs only where its own code mentions them.
var prunable = regexp.MustCompile(`^(Encode|Decode|EncodeResult|DecodeResult|SaveField|LoadFields|Aeon(Put|Get|New|Create).*|New[A-Z].*|call[A-Z].*|[A-Z].*Event)$`)

// prune cuts functions that nothing in the packages of a program mentions out of the last file of each package, that of
// the descriptors. The Go compiler would translate them without knowing that the link will drop them. A program that
// runs on a store needs its arguments and its fields encoded, one that runs on several its results, too.
func prune(pkgs []gobuild.Package, stored, across bool) error {
	used := map[string]bool{"Encode": stored, "Decode": stored, "SaveField": stored, "LoadFields": stored, "EncodeResult": across, "DecodeResult": across}
	for i := range slices.Backward(pkgs) { // packages that import one have mentioned what they use of it
		if err := prunePackage(&pkgs[i], used); err != nil {
			return err
		}
	}
	return nil
}

// prunePackage prunes one package, given the names that the packages which import it use, and adds the names that it
// uses itself.
func prunePackage(pkg *gobuild.Package, used map[string]bool) error {
	last := len(pkg.Files) - 1
	descriptors := pkg.Files[last].Data
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", descriptors, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	mention := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				used[id.Name] = true
			}
			return true
		})
	}
	for _, f := range pkg.Files[:last] {
		other, err := parser.ParseFile(fset, "", f.Data, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		mention(other)
	}
	var left []part
	for _, d := range file.Decls {
		if p, ok := prunablePart(d); ok {
			left = append(left, p)
		} else {
			mention(d)
		}
	}
	for again := true; again; {
		again = false
		rest := left[:0]
		for _, p := range left {
			if used[p.name] {
				mention(p.decl)
				again = true
			} else {
				rest = append(rest, p)
			}
		}
		left = rest
	}
	var out []byte
	at := 0
	for _, p := range left {
		start := p.decl.Pos()
		if p.doc != nil {
			start = p.doc.Pos()
		}
		out = append(out, descriptors[at:fset.Position(start).Offset]...)
		at = fset.Position(p.decl.End()).Offset
	}
	pkg.Files[last].Data = append(out, descriptors[at:]...)
	return nil
}

// part is a declaration that may be cut out.
type part struct {
	name string
	doc  *ast.CommentGroup
	decl ast.Decl
}

// prunablePart returns the declaration as a part if it may be cut out: a function, or a variable that says how a
// container's elements are stored, for which the Go compiler makes all of the code that stores them.
func prunablePart(d ast.Decl) (part, bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return part{d.Name.Name, d.Doc, d}, prunable.MatchString(d.Name.Name) || isStub(d)
	case *ast.GenDecl:
		if d.Tok != token.VAR || len(d.Specs) != 1 {
			break
		}
		v := d.Specs[0].(*ast.ValueSpec)
		if len(v.Values) != 1 || len(v.Names) != 1 {
			break
		}
		lit, ok := v.Values[0].(*ast.CompositeLit)
		return part{v.Names[0].Name, d.Doc, d}, ok && elements[typeName(lit.Type)]
	}
	return part{}, false
}

// elements are the runtime's types of such variables.
var elements = map[string]bool{"Entries": true, "Members": true, "Elems": true}

// typeName returns the name of a type of another package, without its arguments.
func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.IndexListExpr:
		return typeName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	}
	return ""
}

// isStub reports whether a function is a method of references, through which clients and other actors call.
func isStub(f *ast.FuncDecl) bool {
	if f.Recv == nil || f.Name.Name == "Compare" { // the runtime calls that one
		return false
	}
	t, ok := f.Recv.List[0].Type.(*ast.Ident)
	self := f.Recv.List[0].Names
	return ok && strings.HasSuffix(t.Name, "Ref") && len(self) == 1 && self[0].Name == "r" // a program's own class may be called so, too
}
