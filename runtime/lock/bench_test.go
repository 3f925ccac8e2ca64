package lock

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The benchmarks run the core as a driver in one process does: a latch and a queue
// pointer per actor, pointers as identities. Each reports the time of a
// bare mutex pair on the same nodes beside it (ns-mutex).

type benchEvent struct {
	home   Home[*benchEvent, *benchNode]
	mode   Mode
	kids   []*benchNode
	target *benchNode
}

type benchNode struct {
	mu     sync.Mutex
	q      *Queue[*benchEvent, *benchNode]
	parent *benchNode
}

type benchView struct{}

func (benchView) Footprint(x *benchNode, id ID[*benchEvent]) Want[*benchNode] {
	e := id.Event
	if x == e.target {
		return Want[*benchNode]{Mode: e.mode, Below: len(e.kids) > 0}
	}
	return Want[*benchNode]{Mode: Write}
}

func (benchView) Expand(_ *benchNode, id ID[*benchEvent], _ Mode, children []*benchNode) Expansion[*benchNode] {
	return Expansion[*benchNode]{Children: append(children, id.Event.kids...)}
}
func (benchView) Parent(x *benchNode) *benchNode            { return x.parent }
func (benchView) Toward(_, _ *benchNode) (*benchNode, bool) { return nil, false }
func (benchView) Remote(_, _ *benchNode) bool               { return false }

type benchDriver struct {
	view View[*benchEvent, *benchNode]
	out  []Effect[*benchEvent, *benchNode]
	pool []*Queue[*benchEvent, *benchNode]
}

func newBenchDriver() *benchDriver { return &benchDriver{view: benchView{}} }

// queue returns n's queue, taken from the pool if n was idle. n is latched.
func (d *benchDriver) queue(n *benchNode) *Queue[*benchEvent, *benchNode] {
	if n.q == nil {
		if k := len(d.pool); k > 0 {
			n.q, d.pool = d.pool[k-1], d.pool[:k-1]
		} else {
			n.q = &Queue[*benchEvent, *benchNode]{}
		}
		n.q.Reset(n)
	}
	return n.q
}

func (d *benchDriver) idle(n *benchNode) {
	if n.q.Idle() {
		d.pool = append(d.pool, n.q)
		n.q = nil
	}
}

// run executes the effects from start on, with the latch of their sender held.
func (d *benchDriver) run(from *benchNode, start int) {
	for i := start; i < len(d.out); i++ {
		f := d.out[i]
		if f.Kind != Enqueue || f.At != from {
			continue
		}
		f.To.mu.Lock()
		n := len(d.out)
		var ref Ref
		ref, d.out = d.queue(f.To).Enqueue(d.view, Sent[*benchNode]{From: from}, f.ID, d.out)
		d.run(f.To, n)
		f.To.mu.Unlock()
		from.q.Bind(f.Ref, f.Edge, ref)
	}
}

// release releases n and what was enqueued from there.
func (d *benchDriver) release(n *benchNode, ref Ref) {
	n.mu.Lock()
	start := len(d.out)
	d.out = n.q.Release(d.view, ref, false, d.out)
	d.run(n, start)
	d.idle(n)
	n.mu.Unlock()
	for i := start; i < len(d.out); i++ {
		if f := d.out[i]; f.Kind == Release {
			d.release(f.To, f.Ref)
		}
	}
	d.out = d.out[:start]
}

func BenchmarkOneActorTry(b *testing.B) {
	d := newBenchDriver()
	n := &benchNode{}
	e := &benchEvent{mode: Write, target: n}
	b.ReportAllocs()
	for b.Loop() {
		n.mu.Lock()
		ref, ok := d.queue(n).Try(ID[*benchEvent]{e, 1}, nil, Write, nil)
		n.mu.Unlock()
		if !ok {
			b.Fatal("refused")
		}
		d.release(n, ref)
	}
	reportMutex(b, 2)
}

func BenchmarkOneActorWithHome(b *testing.B) {
	d := newBenchDriver()
	n := &benchNode{}
	e := &benchEvent{mode: Write, target: n}
	b.ReportAllocs()
	for b.Loop() {
		e.home.Start(e)
		n.mu.Lock()
		ref, ok := d.queue(n).Try(e.home.ID(), nil, Write, nil)
		n.mu.Unlock()
		if !ok {
			b.Fatal("refused")
		}
		e.home.Enter(n, ref)
		e.home.Hold(n, Write, ref, nil)
		if e.home.Access(nil, n, Write).Act != Run {
			b.Fatal("not held")
		}
		d.release(n, ref)
	}
	reportMutex(b, 2)
}

