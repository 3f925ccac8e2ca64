package typecheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// [T-TAIL]: a tail call ends a method of an actor, which is a step of a chain. What the step did
// commits, and in the same moment the call takes its place. So such a method is always an event of
// its own, and the results of caller and callee are of one type.

// tailCall checks `tail c.m(x);`.
func (b *body) tailCall(s *ast.TailCall) {
	x := s.X
	placed := b.fn.mayTail()
	if !placed && b.fn.Kind != Test && (helper(b.fn) || b.fn.Kind == Constructor) {
		b.tailPlace(x, b.fn)
	}
	b.depth++
	op := b.call(x, nil, valueUnused)
	b.depth--
	b.record(x, op)
	b.null.dead = true
	info := b.info.Calls[x]
	if info == nil || info.Func == nil || info.Kind != ActorCall || !placed {
		return
	}
	b.fn.Tails = true
	b.bf.tails = append(b.bf.tails, s)
	switch got, want := info.Func.Result, b.fn.Result; {
	case info.Optional:
		b.report(diag.New(diag.TailResult, x.Span(), "where ?. finds null there is no step that ends %s", b.fn.FullName()).
			WithHelp("test for null first: `if (x != null) { … }`; or use `x!.%s(…)`", info.Func.Name()))
	case containsInvalid(got) || containsInvalid(want) || Identical(got, want):
	default:
		b.report(diag.New(diag.TailResult, x.Span(), "%s returns %s, but its last step would give %s", b.fn.FullName(), aType(want), aType(got)).
			With(b.fn.span, "declared here").With(info.Func.span, "%s", info.Func.Signature()).
			WithHelp("the result of a chain is that of its last step: give both methods the same; or call it with `event` and return"))
	}
}

// mayTail reports whether f is a method of an actor that is not ro.
func (f *Func) mayTail() bool { return f.Kind == Method && f.IsMethodOf(ast.ActorClass) && !f.RO }

// tailPlace reports a tail call in a function that is no step.
func (c *checker) tailPlace(x *ast.Call, f *Func) {
	who := f.FullName()
	switch {
	case f.Kind == Constructor:
		who = "the constructor of " + f.Class.name
	case f.RO && f.IsMethodOf(ast.ActorClass):
		who += ", which is ro,"
	case f.Context == ClientContext:
		who += ", which is code of clients,"
	}
	d := diag.New(diag.TailPlace, x.ModePos, "%s cannot make a tail call: only methods of actors that are not ro can", who)
	switch {
	case f.Kind == Constructor:
		d = d.WithHelp("a constructor is part of the event that makes the object: let a method go on")
	case f.RO && f.IsMethodOf(ast.ActorClass):
		d = d.With(roSpan(f), "declared ro here")
		info := c.info.Calls[x]
		switch callee := info.Func; {
		case info.Kind == ClientCall:
			d = d.WithHelp("a callback is no step of a chain: issue it with `event`")
		case !callee.RO || info.Through != ThroughThis && info.Through != ThroughPlain:
			d = d.WithHelp("remove `ro`: %s is an event of its own then, and called with `event` or `tail` only", f.FullName())
		case callee.Result == Void:
			d = d.WithHelp("call it without `tail`; %s is ro, too", callee.FullName())
		default:
			d = d.WithHelp("%s is ro, too: call it, and return its result", callee.FullName()).
				WithFix("return its result", diag.Replace(x.ModePos, "return"))
		}
	case f.Context == ClientContext:
		d = d.WithHelp("a client issues events: `event …`, or `await event …`")
	default:
		d = d.WithHelp("%s is part of the event that calls it: let the method of the actor go on", f.FullName())
	}
	c.report(d)
}

// tailsInside reports a call within an event of a method that contains a tail call.
func (c *checker) tailsInside(x *ast.Call, info *Call) {
	d := diag.New(diag.TailInside, x.Span(), "%s contains a tail call, so it is started by `event` or `tail` only", info.Func.FullName()).
		With(info.Func.span, "declared here").
		WithHelp("what it does before the tail call commits by itself, and this call is part of an event: use `event`, or `tail` as the last act")
	if info.Func.Result == Void && info.Kind == ActorCall {
		if x.Mode == ast.Async {
			d = d.WithFix("issue an event", diag.Replace(x.ModePos, "event"))
		} else {
			d = d.WithFix("issue an event", diag.InsertBefore(x.Span(), "event "))
		}
	}
	c.report(d)
}

// keptSteps is the part of [KEEP] that is known before a program runs. A chain that keeps an actor may
// wait for actors below it, which other chains keep. The class graph rules out that those chains wait
// for the first in turn, but for actors of its own class.
func (c *checker) keptSteps() {
	c.eachFunc(func(_ *Func, bf *bodyFacts) {
		for _, s := range bf.tails {
			info := c.info.Calls[s.X]
			if e := info.Func.Effects; info.Through != ThroughThis || e == nil || !touches(e.Touches, info.Func.Class) {
				continue
			}
			class := info.Func.Class
			c.report(diag.New(diag.TailKept, s.X.Span(), "this chain keeps %s, and its next step touches others of the class %s", aType(class), class.name).
				With(info.Func.span, "touches %s", class.name).
				WithHelp("two such chains could wait for each other: go on at another actor, or use `event`, which keeps nothing"))
		}
	})
}

// stepsText says how `aeonc check --effects` shows what may follow f in a chain, each step an event with effects of its
// own.
func (in *Info) stepsText(f *Func) string {
	if !f.Tails {
		return ""
	}
	var list []string
	ast.Inspect(f.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.TailCall)
		if !ok {
			return true
		}
		info := in.Calls[s.X]
		text := info.Func.FullName()
		if info.Through == ThroughThis {
			text += ", keeping this"
		}
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
		return false
	})
	return fmt.Sprintf("\tthen       %s\n", strings.Join(list, "; "))
}

func touches(list []ClassMode, class *Class) bool {
	for _, m := range list {
		if m.Class == class {
			return true
		}
	}
	return false
}
