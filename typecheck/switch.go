package typecheck

import (
	"go/constant"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

func isTrue(val constant.Value) bool {
	return val != nil && val.Kind() == constant.Bool && constant.BoolVal(val)
}

// switchStmt checks a switch. The values of its cases have the type of x.
func (b *body) switchStmt(s *ast.Switch) {
	op := b.value(s.X, nil)
	if IsOpaque(op.typ) {
		b.report(opaqueHere(op.typ, s.X.Span(), "this cannot be compared"))
		op = invalid
	}
	if op.typ != Invalid && !comparable(op.typ) {
		b.errorf(diag.NotComparable, s.X, "%s values cannot be compared", op.typ)
		op = invalid
	}
	m := b.null.mark()
	b.targets = append(b.targets, target{mark: m})
	seen := make(map[string]ast.Span)
	hasDefault := false
	var ends []delta
	for _, c := range s.Cases {
		hasDefault = hasDefault || c.Default
		for _, v := range c.Values {
			val := b.assign(v, op.typ, "a case of this switch")
			b.duplicateCase(seen, v, val)
		}
		b.scope.open()
		b.stmts(c.Body)
		b.scope.close()
		ends = append(ends, b.null.take(m))
	}
	t := b.targets[len(b.targets)-1]
	b.targets = b.targets[:len(b.targets)-1]
	ends = append(ends, t.breaks...)
	if !hasDefault && !b.exhaustive(s, op.typ, seen) {
		ends = append(ends, delta{})
	}
	if len(ends) > 0 {
		b.null.join(ends...)
	}
}

func caseKey(op operand) string { return op.typ.String() + " " + op.val.ExactString() }

func (b *body) duplicateCase(seen map[string]ast.Span, v ast.Expr, op operand) {
	if op.val == nil || op.typ == Invalid {
		return
	}
	key := caseKey(op)
	if before, twice := seen[key]; twice {
		b.report(diag.New(diag.DuplicateCase, v.Span(), "a second case for %s", shorten(v.Span().Text())).
			With(before, "the first one"))
		return
	}
	seen[key] = v.Span()
}

func shorten(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// exhaustive reports whether a switch without default names every value of
// its enum, and warns if it names some and not all.
func (b *body) exhaustive(s *ast.Switch, t Type, seen map[string]ast.Span) bool {
	e, ok := t.(*Enum)
	if !ok {
		return false
	}
	missing := missingValues(e, func(v *EnumValue) bool {
		_, ok := seen[caseKey(operand{e, constant.MakeInt64(int64(v.Index))})]
		return ok
	})
	if len(missing) == 0 {
		b.info.Exhaustive[s] = true
		return true
	}
	for _, c := range s.Cases {
		if len(c.Values) == 0 && !c.Default || slices.Contains(c.Values, nil) {
			b.info.Exhaustive[s] = true // a case could not be read, and may be what is missing
			return true
		}
	}
	b.report(diag.Warn(diag.MissingCases, s.X.Span(), "this switch has no case for %s", strings.Join(missing, ", ")).
		WithHelp("add the cases, or a default"))
	return false
}

const missingShown = 5

func missingValues(e *Enum, has func(*EnumValue) bool) []string {
	var missing []string
	for _, v := range e.Values {
		if has(v) {
			continue
		}
		if len(missing) == missingShown {
			return append(missing, "…")
		}
		missing = append(missing, v.Name())
	}
	return missing
}

// matchStmt checks a match on an enum; it must be exhaustive.
func (b *body) matchStmt(s *ast.Match) {
	op := b.value(s.X, nil)
	e, ok := op.typ.(*Enum)
	if !ok && op.typ != Invalid {
		b.errorf(diag.TypeMismatch, s.X, "match needs an enum, but this is %s", aType(op.typ)).Help = "use switch for other values"
	}
	m := b.null.mark()
	b.targets = append(b.targets, target{mark: m})
	seen := make(map[*EnumValue]ast.Span)
	hasDefault, unread := false, false
	var ends []delta
	for _, c := range s.Cases {
		hasDefault = hasDefault || c.Default
		unread = unread || len(c.Patterns) == 0 && !c.Default || slices.Contains(c.Patterns, nil)
		for _, p := range c.Patterns {
			if p != nil { // nil: a syntax error
				b.pattern(p, e, seen)
			}
		}
		b.scope.open()
		b.stmts(c.Body)
		b.scope.close()
		ends = append(ends, b.null.take(m))
	}
	t := b.targets[len(b.targets)-1]
	b.targets = b.targets[:len(b.targets)-1]
	if ends = append(ends, t.breaks...); len(ends) > 0 {
		b.null.join(ends...)
	}
	if e == nil || hasDefault || unread {
		return
	}
	if missing := missingValues(e, func(v *EnumValue) bool { _, ok := seen[v]; return ok }); len(missing) > 0 {
		b.errorf(diag.MissingCases, s.X, "this match has no case for %s", strings.Join(missing, ", ")).Help = "add the cases, or a default"
	}
}

func (b *body) pattern(p *ast.Pattern, e *Enum, seen map[*EnumValue]ast.Span) {
	if p.HasBinds || len(p.Binds) > 0 {
		b.later(p.Span(), "patterns with a payload")
		for _, n := range p.Binds { // so that their uses are no errors
			if n.Text != "_" {
				v := b.newVar(LoopVar, p, n, Invalid)
				b.scope.declare(v)
			}
		}
	}
	if e == nil {
		return
	}
	if p.Enum != nil && p.Enum.Text != e.name {
		b.errorAt(diag.TypeMismatch, p.Enum.Span(), "this match is on %s, not on %s", e.name, p.Enum.Text)
		return
	}
	if v := e.value(p.Value.Text); v != nil {
		if before, twice := seen[v]; twice {
			b.report(diag.New(diag.DuplicateCase, p.Span(), "a second case for %s", p.Value.Text).With(before, "the first one"))
		}
		seen[v] = p.Span()
		b.info.Patterns[p] = v
		return
	}
	d := b.errorAt(diag.UnknownMember, p.Value.Span(), "enum %s has no value %s", e.name, p.Value.Text)
	b.didYouMean(d, p.Value.Span(), b.similar(p.Value.Text, func(yield func(string)) {
		for _, v := range e.Values {
			yield(v.Name())
		}
	}))
}
