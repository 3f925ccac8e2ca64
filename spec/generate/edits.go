package generate

import (
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// editRule breaks a rule by changing what a program has.
type editRule struct {
	name   string
	code   diag.Code
	places func(*ast.File) []editPlace
}

// editPlace is one change and where the error is then.
type editPlace struct {
	edit diag.Edit
	at   ast.Span
}

// edits is the catalogue of what is changed.
var edits = []editRule{
	{"result left out", diag.MissingReturn, func(f *ast.File) (list []editPlace) {
		eachMethod(f, func(_ *ast.ClassDecl, m *ast.MethodDecl) {
			if r, ok := m.Body.Stmts[len(m.Body.Stmts)-1].(*ast.Return); ok && r.X != nil && r.X.Span().Text() != "null" {
				end := m.Body.Span().AtEnd()
				end.Start-- // the brace
				list = append(list, editPlace{diag.Replace(r.Span(), "print("+r.X.Span().Text()+");"), end})
			}
		})
		return list
	}},
	{"ro in front of what writes", diag.ReadOnlyWrites, func(f *ast.File) (list []editPlace) {
		eachMethod(f, func(c *ast.ClassDecl, m *ast.MethodDecl) {
			if assign, ok := m.Body.Stmts[0].(*ast.Assign); ok && c.Kind == ast.ActorClass && !isVoid(&m.Signature) && len(m.Body.Stmts) == 2 && assign.Op != 0 && isReturn(m.Body.Stmts[1]) && !isParam(m, assign.LHS) {
				list = append(list, editPlace{diag.InsertBefore(m.Span(), "ro "), assign.Span()})
			}
		})
		return list
	}},
	{"ro in front of a step", diag.TailPlace, func(f *ast.File) (list []editPlace) {
		eachMethod(f, func(c *ast.ClassDecl, m *ast.MethodDecl) {
			if tail, ok := m.Body.Stmts[0].(*ast.TailCall); ok && !callsWithin(tail.X) {
				list = append(list, editPlace{diag.InsertBefore(m.Span(), "ro "), tail.X.ModePos})
			}
		})
		return list
	}},
	{"tail call of a function", diag.BadDecoration, func(f *ast.File) (list []editPlace) {
		ast.Inspect(f, func(n ast.Node) bool {
			if t, ok := n.(*ast.TailCall); ok {
				list = append(list, editPlace{diag.Replace(t.X.Span(), "tail print(1)"), t.X.ModePos})
			}
			return true
		})
		return list
	}},
	{"event left out", diag.ClientCallsPlain, func(f *ast.File) (list []editPlace) {
		ast.Inspect(f, func(n ast.Node) bool {
			if a, ok := n.(*ast.Await); ok {
				if c, ok := a.X.(*ast.Call); ok && c.Mode == ast.Event {
					list = append(list, editPlace{diag.Replace(a.Span(), c.Fun.Span().To(c.Span().AtEnd()).Text()), a.Span()})
				}
			}
			return true
		})
		return list
	}},
	{"argument left out", diag.BadArgCount, func(f *ast.File) (list []editPlace) {
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.Call); ok && len(c.Args) == 1 && c.Mode == ast.Event {
				list = append(list, editPlace{diag.Replace(c.Args[0].Span(), ""), c.Args[0].Span()})
			}
			return true
		})
		return list
	}},
	{"bool where a number is due", diag.TypeMismatch, func(f *ast.File) (list []editPlace) {
		eachMethod(f, func(_ *ast.ClassDecl, m *ast.MethodDecl) {
			ast.Inspect(m.Body, func(n ast.Node) bool {
				d, ok := n.(*ast.VarDecl)
				if ok && d.Init != nil && d.Type != nil && d.Type.Span().Text() == "int" && !namesWithin(d.Init) {
					list = append(list, editPlace{diag.Replace(d.Init.Span(), "true"), d.Init.Span()})
				}
				return true
			})
		})
		return list
	}},
	{"main with a parameter", diag.BadMain, func(f *ast.File) (list []editPlace) {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.IsMain() {
				list = append(list, editPlace{diag.Replace(fn.Name.Span(), "main(int w_) {\n}\n\nvoid w_"), fn.Name.Span()})
			}
		}
		return list
	}},
}

// eachMethod calls f for the methods with statements.
func eachMethod(file *ast.File, f func(*ast.ClassDecl, *ast.MethodDecl)) {
	for _, d := range file.Decls {
		c, ok := d.(*ast.ClassDecl)
		if !ok {
			continue
		}
		for _, m := range c.Members {
			if m, ok := m.(*ast.MethodDecl); ok && m.Body != nil && len(m.Body.Stmts) > 0 {
				f(c, m)
			}
		}
	}
}

// callsWithin reports whether the arguments of a call hold calls.
func callsWithin(x *ast.Call) (found bool) {
	for _, a := range x.Args {
		ast.Inspect(a, func(n ast.Node) bool {
			_, ok := n.(*ast.Call)
			found = found || ok
			return true
		})
	}
	return found
}

// namesWithin reports whether an expression uses names, which may not be used anywhere else.
func namesWithin(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		_, ok := n.(*ast.Ident)
		found = found || ok
		return true
	})
	return found
}

func isReturn(s ast.Stmt) bool {
	_, ok := s.(*ast.Return)
	return ok
}

func isVoid(sig *ast.Signature) bool { return sig.Result.Span().Text() == "void" }

// isParam reports whether x is a parameter of m or a part of one.
func isParam(m *ast.MethodDecl, x ast.Expr) bool {
	root, _, _ := strings.Cut(strings.NewReplacer("[", ".", "!", ".").Replace(x.Span().Text()), ".")
	return slices.ContainsFunc(m.Params, func(p *ast.Param) bool { return p.Name.Text == root })
}
