package locktest

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/seen"
)

// moveKind is a transition of the world.
type moveKind uint8

const (
	moveStart    moveKind = iota
	moveDeliver           // message i
	moveAsk               // event e asks for, or withdraws over, actor y
	moveCommit            //
	moveWithdraw          // arbitrarily
	moveLearn             // host h learns of node y: 0 its edges, 1 its T-parent
	moveEarly             // planted bug
	moveCrash             // of host h
	moveNotice            // host h notices that host i has crashed
	moveParcel            // parcel i arrives
	moveEnd               // the code of e has ended, which is over several stores
	moveOrphan            // a call of y that an attempt of e has made which is over: the one of part i
	moveFail              // store h crashes, and starts anew
	moveCut               // the session of stores h and i ends
	moveLost              // store h learns that its session with store i has ended
	moveUp                // and that another one has begun
	moveKinds
)

type move struct {
	kind moveKind
	e    scene.Event
	y    scene.Node
	h    uint8
	i    uint16
}

// moves lists what can happen next.
func (w *world) moves(l []move) []move {
	l = l[:0]
	if w.bad != "" {
		return l
	}
	for i := range w.net.Len() {
		if w.net.Deliverable(i) && !w.idle(w.net.At(i)) {
			l = append(l, move{kind: moveDeliver, i: uint16(i)})
		}
	}
	var committed uint8
	for e := range w.c.Events {
		if w.runs[e].status == 2 {
			committed |= 1 << e
		}
	}
	for i := range w.c.Events {
		e, r := scene.Event(i), &w.runs[i]
		switch r.status {
		case 0:
			if w.c.Events[e].After&^committed == 0 {
				l = append(l, move{kind: moveStart, e: e})
			}
		case 1:
			for m := w.wanted(e); m != 0; m &= m - 1 {
				y := m.First()
				if d := w.decide(e, y, w.wantedMode(e, y)); (d.Act == lock.Ask || d.Act == lock.Withdraw || d.Act == lock.Wait && w.unordered(e)) && w.tries(e, y) {
					l = append(l, move{kind: moveAsk, e: e, y: y})
				}
			}
			switch t := &w.above.tries[e]; {
			case !w.finished(e):
			case (t.open || w.c.Aborts[e]) && !t.ended:
				l = append(l, move{kind: moveEnd, e: e})
			case !t.open || t.verdict:
				l = append(l, move{kind: moveCommit, e: e})
			}
			if w.c.Arb>>e&1 == 1 && r.arb == 0 && !w.above.tries[e].verdict {
				l = append(l, move{kind: moveWithdraw, e: e})
			}
			if viewFaults.releaseEarly && !r.early && r.done != 0 && !w.finished(e) && allAdmitted(&r.home) {
				l = append(l, move{kind: moveEarly, e: e})
			}
		}
	}
	if w.c.Crash != 0 {
		l = w.crashes(l)
	}
	if w.c.Stores {
		l = w.arrivals(l)
	}
	for h := range w.c.Hosts {
		if w.view[h] == w.committed && w.tview[h] == w.parents {
			continue
		}
		for y := scene.NodeActor; y < scene.NodeCount; y++ {
			if w.view[h][y] != w.committed[y] {
				l = append(l, move{kind: moveLearn, y: y, h: uint8(h)})
			}
			if w.tview[h][y] != w.parents[y] {
				l = append(l, move{kind: moveLearn, y: y, h: uint8(h), i: 1})
			}
		}
	}
	return l
}

// apply makes a move, and the deliveries after it that need not wait. An assertion of the core
// that fails is a finding.
func (w *world) apply(m move) {
	w.step(m)
	w.settleDown()
	if w.bad == "" {
		w.checkHolds()
	}
	if w.bad == "" && !w.brief {
		w.validate()
	}
	if w.net.InOrder {
		w.checkTurns()
	}
}

