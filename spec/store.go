package spec

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// Writes go to paths ([WRITE]): a variable or a field of the current object, then steps
// into the value that it holds. The indexes are evaluated first, from left to right, then
// the right side; the place is found when it is written.

// indexes evaluates the indexes of a path.
func (f *frame) indexes(st *typecheck.Store) []value {
	list := make([]value, len(st.Steps))
	for i, s := range st.Steps {
		if s.Kind == typecheck.IndexStep {
			list[i] = f.eval(s.Index)
		}
	}
	return list
}

// assign is `path = e` and `path op= e`. The second finds and reads the place before e.
func (f *frame) assign(s *ast.Assign) {
	st := f.info.Stores[s]
	index := f.indexes(st)
	if s.Op == ast.OpNone {
		v := f.eval(s.RHS)
		f.store(s, st, index, func(value) value { return v })
		return
	}
	old := f.load(s, st.Root, st.Steps, index)
	v := f.compound(s, s.Op, old, f.eval(s.RHS))
	f.store(s, st, index, func(value) value { return v })
}

func (f *frame) incDec(s *ast.IncDec) {
	st := f.info.Stores[s]
	index := f.indexes(st)
	op := ast.OpAdd
	if s.Dec {
		op = ast.OpSub
	}
	old := f.load(s, st.Root, st.Steps, index)
	v := f.compound(s, op, old, one(old))
	f.store(s, st, index, func(value) value { return v })
}

// one is 1 in the type of v.
func one(v value) value {
	switch v := v.(type) {
	case integer:
		return integer{v.kind, 1}
	case span:
		return span(1)
	}
	return 1.0
}

// compound computes the new value of a place. A fault is one of the statement.
func (f *frame) compound(s ast.Stmt, op ast.Op, old, right value) value {
	return f.operate(s, op, old, right)
}

// load reads the place that the steps lead to.
func (f *frame) load(at ast.Node, root *typecheck.Var, steps []typecheck.Step, index []value) value {
	v := f.variable(root)
	for i, s := range steps {
		switch s.Kind {
		case typecheck.FieldStep:
			v = v.(*structure).fields[s.Field.Index]
		case typecheck.NonNullStep:
			if v == nil {
				f.fail(at, msgNull+": "+ast.NullText(s.Expr))
			}
		case typecheck.IndexStep:
			v = f.element(at, v, index[i])
		}
	}
	return v
}

// store gives the place the value that leaf makes of its present one, which is nil for an
// entry of a map that is not there yet.
func (f *frame) store(at ast.Node, st *typecheck.Store, index []value, leaf func(old value) value) {
	if len(st.Steps) == 0 && st.Root.Kind != typecheck.FieldVar {
		// The variable may have no value yet.
		f.locals[st.Root] = leaf(f.locals[st.Root])
		return
	}
	if len(st.Steps) == 0 {
		f.setVar(st.Root, leaf(f.variable(st.Root)), at)
		return
	}
	f.setVar(st.Root, f.rebuild(at, f.variable(st.Root), st.Steps, index, true, leaf), at)
}

// mutate is store for a call that changes its receiver: every step must be there.
func (f *frame) mutate(at ast.Node, st *typecheck.Store, index []value, leaf func(old value) value) {
	f.setVar(st.Root, f.rebuild(at, f.variable(st.Root), st.Steps, index, false, leaf), at)
}

// rebuild returns v with the place at the end of the steps changed. With insert, a last step
// into a map makes the entry if it is missing.
func (f *frame) rebuild(at ast.Node, v value, steps []typecheck.Step, index []value, insert bool, leaf func(value) value) value {
	if len(steps) == 0 {
		return leaf(v)
	}
	rest := func(old value) value { return f.rebuild(at, old, steps[1:], index[1:], insert, leaf) }
	switch s := steps[0]; s.Kind {
	case typecheck.FieldStep:
		o := v.(*structure)
		return o.with(s.Field.Index, rest(o.fields[s.Field.Index]))
	case typecheck.NonNullStep:
		if v == nil {
			f.fail(at, msgNull+": "+ast.NullText(s.Expr))
		}
		return rest(v)
	}
	switch v := v.(type) {
	case *table:
		if len(steps) == 1 && insert {
			old, _ := v.get(index[0])
			return v.with(index[0], leaf(old))
		}
		return v.with(index[0], rest(f.element(at, v, index[0])))
	case *rows:
		return v.rewrite(f, at, index[0], rest)
	case *vector:
		i := f.inRange(at, index[0], len(v.elems))
		return v.with(i, rest(v.elems[i]))
	case byteString:
		i := f.inRange(at, index[0], len(v))
		b := []byte(v)
		b[i] = byte(rest(octet(v[i])).(integer).bits)
		return byteString(b)
	}
	panic(bug{"a path into something else"})
}
