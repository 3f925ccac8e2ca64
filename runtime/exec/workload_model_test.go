package exec

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/trace"
	"github.com/aeon-lang/aeon/runtime/value"
)

// model is the naive sequential system that the workload is replayed on: one event
// after the other, copies instead of undo.

// mkey is an actor in the model: its label in the trace, which tells apart the actors
// that have had one name.
type mkey string

type mnode struct {
	value   int64
	kids    []mkey
	deleted bool
}

type model struct {
	sys     *System
	rec     *recorder // nil: no timers fire
	nodes   map[mkey]*mnode
	names   map[string]mkey        // the last actor made of a name
	lanes   map[[2]mkey][]*wargs   // sub-events issued and not replayed, per issuer and target
	kept    map[mkey]*wargs        // the next steps of chains that keep their actors
	timers  map[any]*mtimer        // by the arguments of what they will do
	named   map[[2]string]*mtimer  // by issuer and name
	boxes   map[*wsession][]*wcall // callbacks, in order
	undo    []func()
	sent    []func() // what the event does at its commit
	buried  []mkey   // deleted by the event
	event   event.EventID
	replays int
	version map[mkey]uint64
	asked   map[*wargs]string // the requests of durable sessions that were performed, and how they ended
}

func newModel(s *System) *model {
	return &model{sys: s, nodes: map[mkey]*mnode{}, names: map[string]mkey{}, lanes: map[[2]mkey][]*wargs{}, kept: map[mkey]*wargs{}, timers: map[any]*mtimer{},
		named: map[[2]string]*mtimer{}, boxes: map[*wsession][]*wcall{}, version: map[mkey]uint64{}, asked: map[*wargs]string{}}
}

// clone returns a model that goes on by itself.
func (m *model) clone() *model {
	c := newModel(m.sys)
	c.rec, c.replays = m.rec, m.replays
	maps.Copy(c.names, m.names)
	maps.Copy(c.kept, m.kept)
	maps.Copy(c.boxes, m.boxes)
	maps.Copy(c.version, m.version)
	maps.Copy(c.asked, m.asked)
	for id, n := range m.nodes {
		o := *n // what is in kids does not change
		c.nodes[id] = &o
	}
	for k, l := range m.lanes {
		if len(l) > 0 {
			c.lanes[k] = slices.Clone(l)
		}
	}
	for work, t := range m.timers {
		o := *t
		c.timers[work] = &o
		if m.named[t.key] == t {
			c.named[t.key] = &o
		}
	}
	return c
}

func (m *model) key(h *order.Handle) mkey {
	if h.Is(order.Detached) { // of a run that has ended
		h = m.sys.durable.Handle(h.ID)
	}
	return mkey(m.sys.tracer.Label(h))
}

// mabort unwinds an aborted replay.
type mabort struct{ msg string }

