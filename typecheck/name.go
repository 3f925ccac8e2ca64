package typecheck

import (
	"go/constant"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// lookup finds what a bare name denotes: local, member of the class, package, value of an enum, import, universe. Of
// values the one of the enum that the context wants, also of another package, goes before the only one of this package.
// It is nil if there is nothing.
func (b *body) lookup(id *ast.Ident, want Type) Object {
	if v := b.scope.lookup(id.Name); v != nil {
		return v
	}
	if b.class != nil {
		if m := b.class.members[id.Name]; m != nil {
			return m
		}
	}
	if obj := b.pkg.scope[id.Name]; obj != nil {
		return obj
	}
	if e, ok := nonNull(want).(*Enum); ok {
		if v := e.value(id.Name); v != nil {
			return v
		}
	}
	if values := b.values[id.Name]; len(values) == 1 {
		return values[0]
	}
	return b.lookupTop(b.file, id.Name)
}

// ident checks a bare name as a value.
func (b *body) ident(id *ast.Ident, want Type) operand {
	obj := b.lookup(id, want)
	if values := b.values[id.Name]; len(values) > 1 && obj == nil {
		return b.ambiguousValue(id, values)
	}
	if obj == nil {
		b.undefined(id, false)
		return invalid
	}
	b.info.Uses[id] = obj
	switch obj := obj.(type) {
	case *Var:
		return b.variable(id, obj)
	case *Const:
		return b.constant(obj, id)
	case *EnumValue:
		return enumOperand(obj)
	case *badObject:
		return invalid
	}
	b.notAValue(id, obj)
	return invalid
}

func enumOperand(v *EnumValue) operand {
	if v.Decl.Payload != nil {
		return invalid
	}
	return operand{v.Enum, constant.MakeInt64(int64(v.Index))}
}

// variable is a read of a local, a parameter or a field of `this`.
func (b *body) variable(at ast.Expr, v *Var) operand {
	if v.Kind == FieldVar {
		b.fieldUse(at, v)
		if b.tableUse(at, v) {
			return invalid
		}
		return operand{typ: v.typ}
	}
	v.Used = true
	if o, ok := v.typ.(*Optional); ok && b.null.has(v) {
		return operand{typ: o.Elem}
	}
	return operand{typ: v.typ}
}

// fieldUse reports a field in the initialiser of another one.
func (b *body) fieldUse(at ast.Expr, v *Var) {
	if b.fieldInit {
		b.report(diag.New(diag.InitialiserUse, at.Span(), "an initialiser cannot use the field %s", v.name).
			With(v.span, "declared here").
			WithHelp("set the field in the constructor, where all fields are at hand"))
	}
}

func (b *body) constant(k *Const, at ast.Node) operand {
	b.evalConst(k, at, b.constDepth)
	if k.typ == Invalid || k.Value == nil {
		return invalid
	}
	return operand{k.typ, k.Value}
}

func (b *body) ambiguousValue(id *ast.Ident, values []*EnumValue) operand {
	d := diag.New(diag.AmbiguousName, id.Span(), "%s is a value of more than one enum", id.Name)
	var full []string
	for _, v := range values {
		d = d.With(v.Span(), "of %s", v.Enum.name)
		full = append(full, v.Enum.name+"."+id.Name)
	}
	b.report(d.WithHelp("say which: %s", strings.Join(full, " or ")))
	return invalid
}

func (b *body) notAValue(id *ast.Ident, obj Object) {
	d := diag.New(diag.WrongKind, id.Span(), "%s is %s, not a value", id.Name, describe(obj))
	switch obj := obj.(type) {
	case *Func, *Builtin:
		d = d.WithHelp("call it: %s(…)", id.Name)
	case *Class:
		d = d.WithHelp("make one: `new %s(…)`", obj.name)
	}
	b.report(d)
}

// undefined reports a name that nothing has, in the place of a value or of what is called, and
// suggests only what may stand there.
func (b *body) undefined(id *ast.Ident, call bool) {
	d := b.errorf(diag.UndefinedName, id, "%s is not declared", id.Name)
	if ours, ok := foreignNames[id.Name]; ok {
		b.didYouMean(d, id.Span(), ours)
		return
	}
	if help, ok := foreignNameHelp[id.Name]; ok {
		d.Help = help
		return
	}
	if call && slices.Contains(libraryNames[:], id.Name) {
		d.Help = id.Name + " is a method: `x." + id.Name + "(…)`"
		return
	}
	if full := b.importedValue(id.Name); full != "" && !call {
		b.didYouMean(d, id.Span(), full)
		return
	}
	name := b.similar(id.Name, func(yield func(string)) {
		fits := func(n string, obj Object) {
			switch obj.(type) {
			case *Var, *Const:
				if call {
					return
				}
			case *Func, *Builtin, *Class, *basicName:
				if !call {
					return
				}
			}
			yield(n)
		}
		for n, v := range b.scope.byName {
			fits(n, v.v)
		}
		if b.class != nil {
			for n, m := range b.class.members {
				fits(n, m)
			}
		}
		for n, obj := range b.pkg.scope {
			fits(n, obj)
		}
		for n, obj := range universe {
			fits(n, obj)
		}
		if call {
			return
		}
		for n := range b.values {
			yield(n)
		}
		for _, n := range []string{"true", "false", "null"} {
			yield(n)
		}
	})
	b.didYouMean(d, id.Span(), name)
}

func (b *body) this(x *ast.This) operand {
	if b.class == nil {
		d := b.errorf(diag.ThisOutside, x, "there is no `this` here: it is the object whose method runs")
		d.Help = "only methods and constructors of classes have a `this`"
		return invalid
	}
	if b.fieldInit {
		b.errorf(diag.InitialiserUse, x, "an initialiser cannot use `this`").Help = "set the field in the constructor"
		return invalid
	}
	return operand{typ: b.class}
}

// field checks x.name as a value.
func (b *body) field(x *ast.Field, want Type) operand {
	if obj, op, done := b.qualifiedValue(x); done {
		if obj != nil {
			b.info.Uses[x] = obj
		}
		return op
	}
	recv := b.value(x.X, nil)
	if recv.typ == Invalid || x.Name.Text == "" {
		return invalid
	}
	if o, ok := recv.typ.(*Optional); ok {
		return b.fieldOfNull(x, o)
	}
	return b.member1(x, x.X, recv.typ, x.Name)
}

// qualifiedValue handles pkg.Name and Enum.VALUE; done is false if x is neither.
func (b *body) qualifiedValue(x *ast.Field) (obj Object, op operand, done bool) {
	id, ok := ast.Unparen(x.X).(*ast.Ident)
	if !ok {
		if q, ok := ast.Unparen(x.X).(*ast.Field); ok { // pkg.Enum.VALUE
			if e, ok := b.qualifiedEnum(q); ok {
				return b.enumMember(x, e)
			}
		}
		return nil, operand{}, false
	}
	if b.scope.lookup(id.Name) != nil || b.class != nil && b.class.members[id.Name] != nil {
		return nil, operand{}, false
	}
	switch owner := b.lookupTop(b.file, id.Name).(type) {
	case *PkgName:
		b.info.Uses[id] = owner
		if owner.Pkg == nil {
			return nil, invalid, true
		}
		if full := valueOf(owner, x.Name.Text); full != "" && owner.Pkg.scope[x.Name.Text] == nil {
			owner.used = true
			d := b.errorAt(diag.UndefinedName, x.Name.Span(), "package %s has no %s", owner.Pkg.Name, x.Name.Text)
			b.didYouMean(d, x.Span(), full)
			return nil, invalid, true
		}
		obj := b.member(owner.Pkg, x.Name)
		switch obj := obj.(type) {
		case nil:
			return nil, invalid, true
		case *Const:
			return obj, operand{obj.typ, obj.Value}, true
		default:
			b.errorAt(diag.WrongKind, x.Span(), "%s.%s is %s, not a value", id.Name, x.Name.Text, describe(obj))
			return obj, invalid, true
		}
	case *Enum:
		b.info.Uses[id] = owner
		return b.enumMember(x, owner)
	case *Class:
		b.errorf(diag.WrongKind, x, "%s is %s; fields and methods belong to its objects", id.Name, describe(owner))
		return nil, invalid, true
	case *badObject:
		return nil, invalid, true
	}
	return nil, operand{}, false
}

func (b *body) qualifiedEnum(q *ast.Field) (*Enum, bool) {
	id, ok := ast.Unparen(q.X).(*ast.Ident)
	if !ok || b.scope.lookup(id.Name) != nil {
		return nil, false
	}
	p, ok := b.lookupTop(b.file, id.Name).(*PkgName)
	if !ok || p.Pkg == nil {
		return nil, false
	}
	e, ok := p.Pkg.scope[q.Name.Text].(*Enum)
	if ok && exported(q.Name.Text) {
		b.info.Uses[id], b.info.Uses[q] = p, e
		return e, true
	}
	return nil, false
}

func (b *body) enumMember(x *ast.Field, e *Enum) (Object, operand, bool) {
	if v := e.value(x.Name.Text); v != nil {
		return v, enumOperand(v), true
	}
	d := b.errorAt(diag.UnknownMember, x.Name.Span(), "enum %s has no value %s", e.name, x.Name.Text)
	b.didYouMean(d, x.Name.Span(), b.similar(x.Name.Text, func(yield func(string)) {
		for _, v := range e.Values {
			yield(v.Name())
		}
	}))
	if d.Help == "" && b.mayList() {
		var have []string
		for _, v := range e.Values {
			have = append(have, v.Name())
		}
		d.Help = "it has " + few(have)
	}
	return nil, invalid, true
}

// member1 is the field name of a receiver of type t.
func (b *body) member1(x ast.Expr, recv ast.Expr, t Type, name ast.Name) operand {
	class, ok := t.(*Class)
	if !ok {
		b.noMember(t, name, false)
		return invalid
	}
	obj := b.findMember(class, name, false)
	if obj == nil {
		return invalid
	}
	b.info.Uses[x] = obj
	v, ok := obj.(*Var)
	if !ok {
		if _, bad := obj.(*badObject); !bad {
			d := b.errorAt(diag.WrongKind, name.Span(), "%s is %s, not a field", name.Text, describe(obj))
			d.Help = "call it: " + name.Text + "(…)"
		}
		return invalid
	}
	_, isThis := ast.Unparen(recv).(*ast.This)
	if class.Kind != ast.ValueClass && !isThis {
		d := diag.New(diag.ForeignField, name.Span(), "the fields of %s are reached through `this` only", class.name).
			With(v.span, "declared here")
		if class.Kind == ast.ClientClass {
			d = d.WithHelp("callbacks have no result: a method of %s has to do what needs %s", class.name, v.name)
		} else if b.writesThrough(x) {
			d = d.WithHelp("add a method to %s that writes it: `void set(%s %s) { this.%s = %s; }`", class.name, v.typ, v.name, v.name, v.name)
		} else {
			d = d.WithHelp("add a method to %s that returns it: `ro %s get() { return %s; }`", class.name, v.typ, v.name)
		}
		b.report(d)
		return operand{typ: v.typ}
	}
	if isThis {
		b.fieldUse(x, v)
		if b.tableUse(x, v) {
			return invalid
		}
	}
	return operand{typ: v.typ}
}

// findMember finds a member of a class and reports what is wrong with it.
func (b *body) findMember(class *Class, name ast.Name, call bool) Object {
	obj := class.members[name.Text]
	if obj == nil {
		b.noMember(class, name, call)
		return nil
	}
	if class.Pkg != b.pkg && !exported(name.Text) {
		b.errorAt(diag.NotExported, name.Span(), "%s.%s is not exported by package %s: only names that start with a capital letter are", class.name, name.Text, class.Pkg.Name)
		return nil
	}
	return obj
}

func (b *body) noMember(t Type, name ast.Name, call bool) {
	kind := "field"
	if call {
		kind = "method"
	}
	d := b.errorAt(diag.UnknownMember, name.Span(), "%s has no %s %s", t, kind, name.Text)
	if _, class := t.(*Class); !class {
		if help := foreignMethodHelp(t, name.Text); help != "" {
			d.Help = help
			return
		}
	}
	if m, method := libraryMethod(t, name.Text); method && !call {
		if *d = d.WithHelp("%s is a method: call it", name.Text); len(m.params) == 0 && !b.isWritten(name) {
			*d = d.WithFix("call it", diag.InsertAfter(name.Span(), "()"))
		}
		return
	}
	if f, ok := b.pkg.scope[name.Text].(*Func); ok && call && len(f.Params) > 0 && Identical(f.Params[0].typ, t) {
		d.Help = name.Text + " is a function: `" + f.Signature() + "`"
		return
	}
	ours := b.similarMember(t, name.Text)
	if m, method := libraryMethod(t, ours); method && !call {
		if len(m.params) > 0 || b.isWritten(name) {
			d.Help = "did you mean " + ours + "(…)?"
			return
		}
		ours += "()"
	}
	if _, builtin := universe[name.Text].(*Builtin); builtin && call && ours == "" {
		d.Help = name.Text + " is a function: `" + name.Text + "(…)`"
	} else if b.didYouMean(d, name.Span(), ours); ours == "" {
		d.Help = b.memberHelp(t, call)
	}
}

func (b *body) similarMember(t Type, name string) string {
	if class, ok := t.(*Class); ok {
		return b.similar(name, func(yield func(string)) {
			for n := range class.members {
				yield(n)
			}
		})
	}
	for _, alias := range foreignMethods[name] {
		if _, ok := libraryMethod(t, alias); ok {
			return alias
		}
	}
	return b.similar(name, func(yield func(string)) {
		for _, n := range libraryNames {
			if _, ok := libraryMethod(t, n); ok && n != "" {
				yield(n)
			}
		}
	})
}

// fieldOfNull reports x.f where x may be null, and goes on as if it were not.
func (b *body) fieldOfNull(x *ast.Field, o *Optional) operand {
	d := maybeNull(x.X, "this may be null, so it has no field "+x.Name.Text)
	if _, ok := ast.Unparen(x.X).(*ast.Ident); ok {
		if v, ok := b.info.Uses[ast.Unparen(x.X)].(*Var); ok && v.Kind == FieldVar {
			d = d.WithHelp("a test does not narrow a field, as another call may change it; copy it: `if (%s x = %s) { … }`", o.Elem, v.name)
		}
	}
	b.report(d)
	class, ok := o.Elem.(*Class)
	if !ok {
		return invalid
	}
	if v, ok := class.members[x.Name.Text].(*Var); ok {
		b.info.Uses[x] = v
		return operand{typ: v.typ}
	}
	return invalid
}

// optionalField checks x?.name as a value.
func (b *body) optionalField(x *ast.OptionalField) operand {
	recv := b.value(x.X, nil)
	if recv.typ == Invalid {
		return invalid
	}
	o, ok := recv.typ.(*Optional)
	if !ok {
		b.neverNull(x.X, recv.typ, "?.", ast.Span{Src: x.Name.Range.Src, Start: x.X.Span().End, End: x.Name.Range.Start}, ".")
		o = &Optional{recv.typ}
	}
	op := b.member1(x, x.X, o.Elem, x.Name)
	return operand{typ: makeOptional(op.typ)}
}

// neverNull reports an operator for null on something that never is.
func (b *body) neverNull(x ast.Expr, t Type, operator string, at ast.Span, instead string) {
	d := diag.New(diag.NeverNull, x.Span(), "%s, so %s has nothing to do", b.notNull(x, t), operator)
	if at.IsValid() {
		d = d.WithFix("write "+instead, diag.Replace(at, instead))
	}
	b.report(d)
}

// notNull says why x is not null: by its type, or by what is known of it here.
func (b *body) notNull(x ast.Expr, t Type) string {
	if v := b.wholeLocal(x); v != nil {
		if _, optional := v.typ.(*Optional); optional {
			return v.name + " is known not to be null here"
		}
	}
	return t.String() + " is never null"
}

// nonNull checks x!.
func (b *body) nonNull(x *ast.NonNull, want Type) operand {
	if want != nil {
		want = makeOptional(want)
	}
	op := b.value(x.X, want)
	switch t := op.typ.(type) {
	case *Optional:
		return operand{typ: t.Elem}
	default:
		if op.typ != Invalid {
			d := diag.New(diag.NeverNull, x.Span(), "%s, so ! has nothing to do", b.notNull(x.X, t)).
				WithFix("remove !", diag.Replace(ast.Span{Src: x.Range.Src, Start: x.X.Span().End, End: x.Range.End}, ""))
			b.report(d)
		}
		return op
	}
}

// coalesce checks x ?? y.
func (b *body) coalesce(x *ast.Coalesce, want Type) operand {
	if want != nil {
		want = makeOptional(want)
	}
	left := b.value(x.X, want)
	if left.typ == Invalid {
		b.loose(x.Y)
		return invalid
	}
	o, ok := left.typ.(*Optional)
	if !ok {
		b.neverNull(x.X, left.typ, "??", ast.Span{}, "")
		b.value(x.Y, left.typ)
		return left
	}
	right := b.expr(x.Y, left.typ)
	if right.typ == Null || right.typ != Invalid && Identical(right.typ, left.typ) {
		b.fit(x.Y, right, left.typ, "the right side of ??")
		return operand{typ: left.typ}
	}
	b.fit(x.Y, right, o.Elem, "the right side of ??")
	return operand{typ: o.Elem}
}
