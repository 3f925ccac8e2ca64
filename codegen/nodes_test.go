package codegen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// parseFolder parses the Go files of a folder, tests excluded.
func parseFolder(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no Go files in %s (%v)", dir, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// nodeKinds returns the types of package ast that have the marker method, such as expr().
func nodeKinds(t *testing.T, marker string) (kinds []string) {
	for _, f := range parseFolder(t, "../lang/ast") {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != marker {
				continue
			}
			if star, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok {
				kinds = append(kinds, star.X.(*ast.Ident).Name)
			}
		}
	}
	if len(kinds) == 0 {
		t.Fatalf("package ast has no nodes with the method %s", marker)
	}
	slices.Sort(kinds)
	return kinds
}

// handled returns the node types in the cases of the type switches of one method of codegen.
func handled(t *testing.T, method string) (kinds []string) {
	for _, f := range parseFolder(t, ".") {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Name.Name != method {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if c, ok := n.(*ast.CaseClause); ok {
					for _, x := range c.List {
						if star, ok := x.(*ast.StarExpr); ok {
							kinds = append(kinds, star.X.(*ast.SelectorExpr).Sel.Name)
						}
					}
				}
				return true
			})
		}
	}
	slices.Sort(kinds)
	return kinds
}

// TestEveryNodeHasAnEmitter fails when the syntax tree has a kind of node that the generator does not know.
func TestEveryNodeHasAnEmitter(t *testing.T) {
	for marker, method := range map[string]string{"expr": "bare", "stmt": "stmt", "decl": "decl"} {
		nodes, cases := nodeKinds(t, marker), handled(t, method)
		if !slices.Equal(nodes, cases) {
			t.Errorf("nodes with %s(): %v\nbut %s handles %v", marker, nodes, method, cases)
		}
	}
}

// kindsOf returns the constants that package typecheck declares of an enumeration.
func kindsOf(t *testing.T, enumeration string) (kinds []string) {
	for _, f := range parseFolder(t, "../typecheck") {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			if id, ok := g.Specs[0].(*ast.ValueSpec).Type.(*ast.Ident); !ok || id.Name != enumeration {
				continue
			}
			for _, s := range g.Specs {
				kinds = append(kinds, s.(*ast.ValueSpec).Names[0].Name)
			}
		}
	}
	if len(kinds) == 0 {
		t.Fatalf("package typecheck has no constants of type %s", enumeration)
	}
	return kinds
}

// named returns the constants of package typecheck that stand in cases of the functions, or as keys of the tables.
func named(t *testing.T, in ...string) map[string]bool {
	names := map[string]bool{}
	add := func(list ...ast.Expr) {
		for _, x := range list {
			if s, ok := x.(*ast.SelectorExpr); ok {
				names[s.Sel.Name] = true
			}
		}
	}
	visit := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CaseClause:
			add(n.List...)
		case *ast.KeyValueExpr:
			add(n.Key)
		}
		return true
	}
	for _, f := range parseFolder(t, ".") {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if slices.Contains(in, d.Name.Name) {
					ast.Inspect(d, visit)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && slices.Contains(in, v.Names[0].Name) {
						ast.Inspect(v, visit)
					}
				}
			}
		}
	}
	return names
}

// TestEveryCallHasAnEmitter does the same for the kinds of calls, the predeclared functions and the methods of the
// library.
func TestEveryCallHasAnEmitter(t *testing.T) {
	for enumeration, in := range map[string][]string{
		"CallKind":  {"call"},
		"BuiltinID": {"builtin"},
		"LibraryID": {"readMethod", "stringMethod", "tableMethod", "mutator"},
	} {
		names := named(t, in...)
		for _, kind := range kindsOf(t, enumeration) {
			if !names[kind] && !strings.HasPrefix(kind, "No") {
				t.Errorf("%v have no case for %s", in, kind)
			}
		}
	}
}

// tablesProgram writes tables in every way that there is: in a constructor and after it, with rows that own and without.
const tablesProgram = `package p
class Row { int id; string to; }
class Slot { int id; Node node; }
actorclass Node {
	table<Row> rows key(id) index(to);
	table<Slot> slots key(id);
	Node() {
		rows.insert(new Row(1, ""));
		rows.put(new Row(1, "a"));
		rows[1].to = "b";
		rows.remove(1);
		rows.clear();
	}
	int write(Node n) {
		rows.insert(new Row(1, ""));
		rows.put(new Row(1, "a"));
		rows[1].to = "b";
		rows.remove(1);
		rows.clear();
		slots.insert(new Slot(1, n));
		slots.put(new Slot(1, n));
		slots[1].node = n;
		slots.remove(1);
		slots.clear();
		if (Row r = rows.get(1)) {
			return r.id;
		}
		return rows.find(to, "a").size() + rows.range(to, "a").size();
	}
}
`

// TestEveryTableFunctionIsCalled fails when the runtime has a function for tables that generated code never calls.
func TestEveryTableFunctionIsCalled(t *testing.T) {
	var code strings.Builder
	for _, f := range generate(t, "tables.aeon", tablesProgram, false) {
		code.Write(f.Content)
	}
	found := 0
	for _, f := range parseFolder(t, "../runtime") {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !mentionsTable(fn) {
				continue
			}
			found++
			if name := "aeonrt." + fn.Name.Name; !strings.Contains(code.String(), name+"(") {
				t.Errorf("nothing calls %s", name)
			}
		}
	}
	if found < 10 {
		t.Errorf("package runtime has %d functions for tables", found)
	}
}

// mentionsTable reports whether a table is among the parameters or the result of a function.
func mentionsTable(fn *ast.FuncDecl) (found bool) {
	ast.Inspect(fn.Type, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == "Table"
		return !found
	})
	return found
}
