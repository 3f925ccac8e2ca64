package locktest

import (
	"hash/maphash"
	"math/bits"
	"unsafe"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/network"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// The explorer drives the production core, and nothing but it, through all interleavings of small worlds: actors, a sequencing tree, hosts with views that may be
// stale, and events that are call trees. This file has the world: everything that a state consists of.

type (
	xid     = lock.ID[scene.Event]
	xeffect = lock.Effect[scene.Event, scene.Node]
	xqueue  = lock.Queue[scene.Event, scene.Node]
	xhome   = lock.Home[scene.Event, scene.Node]
	xentry  = lock.Entry[scene.Event, scene.Node]
	message = lock.Message[scene.Event, scene.Node]
	letter  = network.Letter[scene.Event, scene.Node]
)

// wire writes events and nodes as the numbers that they are.
var wire = lock.Wire[scene.Event, scene.Node]{
	PutEvent: codec.PutUint[scene.Event], GetEvent: codec.GetUint[scene.Event],
	PutNode: codec.PutUint[scene.Node], GetNode: codec.GetUint[scene.Node],
}

// known is what a host has been told of an event's footprint.
type known struct {
	attempt, zero uint8 // zero: no padding, as facts are hashed as bytes
	reads, writes scene.Mask
}

// run is an event at its home: the core's part, and what the driver adds.
type run struct {
	home xhome
	course
}

// course is how far an event has come.
type course struct {
	status  uint8      // 0 not started, 1 active, 2 committed, 3 parked
	entered scene.Node // sequencer of the attempt
	high    scene.Node // T-ancestor the next entry may not go below
	started scene.Mask // actors whose method has begun
	done    scene.Mask
	pending scene.Mask // called, no access yet
	pc      [scene.NodeCount]uint8
	block   [scene.NodeCount]scene.Node // sync callee waited for
	reach   scene.Mask                  // traversal of an added edge's target: found
	read    scene.Mask                  // and read
	after   uint8                       // events that had committed when it started
	arb     uint8                       // arbitrary withdrawals made
	since   uint8                       // the last attempt that a crash, or the end of a session, has ended
	early   bool                        // planted: has released before its end
	// undo log, per node, of the attempt given
	undoAt    [scene.NodeCount]uint8
	undoEdges [scene.NodeCount]scene.Mask
	undoSlot  [scene.NodeCount]scene.Node
	made      [scene.NodeCount]made       // entries of the attempt, which the home releases
	via       [scene.NodeCount]scene.Node // sender of the entry that the home knows by its Ref
	epochs    [scene.HostsMax]uint8       // of the hosts, as the attempt has visited them
}

// made is an enqueue that the home has made itself.
type made struct {
	is   bool
	from scene.Node // the virtual node that was passed, if any
	ref  lock.Ref
}

// order is one enqueue sent to a node, to check that admission is FIFO per parent.
type order struct {
	id   xid
	from scene.Node
	done bool
}

// facts is the part of a state without pointers: copied as one block of memory.
type facts struct {
	edges     [scene.NodeCount]scene.Mask // Omega, with the changes of running events
	slots     [scene.NodeCount]scene.Node
	committed [scene.NodeCount]scene.Mask
	parents   [scene.NodeCount]scene.Node // T, committed
	view      [scene.HostsMax][scene.NodeCount]scene.Mask
	tview     [scene.HostsMax][scene.NodeCount]scene.Node
	know      [scene.HostsMax][scene.EventsMax]known
	precede   [scene.EventsMax]uint8 // events before this one in the serial order
	readers   [scene.NodeCount]uint8
	writers   [scene.NodeCount]uint8
	retired   uint8                       // events that can be part of no cycle of the order any more
	gone      uint8                       // events of which no entry, message or knowledge is left
	kept      [scene.NodeCount]uint8      // event + 1 that alone may touch the node: the next step of a chain
	parked    [scene.EventsMax]scene.Node // the kept node that the event waits for, and holds nothing
	lost      [scene.NodeCount]uint8      // events whose writes at the node a crash has undone
}

// world is one state of the exploration. Queues and runs have versions: what has the
// same version in two worlds is equal. So a step from one state to the next copies and
// hashes only what the step has touched.
type world struct {
	facts
	c      *scene.Config
	runs   [scene.EventsMax]run
	queues [scene.NodeCount]xqueue
	net    network.Network[scene.Event, scene.Node]
	above  above
	bad    string

	queueAt [scene.NodeCount]uint64 // versions
	runAt   [scene.EventsMax]uint64
	sums    [scene.NodeCount + scene.EventsMax]uint64 // hashes of queues and runs, unless stale
	stale   uint32
	clock   *uint64 // gives versions, to all worlds of a search

	// not part of the state
	touched   touched
	out       []xeffect
	todo      []note    // reports that have reached their homes, handled after the step
	reports   []xeffect // and kids: memory of todo
	kids      []scene.Node
	claims    []lock.Claim[scene.Node] // memory of the message that is being made
	sent      message
	orders    [scene.NodeCount][]order
	buf       []byte
	counts    counts
	movers    uint8 // events that move nodes
	allOrders bool  // no delivery is made at once
	brief     bool  // invariants are not checked after each step
	changed   bool  // the last step has changed an actor
	trial     *world
	recall    bool       // the history is part of the state
	history   uint64     // of the commits
	decided   scene.Node // the node whose move is being released
	latched   scene.Mask // nodes
	log       func(format string, args ...any)
}

// queue returns the queue of x to change it, and what belongs to it.
func (w *world) queue(x scene.Node) *xqueue {
	*w.clock++
	w.queueAt[x] = *w.clock
	w.stale |= 1 << x
	w.touched.write(partQueue(x))
	if w.c.Stores {
		w.latch(x)
	}
	return &w.queues[x]
}

// run returns the run of e to change it.
func (w *world) run(e scene.Event) *run {
	*w.clock++
	w.runAt[e] = *w.clock
	w.stale |= 1 << (scene.NodeCount + e)
	w.touched.write(partRun(e))
	return &w.runs[e]
}

// send puts m under way from host h to another.
func (w *world) send(h, to uint8, m message) {
	w.touched.read(partSession(h) | partSession(to))
	w.sent = m
	w.net.Peer(lock.Host(h)).Send(lock.Host(to), &w.sent)
}

func (w *world) reset(c *scene.Config) {
	if w.clock == nil {
		w.clock = new(uint64)
	}
	*w = world{c: c, out: w.out[:0], net: w.net, log: w.log, clock: w.clock, buf: w.buf, allOrders: w.allOrders, brief: w.brief, recall: w.recall, trial: w.trial}
	w.net.Lasting = viewFaults.keepMessages
	w.net.Reset(wire)
	w.above.links.reset()
	c.Derive()
	w.edges, w.committed, w.slots, w.parents = c.Edges, c.Edges, c.Slots, c.Parents
	for h := range w.view {
		w.view[h], w.tview[h] = c.Edges, c.Parents
	}
	for x := range scene.Node(scene.NodeCount) {
		w.queue(x).Reset(x)
	}
	w.above.words, w.latched = [scene.NodeCount]lock.Word{}, 0
	for e := range scene.Event(scene.EventsMax) {
		if int(e) < len(c.Events) && c.Events[e].Move != 0 {
			w.movers |= 1 << e
		}
		w.run(e).home.Start(e)
	}
}

// copyFrom makes w equal to o, reusing w's memory.
func (w *world) copyFrom(o *world) {
	w.facts = o.facts
	w.c, w.bad, w.clock, w.movers, w.counts = o.c, o.bad, o.clock, o.movers, o.counts
	w.allOrders, w.brief, w.recall, w.history = o.allOrders, o.brief, o.recall, o.history
	w.net.CopyFrom(&o.net)
	if w.c.Stores {
		w.above.copyFrom(&o.above)
	}
	w.out, w.todo, w.decided, w.latched = w.out[:0], w.todo[:0], 0, 0
	w.sums, w.stale = o.sums, o.stale
	for x := range w.queues {
		if w.queueAt[x] != o.queueAt[x] {
			w.queueAt[x] = o.queueAt[x]
			w.queues[x].CopyFrom(&o.queues[x])
			w.orders[x] = append(w.orders[x][:0], o.orders[x]...)
		}
	}
	for e := range w.runs {
		if w.runAt[e] != o.runAt[e] {
			w.runAt[e] = o.runAt[e]
			w.runs[e].home.CopyFrom(&o.runs[e].home)
			w.runs[e].course = o.runs[e].course
		}
	}
}

var hashSeed = maphash.MakeSeed()

// hash identifies the state. Entries are hashed in a canonical order, so that it does not
// depend on slots; messages as a set.
func (w *world) hash() uint64 {
	for m := w.stale; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		if i < scene.NodeCount {
			b, set := appendQueue(&w.queues[i], w.buf[:0], 0)
			w.buf, w.sums[i] = b, maphash.Bytes(hashSeed, b)+set
		} else {
			e := i - scene.NodeCount
			w.buf = w.runs[e].append(w.buf[:0], w.gone>>e&1 != 0)
			w.sums[i] = maphash.Bytes(hashSeed, w.buf)
		}
	}
	w.stale = 0
	var set uint64
	if w.recall {
		set = w.history
	}
	set += w.net.Hash()
	if w.c.Stores {
		var sum uint64
		sum, w.buf = w.above.hash(w.buf)
		set += sum
	}
	sum := maphash.Bytes(hashSeed, unsafe.Slice((*byte)(unsafe.Pointer(&w.facts)), unsafe.Sizeof(w.facts)))
	for _, s := range w.sums {
		sum = mix(sum ^ s)
	}
	return mix(sum + set)
}

