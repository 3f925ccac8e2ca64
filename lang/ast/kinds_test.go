package ast_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang"
	aeon "github.com/aeon-lang/aeon/lang/ast"
)

// kinds returns the names of all node types of the package: the structs that
// embed Loc, found in its source so that a new one cannot be forgotten.
func kinds(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no source found: %v", err)
	}
	var names []string
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok && len(s.Fields.List) > 0 {
				if f := s.Fields.List[0]; len(f.Names) == 0 {
					if id, ok := f.Type.(*ast.Ident); ok && id.Name == "Loc" {
						names = append(names, spec.Name.Name)
					}
				}
			}
			return true
		})
	}
	return names
}

// The parser makes every kind of node and Walk reaches it. Two files suffice:
// one with everything that is right, one with everything that is wrong.
func TestWalkReachesEveryKind(t *testing.T) {
	seen := map[string]bool{}
	record := func(n aeon.Node) {
		name := strings.TrimPrefix(typeName(n), "*ast.")
		seen[name] = true
	}
	for path, wantErrors := range map[string]bool{"everything.aeon": false, "nothing.aeon": true} {
		text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "lang", path))
		if err != nil {
			t.Fatal(err)
		}
		file, diags := lang.Parse(path, text)
		if (len(diags) > 0) != wantErrors {
			t.Fatalf("%s: %v", path, diags)
		}
		post := 0
		pre := 0
		aeon.Walk(file, func(n aeon.Node) bool {
			pre++
			record(n)
			docs(n, record)
			return true
		}, func(aeon.Node) { post++ })
		if pre != post {
			t.Errorf("%s: %d nodes entered, %d left", path, pre, post)
		}
		for _, c := range file.Comments {
			record(c)
		}
	}
	// Names are parts of nodes, not children.
	seen["Name"] = true
	for _, k := range kinds(t) {
		if !seen[k] {
			t.Errorf("no %s in the tree of everything", k)
		}
	}
	if n := len(kinds(t)); n < 70 {
		t.Errorf("only %d kinds of node found", n)
	}
}

func docs(n aeon.Node, record func(aeon.Node)) {
	if d, ok := n.(*aeon.ClassDecl); ok && d.Doc != nil {
		record(d.Doc)
		if d.Doc.Text() != "A is documented\nin two lines." {
			panic(d.Doc.Text())
		}
	}
}

func TestInspectStopsWhereAsked(t *testing.T) {
	file, _ := lang.Parse("a.aeon", []byte("package p\n\nvoid f() {\n\tg(1 + 2);\n}\n"))
	var seen []string
	aeon.Inspect(file, func(n aeon.Node) bool {
		seen = append(seen, strings.TrimPrefix(typeName(n), "*ast."))
		_, isCall := n.(*aeon.Call)
		return !isCall
	})
	want := []string{"File", "PackageClause", "FuncDecl", "NamedType", "Block", "ExprStmt", "Call"}
	if !slices.Equal(seen, want) {
		t.Errorf("visited %v, want %v", seen, want)
	}
}

func TestEqualSeesDifferences(t *testing.T) {
	parse := func(body string) *aeon.File {
		file, diags := lang.Parse("a.aeon", []byte("package p\n\nvoid f(yield A a, B b) {\n"+body+"\n}\n"))
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		return file
	}
	same := parse("x = a.b[1] + 2;")
	if !aeon.Equal(same, parse("\t// a comment\n\tx =\n a . b [ 1 ]+2 ;")) {
		t.Error("layout makes a difference")
	}
	for _, other := range []string{"x = a.b[1] - 2;", "x = a.b[2] + 2;", "x = a.c[1] + 2;", "x += a.b[1] + 2;", "x = (a.b[1] + 2);", "x = a.b[1:] + 2;", ""} {
		if aeon.Equal(same, parse(other)) {
			t.Errorf("%q is the same", other)
		}
	}
}

func TestPositions(t *testing.T) {
	src := aeon.NewSource("a.aeon", "é\r\n\tx\n")
	for _, c := range []struct {
		off, line, col int
	}{{0, 1, 1}, {2, 1, 3}, {4, 2, 1}, {5, 2, 2}, {6, 2, 3}, {7, 3, 1}} {
		p := aeon.Pos{Src: src, Off: int32(c.off)}
		if p.Line() != c.line || p.Col() != c.col || p.Offset() != c.off || p.File() != "a.aeon" {
			t.Errorf("offset %d is at %v", c.off, p)
		}
	}
	if src.Line(1) != "é" || src.Line(2) != "\tx" || src.Line(3) != "" || src.Line(4) != "" || src.Lines() != 3 {
		t.Errorf("lines %q %q %q", src.Line(1), src.Line(2), src.Line(3))
	}
	if (aeon.Pos{}).String() != "-" || (aeon.Span{}).Text() != "" {
		t.Error("the zero values do not say that they are nowhere")
	}
}

func typeName(n aeon.Node) string { return reflect.TypeOf(n).String() }

// Children yields every node that a field of the parent holds: found here by
// reflection, so that a child cannot be forgotten.
func TestChildrenAreComplete(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "lang", "everything.aeon"))
	if err != nil {
		t.Fatal(err)
	}
	file, _ := lang.Parse("everything.aeon", text)
	aeon.Inspect(file, func(n aeon.Node) bool {
		var want, got []string
		last := aeon.Span{}
		fieldNodes(reflect.ValueOf(n).Elem(), func(c aeon.Node) { want = append(want, c.Span().String()+typeName(c)) })
		aeon.Children(n, func(c aeon.Node) {
			got = append(got, c.Span().String()+typeName(c))
			if c.Span().Start < last.Start {
				t.Errorf("%s at %s: children are out of order", typeName(n), n.Span())
			}
			last = c.Span()
		})
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s at %s: got %v, want %v", typeName(n), n.Span(), got, want)
		}
		return true
	})
}

// fieldNodes calls f for the nodes that the fields of a struct hold, names,
// comments and documentation excepted.
func fieldNodes(v reflect.Value, f func(aeon.Node)) {
	for i := range v.NumField() {
		field := v.Field(i)
		switch x := field.Interface().(type) {
		case aeon.Name, *aeon.Name, []aeon.Name, []*aeon.Comment, *aeon.CommentGroup, aeon.Loc, aeon.Span, *aeon.Source:
		case aeon.Signature:
			fieldNodes(field, f)
		case aeon.Node:
			if !field.IsNil() {
				f(x)
			}
		default:
			if field.Kind() == reflect.Slice {
				for j := range field.Len() {
					if c, ok := field.Index(j).Interface().(aeon.Node); ok {
						f(c)
					}
				}
			}
		}
	}
}
