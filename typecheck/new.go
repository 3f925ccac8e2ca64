package typecheck

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// new checks `new T(args)`.
func (b *body) new(x *ast.New) operand {
	t := b.typ(b.file, x.Type)
	class, ok := t.(*Class)
	if !ok {
		for _, a := range x.Args {
			b.expr(a, Invalid)
		}
		switch {
		case t == Invalid:
			return invalid
		case !IsContainer(t):
			d := b.errorf(diag.WrongKind, x.Type, "%s is no class, so new cannot make one", t)
			d.Help = "new makes objects of classes, vectors, maps and sets"
			return invalid
		case len(x.Args) > 0:
			b.errorf(diag.BadArgCount, x, "new %s takes no arguments: it is empty at first", t)
		}
		b.info.News[x] = &New{Type: t}
		return operand{typ: t}
	}
	info := &New{Type: class, Ctor: class.Ctor}
	b.newArgs(x, class, info)
	if class.Kind == ast.ClientClass {
		b.needClient(x.Span(), "making an object of a client class")
	}
	b.info.News[x] = info
	b.bf.news = append(b.bf.news, x)
	return operand{typ: class}
}

func (b *body) newArgs(x *ast.New, class *Class, info *New) {
	ctor := class.Ctor
	if ctor == nil {
		return
	}
	if ctor.Decl != nil || class.Kind != ast.ValueClass {
		for i, a := range x.Args {
			if len(x.Args) == len(ctor.Params) {
				info.Params = append(info.Params, ctor.Params[i].typ)
				b.assign(a, ctor.Params[i].typ, argName2(ctor, i))
			} else {
				b.loose(a)
			}
		}
		if len(x.Args) != len(ctor.Params) {
			b.argCount(x, x.Args, ctor, len(ctor.Params))
		}
		return
	}
	fields := implicitFields(ctor, len(x.Args))
	if fields == nil && len(x.Args) > 0 || !coversMustSet(ctor, fields) {
		b.implicitCount(x, class)
		for _, a := range x.Args {
			b.loose(a)
		}
		return
	}
	info.Fields = fields
	for i, a := range x.Args {
		info.Params = append(info.Params, fields[i].typ)
		b.assign(a, fields[i].typ, "field "+class.name+"."+fields[i].name)
	}
}

func argName2(f *Func, i int) string {
	return "parameter " + f.Params[i].name + " of new " + f.Class.name
}

// implicitFields returns the fields that n arguments of an implicit
// constructor set: all without initialiser, or only those that must be set.
func implicitFields(ctor *Func, n int) []*Var {
	if n == len(ctor.ImplicitFields) {
		return ctor.ImplicitFields
	}
	var must []*Var
	for _, f := range ctor.ImplicitFields {
		if mustSet(f) {
			must = append(must, f)
		}
	}
	if n == len(must) {
		return must
	}
	return nil
}

func coversMustSet(ctor *Func, fields []*Var) bool {
	n := 0
	for _, f := range fields {
		if mustSet(f) {
			n++
		}
	}
	for _, f := range ctor.ImplicitFields {
		if mustSet(f) {
			n--
		}
	}
	return n == 0
}

func (b *body) implicitCount(x *ast.New, class *Class) {
	d := diag.New(diag.BadArgCount, x.Span(), "new %s takes %s, but %d %s given", class.name, plural(len(class.Ctor.ImplicitFields), "argument"), len(x.Args), wasWere(len(x.Args)))
	d = d.With(class.Span(), "it has no constructor, so its fields without initialiser are given in order")
	if len(class.Ctor.ImplicitFields) == 0 {
		b.report(d.WithHelp("write `new %s()`, as all its fields have an initial value; or declare a constructor, `%s(…) { … }`", class.name, class.name))
		return
	}
	if !b.mayList() {
		b.report(d)
		return
	}
	var fields []string
	for _, f := range class.Ctor.ImplicitFields {
		fields = append(fields, f.typ.String()+" "+f.name)
	}
	b.report(d.WithHelp("it is `new %s(%s)`", class.name, few(fields)))
}

// actorRef checks actor<T>(key).
func (b *body) actorRef(x *ast.ActorRef) operand {
	b.bf.named = append(b.bf.named, x)
	t := b.typ(b.file, x.Type)
	if key := b.value(x.Key, String); key.typ != Invalid && key.typ != String {
		b.report(b.mismatch(x.Key, key, String, "the name of an actor"))
	}
	if t == Invalid {
		return invalid
	}
	class, ok := t.(*Class)
	if !ok || class.Kind != ast.ActorClass {
		b.errorf(diag.BadNamedActor, x.Type, "%s is no actorclass; only actors have names", t)
		return invalid
	}
	if class.Ctor != nil && len(class.Ctor.Params) > 0 {
		b.report(diag.New(diag.NamedConstructor, x.Span(), "%s cannot be made by name, because its constructor has parameters", class.name).
			With(class.Ctor.span, "the constructor").
			WithHelp("a named actor is created at its first use, without arguments; set it up in a method"))
	}
	return operand{typ: class}
}
