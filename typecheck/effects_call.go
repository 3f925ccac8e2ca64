package typecheck

import "github.com/aeon-lang/aeon/lang/ast"

// call walks a call and returns the origins of the references in its result.
func (w *effectWalk) call(x *ast.Call) origins {
	info := w.a.info.Calls[x]
	if info == nil {
		return nil
	}
	recv := w.receiver(info)
	args := make([]origins, len(x.Args))
	for i, e := range x.Args {
		args[i] = w.eval(e)
	}
	w.eval(x.After)
	w.eval(x.Every)
	w.eval(x.Name)
	if x.Name != nil {
		w.writeIssuer()
	}
	switch {
	case info.Kind == LibraryCall:
		return w.library(x, info, recv, args)
	case info.Func == nil || !x.Mode.Inside():
		return nil
	}
	result := w.compose(info.Func, recv, args, x.Args)
	if info.Kind == ValueCall || info.Kind == SelfCall {
		w.mutated(x, info, args)
	}
	return result
}

func (w *effectWalk) receiver(info *Call) origins {
	if info.Recv != nil {
		return w.eval(info.Recv)
	}
	if info.Func == nil || info.Func.Class == nil {
		return nil
	}
	return settle(w.ofThis(ipath{}, info.Func.Class), info.Func.Class)
}

// library: what the methods of containers return and keep.
func (w *effectWalk) library(x *ast.Call, info *Call, recv origins, args []origins) origins {
	var result origins
	switch info.Library {
	case GetMethod:
		result = w.element(recv, x.Args[0])
	case RemoveMethod:
		if _, vector := info.RecvType.(*Vector); vector {
			result = w.element(recv, x.Args[0])
		}
	case PopMethod:
		result = stepAll(recv, ElemAll)
	case FindMethod, RangeMethod, SortedMethod:
		result = recv // of a table, whose references have no path
	case SliceMethod, ReversedMethod, LimitMethod:
		result = loosen(recv, info.RecvType)
	case KeysMethod, ValuesMethod:
		result = w.keysOrValues(info, recv)
	}
	if w.a.info.Stores[x] != nil {
		var kept origins
		for i, e := range x.Args {
			if info.Library == PushMethod || info.Library == InsertMethod || info.Library == PutMethod {
				kept = kept.union(loosen(args[i], w.a.info.TypeOf(e)))
			}
		}
		w.store(x, kept, nil)
	}
	return result
}

// keysOrValues: the vector that keys() or values() makes has no place of its
// own, but its elements have.
func (w *effectWalk) keysOrValues(info *Call, recv origins) origins {
	elem, t := ElemAll, Type(nil)
	switch m := info.RecvType.(type) {
	case *Map:
		t = m.Value
		if info.Library == KeysMethod {
			elem, t = ElemKeys, m.Key
		}
	case *Set:
		t = m.Elem
	}
	return loosen(stepAll(recv, elem), t)
}

// mutated: a method of a value class has changed its receiver, which may now
// hold the arguments and whatever the method came by.
func (w *effectWalk) mutated(x *ast.Call, info *Call, args []origins) {
	if !info.Func.Mutating || w.a.info.Stores[x] == nil {
		return
	}
	var kept origins
	for i, e := range x.Args {
		kept = kept.union(loosen(args[i], w.a.info.TypeOf(e)))
	}
	if s := info.Func.sum; s != nil && len(s.accesses)+len(s.created) > 0 {
		kept = kept.union(origins{{kind: anywhere}, {kind: fresh}})
	}
	w.store(x, kept, info.Func)
}

// construct walks `new T(args)`.
func (w *effectWalk) construct(x *ast.New) origins {
	info := w.a.info.News[x]
	args := make([]origins, len(x.Args))
	var all origins
	for i, e := range x.Args {
		args[i] = w.eval(e)
		all = all.union(loosen(args[i], w.a.info.TypeOf(e)))
	}
	class, ok := info.Type.(*Class)
	if !ok {
		return nil
	}
	switch class.Kind {
	case ast.ActorClass:
		w.sum.created[class] = true
		w.compose(info.Ctor, origins{{kind: fresh}}, args, x.Args)
		return origins{{kind: fresh}}
	case ast.ValueClass:
		w.compose(info.Ctor, nil, args, x.Args)
		if s := info.Ctor.sum; s == nil || s.calls {
			all = all.union(origins{{kind: anywhere}, {kind: fresh}})
		}
		return all
	}
	return nil
}

