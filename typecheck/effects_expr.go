package typecheck

import (
	"github.com/aeon-lang/aeon/lang/ast"
)

// eval walks an expression: it records what its calls touch, and returns the
// origins of the plain references in its value.
func (w *effectWalk) eval(x ast.Expr) origins {
	if x == nil {
		return nil
	}
	from := w.evalKind(x)
	if len(from) == 0 {
		return nil
	}
	t := w.a.info.TypeOf(x)
	if !w.a.holdsActors(t) {
		return nil
	}
	return settle(from, t)
}

func (w *effectWalk) evalKind(x ast.Expr) origins {
	switch x := x.(type) {
	case *ast.Ident:
		return w.variable(w.a.info.Uses[x])
	case *ast.This:
		return w.ofThis(ipath{}, w.fn.Class)
	case *ast.Paren:
		return w.eval(x.X)
	case *ast.Field:
		if _, this := ast.Unparen(x.X).(*ast.This); this {
			return w.variable(w.a.info.Uses[x])
		}
		return w.part(w.eval(x.X), w.a.info.Uses[x])
	case *ast.OptionalField:
		return w.part(w.eval(x.X), w.a.info.Uses[x])
	case *ast.NonNull:
		return w.eval(x.X)
	case *ast.Coalesce:
		left := w.eval(x.X)
		return left.union(w.eval(x.Y))
	case *ast.Index:
		from := w.eval(x.X)
		w.eval(x.I)
		return w.element(from, x.I)
	case *ast.Slice:
		from := w.eval(x.X)
		w.eval(x.Lo)
		w.eval(x.Hi)
		return loosen(from, w.a.info.TypeOf(x.X))
	case *ast.VectorLit:
		return w.evalAll(x.Elems)
	case *ast.MapLit:
		return w.evalAll(x.Parts())
	case *ast.New:
		return w.construct(x)
	case *ast.Call:
		return w.call(x)
	}
	ast.Children(x, func(n ast.Node) {
		if e, ok := n.(ast.Expr); ok {
			w.eval(e)
		}
	})
	return nil
}

// evalAll walks the parts of a container.
func (w *effectWalk) evalAll(list []ast.Expr) (all origins) {
	for _, e := range list {
		all = all.union(loosen(w.eval(e), w.a.info.TypeOf(e)))
	}
	return all
}

// variable is a read of a local, a parameter or an own field.
func (w *effectWalk) variable(obj Object) origins {
	v, ok := obj.(*Var)
	if !ok {
		return nil
	}
	if v.Kind != FieldVar {
		if w.anything {
			return origins{{kind: anywhere}, {kind: fresh}}
		}
		return w.locals[v]
	}
	if v.Yield || !w.a.holdsActors(v.typ) {
		return nil
	}
	here := w.ofThis(ipath{field: v}, v.typ)
	if v.Class.Kind == ast.ValueClass {
		return here
	}
	_, table := v.typ.(*Table) // whose rows are not all read for a footprint
	if w.written[v] {
		return origins{{kind: below}, {kind: fresh}}
	}
	if table {
		return origins{{kind: below}}
	}
	return here
}

// ofThis is what `this`, or its part at a path, which has type t, may hold. A value holds what it held at the entry, which is
// nothing for one that is being made, and what has been stored in it since.
func (w *effectWalk) ofThis(p ipath, t Type) origins {
	here := origins{{inValue, p}}
	switch {
	case w.fn.Mutating:
		return loosen(here, t).union(w.inThis)
	case w.fn.Kind == Constructor && w.fn.Class.Kind == ast.ValueClass:
		return w.inThis
	}
	return here
}

// keep adds origins to `this`, which is a value.
func (w *effectWalk) keep(from origins) {
	for _, o := range from {
		next, grew := w.inThis.add(o)
		w.inThis, w.grew = next, w.grew || grew
	}
}

// part is a field of a value.
func (w *effectWalk) part(from origins, obj Object) origins {
	v, ok := obj.(*Var)
	if !ok || v.Yield {
		return nil
	}
	var out origins
	for _, o := range from {
		out, _ = out.add(o.step(v, NoElem, "", nil))
	}
	return out
}

// element is x[i] for the origins of x.
func (w *effectWalk) element(from origins, index ast.Expr) origins {
	elem, key, param := w.keyOf(index)
	var out origins
	for _, o := range from {
		out, _ = out.add(o.step(nil, elem, key, param))
	}
	return out
}

