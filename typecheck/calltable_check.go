package typecheck

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// checkCalls checks every call against the table, and that ro methods write
// nothing.
func (c *checker) checkCalls() {
	c.offences()
	c.eachFunc(func(f *Func, bf *bodyFacts) {
		if f.Kind == SnapshotBlock {
			c.checkSnapshot(bf)
			return
		}
		row := byActor
		switch {
		case f.Context == ClientContext:
			row = byClient
		case f.RO && f.IsMethodOf(ast.ActorClass):
			row = byReadOnly
		}
		for _, x := range bf.calls {
			c.checkCall(row, f, x)
		}
		if row == byReadOnly {
			c.readOnlyWrites(f, bf)
		}
		if f.Context != ClientContext {
			c.plainReceivers(bf)
		}
	})
}

// checkCall looks one call up.
func (c *checker) checkCall(row caller, f *Func, x *ast.Call) {
	info := c.info.Calls[x]
	if info.Func == nil {
		return
	}
	switch info.Kind {
	case SelfCall:
		if f.Class.Kind == ast.ValueClass {
			return
		}
		info.Through = ThroughThis
	case ActorCall, ClientCall:
		info.Through = c.through(info, row)
	default:
		if row == byReadOnly {
			c.readOnlyHelper(f, info.Func, x.Span())
		}
		return
	}
	if info.Func.Tails && x.Mode.Inside() && row != byClient {
		c.tailsInside(x, info)
	}
	key := cell{row, x.Mode, info.Through, anyMethod}
	if info.Func.RO {
		key.callee = roMethod
	}
	switch v := callTable[key]; diag.Code(v) {
	case "":
	case diag.ClientCallsPlain:
		c.clientCalls(x, info)
	case diag.YieldCalled:
		c.yieldCalled(x, info)
	case diag.ClientRefCalled:
		c.clientRefCalled(f, row, x, info)
	case diag.ReadOnlyCalls:
		c.readOnlyCalls(f, info.Func, x)
	case diag.TailPlace:
		c.tailPlace(x, f)
	}
}

// through classifies the receiver.
func (c *checker) through(info *Call, row caller) Through {
	onThis := info.Recv == nil
	if !onThis {
		_, onThis = ast.Unparen(info.Recv).(*ast.This)
	}
	switch {
	case onThis:
		return ThroughThis
	case info.Kind == ClientCall:
		return ThroughClient
	case row == byClient || c.isYield(info.Recv):
		return ThroughYield
	}
	return ThroughPlain
}

func (c *checker) clientCalls(x *ast.Call, info *Call) {
	d := diag.New(diag.ClientCallsPlain, x.Span(), "a client cannot call %s directly: clients issue events", info.Func.FullName()).
		WithHelp("`await event` waits for the result")
	if x.Mode == ast.Async {
		d = d.WithFix("issue an event", diag.Replace(x.ModePos, "event"))
	} else {
		d = d.WithFix("await an event", before(x, "await event ")...)
	}
	c.report(d)
}

func (c *checker) yieldCalled(x *ast.Call, info *Call) {
	d := diag.New(diag.YieldCalled, x.Span(), "%s is reached through a yield reference, which takes only event calls", info.Func.FullName()).
		WithLabel("%s", insideCalls[x.Mode])
	d = c.why(d, info.Recv).WithHelp("issue an event, which runs after this one; or hold the actor in a plain field, which owns it")
	if x.Mode == ast.Async {
		d = d.WithFix("issue an event", diag.Replace(x.ModePos, "event"))
	} else if info.Func.Result == Void {
		d = d.WithFix("issue an event", diag.InsertBefore(x.Span(), "event "))
	}
	c.report(d)
}

func (c *checker) clientRefCalled(f *Func, row caller, x *ast.Call, info *Call) {
	d := diag.New(diag.ClientRefCalled, x.Span(), "%s belongs to a client object, which takes only event calls", info.Func.FullName())
	switch {
	case x.Mode == ast.Tail:
		d = d.WithHelp("a callback is no step of a chain: issue it with `event`, and return")
	case row != byClient:
		d = d.WithHelp("the callback runs at the client after this event has committed, and has no result")
	case info.Through == ThroughThis:
		d = d.WithHelp("a call of the object's own method runs here if it is written without `async`; with `event` it is a callback")
	case f.Class != nil:
		d = d.WithHelp("it runs as a callback, after this one, and has no result")
	default:
		d = d.WithHelp("it runs as a callback, after those before it, and has no result; `settle();` waits until all have run")
	}
	switch {
	case x.Mode == ast.Async:
		d = d.WithFix("issue an event", diag.Replace(x.ModePos, "event"))
	case info.Func.Result == Void && x.Mode == ast.Sync:
		d = d.WithFix("issue an event", diag.InsertBefore(x.Span(), "event "))
	}
	c.report(d)
}

// plainReceivers reports what else needs a plain reference: delete, and
// methods of values that use those in them.
func (c *checker) plainReceivers(bf *bodyFacts) {
	for _, s := range bf.deletes {
		if c.isYield(s.X) {
			c.report(c.why(diag.New(diag.BadDelete, s.X.Span(), "an actor behind a yield reference cannot be deleted here"), s.X).
				WithHelp("issue an event to an actor that owns it, or to itself, and delete it there"))
		}
	}
	for _, x := range bf.calls {
		info := c.info.Calls[x]
		if info.Kind == ValueCall && info.Func.forPlain != nil && c.isYield(info.Recv) {
			d := diag.New(diag.YieldCalled, x.Span(), "%s uses plain references, but those in this value are yield", info.Func.FullName())
			d = explainNeeds(d, info.Func.forPlain, func(f *Func) *need { return f.forPlain })
			c.report(c.why(d, info.Recv).WithHelp("yield references take only event calls"))
		}
	}
}
