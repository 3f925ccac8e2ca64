package exec

import (
	"fmt"
	"slices"
	"sort"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/value"
)

// model is the naive sequential system that the workload is replayed on: one event
// after the other, copies instead of undo.

type mnode struct {
	value   int64
	kids    []event.ActorID
	deleted bool
}

type model struct {
	nodes   map[event.ActorID]*mnode
	lanes   map[[2]event.ActorID][]*wargs // sub-events issued and not replayed, per issuer and target
	undo    []func()
	sent    []func()
	event   event.EventID
	replays int
	version map[event.ActorID]uint64
}

func newModel() *model {
	return &model{nodes: map[event.ActorID]*mnode{}, lanes: map[[2]event.ActorID][]*wargs{}, version: map[event.ActorID]uint64{}}
}

// mabort unwinds an aborted replay.
type mabort struct{ msg string }

// replay runs a traced event on the model and compares what it saw.
func (m *model) replay(t *traced, issued map[*wargs][2]event.ActorID) error {
	m.replays++
	x := t.Args.(*wargs)
	if k, ok := issued[x]; ok {
		// A sub-event: it must be the next of its lane.
		l := m.lanes[k]
		if len(l) == 0 || l[0] != x {
			return fmt.Errorf("event %v (order %d): sub-event on %v out of turn", t.ID, t.Order, k)
		}
		m.lanes[k] = l[1:]
	}
	m.undo, m.sent, m.event = nil, nil, t.ID
	why := m.attempt(t, x)
	if why != "" {
		for _, u := range slices.Backward(m.undo) {
			u()
		}
	}
	got := ""
	if t.Err != nil {
		got = t.Err.Error()
	}
	if why != got {
		return fmt.Errorf("event %v (order %d) on %v: ended with %q, the model with %q", t.ID, t.Order, t.Target, got, why)
	}
	if why == "" {
		for _, f := range m.sent {
			f()
		}
	}
	return nil
}

func (m *model) attempt(t *traced, x *wargs) (why string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case mabort:
			why = p.msg
		case value.Fault:
			why = p.Msg
		default:
			panic(p)
		}
	}()
	m.run(t.Target, x, issuedBy{m, t.Err == nil})
	return ""
}

// issuedBy says whether notes are to be compared: those of an aborted event stop where
// it stopped, and its branches may have seen more.
type issuedBy struct {
	m       *model
	compare bool
}

func (m *model) check(id event.ActorID) *mnode {
	n := m.nodes[id]
	if n == nil || n.deleted {
		panic(mabort{"actor Node was deleted"})
	}
	return n
}

type mismatch struct{ text string }

func (m *model) run(id event.ActorID, x *wargs, by issuedBy) {
	n := m.check(id)
	var notes []int64
	call, made, sent := 0, 0, 0
	next := func(steps []wstep) *wargs {
		if call >= len(x.calls) {
			if by.compare {
				panic(mismatch{fmt.Sprintf("event %v made fewer calls on %v than the model", m.event, id)})
			}
			return &wargs{steps: steps}
		}
		call++
		return x.calls[call-1]
	}
	kid := func(k int) (event.ActorID, bool) {
		if len(n.kids) == 0 {
			return event.ActorID{}, false
		}
		return n.kids[k%len(n.kids)], true
	}
	setKids := func(kids []event.ActorID) {
		old := n.kids
		m.undo = append(m.undo, func() { n.kids = old })
		n.kids = kids
	}
	for _, st := range x.steps {
		switch st.op {
		case wAdd:
			old := n.value
			m.undo = append(m.undo, func() { n.value = old })
			n.value += st.n
		case wGet:
			notes = append(notes, n.value)
		case wCall, wAsync:
			if c, ok := kid(st.k); ok {
				m.check(c)
				m.run(c, next(st.sub), by)
			}
		case wCallRef:
			if !st.ref.IsNull() {
				m.run(st.ref.ID(), next(st.sub), by)
			}
		case wEmit:
			if c, ok := kid(st.k); ok && sent < len(x.sent) {
				y := x.sent[sent]
				sent++
				m.sent = append(m.sent, func() {
					k := [2]event.ActorID{id, c}
					m.lanes[k] = append(m.lanes[k], y)
				})
			}
		case wAdopt:
			if !st.ref.IsNull() {
				m.adopt(id, st.ref.ID())
				setKids(append(slices.Clone(n.kids), st.ref.ID()))
			}
		case wDrop:
			if len(n.kids) > 0 {
				setKids(slices.Delete(slices.Clone(n.kids), st.k%len(n.kids), st.k%len(n.kids)+1))
			}
		case wMove:
			if len(n.kids) > 1 {
				kids := slices.Clone(n.kids)
				c := kids[(st.k+1)%len(kids)]
				m.adopt(id, c)
				kids[st.k%len(kids)] = c
				setKids(kids)
			}
		case wNew, wNewLoose:
			if made >= len(x.made) {
				if by.compare {
					panic(mismatch{"fewer actors made than by the model"})
				}
				continue
			}
			c := x.made[made]
			made++
			m.nodes[c] = &mnode{value: st.n}
			m.undo = append(m.undo, func() { m.nodes[c].deleted = true })
			if st.op == wNew {
				setKids(append(slices.Clone(n.kids), c))
			}
		case wDelete:
			if c, ok := kid(st.k); ok {
				d := m.check(c)
				d.deleted = true
				m.undo = append(m.undo, func() { d.deleted = false })
			}
		case wAbort:
			panic(mabort{"abort " + itoa(int(st.n))})
		case wFault:
			panic(mabort{fmt.Sprintf("index %d out of range, size %d", len(n.kids), len(n.kids))})
		case wRandom:
			if len(notes) < len(x.notes) {
				notes = append(notes, x.notes[len(notes)])
			}
		}
	}
	if by.compare && !slices.Equal(notes, x.notes) {
		panic(mismatch{fmt.Sprintf("event %v on %v noted %v, the model %v", m.event, id, x.notes, notes)})
	}
}

