package codegen

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// What lies below a field of an actor is written in place, too. The runtime has to know enough to take that back:
// before a part of the actor's own memory, an element of a vector or an entry of a map is written, the runtime
// notes it (aeonrt.Log, VectorElem, MapUpdate). From there on it notes only what is written to further containers.
//
// A method of a value class that changes its receiver is emitted once more for receivers in fields of actors, if it
// may write to containers, or to references that own. This version gets the actor and the number of the field.

// logging says for which receivers a version of a method of a value class is.
type logging uint8

const (
	notLogged   logging = iota // variables
	logged                     // a value in a field of an actor
	loggedOwned                // one in a field whose references own
)

var loggingKinds = [...]string{logged: "logged", loggedOwned: "loggedOwned"}

// spot is how far a path below a field of an actor has been followed.
type spot struct {
	base    string // Go expression
	pointer bool   // base is the address
	t       typecheck.Type
	inside  bool   // the log restores what base lies in
	owned   bool   // plain references here own
	owner   string // the first arguments for the runtime, after the context: owner and field
}

// where returns the arguments by which the runtime's functions find the field and the place.
func (s *spot) where() string { return "cx, " + s.number() + ", " + address(s.base, s.t, s.pointer) }

// number returns owner and field, as code that is inside of the place takes them.
func (s *spot) number() string {
	if s.inside && s.owner != "owner, field" {
		return s.owner + "|aeonrt.Inside"
	}
	return s.owner
}

// suffix tells the runtime's functions that move ownership edges from those that do not.
func (s *spot) suffix() string {
	if s.owned && holdsPlainRefs(s.t) {
		return "Owned"
	}
	return ""
}

// writeField writes to a field of an actor, or of a value in one.
func (f *fn) writeField(at ast.Node, p place, l leaf) val {
	s := spot{base: f.base(p.root), t: p.root.Type(), inside: f.logged != notLogged, owner: "owner, field"}
	if s.inside {
		s.owned = f.logged == loggedOwned && !p.root.Yield
	} else {
		s.owned, s.owner = owning(p.root), "&self.Self, "+f.gen(p.root, "index")
	}
	switch {
	case len(p.steps) == 0 && l.set != "" && !s.inside:
		f.w.at(at.Span())
		f.w.add("self.%s(cx, %s)", f.setter(p.root), l.set)
		return val{}
	case l.method != nil && !f.inPlace(l.method):
		return f.writeCopy(at, p, l)
	}
	return f.writeSpot(at, s, p.steps, p.index, l)
}

// inPlace reports whether a method may change a value in a field of an actor in place. It may not if it calls actors,
// which may call back and change the field meanwhile, nor if it belongs to another package, which does not know that
// this version is wanted.
func (f *fn) inPlace(m *typecheck.Func) bool { return !touchesActors(m) && !f.foreign(m.Class) }

// touchesActors reports whether a function may call actors.
func touchesActors(g *typecheck.Func) bool { return g.Effects == nil || len(g.Effects.Classes) > 0 }

// writeSpot follows the steps from s on and does l at their end.
func (f *fn) writeSpot(at ast.Node, s spot, steps []typecheck.Step, index []val, l leaf) val {
	elements := false
	for i, step := range steps {
		last := i == len(steps)-1
		switch step.Kind {
		case typecheck.FieldStep:
			s.base, s.t, s.pointer = s.base+"."+f.names.obj[step.Field], step.Field.Type(), false
			s.owned = s.owned && !step.Field.Yield
			continue
		case typecheck.NonNullStep:
			f.unwrap(at, &s, step.Expr)
			continue
		}
		key := f.stepKey(s.t, index[i])
		if _, rows := s.t.(*typecheck.Table); last && l.set != "" && !rows { // a row is written in place, whose key must stay
			f.line1(at, "aeonrt."+containerName(s.t)+"Set"+s.suffix()+"("+s.where()+", "+key+", "+l.set+")")
			return val{}
		}
		switch t := s.t.(type) {
		case *typecheck.Map:
			return f.updateField(at, s, key, t.Value, steps[i+1:], index[i+1:], l)
		case *typecheck.Table:
			return f.updateField(at, s, key, t.Row, steps[i+1:], index[i+1:], l)
		}
		elem := f.temp()
		f.line1(at, elem+" := aeonrt.VectorElem("+s.where()+", "+key+")")
		s.base, s.t, s.pointer, s.inside, elements = elem, elemOf(s.t), true, true, true
	}
	out := f.finishSpot(at, &s, l)
	if elements && out.code != "" && !out.stable && !isVoid(l.result) {
		return f.spill(out) // the address must not live longer
	}
	return out
}

