package codegen

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// call lowers a call of any kind.
func (f *fn) call(x *ast.Call) val {
	c := f.info.Calls[x]
	if c == nil {
		panic("codegen: call without meaning")
	}
	switch c.Kind {
	case typecheck.ConversionCall:
		return f.conversion(x, c)
	case typecheck.BuiltinCall:
		return f.builtin(x, c)
	case typecheck.LibraryCall:
		return f.library(x, c)
	case typecheck.FuncCall:
		if c.Recv != nil {
			return f.goMethodCall(x, c)
		}
		args := f.binders(x.Args)
		return f.plainCall(c.Func, f.funcName(c.Func), args)
	case typecheck.SelfCall:
		return f.selfCall(x, c)
	case typecheck.ValueCall:
		return f.valueCall(x, c)
	case typecheck.ActorCall:
		return f.actorCall(x, c)
	case typecheck.ClientCall:
		return f.clientCall(x, c)
	}
	panic("codegen: no emitter for this call")
}

// funcName returns the Go function for a free function, in the version for this runner.
func (f *fn) funcName(g *typecheck.Func) string {
	if f.ofClient(g) {
		return f.gen(g, "client")
	}
	return f.names.obj[g]
}

// methodName is funcName for methods.
func (f *fn) methodName(g *typecheck.Func) string {
	if f.ofClient(g) {
		return f.gen(g, "client")
	}
	return f.names.obj[g]
}

// ofClient reports whether clients run a version of g of their own: where g needs a context and
// actors run it, too.
func (f *fn) ofClient(g *typecheck.Func) bool {
	return f.by == byClient && f.plan[g].context && f.plan[g].runners == byActor|byClient
}

// withContext puts the context before the arguments if g takes one.
func (f *fn) withContext(g *typecheck.Func, args []val) string {
	list := codes(args)
	if !f.plan[g].context {
		return list
	}
	if list == "" {
		return f.ctx()
	}
	return f.ctx() + ", " + list
}

func (f *fn) plainCall(g *typecheck.Func, name string, args []val) val {
	return fresh(g.Result, name+"("+f.withContext(g, args)+")")
}

// goMethodCall lowers a call of a method of a Go type: a function whose first argument is the receiver.
func (f *fn) goMethodCall(x *ast.Call, c *typecheck.Call) val {
	if c.Optional {
		recv := f.expr(c.Recv)
		if len(x.Args) > 0 && !recv.stable {
			recv = f.spill(recv)
		}
		return f.unlessNull(recv, c.Result, func(v val) val {
			return f.plainCall(c.Func, f.funcName(c.Func), append([]val{v}, f.binders(x.Args)...))
		})
	}
	return f.plainCall(c.Func, f.funcName(c.Func), f.binders(append([]ast.Expr{c.Recv}, x.Args...)))
}

// selfCall lowers a call of a method on the current object.
func (f *fn) selfCall(x *ast.Call, c *typecheck.Call) val {
	args := f.binders(x.Args)
	if f.logged != notLogged && c.Func.Mutating && f.needsLog(c.Func, f.logged == loggedOwned) {
		return f.loggedCall(c.Func, "self", args, "owner, field", f.logged)
	}
	return f.plainCall(c.Func, "self."+f.methodName(c.Func), args)
}

// valueCall lowers a call of a method of a value class on some value.
func (f *fn) valueCall(x *ast.Call, c *typecheck.Call) val {
	if st := f.info.Stores[x]; st != nil {
		if c.Optional {
			return f.mutateUnlessNull(x, st, c)
		}
		return f.mutate(x, st, c)
	}
	if c.Optional {
		recv := f.receiver(c)
		if len(x.Args) > 0 && !recv.stable {
			recv = f.spill(recv)
		}
		return f.unlessNull(recv, c.Result, func(v val) val {
			return f.plainCall(c.Func, v.code+"."+f.methodName(c.Func), f.binders(x.Args))
		})
	}
	vals := f.operands(func(i int, x ast.Expr) val {
		if i == 0 {
			return f.receiver(c)
		}
		return f.bind(x)
	}, append([]ast.Expr{c.Recv}, x.Args...)...)
	return f.plainCall(c.Func, side(vals[0].code)+"."+f.methodName(c.Func), vals[1:])
}

// receiver lowers the value that a method reads. If the method calls actors, which may call back and write to the
// field that the value stands in, it gets a copy.
func (f *fn) receiver(c *typecheck.Call) val {
	v := f.expr(c.Recv)
	if f.by == byActor && v.loads&fields != 0 && touchesActors(c.Func) {
		v.code = f.share(v)
	}
	return v
}

// receiverFirst lowers the receiver of a call for reading and the arguments for storing.
func (f *fn) receiverFirst(i int, x ast.Expr) val {
	if i == 0 {
		return f.expr(x)
	}
	return f.bind(x)
}

// actorCall lowers a call of a method of an actor.
func (f *fn) actorCall(x *ast.Call, c *typecheck.Call) val {
	n := len(x.Args) + 1
	if c.Optional {
		recv := f.expr(c.Recv)
		if len(x.Args) > 0 && !recv.stable {
			recv = f.spill(recv)
		}
		t := c.Result
		if x.Mode != ast.Sync && f.by == byActor {
			t = typecheck.Void
		}
		return f.unlessNull(recv, t, func(v val) val {
			vals := f.issued(nil, x)
			return f.issue(x, c, v, vals[1:n], vals[n:])
		})
	}
	vals := f.issued(c.Recv, x)
	if c.Recv == nil {
		vals[0] = f.this(c.RecvType)
	}
	return f.issue(x, c, vals[0], vals[1:n], vals[n:])
}

