package exec

import (
	"runtime"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// branch is an async call that runs in a goroutine of its own.
type branch struct {
	cx        *activation
	footprint order.CallFootprint
	target    *order.Handle
	method    *Method
	args      order.Args
	spawn     []uintptr // the stack of the call, for the call path of a failure
	done      bool      // guarded by ev.branches
	out       outcome   // valid once done
}

// Async begins an async call of m on target. An idle worker takes it, if there is one
// and the call shares nothing with the actors whose code is running. Otherwise it
// runs at once, to which a run in a worker must be equal anyway.
func Async(face *Cx, target order.Ref, m *Method, args order.Args) {
	cx, h := of(face), order.HandleOf(target)
	if h == nil {
		fault(msgNull)
	}
	ev := cx.ev
	cx.attach(h)
	p := order.CallOf(h, &m.Effects, args)
	if len(cx.branches) > 0 {
		cx.waitFor(p)
	}
	if !cx.separable(&p) || !ev.sys.workers.Reserve() {
		mine := cx.draw() | 1
		mine, cx.random = cx.random, mine
		cx.enter(h, m, true)
		m.Run(face, h.Object, args)
		cx.Leave()
		cx.random = mine
		return
	}
	b := &branch{cx: &activation{Cx: Cx{fuel: cx.fuel, tank: cx.tank}, ev: ev, random: cx.draw() | 1}, footprint: p, target: h, method: m, args: args}
	b.cx.log.Edges = b.cx
	if cx.spanned {
		b.cx.spanned, b.cx.spans = true, cx.spans.Fork(m.String(), h.Known(shapeOf(m.Class)), ev.sys.nanos())
	}
	var pcs [32]uintptr
	b.spawn = append(b.spawn, pcs[:runtime.Callers(2, pcs[:])]...)
	ev.Fork()
	cx.branches = append(cx.branches, b)
	cx.ops = append(cx.ops, op{kind: opBranch, branch: b})
	ev.sys.workers.Run(b.run)
	ev.sys.scheduler.Yield()
}

// separable reports whether a call may run beside the code that issues it: it
// touches none of the actors on the stack.
func (cx *activation) separable(p *order.CallFootprint) bool {
	if !p.Target.Is(order.Created) {
		return false
	}
	for i := range cx.frames {
		if p.MayTouch(order.HandleOf(cx.frames[i].r)) {
			return false
		}
	}
	return true
}

// run runs the branch to its end.
func (b *branch) run() {
	ev := b.cx.ev
	defer func() { // also on runtime.Goexit
		if b.cx.spanned {
			b.cx.spans.End(ev.sys.nanos(), b.out.kind == aborted)
		}
		ev.branches.Lock()
		b.done = true
		ev.sys.workers.Unreserve()
		ev.branchEnded.Broadcast()
		ev.branches.Unlock()
	}()
	b.out = outcome{kind: aborted, err: &event.AbortError{Msg: msgGoexit, Event: ev.ID, Fault: true}}
	b.out = b.cx.body(b.target, b.method, b.args)
}

// waitFor waits for the earlier unfinished branches that conflict with a call about to be made,
// and takes over their logs, so that what the call logs comes after them. If one of
// them has failed the call must not be made.
func (cx *activation) waitFor(p order.CallFootprint) {
	ev := cx.ev
	settled := cx.retire()
	kept := cx.branches[:0]
	for i, b := range cx.branches {
		if !ev.sys.host.Conflicts(&b.footprint, &p, settled) {
			kept = append(kept, b)
			continue
		}
		b.wait()
		if b.out.kind != ended {
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
func (cx *activation) retire() (settled bool) {
	ev := cx.ev
	ev.branches.Lock()
	defer ev.branches.Unlock()
	for _, b := range cx.branches {
		if b.done && b.out.kind != ended {
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
	// Invariant: a branch that has not ended has a reservation, so a call compares itself with a bounded number of them.
	assert.That(len(kept) <= ev.sys.workers.BranchMax(), "exec: %d branches run, and %d may", len(kept), ev.sys.workers.BranchMax())
	return ev.SettledGraph()
}

// keep leaves cx only the branches in kept, which was filtered from them in place.
func (cx *activation) keep(kept []*branch) {
	clear(cx.branches[len(kept):])
	cx.branches = kept
}

// branchFailed unwinds a branch one of whose own branches has failed.
type branchFailed struct{}

func (b *branch) wait() {
	ev := b.cx.ev
	ev.branches.Lock()
	defer ev.branches.Unlock()
	for !b.done {
		ev.branchEnded.Wait()
	}
}

// absorb appends the logs of a branch that has ended to those of cx. Its ops keep
// their place in program order by way of opBranch.
func (cx *activation) absorb(b *branch) {
	cx.log.Absorb(&b.cx.log)
	cx.maxPos = max(cx.maxPos, b.cx.maxPos)
	if b.cx.fuel+b.cx.tank < cx.fuel+cx.tank {
		cx.fuel, cx.tank = b.cx.fuel, b.cx.tank
	}
}

// join waits for all branches and returns the outcome of the whole: the first failure
// in program order. A branch was issued before whatever cx itself did later, so it
// comes first.
func (cx *activation) join(out outcome) outcome {
	for _, b := range cx.branches {
		b.wait()
	}
	var first *branch
	for _, b := range cx.branches {
		cx.absorb(b)
		if first == nil && b.out.kind != ended {
			first = b
		}
	}
	cx.branches = nil
	if first != nil {
		out = first.out
		out.addPath(first.spawn)
	}
	return out
}