// mix spreads the bits of x.
func mix(x uint64) uint64 {
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	x = (x ^ x>>29) * 0x9e3779b97f4a7c15
	return x ^ x>>32
}

// append appends what matters of the run. Of the home of an event that has committed that is the number of the
// attempt, and once the event is gone nothing.
func (r *run) append(b []byte, gone bool) []byte {
	u := func(m scene.Mask) { b = append(b, byte(m), byte(m>>8)) }
	attempt, since := byte(r.home.ID().Attempt), r.since
	if gone {
		attempt, since = 0, 0
	}
	b = append(b, r.status, attempt, since, byte(r.entered), byte(r.high), r.arb, r.after)
	if r.early {
		b = append(b, 1)
	}
	for _, m := range []scene.Mask{r.started, r.done, r.pending, r.reach, r.read} {
		u(m)
	}
	b = append(b, r.pc[:]...)
	for _, y := range r.block {
		b = append(b, byte(y))
	}
	b = append(b, r.undoAt[:]...)
	b = append(b, r.epochs[:]...)
	for x := range r.made {
		if m := &r.made[x]; m.is {
			b = append(b, byte(x), byte(m.from))
		}
	}
	b = append(b, 0xff)
	for x := range r.undoEdges {
		u(r.undoEdges[x])
		b = append(b, byte(r.undoSlot[x]))
	}
	if r.status == 2 {
		return append(b, 0xff)
	}
	var visits [scene.NodeCount][2]byte
	for v := range r.home.Visits {
		visits[v.Node] = [2]byte{byte(v.Mode) + 4*byte(r.via[v.Node]), 1 + oneIf(v.Granted) + 2*oneIf(v.Lazy)}
	}
	var asks [scene.NodeCount]scene.Mask
	for at, want := range r.home.Asks {
		asks[at] |= scene.Bit(want)
	}
	for x := range visits {
		b = append(b, visits[x][0], visits[x][1])
		u(asks[x])
	}
	for _, c := range r.home.Claims() {
		b = append(b, byte(c.Node), byte(c.Mode))
	}
	return append(b, 0xff)
}

