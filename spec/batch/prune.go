package batch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"

	"github.com/aeon-lang/aeon/codegen"
)

// prunable matches the names of generated functions that code of other packages, other hosts or the journal may
// call, and that a program in one executable needs only where its own code mentions them.
var prunable = regexp.MustCompile(`^(Encode|Decode|EncodeResult|DecodeResult|Aeon(Put|Get|New|Create).*|New[A-Z].*|call[A-Z].*|[A-Z].*Event)$`)

// prune cuts functions that nothing in a package of its own mentions out of the last file, that of the descriptors. The Go compiler
// translates a package without knowing what the link will drop.
// A program that runs on a store needs its arguments encoded.
func prune(files []codegen.File, stored bool) error {
	last := len(files) - 1
	descriptors := files[last].Content
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", descriptors, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	used := map[string]bool{"Encode": stored, "Decode": stored}
	mention := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				used[id.Name] = true
			}
			return true
		})
	}
	for _, f := range files[:last] {
		other, err := parser.ParseFile(fset, "", f.Content, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		mention(other)
	}
	var left []*ast.FuncDecl
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && (prunable.MatchString(f.Name.Name) || isStub(f)) {
			left = append(left, f)
		} else {
			mention(d)
		}
	}
	for again := true; again; {
		again = false
		rest := left[:0]
		for _, f := range left {
			if used[f.Name.Name] {
				mention(f)
				again = true
			} else {
				rest = append(rest, f)
			}
		}
		left = rest
	}
	var out []byte
	at := 0
	for _, f := range left {
		start := f.Pos()
		if f.Doc != nil {
			start = f.Doc.Pos()
		}
		out = append(out, descriptors[at:fset.Position(start).Offset]...)
		at = fset.Position(f.End()).Offset
	}
	files[last].Content = append(out, descriptors[at:]...)
	return nil
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
