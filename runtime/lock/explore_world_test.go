package lock

import (
	"hash/maphash"
	"math/bits"
	"strconv"
)

// The explorer drives the production core, and nothing but it, through all
// interleavings of small worlds: actors, a sequencing tree, hosts with views that may be
// stale, and events that are call trees. This file has the world: everything that a
// state consists of.

type (
	node  uint8
	event uint8
	mask  uint16 // set of nodes
)

// nodeNames are used by transcripts; elsewhere nodes are numbers.
var nodeNames [nodeCount]string

func (x node) String() string {
	if n := nodeNames[x]; n != "" {
		return n
	}
	return strconv.Itoa(int(x))
}

// Nodes of a world. 0 is no node; which of the others exist is up to the config.
const (
	nodeTop   node = 1
	nodePartA node = 2 // virtual nodes of two partitions
	nodePartB node = 3
	nodeActor node = 4 // first of up to four actors
	nodeFresh node = 8 // first of those that events create, one per event
	nodeCount      = 12

	eventsMax   = 4
	hostsMax    = 3
	attemptsMax = 10 // more is a livelock
)

const virtualNodes = mask(1<<nodeTop | 1<<nodePartA | 1<<nodePartB)

func bit(x node) mask          { return 1 << x }
func (m mask) has(x node) bool { return m&(1<<x) != 0 }
func (m mask) first() node     { return node(bits.TrailingZeros16(uint16(m))) }
func (m mask) each(f func(node)) {
	for ; m != 0; m &= m - 1 {
		f(m.first())
	}
}

type (
	xid     = ID[event]
	xeffect = Effect[event, node]
	xqueue  = Queue[event, node]
	xhome   = Home[event, node]
)

// msgKind is what travels between hosts, in any order.
type msgKind uint8

const (
	msgEnter   msgKind = iota // home -> sequencer
	msgEnqueue                // T-parent -> T-child
	msgAcquire                // home -> lazy hold
	msgRelease                // home or T-parent -> entry
	msgHome                   // node -> home
)

type msg struct {
	kind      msgKind
	effect    EffectKind // of msgHome
	event     event
	attempt   uint8
	from, to  node // of msgHome: from is the node, to the effect's To
	mode      Mode
	lazy      bool // acquired, of msgEnqueue
	withdrawn bool
	reason    Reason
	number    uint8
	kids      mask // of msgHome Admitted: enqueued on these
	reads     mask // footprint known to the sender
	writes    mask
}

func (g msg) id() xid { return xid{Event: g.event, Attempt: uint32(g.attempt)} }

// known is what a host has been told of an event's footprint.
type known struct {
	attempt       uint8
	reads, writes mask
}

// run is an event at its home.
type run struct {
	status  uint8 // 0 not started, 1 active, 2 committed
	home    xhome
	entered node // sequencer of the attempt
	high    node // T-ancestor the next entry may not go below
	started mask // actors whose method has begun
	done    mask
	pending mask // called, no access yet
	pc      [nodeCount]uint8
	block   [nodeCount]node // sync callee waited for
	reach   mask            // traversal of an added edge's target: found
	read    mask            // and read
	after   uint8           // events that had committed when it started
	arb     uint8           // arbitrary withdrawals made
	early   bool            // planted: has released before its end
	// undo log, per node, of the attempt given
	undoAt    [nodeCount]uint8
	undoEdges [nodeCount]mask
	undoSlot  [nodeCount]node
}

// order is one enqueue sent to a node, to check that admission is FIFO per parent.
type order struct {
	id   xid
	from node
	done bool
}

// world is one state of the exploration.
type world struct {
	c         *config
	edges     [nodeCount]mask // Omega, with the changes of running events
	slots     [nodeCount]node
	committed [nodeCount]mask
	parents   [nodeCount]node // T, committed
	view      [hostsMax][nodeCount]mask
	tview     [hostsMax][nodeCount]node
	know      [hostsMax][eventsMax]known
	runs      [eventsMax]run
	queues    [nodeCount]xqueue
	msgs      []msg
	precede   [eventsMax]uint8 // events before this one in the serial order
	readers   [nodeCount]uint8
	writers   [nodeCount]uint8
	bad       string

	// not part of the state
	out       []xeffect
	todo      []msg // for homes on the same host, handled after the step
	orders    [nodeCount][]order
	withdrawn int
	movers    uint8 // events that move nodes
	decided   node  // the node whose move is being released
	log       func(format string, args ...any)
}

func (w *world) reset(c *config) {
	*w = world{c: c, out: w.out[:0], msgs: w.msgs[:0], log: w.log}
	w.edges, w.committed, w.slots, w.parents = c.edges, c.edges, c.slots, c.parents
	for h := range w.view {
		w.view[h], w.tview[h] = c.edges, c.parents
	}
	for x := range w.queues {
		w.queues[x].Reset(node(x))
	}
	for e := range c.events {
		if c.events[e].move != 0 {
			w.movers |= 1 << e
		}
		w.runs[e].home.Start(event(e))
	}
}

// copyFrom makes w equal to o, reusing w's memory.
func (w *world) copyFrom(o *world) {
	msgs, out, todo, queues, runs, orders, log := w.msgs, w.out, w.todo, w.queues, w.runs, w.orders, w.log
	*w = *o
	w.msgs = append(msgs[:0], o.msgs...)
	w.out, w.todo, w.log = out[:0], todo[:0], log
	for x := range queues {
		copyQueue(&queues[x], &o.queues[x])
		w.queues[x] = queues[x]
		w.orders[x] = append(orders[x][:0], o.orders[x]...)
	}
	for i := range o.c.events {
		copyHome(&runs[i].home, &o.runs[i].home)
		w.runs[i].home = runs[i].home
		w.runs[i].home.rebase()
	}
}