// keyOf describes an index: a constant, an unassigned parameter, or anything. A parameter that may be null is anything: it
// is an index only where it has been compared with null, and a footprint is evaluated before.
func (w *effectWalk) keyOf(x ast.Expr) (elem Elem, key string, param *Var) {
	if val := w.a.info.ConstOf(x); val != nil {
		text := keyText(val)
		w.a.keys[text] = val
		return ElemAt, text, nil
	}
	if id, ok := ast.Unparen(x).(*ast.Ident); ok {
		if v, ok := w.a.info.Uses[id].(*Var); ok && v.Kind == ParamVar && !v.Assigned && !v.Mutated {
			if _, null := v.typ.(*Optional); !null {
				return ElemAt, "", v
			}
		}
	}
	return ElemAll, "", nil
}

// assign walks an assignment.
func (w *effectWalk) assign(s *ast.Assign) {
	store := w.a.info.Stores[s]
	if store == nil {
		return
	}
	w.eval(s.LHS)
	from := w.eval(s.RHS)
	if len(store.Steps) == 0 && store.Root != nil && store.Root.Kind != FieldVar {
		w.bind(store.Root, from, w.a.info.TypeOf(s.RHS))
		return
	}
	from = loosen(from, w.a.info.TypeOf(s.RHS))
	if i, ok := ast.Unparen(s.LHS).(*ast.Index); ok {
		if _, isMap := w.a.info.TypeOf(i.X).(*Map); isMap {
			from = from.union(loosen(w.eval(i.I), w.a.info.TypeOf(i.I)))
		}
	}
	w.store(s, from, nil)
}

// store records a write; from has the origins of the references stored. The
// write through a value-class method passes the method.
func (w *effectWalk) store(n ast.Node, from origins, by *Func) {
	s := w.a.info.Stores[n]
	if s == nil {
		return
	}
	switch {
	case s.Root == nil || s.Root.Kind == FieldVar && s.Root.Class.Kind == ast.ValueClass:
		w.keep(from)
	case s.Root.Kind == FieldVar:
		w.writeIssuer()
		if !w.a.holdsActors(s.Root.typ) || s.Root.Yield {
			return
		}
		w.written[s.Root] = true
		if _, assigned := n.(*ast.Assign); !assigned && by == nil && len(from) == 0 {
			if call, ok := n.(*ast.Call); ok && w.a.info.Calls[call].Library == SortMethod {
				s.Owner = max(s.Owner, OwnerMoves)
				return
			}
		}
		if throughYield(s) {
			return
		}
		s.Owner = max(s.Owner, w.stored(s.Root, from, s.Root.typ))
	default:
		w.bind(s.Root, from, s.Root.typ)
	}
}

// stored classifies a store into a plain field of an actor, and adds what an
// ownership change needs: where the class owns itself, the run-time check for
// cycles reads everything below the reference.
func (w *effectWalk) stored(f *Var, from origins, t Type) OwnerChange {
	result := OwnerShrinks
	var foreign origins
	for _, o := range from {
		switch {
		case o.kind == fresh:
			result = max(result, OwnerFresh)
		case o.kind == atActor && o.path.param == nil && o.path.field != nil && w.fn.IsMethodOf(ast.ActorClass):
			if result == OwnerShrinks {
				result = OwnerMoves
			}
		default:
			foreign = append(foreign, o)
		}
	}
	if len(foreign) == 0 {
		return result
	}
	w.sum.changes = true
	eachActor(t, func(class *Class) {
		w.sum.foreign[class] = true
		if class != f.Class || !class.SelfRecursive {
			return
		}
		w.guarding = true
		w.touch(foreign, class, Read)
		under := make(map[*Class]bool)
		w.a.downward(class, under)
		for c := range under {
			w.touch(toBelow(foreign), c, Read)
		}
		w.guarding = false
	})
	return OwnerChanges
}

// toBelow is what is reachable from the given origins.
func toBelow(from origins) origins {
	var out origins
	for _, o := range from {
		switch o.kind {
		case fresh:
			out, _ = out.add(origin{kind: anywhere})
		case inValue:
			o = origin{below, o.path.deep()}
		case atActor:
			o = origin{below, o.path}
		}
		out, _ = out.add(o)
	}
	return out
}