// step makes one move.
func (w *world) step(m move) {
	defer func() {
		if r := recover(); r != nil {
			w.fail("panic: %v", r)
			if !strings.Contains(fmt.Sprint(r), "assertion failed") {
				w.bad += "\n" + string(debug.Stack())
			}
		}
	}()
	if w.log != nil {
		w.log("%s", w.describe(m))
	}
	w.touched, w.changed = touched{}, false
	switch m.kind {
	case moveStart:
		w.touched.read(partGlobal)
		w.touched.write(partAttempt(m.e))
		r := w.run(m.e)
		r.status = 1
		for e := range w.c.Events {
			if w.runs[e].status == 2 && w.retired>>e&1 == 0 {
				r.after |= 1 << e
			}
		}
		r.begin(&w.c.Events[m.e])
		w.after(m.e, r.after)
		w.enter(m.e)
	case moveDeliver:
		g := w.net.Take(int(m.i))
		w.touched.read(partSession(uint8(g.Addressee)))
		w.deliver(g)
	case moveAsk:
		w.ask(m.e, m.y)
	case moveCommit:
		w.commit(m.e)
	case moveWithdraw:
		w.run(m.e).arb = 1
		w.withdraw(m.e, 0, lock.None, 0, "arbitrarily")
	case moveLearn:
		w.touched.read(partGlobal)
		w.touched.write(partView(m.h))
		if m.i == 0 {
			w.view[m.h][m.y] = w.committed[m.y]
		} else {
			w.tview[m.h][m.y] = w.parents[m.y]
		}
	case moveCrash:
		w.crash(m.h)
	case moveNotice:
		w.notice(m.h, uint8(m.i))
	case moveParcel:
		w.receive(int(m.i))
	case moveEnd:
		w.prepare(m.e)
	case moveOrphan:
		w.orphaned(w.above.parts[m.i].id, m.y)
	case moveFail:
		w.failStore(m.h)
	case moveCut:
		w.cut(m.h, uint8(m.i))
	case moveLost:
		w.loseSession(m.h, uint8(m.i))
	case moveUp:
		w.beginSession(m.h, uint8(m.i))
	case moveEarly:
		w.run(m.e).early = true
		w.leave(m.e, false)
	}
	w.advance()
	w.settle()
	t := w.touched
	w.forget()
	w.touched = t
}

// ask does what the access of e to y needs: a lazy request, or a withdrawal.
func (w *world) ask(e scene.Event, y scene.Node) {
	r := w.run(e)
	h := w.homeHost(e)
	m := w.wantedMode(e, y)
	if w.c.Stores {
		w.need(e, y, m)
		return
	}
	w.touched.read(partView(h))
	d := r.home.Access(router{&w.tview[h]}, y, m)
	if d.Act == lock.Withdraw {
		w.withdraw(e, y, m, 0, d.Reason.String())
		return
	}
	id := r.home.ID()
	reads, writes := hostView{w, h}.footprint(e, 0)
	if m == lock.Write {
		writes |= scene.Bit(y)
	} else if !writes.Has(y) {
		reads |= scene.Bit(y)
	}
	reads &^= writes
	if to := w.c.Host[d.At]; to != h {
		w.send(h, to, message{Kind: lock.MsgAcquire, ID: id, To: d.At, Node: y, Claims: w.claim(reads, writes)})
		return
	}
	w.learn(h, id, reads, writes)
	start := len(w.out)
	w.out = w.queue(d.At).Acquire(w.at(d.At), d.Ref, id, y, w.out)
	w.process(d.At, start)
}

