package typecheck

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// [T-YIELD]: plain and yield are properties of expressions. Fields, parameters and
// results say which they are; a local is yield if anything that is yield is
// assigned to it or inserted into it anywhere in the body. In code of clients
// every reference is yield.

// flowsInto is one way for references to get into a variable.
type flowsInto struct {
	to   *Var
	from ast.Expr
}

// yields infers the locals and reports yield references in plain places.
func (c *checker) yields() {
	c.uselessYields()
	c.eachFunc(func(f *Func, bf *bodyFacts) {
		if f.Context == ClientContext {
			c.clientVars(f)
			return
		}
		flows := c.flowsOf(f, bf)
		c.inferYield(flows)
		c.yieldStores(f, bf)
		c.yieldArgs(bf)
		c.yieldReturns(f)
	})
}

func (c *checker) clientVars(f *Func) {
	for _, list := range [][]*Var{f.Params, f.Locals} {
		for _, v := range list {
			if c.holdsActors(v.typ) {
				v.Yield = true
			}
		}
	}
}

// origin finds out whether the references in x are yield: it returns true if
// they are, and calls visit for the locals on which it depends.
func (c *checker) origin(x ast.Expr, visit func(*Var)) bool {
	if !c.holdsActors(c.info.TypeOf(x)) {
		return false
	}
	switch x := x.(type) {
	case *ast.Paren:
		return c.origin(x.X, visit)
	case *ast.Ident:
		v, ok := c.info.Uses[x].(*Var)
		if !ok {
			return false
		}
		if v.Kind == FieldVar || v.Kind == ParamVar {
			return v.Yield
		}
		visit(v)
		return false
	case *ast.Field:
		return c.originField(x, x.X, visit)
	case *ast.OptionalField:
		return c.originField(x, x.X, visit)
	case *ast.Index:
		return c.origin(x.X, visit)
	case *ast.Slice:
		return c.origin(x.X, visit)
	case *ast.NonNull:
		return c.origin(x.X, visit)
	case *ast.Coalesce:
		left := c.origin(x.X, visit)
		return c.origin(x.Y, visit) || left
	case *ast.VectorLit:
		return c.originAny(x.Elems, visit)
	case *ast.MapLit:
		return c.originAny(x.Parts(), visit)
	case *ast.ActorRef, *ast.Await:
		return true
	case *ast.New:
		return c.originNew(x, visit)
	case *ast.Call:
		return c.originCall(x, visit)
	}
	return false
}

// originAny is origin for a container with these parts.
func (c *checker) originAny(list []ast.Expr, visit func(*Var)) (yield bool) {
	for _, e := range list {
		yield = c.origin(e, visit) || yield
	}
	return yield
}

func (c *checker) originField(x, recv ast.Expr, visit func(*Var)) bool {
	v, ok := c.info.Uses[x].(*Var)
	if !ok {
		return false
	}
	if v.Yield {
		return true
	}
	if _, this := ast.Unparen(recv).(*ast.This); this {
		return false
	}
	return c.origin(recv, visit)
}

func (c *checker) originNew(x *ast.New, visit func(*Var)) bool {
	info := c.info.News[x]
	if info == nil || info.Fields == nil {
		return false
	}
	yield := false
	for i, a := range x.Args {
		if i < len(info.Fields) && !info.Fields[i].Yield {
			yield = c.origin(a, visit) || yield
		}
	}
	return yield
}

func (c *checker) originCall(x *ast.Call, visit func(*Var)) bool {
	info := c.info.Calls[x]
	switch {
	case info == nil:
		return false
	case info.Kind == LibraryCall:
		return c.origin(info.Recv, visit)
	case info.Func == nil:
		return false
	case info.Func.YieldResult:
		return true
	case info.Kind == ValueCall:
		return c.origin(info.Recv, visit)
	}
	return false
}

// isYield is origin after the locals have been settled.
func (c *checker) isYield(x ast.Expr) bool {
	yield := false
	return c.origin(x, func(v *Var) { yield = yield || v.Yield }) || yield
}

