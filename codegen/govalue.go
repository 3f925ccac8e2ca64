package codegen

import (
	"go/types"

	"github.com/aeon-lang/aeon/typecheck"
)

// plainGo returns the text of a Go type at the border.
func (p *pkg) plainGo(g types.Type) string { return types.TypeString(g, p.goPackage) }

// goPackage returns the name of a Go package, which the file imports then.
func (p *pkg) goPackage(of *types.Package) string {
	if of.Path() == "time" {
		return markTime
	}
	p.goUsed[of.Path()] = true
	return p.names.goPackages[of.Path()]
}

// crossing is an enum or a value class and the Go type that is its counterpart.
type crossing struct {
	of typecheck.Type
	g  string
}

func crossingOf(t typecheck.Type, g types.Type) crossing {
	return crossing{t, types.TypeString(g, nil)}
}

// nameCrossing names the functions that carry such a value to Go and back.
func (n *names) nameCrossing(t typecheck.Type, g types.Type) {
	n.nameGoPackage(g)
	if _, ok := t.(*typecheck.GoType); ok {
		return
	}
	c := crossingOf(t, g)
	if _, known := n.gen[generated{c, "toGo"}]; known {
		return
	}
	n.add(c, "toGo", lowerFirst(t.String())+"ToGo")
	n.add(c, "ofGo", lowerFirst(t.String())+"OfGo")
}

// nameGoPackage names the Go package of a type that stands in generated code.
func (n *names) nameGoPackage(g types.Type) {
	if named, ok := g.(*types.Named); ok && n.goPackages[named.Obj().Pkg().Path()] == "" {
		n.goPackages[named.Obj().Pkg().Path()] = n.top.take(named.Obj().Pkg().Name())
	}
}

// goValue is a use of a function that carries enums, or objects, to Go or back.
type goValue struct {
	t  typecheck.Type
	g  types.Type
	to bool
}

// carried returns a call of the function that carries the value v.
func (p *pkg) carried(v string, use goValue) string {
	kind := "ofGo"
	if use.to {
		kind = "toGo"
	}
	name := p.gen(crossingOf(use.t, use.g), kind)
	if !p.goCarried[name] {
		p.goCarried[name] = true
		p.goUses = append(p.goUses, use)
	}
	return name + "(" + v + ")"
}

// goValues emits the functions that the others of the file, and they themselves, use.
func (p *pkg) goValues(w *writer) {
	for i := 0; i < len(p.goUses); i++ { // more are added meanwhile
		switch use := p.goUses[i]; t := use.t.(type) {
		case *typecheck.Enum:
			p.goEnum(w, t, use)
		case *typecheck.Class:
			p.goClass(w, t, use)
		}
	}
}

func (p *pkg) goEnum(w *writer, e *typecheck.Enum, use goValue) {
	c, name, plain := crossingOf(e, use.g), p.goType(e), p.plainGo(use.g)
	list, _ := typecheck.GoConstants(e, use.g)
	text := func(i int) string {
		if typecheck.IsGoString(use.g) {
			return quote(e.Values[i].Name())
		}
		return p.goPackage(list[i].Pkg()) + "." + list[i].Name()
	}
	if use.to {
		w.add("// %s returns the constant of %s that is v in Go.", p.gen(c, "toGo"), plain)
		w.add("func %s(v %s) %s {", p.gen(c, "toGo"), name, plain)
	} else {
		w.add("// %s returns the constant of %s that v is, or faults if it is none.", p.gen(c, "ofGo"), name)
		w.add("func %s(v %s) %s {", p.gen(c, "ofGo"), plain, name)
	}
	w.add("switch v {")
	for i, v := range e.Values {
		from, to := text(i), p.names.obj[v]
		if use.to {
			from, to = to, from
		}
		w.add("case %s:", from)
		w.add("return %s", to)
	}
	w.add("}")
	if use.to {
		w.add("panic(%s)", quote("a constant that "+e.Name()+" does not have"))
	} else {
		basic, as := use.g.Underlying().(*types.Basic), "int64"
		switch {
		case basic.Info()&types.IsString != 0:
			as = "string"
		case basic.Info()&types.IsUnsigned != 0:
			as = "uint64"
		}
		w.add("return aeonrt.NoConstant[%s](%s, %s(v))", name, quote(e.Name()), as)
	}
	w.add("}")
	w.add("")
}

