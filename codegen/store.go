package codegen

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// Containers, classes and bytes are values, so something is changed by writing to a path, in place. Where the path
// starts from a field of an actor, the writes go through the runtime, which logs undo and redo (fieldwrite.go).

// place is a path that is written.
type place struct {
	root  *typecheck.Var
	steps []typecheck.Step
	index []val // of the index steps, lowered and stable
}

// leaf is what is done at the end of a path.
type leaf struct {
	// set assigns this value; "" if call is set.
	set string
	// call is a call of the program's method without its receiver, as in "Add(x)".
	call   string
	method *typecheck.Func
	args   []val
	// result is the type of what the call returns, Void if that is dropped.
	result typecheck.Type
	// operation and more say what the runtime does instead, and its arguments after the container.
	operation string
	more      string
}

// place lowers the operands of a path.
func (f *fn) place(st *typecheck.Store) place {
	p := place{root: st.Root, steps: st.Steps}
	var list []ast.Expr
	for _, s := range st.Steps {
		list = append(list, s.Index) // nil for the other steps
	}
	p.index = f.operands(func(_ int, x ast.Expr) val { return f.expr(x) }, list...)
	for i, v := range p.index {
		if list[i] != nil && !v.stable && !v.konst {
			p.index[i] = f.spill(v)
		}
	}
	return p
}

// viaRuntime reports whether the root is a field whose writes the runtime has to know of.
func (f *fn) viaRuntime(root *typecheck.Var) bool {
	switch {
	case root == nil || root.Kind != typecheck.FieldVar:
		return false
	case f.logged != notLogged:
		return true
	}
	return f.f.IsMethodOf(ast.ActorClass) && (!f.building || owning(root))
}

// base returns the Go variable that the path starts from.
func (f *fn) base(root *typecheck.Var) string {
	if root.Kind == typecheck.FieldVar {
		return "self." + f.names.obj[root]
	}
	if name, ok := f.locals[root]; ok {
		return name
	}
	panic("codegen: undeclared local " + root.Name())
}

// read returns the current value at the end of the path.
func (f *fn) read(p place) val {
	v := val{code: f.base(p.root), typ: p.root.Type(), loads: localVars}
	if p.root.Kind == typecheck.FieldVar {
		v.loads = fields
	} else {
		f.local(p.root)
	}
	for i, s := range p.steps {
		v = f.readStep(v, s, p.index[i])
	}
	return v
}

func (f *fn) readStep(v val, s typecheck.Step, i val) val {
	switch s.Kind {
	case typecheck.FieldStep:
		return val{code: v.code + "." + f.names.obj[s.Field], typ: s.Field.Type(), loads: v.loads}
	case typecheck.NonNullStep:
		return val{code: v.code + ".Must(" + quote(ast.NullText(s.Expr)) + ")", typ: nonNull(v.typ)}
	}
	return val{code: v.code + ".At(" + f.stepKey(v.typ, i) + ")", typ: elemOf(v.typ)}
}

func elemOf(t typecheck.Type) typecheck.Type {
	switch t := t.(type) {
	case *typecheck.Vector:
		return t.Elem
	case *typecheck.Map:
		return t.Value
	case *typecheck.Table:
		return t.Row
	}
	return typecheck.Uint8
}

// stepKey returns the lowered index of a step into a container of type t.
func (f *fn) stepKey(t typecheck.Type, i val) string {
	switch t := t.(type) {
	case *typecheck.Map:
		return f.key(t.Key, i)
	case *typecheck.Table:
		return f.key(t.Key.Type(), i)
	}
	return f.position(i)
}

// write emits what l does at the end of p, and returns the result, if there is one.
func (f *fn) write(at ast.Node, p place, l leaf) val {
	if f.viaRuntime(p.root) {
		return f.writeField(at, p, l)
	}
	if p.root.Kind != typecheck.FieldVar && len(p.steps) > 0 {
		f.local(p.root)
	}
	return f.writeSteps(at, f.base(p.root), false, p.root.Type(), p.steps, p.index, l)
}

// writeSteps writes in place, from the addressable Go expression base on, or from what it points to.
func (f *fn) writeSteps(at ast.Node, base string, pointer bool, t typecheck.Type, steps []typecheck.Step, index []val, l leaf) val {
	for i, s := range steps {
		last := i == len(steps)-1
		switch s.Kind {
		case typecheck.FieldStep:
			base, t, pointer = base+"."+f.names.obj[s.Field], s.Field.Type(), false
			continue
		case typecheck.NonNullStep:
			base, t, pointer = base+".Ref("+quote(ast.NullText(s.Expr))+")", nonNull(t), true
			continue
		}
		key := f.stepKey(t, index[i])
		if last && l.set != "" {
			f.w.at(at.Span())
			f.w.add("aeonrt.%s(%s, %s, %s)", setter(t), address(base, t, pointer), key, l.set)
			return val{}
		}
		switch t := t.(type) {
		case *typecheck.Map:
			return f.update(at, "aeonrt.UpdateEntry("+address(base, t, pointer), key, t.Value, steps[i+1:], index[i+1:], l)
		case *typecheck.Table:
			return f.update(at, "aeonrt.UpdateRow("+base, key, t.Row, steps[i+1:], index[i+1:], l)
		}
		base, t, pointer = "aeonrt.RefAt("+address(base, t, pointer)+", "+key+")", elemOf(t), true
	}
	if l.set != "" {
		if pointer {
			base = "*" + base
		}
		f.w.at(at.Span())
		f.w.add("%s = %s", base, l.set)
		return val{}
	}
	if l.method == nil {
		return fresh(l.result, "aeonrt."+mutatorFunc(t, l.operation)+"("+address(base, t, pointer)+l.more+")")
	}
	return fresh(l.result, base+"."+l.call)
}

