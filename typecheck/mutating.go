package typecheck

import (
	"cmp"
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
)

// mutation finds out which value-class methods change their object, records
// the stores of their calls, which variables are ever written, and which loops
// go over something that their body may change ([T-VALUE]).
func (c *checker) mutation() {
	c.inferMutating()
	c.eachFunc(func(f *Func, bf *bodyFacts) {
		b := &body{checker: c, fn: f, class: f.Class, bf: bf}
		for _, x := range bf.calls {
			info := c.info.Calls[x]
			if info.Func == nil || !info.Func.Mutating || info.Kind != ValueCall && info.Kind != SelfCall {
				continue
			}
			if info.Recv == nil {
				b.addStore(x, &Store{})
			} else if store, ok := b.mutatedPath(info.Recv, info.Optional); ok {
				b.addStore(x, store)
			}
		}
		for _, n := range bf.stores {
			if root := c.info.Stores[n].Root; root != nil {
				root.Mutated = true
			}
		}
		c.copyLoops(f, bf)
	})
}

// eachFunc calls f for every function whose body was checked.
func (c *checker) eachFunc(f func(*Func, *bodyFacts)) {
	c.pkg.AllFuncs(func(fn *Func) {
		if bf := c.facts[fn]; bf != nil {
			f(fn, bf)
		}
	})
}

// inferMutating marks the value-class methods that write their fields,
// directly or through other methods.
func (c *checker) inferMutating() {
	callers := make(map[*Func][]*Func)
	var work []*Func
	mark := func(f *Func) {
		if !f.Mutating {
			f.Mutating = true
			work = append(work, f)
		}
	}
	c.eachFunc(func(f *Func, bf *bodyFacts) {
		if f.Kind != Method || !f.IsMethodOf(ast.ValueClass) {
			return
		}
		for _, n := range bf.stores {
			if root := c.info.Stores[n].Root; root == nil || root.Kind == FieldVar {
				mark(f)
				break
			}
		}
		for _, x := range bf.calls {
			info := c.info.Calls[x]
			if info.Func == nil || info.Func.Kind != Method || !info.Func.IsMethodOf(ast.ValueClass) {
				continue
			}
			if root, onThis := c.rootOf(info.Recv); onThis || root != nil && root.Kind == FieldVar {
				if info.Func.Mutating && info.Func.Pkg != c.pkg {
					mark(f)
				}
				callers[info.Func] = append(callers[info.Func], f)
			}
		}
	})
	for len(work) > 0 {
		f := work[len(work)-1]
		work = work[:len(work)-1]
		for _, caller := range callers[f] {
			mark(caller)
		}
	}
}

// rootOf returns the variable that a path starts from. onThis: the path is
// `this` itself, or there is no receiver. Neither if x is no path.
func (c *checker) rootOf(x ast.Expr) (root *Var, onThis bool) { return c.follow(x, false) }

// holderOf is rootOf, but of what `get` takes out of a container, too: where that is written in place, x may change.
func (c *checker) holderOf(x ast.Expr) (root *Var, onThis bool) { return c.follow(x, true) }

func (c *checker) follow(x ast.Expr, get bool) (root *Var, onThis bool) {
	for {
		switch e := x.(type) {
		case nil, *ast.This:
			return nil, true
		case *ast.Paren:
			x = e.X
		case *ast.NonNull:
			x = e.X
		case *ast.Index:
			x = e.X
		case *ast.Ident:
			v, _ := c.info.Uses[e].(*Var)
			return v, false
		case *ast.Field:
			if _, this := ast.Unparen(e.X).(*ast.This); this {
				v, _ := c.info.Uses[e].(*Var)
				return v, false
			}
			x = e.X
		case *ast.Call:
			info := c.info.Calls[e]
			if !get || info == nil || info.Kind != LibraryCall || info.Library != GetMethod {
				return nil, false
			}
			x = info.Recv
		default:
			return nil, false
		}
	}
}

// loopedOver returns the table whose rows a loop reads one by one, or x itself.
func (c *checker) loopedOver(x ast.Expr) ast.Expr {
	call, ok := ast.Unparen(x).(*ast.Call)
	if !ok {
		return x
	}
	if info := c.info.Calls[call]; info != nil && info.Kind == LibraryCall {
		if _, table := info.RecvType.(*Table); table {
			return info.Recv
		}
		if info.Library == ReversedMethod || info.Library == LimitMethod {
			if inner := c.loopedOver(info.Recv); inner != info.Recv {
				return inner
			}
		}
	}
	return x
}

// copyLoops decides which loops need a copy of what they go over. Copies are cheap,
// so the test is coarse where other code might write a field.
func (c *checker) copyLoops(f *Func, bf *bodyFacts) {
	if len(bf.loops) == 0 {
		return
	}
	stores := slices.Clone(bf.stores)
	calls := slices.Clone(bf.calls)
	slices.SortFunc(stores, func(a, b ast.Node) int { return cmp.Compare(a.Span().Start, b.Span().Start) })
	slices.SortFunc(calls, func(a, b *ast.Call) int { return cmp.Compare(a.Range.Start, b.Range.Start) })
	for _, loop := range bf.loops {
		root, onThis := c.holderOf(c.loopedOver(loop.X))
		if root == nil && !onThis {
			continue
		}
		span := loop.Body.Span()
		i, _ := slices.BinarySearchFunc(stores, span.Start, func(n ast.Node, at int32) int { return cmp.Compare(n.Span().Start, at) })
		for ; i < len(stores) && stores[i].Span().Start < span.End; i++ {
			if to := c.info.Stores[stores[i]].Root; to == root || to == nil {
				c.info.CopyLoops[loop] = true
				break
			}
		}
		if c.info.CopyLoops[loop] || root == nil || root.Kind != FieldVar {
			continue
		}
		j, _ := slices.BinarySearchFunc(calls, span.Start, func(n *ast.Call, at int32) int { return cmp.Compare(n.Range.Start, at) })
		for ; j < len(calls) && calls[j].Range.Start < span.End; j++ {
			if info := c.info.Calls[calls[j]]; calls[j].Mode.Inside() && mayWriteFields(info.Func, f.Class) {
				c.info.CopyLoops[loop] = true
				break
			}
		}
		for _, x := range bf.news {
			if at := x.Range.Start; at >= span.Start && at < span.End && mayWriteFields(c.info.News[x].Ctor, f.Class) {
				c.info.CopyLoops[loop] = true
				break
			}
		}
	}
}

// mayWriteFields reports whether a call of f in code of class may write fields of the object that runs the
// code. An actor of another class never calls back, as the class graph has no cycles. Code without an
// actor of its own may write any actor that it is given.
func mayWriteFields(f *Func, class *Class) bool {
	switch {
	case f == nil || class == nil || f.RO:
		return false
	case f.Class == class:
		return true
	case class.Kind != ast.ActorClass || f.Class != nil && f.Class.Kind != ast.ValueClass:
		return false
	}
	given := false
	look := func(actor *Class) { given = given || actor == class }
	if f.Class != nil && f.Kind == Method {
		eachActor(f.Class, look)
	}
	for _, p := range f.Params {
		if !p.Yield {
			eachActor(p.typ, look)
		}
	}
	return given
}
