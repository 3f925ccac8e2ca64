package codegen

import (
	"github.com/aeon-lang/aeon/typecheck"
)

// narrow emits a method's Narrow: the members of its exact footprint, read from the target's fields and the arguments
// under a hold on the target. What is missing is left out: the method will fail with its own message.
func (p *pkg) narrow(w *writer, c *typecheck.Class, m *typecheck.Func) {
	if m.Effects == nil || m.Effects.Below != typecheck.BelowExact || p.inArgs(m) {
		return
	}
	usesSelf, usesArgs := false, false
	for _, e := range m.Effects.Narrow {
		usesSelf = usesSelf || e.Path.Param == nil && e.Path.Field != nil
		usesArgs = usesArgs || e.Path.Param != nil || e.Path.KeyParam != nil
	}
	w.add("%s.Narrow = func(self any, args aeonrt.Args, f *aeonrt.Footprint) {", p.gen(m, "method"))
	if usesSelf {
		w.add("a := self.(*%s)", p.names.obj[c])
	}
	if usesArgs {
		w.add("x := args.(*%s)", p.gen(m, "args"))
	}
	for _, e := range m.Effects.Narrow {
		if e.Path.Param == nil && e.Path.Field == nil {
			continue // the target itself
		}
		p.member(w, m, e)
	}
	w.add("}")
}

// inArgs reports whether an exact footprint lists only actors that ArgRefs lists, too: then it is
// known before the target is held, and nothing below the target is touched.
func (p *pkg) inArgs(m *typecheck.Func) bool {
	if m.Effects == nil || m.Effects.Below != typecheck.BelowExact {
		return false
	}
	for _, e := range m.Effects.Narrow {
		if e.Path.Field != nil {
			return false
		}
		if v := e.Path.Param; v != nil {
			if mode, tree := p.argMode(m, v); v.Yield || e.Below == typecheck.BelowAny || tree || mode < e.Mode {
				return false
			}
		}
	}
	return true
}

// member emits the code that adds the actors of one path.
func (p *pkg) member(w *writer, m *typecheck.Func, e typecheck.Member) {
	add := func(code string) string {
		if e.Below == typecheck.BelowAny {
			return "f.AddTree(" + code + ", " + modeNames[e.Mode] + ")"
		}
		return "f.Add(" + code + ", " + modeNames[e.Mode] + ")"
	}
	code, t := p.pathRoot(m, e.Path)
	if e.Path.Field != nil {
		if opt, ok := t.(*typecheck.Optional); ok {
			code, t = code+".Value()", opt.Elem
		}
		code, t = p.fieldOf(code, e.Path.Field), e.Path.Field.Type()
	}
	if opt, ok := t.(*typecheck.Optional); ok && !typecheck.IsRef(opt.Elem) {
		code, t = code+".Value()", opt.Elem
	}
	switch e.Path.Elem {
	case typecheck.ElemAt:
		code, t = p.elementAt(m, e.Path, code, t)
	case typecheck.ElemAll:
		p.allElements(w, code, t, add)
		return
	case typecheck.ElemKeys:
		w.add("for _, v := range %s.Keys().Items() {", code)
		p.addRefs(w, keyOf(t), "v", add)
		w.add("}")
		return
	}
	p.addRefs(w, t, code, add)
}

// fieldOf reads a field of an actor or value, which may be one that its package does not export.
func (p *pkg) fieldOf(code string, f *typecheck.Var) string {
	if p.foreign(f.Class) && !exported(p.names.obj[f]) {
		return p.gen(f, "get") + "(" + code + ")"
	}
	return code + "." + p.names.obj[f]
}

func (p *pkg) pathRoot(m *typecheck.Func, path typecheck.Path) (string, typecheck.Type) {
	if path.Param == nil {
		return "a", nil
	}
	return "x." + paramFields(m)[path.Param.Index], path.Param.Type()
}