func (w *world) describe(m move) string {
	switch m.kind {
	case moveStart:
		return fmt.Sprintf("e%d starts", m.e)
	case moveDeliver:
		g := w.net.At(int(m.i))
		from, to := g.From, g.To
		switch {
		case g.Kind == lock.MsgAcquire:
			from = g.Node
		case g.Kind.ToHome():
			to = g.Node
		}
		return fmt.Sprintf("deliver %s e%d.%d %v -> %v #%d", g.Kind, g.ID.Event, g.ID.Attempt, from, to, g.Number)
	case moveAsk:
		return fmt.Sprintf("e%d needs %v: %v", m.e, m.y, w.decide(m.e, m.y, w.wantedMode(m.e, m.y)))
	case moveCommit:
		return fmt.Sprintf("e%d commits", m.e)
	case moveWithdraw:
		return fmt.Sprintf("e%d is withdrawn", m.e)
	case moveCrash:
		return fmt.Sprintf("host %d crashes", m.h)
	case moveNotice:
		return fmt.Sprintf("host %d notices that host %d has crashed", m.h, m.i)
	case moveLearn:
		return fmt.Sprintf("host %d learns of %v", m.h, m.y)
	case moveParcel:
		g := &w.above.parcels[m.i]
		if g.kind == toCommit {
			return fmt.Sprintf("deliver %v (%v) e%d.%d at store %d", g.says, g.yes, g.id.Event, g.id.Attempt, g.store)
		}
		return fmt.Sprintf("deliver %v e%d.%d at store %d #%d", g.kind, g.id.Event, g.id.Attempt, g.store, g.number)
	case moveFail:
		return fmt.Sprintf("store %d crashes, and starts anew", m.h)
	case moveCut:
		return fmt.Sprintf("the session of stores %d and %d ends", m.h, m.i)
	case moveLost:
		return fmt.Sprintf("store %d learns that its session with store %d has ended", m.h, m.i)
	case moveUp:
		return fmt.Sprintf("store %d is in a session with store %d", m.h, m.i)
	case moveEnd:
		return fmt.Sprintf("e%d has ended, and is to be decided", m.e)
	case moveOrphan:
		return fmt.Sprintf("a late call of e%d.%d comes to %v", m.e, w.above.parts[m.i].id.Attempt, m.y)
	}
	return fmt.Sprintf("e%d releases early", m.e)
}

// end checks a state in which nothing can happen any more.
func (w *world) end() {
	for e := range w.c.Events {
		if w.runs[e].status != 2 {
			s := ""
			for x := range w.queues {
				w.queues[x].Waits(func(d lock.WaitEdge[scene.Event]) bool {
					s += fmt.Sprintf("; at %v e%d waits for e%d: %v", scene.Node(x), d.Waiter.Event, d.For.Event, d.Why)
					return true
				})
			}
			for e := range w.c.Events {
				for y, o := range w.above.tries[e].follows {
					if o.attempt != 0 {
						s += fmt.Sprintf("; at %d e%d follows e%d", y, e, o.event)
					}
				}
			}
			w.fail("deadlock: e%d has not committed%s", e, s)
			return
		}
	}
	for e := range w.runs {
		if w.c.Stores && w.runs[e].undoAt != [scene.NodeCount]uint8{} {
			w.fail("what e%d has written is not taken back", e)
		}
	}
	if what := w.left(); w.c.Stores && what != "" {
		w.fail("%s are left", what)
	}
	if n := w.net.Len(); n != 0 && w.c.Crash == 0 {
		w.fail("%d enqueues are left, whose turn never comes", n)
	}
	for x := range w.queues {
		q := &w.queues[x]
		entries, early, tombstones := q.Count()
		if entries != 0 {
			w.fail("an entry is left at %v", x)
		}
		if early+tombstones != 0 {
			w.fail("%d early enqueues and %d tombstones are left at %v", early, tombstones, x)
		}
	}
}

// search explores one config at a time; it is reused, for its memory.
type search struct {
	stack     []*world
	lists     [][]move
	seen      seen.Set
	names     []uint64        // memory of those of the moves that sleep
	asleep    [][]sleeper     // at each depth
	awake     [][]uint64      // at each depth: what alone is to be done, if anything
	noSleep   bool            // make all moves
	allOrders bool            // make no delivery at once
	brief     bool            // do not check invariants after each step
	streams   bool            // sessions deliver in order; with noSleep and allOrders
	recall    bool            // tell states apart by their history
	ends      map[uint64]bool // if set: of the states in which nothing can happen any more
	clock     uint64
	states    int
	steps     int // all searches: states and revisits of states
	limit     int
	counts    // on the paths taken
}

func (s *search) level(d int) *world {
	for len(s.stack) <= d {
		s.stack = append(s.stack, &world{clock: &s.clock})
		s.lists = append(s.lists, nil)
		s.asleep = append(s.asleep, nil)
		s.awake = append(s.awake, nil)
	}
	return s.stack[d]
}

// explore visits all states of c depth first, up to the limit; it reports whether
// that was all of them, and the first finding.
func (s *search) explore(c *scene.Config) (bool, *finding) {
	s.seen.Reset()
	s.states = 0
	w := s.level(0)
	w.allOrders, w.brief, w.recall, w.net.InOrder = s.allOrders, s.brief, s.recall, s.streams
	w.reset(c)
	s.asleep[0] = s.asleep[0][:0]
	var path []move
	return s.visit(0, false, &path)
}