func copyQueue(d, s *xqueue) {
	entries := append(d.entries[:0], s.entries...)
	for i := range entries {
		if len(entries[i].more) > 0 {
			entries[i].more = append([]edge[node](nil), entries[i].more...)
		} else {
			entries[i].more = nil
		}
	}
	f := d.far
	*d = *s
	d.entries, d.scratch, d.index = entries, nil, nil
	if s.far == nil {
		return
	}
	if f == nil {
		f = &far[event, node]{links: map[node]*link[node]{}}
	}
	f.early = append(f.early[:0], s.far.early...)
	f.tombs = append(f.tombs[:0], s.far.tombs...)
	for x := range f.links {
		if s.far.links[x] == nil {
			delete(f.links, x)
		}
	}
	for x, l := range s.far.links {
		*f.link(x) = *l
	}
	d.far = f
}

func copyHome(d, s *xhome) {
	asks, carried := append(d.asks[:0], s.asks...), append(d.carried[:0], s.carried...)
	*d = *s
	d.visits = append(d.inline[:0:len(d.inline)], s.visits...)
	d.asks, d.carried = asks, carried
}

// rebase lets a copied home use its own memory.
func (h *Home[E, N]) rebase() {
	if len(h.visits) <= len(h.inline) {
		h.visits = append(h.inline[:0:len(h.inline)], h.visits...)
	}
}

var hashSeed = maphash.MakeSeed()

// hash identifies the state. Entries are hashed in a canonical order, so that it does not
// depend on slots; messages as a set.
func (w *world) hash(buf []byte) (uint64, []byte) {
	b := buf[:0]
	u := func(m mask) { b = append(b, byte(m), byte(m>>8)) }
	for x := range w.edges {
		u(w.edges[x])
		u(w.committed[x])
		b = append(b, byte(w.slots[x]), byte(w.parents[x]), w.readers[x], w.writers[x])
	}
	for h := range w.c.hosts {
		for x := range w.edges {
			u(w.view[h][x])
			b = append(b, byte(w.tview[h][x]))
		}
		for e := range w.c.events {
			k := &w.know[h][e]
			b = append(b, k.attempt)
			u(k.reads)
			u(k.writes)
		}
	}
	for e := range w.c.events {
		b = w.runs[e].append(b)
		b = append(b, w.precede[e])
	}
	var set uint64
	for x := range w.queues {
		b, set = appendQueue(&w.queues[x], b, set)
	}
	for _, g := range w.msgs {
		set += maphash.Comparable(hashSeed, g)
	}
	return maphash.Bytes(hashSeed, b)*31 + set, b
}

func (r *run) append(b []byte) []byte {
	u := func(m mask) { b = append(b, byte(m), byte(m>>8)) }
	b = append(b, r.status, byte(r.home.id.Attempt), byte(r.entered), byte(r.high), r.arb, r.after)
	if r.early {
		b = append(b, 1)
	}
	for _, m := range []mask{r.started, r.done, r.pending, r.reach, r.read} {
		u(m)
	}
	b = append(b, r.pc[:]...)
	for _, y := range r.block {
		b = append(b, byte(y))
	}
	b = append(b, r.undoAt[:]...)
	for x := range r.undoEdges {
		u(r.undoEdges[x])
		b = append(b, byte(r.undoSlot[x]))
	}
	var visits [nodeCount][2]byte
	for _, v := range r.home.visits {
		visits[v.node] = [2]byte{byte(v.mode), byte(v.state) + 1}
		if v.entry {
			visits[v.node][1] += 8
		}
	}
	var asks [nodeCount]mask
	for _, a := range r.home.asks {
		asks[a.at] |= bit(a.want)
	}
	for x := range visits {
		b = append(b, visits[x][0], visits[x][1])
		u(asks[x])
	}
	for _, c := range r.home.carried {
		b = append(b, byte(c.Node), byte(c.Mode))
	}
	return append(b, 0xff)
}

// shape is what matters of an entry.
type shape struct {
	queue, slotOrder node
	event            event
	attempt          uint32
	from             node
	state            state
	mode             Mode
	lazy, acq, below bool
	edges            mask
}

func appendQueue(q *xqueue, b []byte, set uint64) ([]byte, uint64) {
	pos := node(1)
	for i := q.head; i != 0; i = q.slot(i).next {
		set += maphash.Comparable(hashSeed, shapeOf(q, q.slot(i), pos))
		pos++
	}
	if q.live != q.waiting {
		for i := range q.entries {
			if e := &q.entries[i]; e.state > waiting {
				set += maphash.Comparable(hashSeed, shapeOf(q, e, 0))
			}
		}
	}
	if q.far == nil {
		return append(b, 0xfe), set
	}
	for x, l := range q.far.links {
		set += uint64(q.self)<<32 + uint64(x)*0x9e3779b97f4a7c15 ^ (uint64(l.sent)<<8|uint64(l.received))*0xbf58476d1ce4e5b9
	}
	for _, e := range q.far.early {
		b = append(b, 0xfd, byte(e.id.Event), byte(e.id.Attempt), byte(e.sent.From), byte(e.sent.Number))
	}
	for _, t := range q.far.tombs {
		set += maphash.Comparable(hashSeed, struct {
			x node
			t entryKey[event, node]
		}{q.self, t})
	}
	return append(b, 0xff), set
}

func shapeOf(q *xqueue, e *entry[event, node], pos node) shape {
	s := shape{queue: q.self, slotOrder: pos, event: e.id.Event, attempt: e.id.Attempt, from: e.from,
		state: e.state, mode: e.mode, lazy: e.lazy, acq: e.acquired, below: e.below}
	for i := range e.edgeCount {
		s.edges |= bit(e.edge(i).child)
	}
	return s
}