// unwrap goes into the optional value of x. A box gets a new content, which no other box has.
func (f *fn) unwrap(at ast.Node, s *spot, x ast.Expr) {
	elem := nonNull(s.t)
	if f.boxed(elem) && !s.inside {
		f.line1(at, "aeonrt.Log("+s.where()+")")
	}
	t := f.temp()
	f.line1(at, t+" := "+s.base+".Ref("+quote(ast.NullText(x))+")")
	s.base, s.t, s.pointer, s.inside = t, elem, true, s.inside || f.boxed(elem)
}

// updateField writes below an entry of a map or a row of a table.
func (f *fn) updateField(at ast.Node, s spot, key string, t typecheck.Type, steps []typecheck.Step, index []val, l leaf) val {
	result := ""
	if !isVoid(l.result) {
		result = f.temp()
		f.w.add("var %s %s", result, f.goType(l.result))
	}
	entry := f.temp()
	f.w.at(at.Span())
	f.w.add("aeonrt.%sUpdate(%s, %s, func(%s *%s) {", containerName(s.t), s.where(), key, entry, f.goType(t))
	s.base, s.t, s.pointer, s.inside = entry, t, true, true
	f.keep(at, f.writeSpot(at, s, steps, index, l), result)
	f.w.add("})")
	return val{code: result, typ: l.result, fresh: true, stable: true}
}

// finishSpot does l at the place that has been reached.
func (f *fn) finishSpot(at ast.Node, s *spot, l leaf) val {
	switch {
	case l.set != "":
		switch suffix := s.suffix(); {
		case suffix != "":
			f.line1(at, "aeonrt.LogOwned("+s.where()+", "+l.set+")")
		case !s.inside:
			f.line1(at, "aeonrt.Log("+s.where()+")")
		}
		target := s.base
		if s.pointer {
			target = "*" + target
		}
		f.line1(at, target+" = "+l.set)
		return val{}
	case l.method == nil:
		suffix := s.suffix()
		if strings.HasPrefix(l.operation, "Sort") {
			suffix = "" // the order changes no ownership
		}
		return fresh(l.result, "aeonrt."+containerName(s.t)+l.operation+suffix+"("+s.where()+l.more+")")
	}
	if !s.inside {
		f.line1(at, "aeonrt.Log("+s.where()+")")
		s.inside = true
	}
	if !f.needsLog(l.method, s.owned) {
		return fresh(l.result, s.base+"."+l.call)
	}
	kind := logged
	if s.suffix() != "" {
		kind = loggedOwned
	}
	return f.loggedCall(l.method, s.base, l.args, s.number(), kind)
}

// needsLog reports whether a method changes more of its receiver than its own memory: a container that it refers to, or
// references that own.
func (p *pkg) needsLog(m *typecheck.Func, owned bool) bool {
	if !p.shares(m.Class) && !(owned && holdsPlainRefs(m.Class)) {
		return false
	}
	return p.writesBeyond(m, owned, map[*typecheck.Func]bool{})
}

