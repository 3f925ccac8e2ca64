package typecheck

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// Classes, containers and bytes are values, so something is changed by
// writing to a path: a variable or field of `this`, and steps into its value.

// place checks x as the left-hand side of the assignment at, records the
// store, and returns the type that is wanted there.
func (b *body) place(x ast.Expr, at ast.Node) (Type, bool) {
	t := b.placeType(x)
	if t == Invalid {
		return Invalid, false
	}
	store, ok := b.path(x)
	if !ok {
		return Invalid, false
	}
	store.Value = t
	b.addStore(at, store)
	return t, true
}

func (b *body) addStore(at ast.Node, s *Store) {
	b.tableStore(at, s)
	b.info.Stores[at] = s
	b.bf.stores = append(b.bf.stores, at)
}

// placeType is expr for something that is written: a whole variable has its
// declared type, whatever is known of its value, and this is no use of it.
func (b *body) placeType(x ast.Expr) Type {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		b.written = x
		return b.expr(x, nil).typ
	}
	obj := b.lookup(id, nil)
	v, ok := obj.(*Var)
	if !ok {
		op := b.expr(id, nil)
		if op.typ != Invalid {
			b.notAssignable(x, obj)
		}
		return Invalid
	}
	b.info.Uses[id] = v
	if v.Kind == FieldVar && b.tableUse(id, v) {
		return Invalid
	}
	b.retype(x, operand{typ: v.typ})
	return v.typ
}

// isWritten reports whether name ends what is written: a call does not, as it cannot be assigned to.
func (b *body) isWritten(name ast.Name) bool {
	return b.written != nil && name.Span().AtEnd() == b.written.Span().AtEnd()
}

// writesThrough reports whether x is what is written, or a part of what is written lies in x.
func (b *body) writesThrough(x ast.Expr) bool {
	for w := b.written; w != x; {
		switch at := w.(type) {
		case *ast.Paren:
			w = at.X
		case *ast.Field:
			w = at.X
		case *ast.Index:
			w = at.X
		case *ast.NonNull:
			w = at.X
		default:
			return false
		}
	}
	return true
}

func (b *body) notAssignable(x ast.Expr, obj Object) {
	d := diag.New(diag.CannotAssign, x.Span(), "this cannot be assigned to")
	if obj != nil {
		d = diag.New(diag.CannotAssign, x.Span(), "%s is %s and cannot be assigned to", obj.Name(), describe(obj))
		if obj.Span().IsValid() {
			d = d.With(obj.Span(), "declared here")
		}
	}
	b.report(d)
}

// path returns the store that writing to x would be, or reports that x is not
// a path. x has been checked.
func (b *body) path(x ast.Expr) (*Store, bool) {
	switch x := x.(type) {
	case *ast.Paren:
		return b.path(x.X)
	case *ast.This:
		return &Store{}, true
	case *ast.Ident:
		if v, ok := b.info.Uses[x].(*Var); ok {
			return &Store{Root: v}, true
		}
		b.notAssignable(x, b.info.Uses[x])
		return nil, false
	case *ast.Field:
		if _, this := ast.Unparen(x.X).(*ast.This); this {
			if v, ok := b.info.Uses[x].(*Var); ok {
				return &Store{Root: v}, true
			}
			return nil, false
		}
		v, ok := b.info.Uses[x].(*Var)
		if !ok {
			b.notAssignable(x, b.info.Uses[x])
			return nil, false
		}
		return b.step(x.X, Step{Kind: FieldStep, Field: v, Expr: x})
	case *ast.Index:
		if b.info.TypeOf(x.X) == String {
			d := b.errorf(diag.CannotAssign, x, "the bytes of a string cannot be changed")
			d.Help = "make `bytes` of it: `bytes(s)`"
			return nil, false
		}
		return b.step(x.X, Step{Kind: IndexStep, Index: x.I, Expr: x})
	case *ast.NonNull:
		return b.step(x.X, Step{Kind: NonNullStep, Expr: x})
	case *ast.BadExpr:
		return nil, false
	}
	if b.info.TypeOf(x) == Invalid {
		return nil, false
	}
	d := b.errorf(diag.TemporaryWritten, x, "this is a temporary value: what is written to it is lost")
	d.Help = "keep the value in a variable, change that, and store it where it belongs"
	return nil, false
}

// step extends the path of x.
func (b *body) step(x ast.Expr, s Step) (*Store, bool) {
	store, ok := b.path(x)
	if !ok {
		return nil, false
	}
	if s.Kind != NonNullStep && b.narrowed(x) {
		store.Steps = append(store.Steps, Step{Kind: NonNullStep, Expr: x})
	}
	store.Steps = append(store.Steps, s)
	return store, true
}

// mutatedPath returns the path of x, a method of which changes it: x.m(), or x?.m().
func (b *body) mutatedPath(x ast.Expr, optional bool) (*Store, bool) {
	store, ok := b.path(x)
	if ok && (optional || b.narrowed(x)) {
		store.Steps = append(store.Steps, Step{Kind: NonNullStep, Expr: x})
	}
	return store, ok
}

// narrowed reports whether x is an optional local, which is written through its optional where the checker knows that
// it is not null.
func (b *body) narrowed(x ast.Expr) bool {
	v := b.wholeLocal(x)
	if v == nil {
		return false
	}
	_, optional := v.typ.(*Optional)
	return optional
}
