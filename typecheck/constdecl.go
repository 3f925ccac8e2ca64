package typecheck

import (
	"go/constant"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// constState is how far a constant of this package has been evaluated.
type constState struct {
	file       *fileScope
	busy, done bool
}

// constDepthMax bounds chains of constants that refer to each other.
const constDepthMax = 1000

func (c *checker) allConsts() {
	for _, k := range c.pkg.Consts {
		c.evalConst(k, k.Decl, 0)
	}
}

// evalConst gives k its type and value; at is where it is used.
func (c *checker) evalConst(k *Const, at ast.Node, depth int) {
	s := c.consts[k]
	if s == nil || s.done {
		return
	}
	if s.busy || depth > constDepthMax {
		d := diag.New(diag.ConstCycle, k.Span(), "constant %s is defined by itself", k.Name())
		if at != ast.Node(k.Decl) {
			d = d.With(at.Span(), "by way of this use")
		}
		c.report(d)
		s.done = true
		return
	}
	s.busy = true
	defer func() { s.busy, s.done = false, true }()

	var want Type
	if k.Decl.Type != nil {
		want = c.typ(s.file, k.Decl.Type)
		if want == Invalid {
			return
		}
	}
	if k.Decl.Value == nil {
		return
	}
	b := &body{checker: c, file: s.file, scope: newLocals(), null: newFacts(), bf: &bodyFacts{}, constDepth: depth + 1}
	before := len(c.diags)
	var op operand
	if want != nil {
		op = b.assign(k.Decl.Value, want, "constant "+k.Name())
	} else {
		op = b.expr(k.Decl.Value, nil)
	}
	if s.done || op.typ == Invalid { // done: it turned out to be cyclic meanwhile
		return
	}
	_, isEnum := op.typ.(*Enum)
	if op.val == nil && len(c.diags) > before {
		return // it is made from a constant that is wrong
	}
	if op.val == nil {
		d := c.errorf(diag.NotConstant, k.Decl.Value, "the value of constant %s is not known at compile time", k.Name())
		d.Help = "constants are numbers, strings, booleans, durations and enum values, and expressions of these"
		return
	}
	k.typ = op.typ
	if want != nil {
		k.typ = want
	}
	k.Value = op.val
	if isEnum {
		k.Value = constant.ToInt(op.val)
	}
}
