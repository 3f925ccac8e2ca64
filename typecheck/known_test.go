package typecheck

import (
	"errors"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
)

// Nodes of kinds that the checker does not know.
type (
	strangeDecl   struct{ ast.Decl }
	strangeMember struct{ ast.Member }
	strangeStmt   struct{ ast.Stmt }
	strangeExpr   struct{ ast.Expr }
	strangeType   struct{ ast.Type }
)

// Syntax that the checker does not know must not pass as correct.
func TestUnknownKindsAreBugs(t *testing.T) {
	const text = "package p\n\nactorclass A {\n\tint n = 0;\n\n\tvoid m() {\n\t\tn = 1;\n\t\twhile (n < 2) {\n\t\t\tn = 2;\n\t\t}\n\t}\n}\n"
	for kind, change := range map[string]func(f *ast.File, class *ast.ClassDecl, m *ast.MethodDecl){
		"declaration": func(f *ast.File, class *ast.ClassDecl, _ *ast.MethodDecl) {
			f.Decls = append(f.Decls, strangeDecl{class})
		},
		"member": func(_ *ast.File, class *ast.ClassDecl, m *ast.MethodDecl) {
			class.Members = append(class.Members, strangeMember{m})
		},
		"statement": func(_ *ast.File, _ *ast.ClassDecl, m *ast.MethodDecl) { m.Body.Stmts[0] = strangeStmt{m.Body.Stmts[0]} },
		"expression": func(_ *ast.File, _ *ast.ClassDecl, m *ast.MethodDecl) {
			set := m.Body.Stmts[0].(*ast.Assign)
			set.RHS = strangeExpr{set.RHS}
		},
		"type": func(_ *ast.File, class *ast.ClassDecl, _ *ast.MethodDecl) {
			field := class.Members[0].(*ast.FieldDecl)
			field.Type = strangeType{field.Type}
		},
	} {
		t.Run(kind, func(t *testing.T) {
			f, syntax := lang.Parse("p.aeon", []byte(text))
			if len(syntax) > 0 {
				t.Fatal(show(syntax))
			}
			class := f.Decls[0].(*ast.ClassDecl)
			change(f, class, class.Members[1].(*ast.MethodDecl))
			defer func() {
				err, _ := recover().(error)
				var failure assert.Failure
				if want := "does not know the " + kind + " typecheck.strange"; !errors.As(err, &failure) || !strings.Contains(failure.Msg, want) {
					t.Errorf("%v, and not that the checker %s…", err, want)
				}
			}()
			Check([]*ast.File{f}, Options{})
			t.Error("it was checked")
		})
	}
}