// elementAt reads the element at a constant or parameter, or the zero value, which is null.
func (p *pkg) elementAt(m *typecheck.Func, path typecheck.Path, code string, t typecheck.Type) (string, typecheck.Type) {
	var k val
	if path.KeyParam != nil {
		k = val{code: "x." + paramFields(m)[path.KeyParam.Index], typ: path.KeyParam.Type()}
	} else if mt, ok := t.(*typecheck.Map); ok {
		k = p.constantKey(mt.Key, path)
	} else {
		k = val{code: p.literal(typecheck.Int, path.Key), typ: typecheck.Int, konst: true}
	}
	switch t := t.(type) {
	case *typecheck.Map:
		if t.Key == typecheck.Bytes {
			k.code += ".Key()"
		}
		return code + ".Lookup(" + k.code + ")", t.Value
	case *typecheck.Vector:
		if !k.konst && p.goType(k.typ) != "int64" {
			k.code = "int64(" + k.code + ")" // out of range either way if it does not fit
		}
		return "aeonrt.LookupElem(" + code + ", " + k.code + ")", t.Elem
	}
	panic("codegen: footprint with an element of " + t.String())
}

func (p *pkg) constantKey(t typecheck.Type, path typecheck.Path) val {
	if e, ok := t.(*typecheck.Enum); ok {
		i, _ := intConst(path.Key)
		return val{code: p.names.obj[e.Values[i]], typ: t}
	}
	return val{code: p.literal(t, path.Key), typ: t, konst: true}
}

// allElements adds the actors in all elements of a container; of a map, in all values.
func (p *pkg) allElements(w *writer, code string, t typecheck.Type, add func(string) string) {
	elem := "v"
	switch t.(type) {
	case *typecheck.Vector:
		w.add("for _, v := range %s.Items() {", code)
	case *typecheck.Set:
		w.add("for _, v := range %s.Keys().Items() {", code)
	default:
		w.add("for _, k := range %s.Keys().Items() {", code)
		elem = code + ".Lookup(k)"
	}
	p.addRefs(w, elementType(t), elem, add)
	w.add("}")
}

func elementType(t typecheck.Type) typecheck.Type {
	if s, ok := t.(*typecheck.Set); ok {
		return s.Elem
	}
	return elemOf(t)
}

// addRefs adds the actor that code refers to, or those in the value that it is.
func (p *pkg) addRefs(w *writer, t typecheck.Type, code string, add func(string) string) {
	if typecheck.IsActor(nonNull(t)) {
		w.add("%s", add(code+".Ref"))
		return
	}
	p.visitRefs(w, nil, t, code, "func(r aeonrt.Ref) { "+add("r")+" }")
}

// argRefs emits a method's ArgRefs: the plain actor arguments, also nested ones, each in the strongest mode
// that a path of the footprint from the parameter has.
func (p *pkg) argRefs(w *writer, m *typecheck.Func) {
	any := false
	for _, v := range m.Params {
		any = any || !v.Yield && holdsPlainRefs(v.Type())
	}
	if !any {
		return
	}
	names := paramFields(m)
	w.add("%s.ArgRefs = func(args aeonrt.Args, f *aeonrt.Footprint) {", p.gen(m, "method"))
	w.add("x := args.(*%s)", p.gen(m, "args"))
	for i, v := range m.Params {
		if v.Yield || !holdsPlainRefs(v.Type()) {
			continue
		}
		mode, tree := p.argMode(m, v)
		p.addRefs(w, v.Type(), "x."+names[i], func(code string) string {
			if tree {
				return "f.AddTree(" + code + ", " + modeNames[mode] + ")"
			}
			return "f.Add(" + code + ", " + modeNames[mode] + ")"
		})
	}
	w.add("}")
}

// argMode returns how a method touches the actors of a parameter, and whether it touches what is below them.
func (p *pkg) argMode(m *typecheck.Func, v *typecheck.Var) (mode typecheck.Mode, tree bool) {
	if m.Effects == nil {
		return typecheck.Write, true
	}
	for _, a := range m.Effects.Footprint {
		if a.Path.Param == v {
			mode = max(mode, a.Mode)
			tree = tree || a.Reach
		}
	}
	return mode, tree
}
