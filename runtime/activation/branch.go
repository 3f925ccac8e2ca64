package activation

import (
	"runtime"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Branch is an async call that runs in a goroutine of its own.
type Branch struct {
	cx        *Activation
	footprint order.CallFootprint
	target    *order.Handle
	method    *Method
	args      order.Args
	spawn     []uintptr // the stack of the call, for the call path of a failure
	abroad    bool      // the target is in another store: the branch waits for an answer, and needs no processor
	done      bool      // guarded by Run.branches
	out       Outcome   // valid once done
}

// Ops returns what the branch has issued. It has ended.
func (b *Branch) Ops() []Op { return b.cx.Ops }

// abroadMax is how many async calls of one activation may be in other stores at a time.
const abroadMax = 64

// Async begins an async call of m on target. An idle worker takes it, if there is one, or the target is in another store,
// and the call shares nothing with the actors whose code is running. Otherwise it
// runs at once, to which a run in a worker must be equal anyway.
func Async(face *Cx, target order.Ref, m *Method, args order.Args) {
	cx, h := Of(face), order.HandleOf(target)
	if h == nil {
		fault(MsgNull)
	}
	r, abroad := cx.Run, h.Is(order.Elsewhere)
	cx.attach(h)
	p := order.CallOf(h, m.Shape(), &m.Effects, args)
	if !cx.alone() {
		cx.waitFor(p)
	}
	if !cx.forks() || !cx.separable(&p) || abroad && len(cx.branches) >= abroadMax || !abroad && !r.sys.Workers.Reserve() {
		cx.aside(func() {
			if abroad {
				if cx.spanned {
					cx.spans.AsyncElsewhere()
				}
				cx.callRemote(h, m, args)
				return
			}
			cx.enter(h, m, true)
			m.Run(face, h.Object, args)
			cx.Leave()
		})
		return
	}
	cx.fork()
	b := &Branch{cx: &Activation{Cx: Cx{fuel: cx.fuel, tank: cx.tank, spread: cx.spread}, Run: r, random: cx.draw() | 1},
		footprint: p, target: h, method: m, args: args, abroad: abroad}
	b.cx.log.Edges = b.cx
	if r.sys.Across != nil {
		b.cx.away = &away{place: cx.Next(), inner: cx != &r.Root}
	}
	switch {
	case cx.spanned && abroad:
		b.cx.Record(cx.spans.ForkElsewhere())
	case cx.spanned:
		b.cx.Record(cx.spans.Fork(m.String(), h.Known(m.Shape()), r.sys.nanos()))
	}
	var pcs [32]uintptr
	b.spawn = append(b.spawn, pcs[:runtime.Callers(2, pcs[:])]...)
	cx.branches = append(cx.branches, b)
	cx.Ops = append(cx.Ops, Op{Kind: OpBranch, Branch: b})
	r.sys.Workers.Run(b.run)
	r.sys.Scheduler.Yield()
}

// aside runs an async call at once. It has a sequence of random numbers of its own, as in a worker.
func (cx *Activation) aside(call func()) {
	mine := cx.draw() | 1
	mine, cx.random = cx.random, mine
	call()
	cx.random = mine
}

// separable reports whether a call may run beside the code that issues it: it
// touches none of the actors on the stack.
func (cx *Activation) separable(p *order.CallFootprint) bool {
	if !p.Target.Is(order.Created | order.Elsewhere) {
		return false
	}
	for i := range cx.frames {
		h := order.HandleOf(cx.frames[i].r)
		if a := order.AccessOf(h, order.Write); p.MayTouch(h) && !(cx.Run.Host.Apart(p, &a, false) && cx.Run.confine()) {
			return false
		}
	}
	return true
}

// run runs the branch to its end.
func (b *Branch) run() {
	r := b.cx.Run
	defer func() { // also on runtime.Goexit
		if b.cx.spanned {
			b.cx.spans.End(r.sys.nanos(), b.out.Kind == Aborted)
		}
		r.branches.Lock()
		b.done = true
		if !b.abroad {
			r.sys.Workers.Unreserve()
		}
		r.branchEnded.Broadcast()
		r.branches.Unlock()
	}()
	b.out = Outcome{Kind: Aborted, Err: &event.AbortError{Msg: MsgGoexit, Event: r.ID, Fault: true}}
	b.out = b.cx.body(b.target, b.method, b.args)
}

// waitFor waits for the earlier unfinished branches that conflict with a call about to be made,
// and takes over their logs, so that what the call logs comes after them. If one of
// them has failed the call must not be made.
func (cx *Activation) waitFor(p order.CallFootprint) {
	r := cx.Run
	settled := cx.retire()
	kept := cx.branches[:0]
	for i, b := range cx.branches {
		if !b.footprint.Conflicts(&p) || r.Host.Apart(&b.footprint, &p, settled) && r.confine() {
			kept = append(kept, b)
			continue
		}
		b.wait()
		if b.out.Kind != Ended {
			cx.branches = append(kept, cx.branches[i:]...)
			panic(branchFailed{})
		}
		cx.absorb(b)
	}
	cx.keep(kept)
}

// retire takes over the logs of the branches that have ended. Their order does not matter: what they did has nothing in
// common. If one of them has failed, this branch ends, since nothing that it does from here on can matter. retire reports
// whether the committed graph is all there is to the event.
func (cx *Activation) retire() (settled bool) {
	r := cx.Run
	r.branches.Lock()
	defer r.branches.Unlock()
	for _, b := range cx.branches {
		if b.done && b.out.Kind != Ended {
			panic(branchFailed{})
		}
	}
	kept := cx.branches[:0]
	for _, b := range cx.branches {
		if b.done {
			cx.absorb(b)
		} else {
			kept = append(kept, b)
		}
	}
	cx.keep(kept)
	// Invariant: a branch that has not ended has a reservation, or is one of few in other stores, so a call compares itself with a bounded number of them.
	assert.That(len(kept) <= r.sys.Workers.BranchMax()+abroadMax, "activation: %d branches run, and %d may", len(kept), r.sys.Workers.BranchMax()+abroadMax)
	return r.SettledGraph()
}

// keep leaves cx only the branches in kept, which was filtered from them in place.
func (cx *Activation) keep(kept []*Branch) {
	clear(cx.branches[len(kept):])
	cx.branches = kept
}

// branchFailed unwinds a branch one of whose own branches has failed.
type branchFailed struct{}

func (b *Branch) wait() {
	r := b.cx.Run
	r.branches.Lock()
	defer r.branches.Unlock()
	for !b.done {
		r.branchEnded.Wait()
	}
}

// absorb appends the logs of a branch that has ended to those of cx. Its ops keep
// their place in program order by way of opBranch.
func (cx *Activation) absorb(b *Branch) {
	cx.log.Absorb(&b.cx.log)
	cx.MaxPos = max(cx.MaxPos, b.cx.MaxPos)
	if b.cx.fuel+b.cx.tank < cx.fuel+cx.tank {
		cx.fuel, cx.tank = b.cx.fuel, b.cx.tank
	}
}

// join waits for all branches and returns the outcome of the whole: the first failure
// in program order. A branch was issued before whatever cx itself did later, so it
// comes first.
func (cx *Activation) join(out Outcome) Outcome {
	for _, b := range cx.branches {
		b.wait()
	}
	var first *Branch
	for _, b := range cx.branches {
		cx.absorb(b)
		// What is withdrawn may have left calls in other stores unanswered: nothing of the attempt counts then.
		if first == nil && b.out.Kind != Ended || b.out.Kind == Withdrawn && cx.Run.Wide() != nil {
			first = b
		}
	}
	cx.branches = nil
	if first != nil && (out.Kind != Withdrawn || cx.Run.Wide() == nil) {
		out = first.out
		out.addPath(first.spawn)
	}
	return out
}