func (p *pkg) goClass(w *writer, c *typecheck.Class, use goValue) {
	x, name, plain := crossingOf(c, use.g), p.goType(c), p.plainGo(use.g)
	list, _ := typecheck.GoFields(c, use.g)
	if use.to {
		w.add("// %s returns a copy of v as Go code has it.", p.gen(x, "toGo"))
		w.add("func %s(v %s) %s {", p.gen(x, "toGo"), name, plain)
		w.add("return %s{", plain)
	} else {
		w.add("// %s returns a copy of v.", p.gen(x, "ofGo"))
		w.add("func %s(v %s) %s {", p.gen(x, "ofGo"), plain, name)
		w.add("return %s{", name)
	}
	for i, f := range c.Fields {
		ours, theirs := p.names.obj[f], list[i].Name()
		if use.to {
			w.add("%s: %s,", theirs, p.toGo(f.Type(), list[i].Type(), "v."+ours))
		} else {
			w.add("%s: %s,", ours, p.ofGo(f.Type(), list[i].Type(), "v."+theirs))
		}
	}
	w.add("}")
	w.add("}")
	w.add("")
}

// toGo returns the Go expression for the value v of type t as Go code has it, where its type is g.
func (p *pkg) toGo(t typecheck.Type, g types.Type, v string) string { return p.cross(t, g, v, true) }

// ofGo returns the Go expression for the value v, whose type in Go code is g, as a value of type t.
func (p *pkg) ofGo(t typecheck.Type, g types.Type, v string) string { return p.cross(t, g, v, false) }

// cross is toGo, or ofGo unless to is set.
func (p *pkg) cross(t typecheck.Type, g types.Type, v string, to bool) string {
	g = types.Unalias(g)
	either := func(toGo, ofGo string) string {
		if to {
			return toGo
		}
		return ofGo
	}
	conv := func(t typecheck.Type, g types.Type) string {
		from, into := p.goType(t), p.plainGo(g)
		if !to {
			from, into = into, from
		}
		return "func(v " + from + ") " + into + " { return " + p.cross(t, g, "v", to) + " }"
	}
	if of := typecheck.GoTypeBehind(t); of != nil {
		return p.crossGoType(of, g, v, to)
	}
	switch t := t.(type) {
	case *typecheck.Optional:
		if typecheck.IsOpaque(t) {
			return either("aeonrt.GoNilable", "aeonrt.OptOfGoNilable") + "(" + v + ")"
		}
		return either("aeonrt.GoPointer", "aeonrt.OptOfGo") + "(" + v + ", " + conv(t.Elem, g.(*types.Pointer).Elem()) + ")"
	case *typecheck.Vector:
		return either("aeonrt.GoSlice", "aeonrt.VectorOfGo") + "(" + v + ", " + conv(t.Elem, g.(*types.Slice).Elem()) + ")"
	case *typecheck.Map:
		m := g.(*types.Map)
		return either("aeonrt.GoMap", "aeonrt.MapOfGo") + "(" + v + ", " + conv(t.Key, m.Key()) + ", " + conv(t.Value, m.Elem()) + ")"
	case *typecheck.Enum, *typecheck.Class:
		return p.carried(v, goValue{t, g, to})
	}
	switch t {
	case typecheck.Bytes:
		return either("aeonrt.GoBytes", "aeonrt.BytesOfGo") + "(" + v + ")"
	case typecheck.Time:
		return either("aeonrt.GoTime", "aeonrt.TimeOfGo") + "(" + v + ")"
	}
	if ours, theirs := p.goType(t), p.plainGo(g); ours != theirs {
		return either(theirs, ours) + "(" + v + ")"
	}
	return v
}

// crossGoType carries the value v of the Go type t, which in Go code is of the type g: that, or a pointer to it.
func (p *pkg) crossGoType(t *typecheck.GoType, g types.Type, v string, to bool) string {
	_, pointer := g.(*types.Pointer)
	held := pointer || t.IsInterface()
	switch {
	case !t.Opaque() && to && pointer:
		return p.textToGo(t, v)
	case !t.Opaque() && to:
		return "*" + p.textToGo(t, v)
	case !t.Opaque() && pointer:
		return "aeonrt.TextOfGo(" + quote(t.GoText()) + ", " + v + ")"
	case !t.Opaque():
		return "aeonrt.TextOfGo(" + quote(t.GoText()) + ", new(" + v + "))"
	case held && to:
		return v
	case held:
		return "aeonrt.NotNil(" + quote(t.GoText()) + ", " + v + ")"
	case to:
		return "*" + v
	}
	return "new(" + v + ")"
}

// textToGo returns the Go expression for a pointer to the Go value whose text is v.
func (p *pkg) textToGo(t *typecheck.GoType, v string) string {
	return "aeonrt.TextToGo[" + p.plainGo(t.Named) + "](" + quote(t.GoText()) + ", " + v + ")"
}