// IsYield reports whether the references in x, an expression in code of
// actors, are yield. In code of clients they always are.
func (in *Info) IsYield(x ast.Expr) bool {
	c := &checker{info: in, owning: make(map[*Class]bool)}
	return c.isYield(x)
}

// flowsOf collects how references get into the locals of f.
func (c *checker) flowsOf(f *Func, bf *bodyFacts) []flowsInto {
	var flows []flowsInto
	add := func(v *Var, from ast.Expr) {
		if v != nil && from != nil && (v.Kind == LocalVar || v.Kind == LoopVar) && c.holdsActors(v.typ) {
			flows = append(flows, flowsInto{v, from})
		}
	}
	for _, v := range f.Locals {
		switch d := v.Decl.(type) {
		case *ast.VarDecl:
			add(v, d.Init)
		case *ast.ForEach:
			add(v, d.X)
		}
	}
	for _, loop := range bf.loops {
		if loop.Value != nil {
			v, _ := c.info.Defs[loop.Value].(*Var)
			add(v, loop.X)
		}
	}
	for _, n := range bf.stores {
		s := c.info.Stores[n]
		if s.Root == nil || throughYield(s) {
			continue
		}
		c.storedRefs(n, func(from ast.Expr) { add(s.Root, from) })
	}
	return flows
}

// throughYield reports whether a path passes a yield field of a value class:
// what is stored there is yield by declaration.
func throughYield(s *Store) bool {
	for _, step := range s.Steps {
		if step.Kind == FieldStep && step.Field.Yield {
			return true
		}
	}
	return false
}

// storedRefs visits the expressions whose references a store keeps: the value,
// the keys on its path, and the arguments of library methods that insert.
func (c *checker) storedRefs(n ast.Node, visit func(ast.Expr)) {
	if a, ok := n.(*ast.Assign); ok {
		visit(a.RHS)
		if i, ok := ast.Unparen(a.LHS).(*ast.Index); ok {
			if _, isMap := c.info.TypeOf(i.X).(*Map); isMap {
				visit(i.I)
			}
		}
		return
	}
	call, ok := n.(*ast.Call)
	if !ok {
		return
	}
	info := c.info.Calls[call]
	if info != nil && info.Kind == LibraryCall && (info.Library == PushMethod || info.Library == InsertMethod || info.Library == PutMethod) {
		for _, a := range call.Args {
			visit(a)
		}
	}
}

// inferYield settles the locals.
func (c *checker) inferYield(flows []flowsInto) {
	users := make(map[*Var][]*Var)
	var work []*Var
	mark := func(v *Var) {
		if !v.Yield {
			v.Yield = true
			work = append(work, v)
		}
	}
	for _, fl := range flows {
		if c.origin(fl.from, func(v *Var) { users[v] = append(users[v], fl.to) }) {
			mark(fl.to)
		}
	}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for _, u := range users[v] {
			mark(u)
		}
	}
}

// why explains where a yield reference comes from.
func (c *checker) why(d diag.Diagnostic, x ast.Expr) diag.Diagnostic {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		if v, ok := c.info.Uses[x].(*Var); ok {
			return whyVar(d, v)
		}
	case *ast.Field:
		if v, ok := c.info.Uses[x].(*Var); ok && v.Yield {
			return whyVar(d, v)
		}
		return c.why(d, x.X)
	case *ast.Index:
		return c.why(d, x.X)
	case *ast.NonNull:
		return c.why(d, x.X)
	case *ast.Slice:
		return c.why(d, x.X)
	case *ast.Call:
		if info := c.info.Calls[x]; info != nil && info.Func != nil && info.Func.YieldResult {
			return d.With(info.Func.span, "%s returns yield references", info.Func.FullName())
		} else if info != nil && info.Recv != nil {
			return c.why(d, info.Recv)
		}
	}
	return d
}

func whyVar(d diag.Diagnostic, v *Var) diag.Diagnostic {
	switch v.Kind {
	case FieldVar, ParamVar:
		return d.With(v.span, "%s is declared yield", v.name)
	case LoopVar:
		return d.With(v.span, "%s goes over yield references", v.name)
	}
	return d.With(v.span, "%s holds a yield reference somewhere in this method", v.name)
}