func oneIf(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// shape is what matters of an entry.
type shape struct {
	queue, slotOrder scene.Node
	event            scene.Event
	attempt          uint32
	from             scene.Node
	waiting, held    bool
	mode             lock.Mode
	lazy, acq, below bool
	edges            scene.Mask
}

func appendQueue(q *xqueue, b []byte, set uint64) ([]byte, uint64) {
	self := q.Node()
	if entries, _, _ := q.Count(); entries > 0 {
		pos := scene.Node(0)
		for e := range q.Entries {
			if pos++; !e.Waiting {
				pos = 0
			}
			set += maphash.Comparable(hashSeed, shapeOf(q, &e, pos))
		}
	}
	q.Numbers(func(x scene.Node, sent, received uint64) bool {
		set += uint64(self)<<32 + uint64(x)*0x9e3779b97f4a7c15 ^ (sent<<8|received)*0xbf58476d1ce4e5b9
		return true
	})
	for id, sent := range q.Early {
		b = append(b, 0xfd, byte(id.Event), byte(id.Attempt), byte(sent.From), byte(sent.Number))
	}
	for id, from := range q.Tombstones {
		set += maphash.Comparable(hashSeed, struct {
			x, from scene.Node
			id      xid
		}{self, from, id})
	}
	return append(b, 0xff), set
}

func shapeOf(q *xqueue, e *xentry, pos scene.Node) shape {
	s := shape{queue: q.Node(), slotOrder: pos, event: e.ID.Event, attempt: e.ID.Attempt, from: e.From,
		waiting: e.Waiting, held: e.Held, mode: e.Mode, lazy: e.Lazy, acq: e.Acquired, below: e.Below}
	q.Edges(e.Ref, func(c scene.Node) bool {
		s.edges |= scene.Bit(c)
		return true
	})
	return s
}
