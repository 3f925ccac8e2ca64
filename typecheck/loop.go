package typecheck

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// eachLoop checks a loop over the elements of a container, or over the entries of a map.
func (b *body) eachLoop(s *ast.ForEach) {
	op := b.receiver(s.X)
	var elem, val Type
	if s.Value == nil {
		elem = b.elementType(s, op)
	} else {
		elem, val = b.entryTypes(s, op)
	}
	elem = b.loopType(s.Type, elem, "the elements")
	if s.Value != nil {
		val = b.loopType(s.Value.Type, val, "the values")
	}
	b.declare(b.newVar(LoopVar, s, s.Name, elem))
	if s.Value != nil {
		b.declare(b.newVar(LoopVar, s.Value, s.Value.Name, val))
	}
	b.forgetAssigned(s.Body)
	b.bf.loops = append(b.bf.loops, s)
	m := b.null.mark()
	b.loopBody(s.Body, m)
	b.null.undo(m)
}

// loopType returns the type of a variable that takes elements of type elem.
func (b *body) loopType(declared ast.Type, elem Type, what string) Type {
	if declared == nil {
		return elem
	}
	t := b.typ(b.file, declared)
	if t != Invalid && elem != Invalid && !Identical(t, elem) {
		b.report(diag.New(diag.TypeMismatch, declared.Span(), "%s are %s, not %s", what, elem, t).
			WithFix("write "+elem.String(), diag.Replace(declared.Span(), elem.String())))
	}
	return t
}

// entryTypes returns the types of the keys and the values that a loop with two variables goes over.
func (b *body) entryTypes(s *ast.ForEach, op operand) (key, val Type) {
	switch t := op.typ.(type) {
	case *Map:
		return t.Key, t.Value
	case *Optional:
		b.report(maybeNull(s.X, "this may be null, so a loop has nothing to go over"))
	default:
		if t != Invalid {
			b.errorf(diag.BadIteration, s.X, "a loop with two variables goes over the entries of a map, and this is %s", aType(t)).Help = "a loop over a vector, set or table has one: `for (T x : xs) { … }`"
		}
	}
	return Invalid, Invalid
}

func (b *body) elementType(s *ast.ForEach, op operand) Type {
	switch t := op.typ.(type) {
	case *Vector:
		return t.Elem
	case *Set:
		return t.Elem
	case *Table:
		return t.Row
	case *Map:
		d := diag.New(diag.BadIteration, s.X.Span(), "a loop over a map goes over its keys, its values or both: say which")
		b.report(d.WithHelp("write %s.keys() or %s.values(), or `for (%s k, %s v : %s)`", operandText(s.X), operandText(s.X), t.Key, t.Value, s.X.Span().Text()).
			WithFix("loop over the keys", behind(s.X, ".keys()")...))
	case *Optional:
		b.report(maybeNull(s.X, "this may be null, so a loop has nothing to go over"))
	case *Basic:
		switch {
		case t == Invalid:
		case IsInteger(t):
			b.errorf(diag.BadIteration, s.X, "a loop cannot go over %s", aType(t)).Help = "to count, write `for (int i = 0 upto n)`"
		default:
			b.errorf(diag.BadIteration, s.X, "a loop cannot go over %s", aType(t)).Help = "vectors and sets can be looped over"
		}
	default:
		b.errorf(diag.BadIteration, s.X, "a loop cannot go over %s", aType(t)).Help = "vectors and sets can be looped over"
	}
	return Invalid
}