// address returns the address of a base of type t, for a function of the runtime; that of bytes is the one of a vector.
func address(base string, t typecheck.Type, pointer bool) string {
	switch {
	case t == typecheck.Bytes:
		return base + ".Vector()"
	case pointer:
		return base
	}
	return "&" + base
}

// mutatorFunc returns the function of the runtime for a mutation of a t where nothing has to be taken back.
func mutatorFunc(t typecheck.Type, operation string) string {
	special := map[string]string{"Insert": "InsertAt", "Remove": "RemoveAt"} // of vectors and bytes
	switch t.(type) {
	case *typecheck.Map:
		special = map[string]string{"Remove": "RemoveKey"}
	case *typecheck.Set:
		special = map[string]string{"Add": "AddMember", "Remove": "RemoveMember"}
	case *typecheck.Table:
		special = map[string]string{"Insert": "InsertRow", "Put": "PutRow", "Remove": "RemoveRow", "Clear": "ClearRows"}
	}
	if name, ok := special[operation]; ok {
		return name
	}
	return operation
}

// setter returns the function of the runtime that assigns an element of a t.
func setter(t typecheck.Type) string {
	if _, ok := t.(*typecheck.Map); ok {
		return "SetEntry"
	}
	return "SetAt"
}

// update writes below an element of the map at an address.
func (f *fn) update(at ast.Node, call, key string, t typecheck.Type, steps []typecheck.Step, index []val, l leaf) val {
	result := ""
	if !isVoid(l.result) {
		result = f.temp()
		f.w.add("var %s %s", result, f.goType(l.result))
	}
	elem := f.temp()
	f.w.at(at.Span())
	f.w.add("%s, %s, func(%s *%s) {", call, key, elem, f.goType(t))
	f.keep(at, f.writeSteps(at, elem, true, t, steps, index, l), result)
	f.w.add("})")
	return val{code: result, typ: l.result, fresh: true, stable: true}
}

// keep emits a call whose result is wanted in a variable, or not at all.
func (f *fn) keep(at ast.Node, v val, result string) {
	if v.code == "" {
		return
	}
	f.w.at(at.Span())
	if result == "" {
		f.w.add("%s", v.code)
	} else {
		f.w.add("%s = %s", result, v.code)
	}
}

// mutate lowers a call of a method that changes its receiver.
func (f *fn) mutate(x *ast.Call, st *typecheck.Store, c *typecheck.Call) val {
	if st.Root == nil {
		return f.selfCall(x, c)
	}
	var list []ast.Expr
	for _, s := range st.Steps {
		list = append(list, s.Index)
	}
	n := len(list)
	vals := f.operands(func(i int, x ast.Expr) val {
		if i < n {
			return f.expr(x)
		}
		return f.bind(x)
	}, append(list, c.Values(x)...)...)
	p := place{root: st.Root, steps: st.Steps, index: vals[:n]}
	args := vals[n:]
	if n > 0 || c.Kind != typecheck.LibraryCall && f.viaRuntime(st.Root) {
		for i := range vals {
			if i >= n || list[i] != nil {
				vals[i] = f.settle(vals[i])
			}
		}
	}
	return f.change(x, p, c, args)
}

// change calls a method that changes what is at p.
func (f *fn) change(x *ast.Call, p place, c *typecheck.Call, args []val) val {
	l := f.mutation(c, args)
	if f.dropped == x {
		l.result = typecheck.Void
	}
	return f.write(x, p, l)
}

// mutation describes the call of a mutating method.
func (f *fn) mutation(c *typecheck.Call, args []val) leaf {
	if c.Kind != typecheck.LibraryCall {
		call := f.methodName(c.Func) + "(" + f.withContext(c.Func, args) + ")"
		return leaf{call: call, method: c.Func, args: args, result: c.Func.Result}
	}
	t := nonNull(c.RecvType)
	args = f.writeArgs(c, t, args)
	l := leaf{operation: mutator[c.Library], result: innerResult(c)}
	if c.Fields != nil {
		l.operation, l.more = "SortBy", ", "+f.orderBy(t.(*typecheck.Vector).Elem, c.Fields)
	}
	if len(args) > 0 {
		l.more = ", " + codes(args)
	}
	if _, ok := t.(*typecheck.Set); ok && l.operation == "Insert" {
		l.operation = "Add"
	}
	return l
}

// mutateUnlessNull lowers x?.m() for a method that changes its receiver: the place is found once, then read up to its
// last step, which is the `?`.
func (f *fn) mutateUnlessNull(x *ast.Call, st *typecheck.Store, c *typecheck.Call) val {
	p := f.place(st)
	last := len(p.steps) - 1
	recv := f.read(place{root: p.root, steps: p.steps[:last], index: p.index[:last]})
	result := ""
	if f.dropped != x && !isVoid(c.Result) {
		result = f.temp()
		f.w.add("var %s %s", result, f.goType(c.Result))
	}
	f.w.at(x.Span())
	f.w.add("if !%s.IsNull() {", recv.code)
	args := f.binders(c.Values(x))
	for i, a := range args {
		args[i] = f.settle(a)
	}
	v := f.change(x, p, c, args)
	if _, already := v.typ.(*typecheck.Optional); result != "" && !already {
		v = f.wrap(v, c.Result.(*typecheck.Optional))
	}
	f.keep(x, v, result)
	f.w.add("}")
	return val{code: result, typ: c.Result, fresh: true, stable: true}
}

// setter returns the name of a field's setter, which is emitted if it is used.
func (f *fn) setter(field *typecheck.Var) string {
	f.setters[field] = true
	return f.gen(field, "set")
}