// issued lowers the operands of an issued call in their order: the receiver, which may be nil, the
// arguments, and the clauses after, every and as.
func (f *fn) issued(recv ast.Expr, x *ast.Call) []val {
	list := append(append(make([]ast.Expr, 0, len(x.Args)+4), recv), x.Args...)
	return f.operands(f.receiverFirst, append(list, x.After, x.Every, x.Name)...)
}

// issue makes the call on a lowered receiver; timer has the clauses after, every and as.
func (f *fn) issue(x *ast.Call, c *typecheck.Call, recv val, args, timer []val) val {
	g := c.Func
	onThis := f.f.IsMethodOf(ast.ActorClass) && recv.code == f.this(c.RecvType).code
	recv.code = side(recv.code)
	switch {
	case f.by == byClient && c.Unawaited:
		return fresh(typecheck.Void, "cl.Send("+recv.code+".Ref, &"+f.gen(g, "method")+", "+f.argsLiteral(g, args)+")")
	case f.by == byClient:
		return fresh(c.Result, recv.code+"."+f.use(g, "event")+"("+withFirst("cl", args)+")")
	case x.Mode == ast.Sync:
		return fresh(g.Result, recv.code+"."+f.use(g, "call")+"("+withFirst("cx", args)+")")
	}
	target := recv.code + ".Ref, &"
	if onThis {
		target = "self.Ref(), &"
	}
	target += f.gen(g, "method") + ", " + f.argsLiteral(g, args)
	if x.Mode == ast.Tail {
		return f.issueTail(c, target)
	}
	if x.Mode == ast.Async {
		return fresh(typecheck.Void, "aeonrt.Async(cx, "+target+")")
	}
	name := f.timerName(x.Name, timer[2])
	switch {
	case x.Every != nil && x.After == nil:
		return fresh(typecheck.Void, "cx.EmitEvery("+target+", "+goDuration(timer[1])+", "+name+")")
	case x.Every != nil:
		return fresh(typecheck.Void, "cx.EmitAfterEvery("+target+", "+goDuration(timer[0])+", "+goDuration(timer[1])+", "+name+")")
	case x.After != nil:
		return fresh(typecheck.Void, "cx.EmitAfter("+target+", "+goDuration(timer[0])+", "+name+")")
	}
	return fresh(typecheck.Void, "cx.Emit("+target+")")
}

// timerName returns the name of a timer, lowered to v; x is nil if it has none. The checker has refused a constant that is empty.
func (f *fn) timerName(x ast.Expr, v val) string {
	switch {
	case x == nil:
		return `""`
	case f.info.ConstOf(x) != nil:
		return v.code
	}
	return "cx.TimerName(" + v.code + ")"
}

func withFirst(first string, args []val) string {
	if len(args) == 0 {
		return first
	}
	return first + ", " + codes(args)
}

// argsLiteral returns the argument struct of a call.
func (f *fn) argsLiteral(g *typecheck.Func, args []val) string {
	var sb strings.Builder
	sb.WriteString("&" + f.gen(g, "args") + "{")
	for i, name := range paramFields(g) {
		if i > 0 {
			sb.WriteString(", ")
		}
		sb.WriteString(name + ": " + args[i].code)
	}
	sb.WriteString("}")
	return sb.String()
}

// clientCall lowers a callback to a client object.
func (f *fn) clientCall(x *ast.Call, c *typecheck.Call) val {
	if c.Optional {
		recv := f.expr(c.Recv)
		if len(x.Args) > 0 && !recv.stable {
			recv = f.spill(recv)
		}
		return f.unlessNull(recv, typecheck.Void, func(v val) val {
			vals := f.issued(nil, x)
			vals[0] = v
			return f.callback(x, c, vals)
		})
	}
	vals := f.issued(c.Recv, x)
	if c.Recv == nil {
		vals[0] = f.this(c.RecvType)
	}
	return f.callback(x, c, vals)
}

// callback makes the call; vals are the receiver, the arguments, and the clauses after, every and as.
func (f *fn) callback(x *ast.Call, c *typecheck.Call, vals []val) val {
	n := len(x.Args) + 1
	target := side(vals[0].code) + ".ClientRef, &" + f.gen(c.Func, "method") + ", " + f.argsLiteral(c.Func, vals[1:n])
	after, every, name := vals[n], vals[n+1], f.timerName(x.Name, vals[n+2])
	if x.After == nil {
		after = every
	}
	switch {
	case x.Every != nil:
		return fresh(typecheck.Void, "cx.CallbackAfterEvery("+target+", "+goDuration(after)+", "+goDuration(every)+", "+name+")")
	case x.After != nil:
		return fresh(typecheck.Void, "cx.CallbackAfter("+target+", "+goDuration(after)+", "+name+")")
	}
	return fresh(typecheck.Void, f.ctx()+".Callback("+target+")")
}

// actorRef lowers actor<T>(key).
func (f *fn) actorRef(x *ast.ActorRef) val {
	t := f.info.TypeOf(x)
	c := t.(*typecheck.Class)
	key := f.expr(x.Key)
	return fresh(t, f.refLit(c, "aeonrt.Named("+f.ctx()+", &"+f.gen(c, "class")+", "+key.code+")"))
}
