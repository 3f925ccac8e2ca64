package codegen

import (
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
)

// switchStmt lowers a switch on any value. Where Go's == is the equality, it is a Go switch on
// the value; otherwise one on conditions.
func (f *fn) switchStmt(s *ast.Switch) {
	x := f.expr(s.X)
	native := f.comparable(x.typ)
	if !x.stable && (!native || !f.constantCases(s)) {
		x = f.spill(x)
	}
	f.w.at(s.Span())
	if native {
		f.w.add("switch %s {", compositeSide(f.typed(x)))
	} else {
		f.w.add("switch {")
	}
	seen := map[string]bool{}
	hasDefault := false
	for _, c := range s.Cases {
		f.w.at(c.Span())
		if c.Default {
			hasDefault = true
			f.w.add("default:")
		} else {
			list := f.caseValues(x, native, c.Values, seen)
			if list == "" {
				continue // constants that earlier cases have, too
			}
			f.w.add("case %s:", list)
		}
		f.push()
		f.inSwitch(func() { f.stmts(c.Body) })
		f.pop()
	}
	if !hasDefault && f.info.Exhaustive[s] {
		f.w.add("default:")
		f.w.add("panic(%q)", "unreachable")
	}
	f.w.add("}")
}

func (f *fn) constantCases(s *ast.Switch) bool {
	for _, c := range s.Cases {
		for _, v := range c.Values {
			if f.info.ConstOf(v) == nil {
				return false
			}
		}
	}
	return true
}

func (f *fn) caseValues(x val, native bool, values []ast.Expr, seen map[string]bool) string {
	var list []string
	for _, e := range values {
		var v val
		pre := f.capture(func() { v = f.expr(e) })
		if f.info.ConstOf(e) != nil {
			if seen[v.code] {
				continue
			}
			seen[v.code] = true
		}
		code := v.code
		if !native {
			code = f.equal(x.typ, x.code, v.code)
		}
		if pre != "" {
			code = "func() " + caseType(f, x, native) + " {\n" + pre + "return " + code + "\n}()"
		}
		list = append(list, code)
	}
	return strings.Join(list, ", ")
}

func caseType(f *fn, x val, native bool) string {
	if native {
		return f.goType(x.typ)
	}
	return "bool"
}

func (f *fn) switchTerminates(s *ast.Switch) bool {
	hasDefault := f.info.Exhaustive[s]
	for _, c := range s.Cases {
		hasDefault = hasDefault || c.Default
		if !f.terminates(c.Body) {
			return false
		}
		for _, b := range c.Body {
			if breaks(b) {
				return false
			}
		}
	}
	return hasDefault && len(s.Cases) > 0
}

// matchStmt lowers a match, which names every value of its enum or has a default.
func (f *fn) matchStmt(s *ast.Match) {
	x := f.expr(s.X)
	f.w.at(s.Span())
	f.w.add("switch %s {", compositeSide(f.typed(x)))
	hasDefault := false
	for _, c := range s.Cases {
		f.w.at(c.Span())
		if c.Default {
			hasDefault = true
			f.w.add("default:")
		} else {
			var list []string
			for _, p := range c.Patterns {
				list = append(list, f.enumValue(f.info.Patterns[p]).code)
			}
			f.w.add("case %s:", strings.Join(list, ", "))
		}
		f.push()
		f.inSwitch(func() { f.stmts(c.Body) })
		f.pop()
	}
	if !hasDefault {
		f.w.add("default:")
		f.w.add("panic(%q)", "unreachable")
	}
	f.w.add("}")
}

func (f *fn) matchTerminates(s *ast.Match) bool {
	for _, c := range s.Cases {
		if !f.terminates(c.Body) || slices.ContainsFunc(c.Body, func(b ast.Stmt) bool { return breaks(b) }) {
			return false
		}
	}
	return true
}
