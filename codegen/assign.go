package codegen

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// assign lowers `place = value` and the compound forms.
func (f *fn) assign(s *ast.Assign) {
	st := f.info.Stores[s]
	if st == nil {
		panic("codegen: assignment without meaning")
	}
	if s.Op != ast.OpNone {
		f.compound(s, st, s.Op, s.RHS, val{})
		return
	}
	if len(st.Steps) == 0 && st.Root.Kind != typecheck.FieldVar {
		v := f.bind(s.RHS)
		f.w.at(s.Span())
		f.w.add("%s = %s", f.base(st.Root), v.code)
		return
	}
	var list []ast.Expr
	for _, step := range st.Steps {
		list = append(list, step.Index)
	}
	n := len(list)
	vals := f.operands(func(i int, x ast.Expr) val {
		if i < n {
			return f.expr(x)
		}
		return f.bind(x)
	}, append(list, s.RHS)...)
	p := place{root: st.Root, steps: st.Steps, index: vals[:n]}
	if f.indirect(p) {
		for i := range vals {
			if i == n || list[i] != nil {
				vals[i] = f.settle(vals[i])
			}
		}
	}
	f.write(s, p, leaf{set: vals[n].code})
}

// compound lowers `place op= value`: the place is found once, then read, then the value is computed. Without rhs,
// right is the value.
func (f *fn) compound(s ast.Stmt, st *typecheck.Store, op ast.Op, rhs ast.Expr, right val) {
	p := f.place(st)
	old := f.read(p)
	if rhs != nil {
		pre := f.capture(func() { right = f.expr(rhs) })
		if pre != "" || old.loads&f.writes(rhs) != 0 {
			old = f.spill(old)
		}
		f.w.buf.WriteString(pre)
	}
	v := f.operate(op, old.typ, old, right)
	code := f.share(v)
	if f.indirect(p) {
		code = f.settle(v).code
	}
	f.write(s, p, leaf{set: code})
}

// incDec lowers `place++` and `place--`.
func (f *fn) incDec(s *ast.IncDec) {
	st := f.info.Stores[s]
	op := ast.OpAdd
	if s.Dec {
		op = ast.OpSub
	}
	f.compound(s, st, op, nil, val{code: "1", typ: st.Value, konst: true})
}

// indirect reports whether the place is found by way of an address or a copy: then nothing may happen between
// finding and writing it.
func (f *fn) indirect(p place) bool {
	if len(p.steps) == 1 && p.steps[0].Kind == typecheck.IndexStep && containerName(p.root.Type()) != "" {
		return false // the runtime's Set takes it all
	}
	return len(p.steps) > 1 || f.viaRuntime(p.root) && (len(p.steps) == 1 || f.logged == loggedOwned && owning(p.root))
}

// settle puts a value into a temporary if finding the place may change what its text means: if it takes a call to compute,
// or reads a box, as each `!` of the place puts a new one in, which is then written.
func (f *fn) settle(v val) val {
	if v.stable || v.konst || !strings.Contains(v.code, "(") && (v.loads == 0 || !f.holdsBoxes(v.typ)) {
		return v
	}
	return f.spill(v)
}
