package exec

import (
	"fmt"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// Chains of the random workload. Steps that keep their actor stay on it: all nodes are of one
// class, so chains that want each other's actors would wait for ever (AE0224).

// tail takes the last step of a script.
func (n *wnode) tail(cx *Cx, x *wargs, st wstep, to wref) {
	if st.op == wKeep {
		y := n.out(x, st, n.Self.Ref())
		y.lane = [2]*order.Handle{}
		cx.TailThis(n.Self.Ref(), &methodLocal, y)
		return
	}
	if to.IsNull() {
		to = wref{n.Self.Ref()}
	}
	cx.Tail(to.Ref, stepMethod(st.sub), n.out(x, st, to.Ref))
}

// stepMethod is the method of a step that keeps nothing.
func stepMethod(steps []wstep) *Method {
	for _, st := range steps {
		if st.op == wCall || st.op == wAsync {
			return &methodScript
		}
	}
	return &methodLocal
}

// chain returns an event that begins a chain.
func (g *generator) chain(r wref) (wref, *Method, *wargs) {
	x := &wargs{steps: append(g.simple(true), g.tail(5))}
	switch g.rng.IntN(4) {
	case 0:
		x.steps = append([]wstep{{op: wCallRef, ref: g.ref(), sub: g.simple(true)}}, x.steps...)
		return r, &methodPair, x
	case 1:
		x.steps = append(g.script(2, 2), x.steps...)
		return r, &methodScript, x
	}
	return r, &methodLocal, x
}

// tail returns a tail call, with at most so many behind it.
func (g *generator) tail(more int) wstep {
	st := wstep{op: wKeep, k: g.rng.IntN(4)}
	local := g.rng.IntN(3) > 0
	if !local {
		st.op = wTail
	}
	st.sub = g.simple(true)
	switch p := g.rng.IntN(20); {
	case p < 4 && !local:
		st.sub = append(st.sub, wstep{op: wCall, k: g.rng.IntN(4), sub: g.simple(true)})
	case p < 6:
		st.sub = append(st.sub, g.later())
	case p < 8 && more < 5:
		st.sub = append(st.sub, wstep{op: wAbort, n: int64(p)})
	}
	if more > 0 && g.rng.IntN(4) > 0 {
		st.sub = append(st.sub, g.tail(more-1))
	}
	return st
}

// keeps checks that an event touches no actor that a chain keeps, but for the chain's own next step.
func (m *model) keeps(t *traced, x *wargs) error {
	id := mkey(t.Label)
	if y := m.kept[id]; y != nil && x != nil && y == x.written() && t.Origin.Kind == trace.Tail {
		delete(m.kept, id)
	}
	for _, list := range [][]trace.Access{t.Reads, t.Writes} {
		for _, a := range list {
			if m.kept[mkey(a.Label)] != nil {
				return fmt.Errorf("event %v (order %d, %v on %v) touched %v, which a chain keeps", t.ID, t.Order, t.Method, t.Target, a.Label)
			}
		}
	}
	return nil
}