// BenchmarkExpandToTwo is the transfer: R on a bank, settled on W holds of two accounts,
// through the view.
func BenchmarkExpandToTwo(b *testing.B) {
	d := newBenchDriver()
	bank := &benchNode{}
	e := &benchEvent{mode: Read, target: bank}
	e.kids = []*benchNode{{parent: bank}, {parent: bank}}
	b.ReportAllocs()
	for b.Loop() {
		bank.mu.Lock()
		start := len(d.out)
		var ref Ref
		ref, d.out = d.queue(bank).Enter(d.view, ID[*benchEvent]{e, 1}, d.out)
		d.run(bank, start)
		bank.mu.Unlock()
		d.out = d.out[:0]
		d.release(bank, ref)
	}
	reportMutex(b, 6)
}

// BenchmarkExpandToTwoTry is the same on the fast path.
func BenchmarkExpandToTwoTry(b *testing.B) {
	d := newBenchDriver()
	bank := &benchNode{}
	e := &benchEvent{mode: Read, target: bank}
	e.kids = []*benchNode{{parent: bank}, {parent: bank}}
	b.ReportAllocs()
	id := ID[*benchEvent]{e, 1}
	for b.Loop() {
		bank.mu.Lock()
		ref, _ := d.queue(bank).Try(id, nil, Read, e.kids)
		for i, c := range e.kids {
			c.mu.Lock()
			r, _ := d.queue(c).Try(id, bank, Write, nil)
			c.mu.Unlock()
			bank.q.Bind(ref, int32(i), r)
		}
		bank.mu.Unlock()
		d.release(bank, ref)
	}
	reportMutex(b, 6)
}

// BenchmarkLazyFootprint lets an event ask a lazy hold for each of many children, twice. The time per
// child must not grow with their number.
func BenchmarkLazyFootprint(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			v := tableView{
				want:   map[int]Want[int]{1: {Mode: Write, Below: true}},
				expand: map[int]Expansion[int]{1: {Lazy: true}},
				parent: map[int]int{},
			}
			for y := 2; y < n+2; y++ {
				v.parent[y] = 1
			}
			q := newTestQueue(1)
			var h Home[int, int]
			var out []Effect[int, int]
			for b.Loop() {
				h.Start(1)
				var ref Ref
				ref, out = q.Enter(v, h.ID(), out[:0])
				h.Enter(1, ref)
				h.Deliver(out)
				for y := 2; y < n+2; y++ {
					for range 2 {
						if d := h.Access(parents(v.parent), y, Write); d.Act != Ask && d.Act != Wait {
							b.Fatal(d)
						}
						out = q.Acquire(v, ref, h.ID(), y, out[:0])
					}
				}
				out = q.Release(v, ref, false, out[:0])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/child")
		})
	}
}

// BenchmarkHotQueue lets events pass through one queue with so many waiting that any
// cost linear in their number would show.
func BenchmarkHotQueue(b *testing.B) {
	for _, c := range []struct {
		name    string
		waiting int
		mode    Mode
	}{{"10/writers", 10, Write}, {"10000/writers", 10000, Write}, {"10000/readers", 10000, Read}} {
		b.Run(c.name, func(b *testing.B) {
			d := newBenchDriver()
			n := &benchNode{}
			refs := make([]Ref, c.waiting)
			events := make([]*benchEvent, c.waiting)
			for i := range refs {
				events[i] = &benchEvent{mode: c.mode, target: n}
				refs[i], d.out = d.queue(n).Enter(d.view, ID[*benchEvent]{events[i], 1}, d.out)
			}
			k := 0
			b.ReportAllocs()
			for b.Loop() {
				d.out = n.q.Release(d.view, refs[k], false, d.out[:0])
				refs[k], d.out = n.q.Enter(d.view, ID[*benchEvent]{events[k], 1}, d.out)
				if k++; k == c.waiting {
					k = 0
				}
			}
		})
	}
}

// BenchmarkManyActors has 64 callers over 1000 actors.
func BenchmarkManyActors(b *testing.B) {
	nodes := make([]*benchNode, 1000)
	for i := range nodes {
		nodes[i] = &benchNode{}
	}
	var seed atomic.Uint64
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		d := newBenchDriver()
		r := seed.Add(1) * 0x9e3779b97f4a7c15
		e := &benchEvent{mode: Write}
		for pb.Next() {
			r ^= r << 13
			r ^= r >> 7
			r ^= r << 17
			n := nodes[r%1000]
			for {
				n.mu.Lock()
				ref, ok := d.queue(n).Try(ID[*benchEvent]{e, 1}, nil, Write, nil)
				n.mu.Unlock()
				if ok {
					d.release(n, ref)
					break
				}
			}
		}
	})
}

// reportMutex times as many bare mutex pairs as the operation has latch steps.
func reportMutex(b *testing.B, pairs int) {
	const rounds = 200_000
	var m sync.Mutex
	start := time.Now()
	for range rounds {
		m.Lock()
		benchSink++
		m.Unlock()
	}
	b.ReportMetric(float64(pairs)*float64(time.Since(start).Nanoseconds())/rounds, "ns-mutex")
}

var benchSink int
