package codegen

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// tailCall lowers `tail c.m(x);`. What the method returns then is of no interest: the result of the
// chain is that of its last step.
func (f *fn) tailCall(s *ast.TailCall) {
	f.line1(s, f.call(s.X).code)
	if isVoid(f.f.Result) {
		f.line1(s, "return")
		return
	}
	f.line1(s, "return "+f.zero(f.f.Result))
}

// issueTail makes a tail call; target has the reference, the method and the arguments.
func (f *fn) issueTail(c *typecheck.Call, target string) val {
	if c.Through == typecheck.ThroughThis {
		return fresh(typecheck.Void, "cx.TailThis("+target+")")
	}
	return fresh(typecheck.Void, "cx.Tail("+target+")")
}

// findTailed notes the methods that this package tail-calls: each may be the last step of a chain.
func (p *pkg) findTailed() {
	for x, c := range p.info.Calls {
		if x.Mode == ast.Tail && c.Func != nil {
			p.tailed[c.Func] = true
		}
	}
}

// tailResult emits how the result of a chain gets from the arguments of its last step to those of its first.
// Other packages may tail-call what they can name.
func (p *pkg) tailResult(w *writer, f *typecheck.Func) {
	name, t := p.gen(f, "args"), p.goType(f.Result)
	if p.tailed[f] || !p.opts.Entry && f.Public() && f.IsMethodOf(ast.ActorClass) {
		w.add("// AeonResult returns the result, if the call was the last step of a chain.")
		w.add("func (x *%s) AeonResult() any { return x.ret }", name)
		w.add("")
	}
	if f.Tails {
		w.add("// AeonTake sets the result, if the call was the first step of a chain.")
		w.add("func (x *%s) AeonTake(result any) { x.ret = result.(%s) }", name, t)
		w.add("")
	}
}