// adopt aborts if an edge p -> c would close a cycle. A deleted actor owns nothing.
func (m *model) adopt(p, c event.ActorID) {
	seen := map[event.ActorID]bool{}
	var reach func(event.ActorID) bool
	reach = func(x event.ActorID) bool {
		if x == p {
			return true
		}
		if seen[x] {
			return false
		}
		seen[x] = true
		n := m.nodes[x]
		if n == nil || n.deleted {
			return false
		}
		return slices.ContainsFunc(n.kids, reach)
	}
	if reach(c) {
		panic(mabort{msgCycle})
	}
}

// replayAll replays the trace in commit order and compares the final state.
func replayAll(s *System, trace []*traced, initial []wref) (err error) {
	m := newModel()
	defer func() {
		if p := recover(); p != nil {
			if mm, ok := p.(mismatch); ok {
				err = fmt.Errorf("after %d events: %s", m.replays, mm.text)
				return
			}
			panic(p)
		}
	}()
	sort.Slice(trace, func(i, j int) bool { return trace[i].Order < trace[j].Order })
	for _, r := range initial {
		m.nodes[r.ID()] = &mnode{}
	}
	issued := map[*wargs][2]event.ActorID{}
	for _, t := range trace {
		if x, ok := t.Args.(*wargs); ok && t.Err == nil {
			noteIssued(t.Target, x, issued)
		}
	}
	for _, t := range trace {
		if t.Start >= t.Order || t.End != 0 && t.Order >= t.End {
			return fmt.Errorf("event %v: order %d is not between its start %d and its answer %d", t.ID, t.Order, t.Start, t.End)
		}
		if err := m.versions(t); err != nil {
			return err
		}
		if _, ok := t.Args.(*wargs); !ok || t.Method == methodBorn.String() {
			if t.Err == nil && t.Method == methodBorn.String() {
				m.nodes[t.Target] = &mnode{}
			}
			continue
		}
		if err := m.replay(t, issued); err != nil {
			return err
		}
	}
	return m.compare(s, trace)
}

// versions checks that the event read what the event before it in the order had written.
func (m *model) versions(t *traced) error {
	for _, r := range t.Reads {
		if v := m.version[r.Actor]; v != r.Version {
			return fmt.Errorf("event %v (order %d, attempt %d, %v on %v): read version %d of %v, which is at %d", t.ID, t.Order, t.Attempt, t.Method, t.Target, r.Version, r.Actor, v)
		}
	}
	for _, w := range t.Writes {
		m.version[w.Actor] = w.Version
	}
	return nil
}

// noteIssued finds who issued which sub-event.
func noteIssued(_ event.ActorID, x *wargs, issued map[*wargs][2]event.ActorID) {
	for _, y := range x.sent {
		issued[y] = y.lane
	}
	for _, y := range x.calls {
		noteIssued(event.ActorID{}, y, issued)
	}
}

// compare compares the final state of every actor, and of the ownership graph, with the
// model.
func (m *model) compare(s *System, trace []*traced) error {
	for k, l := range m.lanes {
		if len(l) > 0 && !s.closing.Load() {
			return fmt.Errorf("%d sub-events of %v were never run", len(l), k)
		}
	}
	handles := map[event.ActorID]*Handle{}
	var collect func(h *Handle)
	collect = func(h *Handle) {
		for _, c := range s.graph.TChildren(nil, s.nodeOf(h)) {
			ch := s.handleOf(c)
			if ch.class != nil {
				handles[ch.id] = ch
			}
			collect(ch)
		}
	}
	collect(s.top)
	for id, n := range m.nodes {
		h := handles[id]
		if n.deleted {
			continue
		}
		if h == nil || h.is(deleted) {
			return fmt.Errorf("actor %v is missing at the end", id)
		}
		o := h.obj.(*wnode)
		var kids []event.ActorID
		units := map[event.ActorID]int{}
		for _, k := range o.kids.Items() {
			kids = append(kids, k.ID())
			if !k.h.is(deleted) {
				units[k.ID()]++
			}
		}
		if o.value != n.value || !slices.Equal(kids, n.kids) {
			return fmt.Errorf("actor %v ends with %d %v, the model with %d %v", id, o.value, kids, n.value, n.kids)
		}
		owned := s.graph.Owned(nil, &h.node)
		if len(owned) != len(units) {
			return fmt.Errorf("actor %v owns %d actors, the graph says %d", id, len(units), len(owned))
		}
		for _, c := range owned {
			ch := s.handleOf(c)
			if got := s.graph.Units(&h.node, c); got != units[ch.id] {
				return fmt.Errorf("edge %v -> %v has %d units, want %d", id, ch.id, got, units[ch.id])
			}
		}
	}
	return nil
}