func (p *pkg) writesBeyond(m *typecheck.Func, owned bool, seen map[*typecheck.Func]bool) (found bool) {
	switch {
	case p.foreign(m.Class):
		return true // so that its receiver is copied
	case m.Body == nil || seen[m]:
		return false
	}
	seen[m] = true
	ast.Inspect(m.Body, func(n ast.Node) bool {
		st := p.info.Stores[n]
		if st == nil || found || st.Root != nil && st.Root.Kind != typecheck.FieldVar {
			return !found
		}
		owned := owned && (st.Root == nil || !st.Root.Yield)
		for _, s := range st.Steps {
			found = found || s.Kind == typecheck.IndexStep
			owned = owned && (s.Kind != typecheck.FieldStep || !s.Field.Yield)
		}
		call, isCall := n.(*ast.Call)
		switch {
		case !isCall:
			found = found || owned && holdsPlainRefs(st.Value)
		case p.info.Calls[call].Kind == typecheck.LibraryCall:
			found = true
		default:
			found = found || p.writesBeyond(p.info.Calls[call].Func, owned, seen)
		}
		return !found
	})
	return found
}

// loggedCall calls the version of a method for values in fields of actors, which is emitted if it is used.
func (f *fn) loggedCall(m *typecheck.Func, recv string, args []val, owner string, kind logging) val {
	want := version{m, kind}
	if !f.wanted[want] {
		f.wanted[want] = true
		f.versionsLeft = append(f.versionsLeft, want)
	}
	return fresh(m.Result, recv+"."+f.gen(m, loggingKinds[kind])+"("+withFirst("cx, "+owner, args)+")")
}

// version is a version of a method for values in fields of actors.
type version struct {
	m    *typecheck.Func
	kind logging
}

// loggedVersions emits the versions of methods that have been used, and those that they use.
func (p *pkg) loggedVersions(w *writer) {
	for len(p.versionsLeft) > 0 {
		v := p.versionsLeft[0]
		p.versionsLeft = p.versionsLeft[1:]
		m, c := v.m, v.m.Class
		name := p.gen(m, loggingKinds[v.kind])
		w.add("// %s is %s for a value in a field of an actor.", name, p.names.obj[m])
		e := p.newFn(m, byActor, w)
		e.logged = v.kind
		e.scopes[0]["owner"], e.scopes[0]["field"] = true, true
		params := e.params(false)
		if params != "" {
			params = ", " + params
		}
		e.body("func (self *"+p.names.obj[c]+") "+name+"(cx *aeonrt.Cx, owner *aeonrt.Self, field uint16"+params+")"+p.resultType(m.Result), nil, m.Body, m.Result, "")
	}
}

// writeCopy changes a copy of the element or field that the path goes through, and stores that.
func (f *fn) writeCopy(at ast.Node, p place, l leaf) val {
	v := val{code: f.base(p.root), typ: p.root.Type()}
	if len(p.steps) > 0 && p.steps[0].Kind == typecheck.IndexStep {
		elem := f.readStep(v, p.steps[0], p.index[0])
		return f.viaCopy(at, elem, p.steps[1:], p.index[1:], l, func(c string) {
			f.writeField(at, place{root: p.root, steps: p.steps[:1], index: p.index[:1]}, leaf{set: c})
		})
	}
	return f.viaCopy(at, v, p.steps, p.index, l, func(c string) { f.writeField(at, place{root: p.root}, leaf{set: c}) })
}

// viaCopy changes a copy of v and stores it with put.
func (f *fn) viaCopy(at ast.Node, v val, steps []typecheck.Step, index []val, l leaf, put func(string)) val {
	c := f.temp()
	f.w.at(at.Span())
	f.w.add("%s := %s", c, f.share(v))
	out := f.writeSteps(at, c, false, v.typ, steps, index, l)
	result := ""
	if out.code != "" {
		if !isVoid(l.result) {
			result = f.temp()
			f.w.at(at.Span())
			f.w.add("%s := %s", result, out.code)
		} else if !out.stable {
			f.w.at(at.Span())
			f.w.add("%s", out.code)
		}
	}
	f.w.at(at.Span())
	put(c)
	return val{code: result, typ: l.result, fresh: true, stable: true}
}

// containerName returns how the runtime's element-wise functions for a type begin.
func containerName(t typecheck.Type) string {
	switch t.(type) {
	case *typecheck.Vector:
		return "Vector"
	case *typecheck.Map:
		return "Map"
	case *typecheck.Set:
		return "Set"
	case *typecheck.Table:
		return "Table"
	case *typecheck.Basic:
		if t == typecheck.Bytes {
			return "Vector"
		}
	}
	return ""
}