// visit makes the moves that do not sleep; if the state was visited before, only those that
// have slept so far.
func (s *search) visit(d int, again bool, path *[]move) (bool, *finding) {
	w := s.level(d)
	s.level(d + 1)
	if !again {
		s.states++
	}
	s.lists[d] = w.moves(s.lists[d])
	if len(s.lists[d]) == 0 {
		if w.bad == "" {
			w.end()
		}
		if w.bad != "" {
			return false, &finding{c: w.c, moves: slices.Clone(*path), what: w.bad, allOrders: w.allOrders, streams: w.net.InOrder}
		}
		if s.ends != nil {
			s.ends[w.hash()] = true
		}
	}
	all := true
	for _, m := range s.lists[d] {
		if s.states >= s.limit {
			return false, nil
		}
		t := sleeper{id: w.name(m)}
		if asleep(s.asleep[d], t.id) || again && !slices.Contains(s.awake[d], t.id) {
			continue
		}
		n := s.stack[d+1]
		n.copyFrom(w)
		n.apply(m)
		s.steps++
		t.touched = n.touched
		known := false
		s.asleep[d+1], s.awake[d+1] = s.asleep[d+1][:0], s.awake[d+1][:0]
		if n.bad == "" {
			for i := range s.asleep[d] {
				if o := &s.asleep[d][i]; o.independent(&t) {
					s.asleep[d+1] = append(s.asleep[d+1], *o)
				}
			}
			var fresh bool
			s.names = s.names[:0]
			for i := range s.asleep[d+1] {
				s.names = append(s.names, s.asleep[d+1][i].id)
			}
			fresh, s.awake[d+1] = s.seen.Add(n.hash(), s.names, s.awake[d+1])
			known = !fresh
		}
		if !s.noSleep {
			s.asleep[d] = append(s.asleep[d], t)
		}
		if known && len(s.awake[d+1]) == 0 {
			continue
		}
		s.counts.add(&w.counts, &n.counts)
		*path = append(*path, m)
		ok, f := s.visit(d+1, known, path)
		*path = (*path)[:len(*path)-1]
		if f != nil {
			return false, f
		}
		all = all && ok
	}
	return all, nil
}

// calmMax bounds how many moves a random schedule makes before the first fault.
const calmMax = 100

// random runs one schedule to its end.
func (s *search) random(c *scene.Config, r *rand.Rand) *finding {
	w := s.level(0)
	w.allOrders, w.brief, w.net.InOrder = true, s.brief, s.streams
	w.reset(c)
	defer func() { s.counts.add(&counts{}, &w.counts) }()
	var path []move
	// half of the schedules prefer some kinds of moves
	var weight [moveKinds]int
	for k := range weight {
		weight[k] = 1
		if r.IntN(2) == 0 {
			weight[k] = 1 + r.IntN(8)
		}
	}
	// One store hears late that one session has ended, and half of the faults happen when much has.
	deaf, calm := move{kind: moveLost, h: uint8(r.IntN(scene.HostsMax)), i: uint16(r.IntN(scene.HostsMax))}, r.IntN(2)*r.IntN(calmMax)
	late := func(m move) bool { return m == deaf || len(path) < calm && (m.kind == moveFail || m.kind == moveCut) }
	for {
		s.lists[0] = w.moves(s.lists[0])
		l := s.lists[0]
		if slices.ContainsFunc(l, func(m move) bool { return !late(m) }) {
			l = slices.DeleteFunc(l, late)
		}
		if len(l) == 0 {
			if w.bad == "" {
				w.end()
			}
			if w.bad != "" {
				return &finding{c: c, moves: path, what: w.bad, allOrders: true, streams: s.streams}
			}
			return nil
		}
		sum := 0
		for _, m := range l {
			sum += weight[m.kind]
		}
		k := r.IntN(sum)
		i := 0
		for k -= weight[l[0].kind]; k >= 0; k -= weight[l[i].kind] {
			i++
		}
		m := l[i]
		w.apply(m)
		path = append(path, m)
		s.states++
		if len(path) > 5000 {
			return &finding{c: c, moves: path, what: "schedule does not end", allOrders: true}
		}
	}
}