// compose adds what a callee touches, seen from here: its paths start from the
// receiver and the arguments. It returns the origins of its result.
func (w *effectWalk) compose(g *Func, recv origins, args []origins, exprs []ast.Expr) origins {
	s := g.sum
	if s == nil {
		return nil
	}
	sub := substitution{w: w, callee: g, recv: recv, args: args, exprs: exprs}
	for k, mode := range s.accesses {
		sub.touch(k, mode)
	}
	w.guarding = true
	for k, mode := range s.guards {
		sub.touch(k, mode)
	}
	w.guarding = false
	for class := range s.created {
		w.sum.created[class] = true
	}
	for class := range s.foreign {
		w.sum.foreign[class] = true
	}
	w.sum.changes = w.sum.changes || s.changes
	if s.issuer {
		w.writeIssuer()
	}
	var result origins
	for _, o := range s.result {
		switch o.kind {
		case fresh, anywhere:
			result, _ = result.add(o)
		case below:
			result = result.union(toBelow(sub.at(o.path, atActor)))
		default:
			result = result.union(sub.at(o.path, o.kind))
		}
	}
	w.wroteAll(s)
	return result
}

// substitution maps paths of a callee to origins of its caller.
type substitution struct {
	w      *effectWalk
	callee *Func
	recv   origins
	args   []origins
	exprs  []ast.Expr
}

// touch adds one access of the callee.
func (s *substitution) touch(k accessKey, mode Mode) {
	from := s.at(k.path, atActor)
	if k.reach {
		from = toBelow(from)
	}
	s.w.touch(from, k.class, mode)
}

// at returns where the callee's path leads. kind is that of the result: atActor
// for actors, inValue for values that have a place.
func (s *substitution) at(p ipath, kind originKind) origins {
	base, t := s.recv, Type(s.callee.Class)
	if p.param != nil {
		base, t = nil, p.param.typ
		if i := p.param.Index; i < len(s.args) {
			base = s.args[i]
		}
	}
	if p.isRoot() {
		return base
	}
	onActor := IsActor(nonNull(t))
	var out origins
	for _, o := range base {
		var next origins
		if onActor {
			next = s.inActor(o, p, kind)
		} else {
			next = s.inValue(o, p, kind)
		}
		out = out.union(next)
	}
	return out
}

// inActor follows a path into the fields of an actor.
func (s *substitution) inActor(o origin, p ipath, kind originKind) origins {
	switch o.kind {
	case fresh:
		return origins{{kind: anywhere}, {kind: fresh}}
	case atActor, inValue:
		if p.field == nil || !o.path.isRoot() || s.w.written[p.field] || s.w.valueThis(o) {
			return origins{{below, o.path}}
		}
		next := ipath{param: o.path.param, field: p.field}
		next.elem, next.key, next.keyParam = s.elem(p)
		return origins{{kind, next}}
	}
	return origins{o}
}

// valueThis reports whether an origin is `this` of a value class, which is no actor.
func (w *effectWalk) valueThis(o origin) bool {
	return o.path.param == nil && !w.fn.IsMethodOf(ast.ActorClass)
}

// inValue follows a path into a value.
func (s *substitution) inValue(o origin, p ipath, kind originKind) origins {
	if o.kind != inValue {
		return origins{o}
	}
	if p.field != nil {
		o = o.step(p.field, NoElem, "", nil)
	}
	if p.elem == ElemDeep {
		o.path = o.path.deep()
	} else if p.elem != NoElem {
		elem, key, param := s.elem(p)
		o = o.step(nil, elem, key, param)
	}
	o.kind = kind
	return origins{o}
}

// elem translates the element step of a path: its key may be a parameter.
func (s *substitution) elem(p ipath) (Elem, string, *Var) {
	if p.elem != ElemAt || p.keyParam == nil {
		return p.elem, p.key, nil
	}
	if i := p.keyParam.Index; i < len(s.exprs) {
		return s.w.keyOf(s.exprs[i])
	}
	return ElemAll, "", nil
}