// replay runs a traced event on the model and compares what it saw.
func (m *model) replay(t *traced) error {
	m.replays++
	x, ok := t.Args.(*wargs)
	if err := m.keeps(t, x); err != nil {
		return err
	}
	if ok && x != nil && x.written().lane[0] != nil && t.Origin.Kind != trace.Client {
		// A sub-event: it must be the next of its lane.
		k := [2]mkey{m.key(x.written().lane[0]), m.key(x.written().lane[1])}
		l := m.lanes[k]
		if len(l) == 0 || l[0] != x.written() {
			return fmt.Errorf("event %v (order %d): sub-event on %v out of turn", t.ID, t.Order, k)
		}
		m.lanes[k] = l[1:]
	}
	m.undo, m.sent, m.buried, m.event = nil, nil, nil, t.ID
	why := m.attempt(t, x)
	if ok && x != nil && x.written().asked {
		if _, again := m.asked[x.written()]; again {
			return fmt.Errorf("event %v (order %d): a request was performed twice", t.ID, t.Order)
		}
		m.asked[x.written()] = why
	}
	if why != "" {
		for _, u := range slices.Backward(m.undo) {
			u()
		}
	}
	got := ""
	if t.Err != nil {
		got = t.Err.Error()
	}
	if gone := strings.HasSuffix(why, " was deleted"); gone && (got == new(order.Handle).Deleted(nil) || got == new(order.Handle).Deleted(&classNode.Shape)) && m.sys.durable != nil {
		got = why // deleted in an earlier run: its name and perhaps its class are gone, too
	}
	if why != got {
		return fmt.Errorf("event %v (order %d) on %v: ended with %q, the model with %q", t.ID, t.Order, t.Target, got, why)
	}
	if why == "" {
		m.commit()
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
	switch {
	case x != nil:
		m.run(mkey(t.Label), x, issuedBy{m, t.Err == nil})
	case t.Method == methodDelete.String():
		m.kill(mkey(t.Label))
	default:
		m.fire(mkey(t.Label), t)
	}
	return ""
}

// issuedBy says whether notes are to be compared. The notes of an aborted event stop where
// it stopped, and its branches may have seen more.
type issuedBy struct {
	m       *model
	compare bool
}

// check returns an actor that an event reaches. A named one is made then.
func (m *model) check(id mkey) *mnode {
	n := m.nodes[id]
	_, name, isNamed := strings.Cut(string(id), "/")
	switch {
	case n == nil && isNamed:
		if o := m.names[name]; o != "" && !m.nodes[o].deleted {
			panic(mismatch{fmt.Sprintf("%v and %v have one name", o, id)})
		}
		n = &mnode{value: namedValue}
		last := m.names[name]
		m.nodes[id], m.names[name] = n, id
		m.undo = append(m.undo, func() {
			delete(m.nodes, id)
			m.names[name] = last
		})
	case n == nil || n.deleted:
		label := "Node"
		if isNamed {
			label += "(" + strconv.Quote(name) + ")"
		}
		panic(mabort{"actor " + label + " was deleted"})
	}
	return n
}

// kill deletes an actor.
func (m *model) kill(id mkey) {
	d := m.check(id)
	d.deleted = true
	m.undo = append(m.undo, func() { d.deleted = false })
	m.buried = append(m.buried, id)
}

type mismatch struct{ text string }

func (m *model) run(id mkey, x *wargs, by issuedBy) {
	n := m.check(id)
	var notes []int64
	call, made, outs := 0, 0, 0
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
	kid := func(k int) (mkey, bool) {
		if len(n.kids) == 0 {
			return "", false
		}
		return n.kids[k%len(n.kids)], true
	}
	setKids := func(kids []mkey) {
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
				m.run(m.key(order.HandleOf(st.ref.Bare())), next(st.sub), by)
			}
		case wEmit, wEmitNamed, wAfter, wEvery, wCancel, wShow, wShowAfter, wTail, wKeep:
			c, ok := kid(st.k)
			if st.op == wEmit && !ok {
				continue
			}
			if outs >= len(x.outs) {
				if by.compare {
					panic(mismatch{fmt.Sprintf("event %v issued less on %v than the model", m.event, id)})
				}
				continue
			}
			o := x.outs[outs]
			outs++
			if ok && (st.op == wEmit || st.op == wAfter || st.op == wEvery || st.op == wTail) && m.key(o.to) != c {
				panic(mismatch{fmt.Sprintf("event %v issued an event on %v, the model on %v", m.event, m.key(o.to), c)})
			}
			m.sent = append(m.sent, func() { m.follow(id, o) })
		case wAdopt:
			if !st.ref.IsNull() {
				c := m.key(order.HandleOf(st.ref.Bare()))
				m.adopt(id, c)
				setKids(append(slices.Clone(n.kids), c))
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
			c := m.key(x.made[made])
			made++
			m.nodes[c] = &mnode{value: st.n}
			m.undo = append(m.undo, func() { m.nodes[c].deleted = true })
			if st.op == wNew {
				setKids(append(slices.Clone(n.kids), c))
			}
		case wDelete:
			if c, ok := kid(st.k); ok {
				m.kill(c)
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
func (m *model) adopt(p, c mkey) {
	seen := map[mkey]bool{}
	var reach func(mkey) bool
	reach = func(x mkey) bool {
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
func replayAll(s *System, list []*traced, rec *recorder) (err error) {
	m := newModel(s)
	m.rec = rec
	defer func() {
		if p := recover(); p != nil {
			if mm, ok := p.(mismatch); ok {
				err = fmt.Errorf("after %d events: %s", m.replays, mm.text)
				return
			}
			panic(p)
		}
	}()
	sort.Slice(list, func(i, j int) bool { return list[i].Order < list[j].Order })
	for _, t := range list {
		if t.Start >= t.Order || t.End != 0 && t.Order >= t.End {
			return fmt.Errorf("event %v: order %d is not between its start %d and its answer %d", t.ID, t.Order, t.Start, t.End)
		}
		if err := m.versions(t); err != nil {
			return err
		}
		if t.Method == methodBorn.String() {
			if t.Err == nil {
				m.nodes[mkey(t.Label)] = &mnode{}
			}
			continue
		}
		if err := m.replay(t); err != nil {
			return err
		}
	}
	return m.compare(s)
}

// versions checks that the event read what the event before it in the order had written.
func (m *model) versions(t *traced) error {
	for _, r := range t.Reads {
		if v := m.version[mkey(r.Label)]; v != r.Version {
			return fmt.Errorf("event %v (order %d, attempt %d, %v on %v): read version %d of %v, which is at %d", t.ID, t.Order, t.Attempt, t.Method, t.Target, r.Version, r.Actor, v)
		}
	}
	for _, w := range t.Writes {
		m.version[mkey(w.Label)] = w.Version
	}
	return nil
}

// compare compares the final state of every actor, and of the ownership graph, with the
// model.
func (m *model) compare(s *System) error {
	for id := range m.kept {
		return fmt.Errorf("the step that %v is kept for was never run", id)
	}
	for k, l := range m.lanes {
		if len(l) > 0 && !s.closing.Load() {
			return fmt.Errorf("%d sub-events of %v were never run", len(l), k)
		}
	}
	if err := m.compareFollows(s); err != nil {
		return err
	}
	if s.durable != nil {
		if _, err := s.durable.AttachAll(); err != nil {
			return err
		}
	}
	s.host.AwaitMoves() // what events or attaching made wish to move: T is walked below
	handles := map[mkey]*order.Handle{}
	var collect func(h *order.Handle)
	collect = func(h *order.Handle) {
		for _, c := range s.host.Graph.TChildren(nil, s.host.NodeOf(h)) {
			ch := s.host.HandleOf(c)
			if ch.Shape != nil {
				handles[m.key(ch)] = ch
			}
			collect(ch)
		}
	}
	collect(s.host.Top)
	for id, n := range m.nodes {
		h := handles[id]
		if n.deleted {
			continue
		}
		if h == nil || h.Is(order.Deleted) {
			return fmt.Errorf("actor %v is missing at the end", id)
		}
		if h.Is(order.Unloaded) {
			if err := s.durable.Load(h); err != nil {
				return err
			}
		}
		o := h.Object.(*wnode)
		var kids []mkey
		units := map[mkey]int{}
		for _, k := range o.kids.Items() {
			kids = append(kids, m.key(order.HandleOf(k.Bare())))
			if !order.HandleOf(k.Bare()).Is(order.Deleted) {
				units[m.key(order.HandleOf(k.Bare()))]++
			}
		}
		if o.value != n.value || !slices.Equal(kids, n.kids) {
			return fmt.Errorf("actor %v ends with %d %v, the model with %d %v", id, o.value, kids, n.value, n.kids)
		}
		owned := s.host.Graph.Owned(nil, &h.Node)
		if len(owned) != len(units) {
			return fmt.Errorf("actor %v owns %d actors, the graph says %d", id, len(units), len(owned))
		}
		for _, c := range owned {
			ch := s.host.HandleOf(c)
			if got := s.host.Graph.Units(&h.Node, c); got != units[m.key(ch)] {
				return fmt.Errorf("edge %v -> %v has %d units, want %d", id, m.key(ch), got, units[m.key(ch)])
			}
		}
	}
	return nil
}
