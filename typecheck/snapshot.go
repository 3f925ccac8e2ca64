package typecheck

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// [T-SNAPSHOT]: a snapshot block runs on a copy of the state of one actor, when a snapshot is taken: outside of all
// events, without a lock, at a time that the program cannot observe. So what it leaves follows from the fields alone.
// It computes, with helpers, too, and assigns fields; it reaches no other actor and has no effect outside of the copy.
// Fields that own keep what they have, as ownership is stored beside the fields.

// snapshotBlock declares `snapshot { … }`.
func (c *checker) snapshotBlock(class *Class, d *ast.SnapshotDecl) {
	f := &Func{Kind: SnapshotBlock, Pkg: c.pkg, Class: class, Decl: d, Body: d.Body, Result: Void, Context: ActorContext, name: "snapshot", span: d.WordPos}
	c.info.Defs[d] = f
	switch {
	case class.Kind != ast.ActorClass:
		c.report(diag.New(diag.SnapshotPlace, d.WordPos, "only an actorclass has a snapshot block; %s is a %s", class.name, class.Kind).
			WithHelp("what snapshots contain is decided actor by actor: let the actor that holds the value change it there"))
	case class.Snapshot != nil:
		c.report(diag.New(diag.SnapshotTwice, d.WordPos, "%s has a snapshot block already; a class has one", class.name).
			With(class.Snapshot.span, "the first one").
			WithHelp("write all of it into one block"))
	default:
		class.Snapshot = f
	}
}

// beyond calls report for everything in a function that a snapshot block cannot do.
func (c *checker) beyond(bf *bodyFacts, report func(*need)) {
	reaches := func(at ast.Node, what string) { report(&need{at: at.Span(), what: what, code: diag.SnapshotReaches}) }
	acts := func(at ast.Node, what string) { report(&need{at: at.Span(), what: what, code: diag.SnapshotActs}) }
	for _, x := range bf.calls {
		info := c.info.Calls[x]
		switch info.Kind {
		case ActorCall, ClientCall:
			reaches(x, "call "+info.Func.FullName())
		case SelfCall, ValueCall, FuncCall:
			if info.Kind == SelfCall && info.Func.Class.Kind != ast.ValueClass {
				reaches(x, "call "+info.Func.FullName())
			} else if g := info.Func.Go; g != nil && !g.Pure {
				acts(x, "call "+info.Func.FullName()+", which reads what is outside of the program")
			}
		case BuiltinCall:
			if what := actingBuiltins[info.Builtin]; what != "" {
				acts(x, what)
			}
		}
	}
	for _, x := range bf.news {
		if class, ok := c.info.News[x].Type.(*Class); ok && class.Kind != ast.ValueClass {
			reaches(x, "create "+aType(class))
		}
	}
	for _, x := range bf.named {
		reaches(x, "name an actor")
	}
	for _, s := range bf.deletes {
		reaches(s, "delete an actor")
	}
	for _, s := range bf.cancels {
		acts(s, "cancel a timer")
	}
}

var actingBuiltins = map[BuiltinID]string{
	PrintFunc: "print", LogFunc: "log", NowFunc: "ask for the time", RandomFunc: "draw a random number", EventIDFunc: "ask for the id of an event", KeyFunc: "ask for the name of its actor",
}

// firstBeyond returns the first of what beyond finds, nil if the function only computes.
func (c *checker) firstBeyond(bf *bodyFacts) (first *need) {
	c.beyond(bf, func(n *need) {
		if first == nil {
			first = n
		}
	})
	return first
}

// checkSnapshot checks a snapshot block.
func (c *checker) checkSnapshot(bf *bodyFacts) {
	say := func(d diag.Diagnostic) {
		help := "it runs outside of all events, on a copy of this one actor: change its fields, and compute with values"
		if d.Code == diag.SnapshotActs {
			help = "it runs whenever a snapshot is taken, at a time that the program cannot observe: what it leaves follows from the fields alone"
		}
		c.report(d.WithHelp("%s", help))
	}
	c.beyond(bf, func(n *need) { say(diag.New(n.code, n.at, "a snapshot block cannot %s", n.what)) })
	c.eachHelperCall(bf, func(callee *Func, at ast.Span) {
		if n := callee.beyond; n != nil && callee.forClient == nil { // else that has been reported
			say(explainNeeds(diag.New(n.code, at, "a snapshot block cannot call %s, which may %s", callee.FullName(), n.what), n, func(f *Func) *need { return f.beyond }))
		}
	})
	for _, n := range bf.stores {
		root := c.info.Stores[n].Root
		if root == nil || root.Kind != FieldVar || root.Yield || !c.holdsActors(root.typ) {
			continue
		}
		c.report(diag.New(diag.SnapshotOwns, n.Span(), "a snapshot block cannot change %s: it holds actors, which %s owns", root.name, root.Class.name).
			With(root.span, "declared here, not `yield`").
			WithHelp("what an actor owns is in a snapshot with it; change other fields"))
	}
}
