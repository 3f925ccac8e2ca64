package typecheck

import "github.com/aeon-lang/aeon/lang/ast"

// [T-NULL]: a condition says which locals and parameters are not null where it is
// true, and which where it is false. Fields are not narrowed, since any call in
// between might change them.

// implied returns what the truth and the falsehood of a condition say.
func (b *body) implied(cond ast.Expr) (whenTrue, whenFalse []*Var) {
	switch x := cond.(type) {
	case *ast.Paren:
		return b.implied(x.X)
	case *ast.Ident:
		// `if (x)` of what may be null has been reported; it is meant as `x != null`.
		if v := b.wholeLocal(x); v != nil {
			if _, optional := v.typ.(*Optional); optional {
				return []*Var{v}, nil
			}
		}
	case *ast.Unary:
		if x.Op == ast.OpNot {
			whenFalse, whenTrue = b.implied(x.X)
			return whenTrue, whenFalse
		}
	case *ast.Binary:
		switch x.Op {
		case ast.OpNe:
			return b.comparedWithNull(x), nil
		case ast.OpEq:
			return nil, b.comparedWithNull(x)
		case ast.OpAnd, ast.OpOr:
			return b.impliedByChain(x)
		}
	}
	return nil, nil
}

func (b *body) impliedByChain(x *ast.Binary) (whenTrue, whenFalse []*Var) {
	var e ast.Expr = x
	for {
		bin, ok := e.(*ast.Binary)
		if !ok || bin.Op != x.Op {
			break
		}
		t, f := b.implied(bin.Y)
		whenTrue, whenFalse = append(whenTrue, t...), append(whenFalse, f...)
		e = bin.X
	}
	t, f := b.implied(e)
	whenTrue, whenFalse = append(whenTrue, t...), append(whenFalse, f...)
	if x.Op == ast.OpAnd {
		return whenTrue, nil
	}
	return nil, whenFalse
}

// comparedWithNull returns the variable of x in `x != null`.
func (b *body) comparedWithNull(x *ast.Binary) []*Var {
	e := x.X
	if _, null := ast.Unparen(x.Y).(*ast.NullLit); !null {
		if _, null := ast.Unparen(x.X).(*ast.NullLit); !null {
			return nil
		}
		e = x.Y
	}
	if v := b.wholeLocal(e); v != nil {
		if _, optional := v.typ.(*Optional); optional {
			return []*Var{v}
		}
	}
	return nil
}

func (b *body) know(vars []*Var) {
	for _, v := range vars {
		b.null.set(v, true)
	}
}

// forgetAssigned drops what is known of the locals that the nodes assign: before a loop, whose body may have run already.
// The body is not checked yet, so what it declares is bound on the way, to hide what has the same name.
func (b *body) forgetAssigned(nodes ...ast.Node) {
	if len(b.null.known) == 0 {
		return
	}
	hide := func(name ast.Name) { b.scope.declare(&Var{name: name.Text}) }
	for _, n := range nodes {
		ast.Walk(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Block, *ast.For, *ast.SwitchCase, *ast.MatchCase:
				b.scope.open()
			case *ast.ForUpto:
				b.scope.open()
				hide(n.Name)
			case *ast.ForEach:
				b.scope.open()
				hide(n.Name)
				if n.Value != nil {
					hide(n.Value.Name)
				}
			case *ast.CatchClause:
				b.scope.open()
				hide(n.Name)
			case *ast.If: // whose else branch does not see what its head declares
				b.scope.open()
				b.forgetAssigned(n.Decl, n.Cond, n.Then)
				b.scope.close()
				b.forgetAssigned(n.Else)
				return false
			case *ast.Assign:
				if n.Op == ast.OpNone { // the others make nothing null
					b.forgetPlace(n.LHS)
				}
			}
			return true
		}, func(n ast.Node) {
			switch n := n.(type) {
			case *ast.Block, *ast.For, *ast.SwitchCase, *ast.MatchCase, *ast.ForUpto, *ast.ForEach, *ast.CatchClause:
				b.scope.close()
			case *ast.VarDecl: // its initial value does not see it
				hide(n.Name)
			}
		})
	}
}

func (b *body) forgetPlace(lhs ast.Expr) {
	if id, ok := ast.Unparen(lhs).(*ast.Ident); ok {
		if v := b.scope.lookup(id.Name); v != nil {
			b.null.set(v, false)
		}
	}
}
