package order

import (
	"sync"
	"time"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/lock"
)

// maintainer tightens the sequencing tree, and the tops in it, after ownership has changed (protocol rule
// 10). Every move is an attempt of the protocol. Nothing needs it, but what enters where a move has entered waits behind it: a move that waits is soon put off.
type maintainer struct {
	host   *Host
	newID  func() event.EventID // of a move
	a      *Attempt             // of the moves, which are made one after the other
	putOff time.Time            // when a move was put off last
	mu     struct {
		sync.Mutex
		running bool
		again   bool
		closed  bool
		done    chan struct{}
		late    []*dominator.Node // whose moves were put off, to be proposed again when timer fires
		timer   *time.Timer       // nil without late
	}
}

// A holder may keep its actor for hours: an event of another store that is away, say. Moves that wait for such holders take about a hundredth of the time of what
// enters with them: each waits for at most moveWaitMax, and for a hundredth of the time since one was put off, but for moveWaitMin.
const (
	moveWaitMax = 20 * time.Millisecond
	moveWaitMin = moveWaitMax / 200
	movePause   = 10 * time.Second // until what was put off is tried again
)

// Tighten makes the maintainer look for tops that are too high, and for moves of nodes in T to lower places.
func (s *Host) Tighten() { s.maintainer.kick() }

// AwaitMoves returns when no move is under way, or pending without having been put off, and all tops are exact.
func (s *Host) AwaitMoves() { s.maintainer.wait() }

// StopMoves lets no further move begin, and returns when none is under way.
func (s *Host) StopMoves() { s.maintainer.close() }

// kick makes the maintainer look for what there is to do.
func (m *maintainer) kick() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.closed {
		return
	}
	if m.mu.running {
		m.mu.again = true
		return
	}
	m.mu.running, m.mu.done = true, make(chan struct{})
	m.host.workers.Run(m.loop)
}

// tightenSteps bounds what the maintainer tightens between two looks at what else there is to do: edits of ownership wait meanwhile.
const tightenSteps = 256

func (m *maintainer) loop() {
	for {
		again := !m.host.Graph.Tighten(tightenSteps)
		for _, mv := range m.host.Graph.Pending(16) {
			m.move(mv)
			again = true
		}
		m.mu.Lock()
		if !again && !m.mu.again || m.mu.closed {
			m.mu.running = false
			close(m.mu.done)
			m.mu.Unlock()
			return
		}
		m.mu.again = false
		m.mu.Unlock()
	}
}

// move makes a move, or puts it off.
func (m *maintainer) move(mv dominator.Move) {
	s := m.host
	if s.scheduler != nil { // what holds an actor in a simulation ends
		if !s.moveT(mv, nil) {
			s.Graph.Reconsider(mv.Node)
		}
		return
	}
	c := &Cancellation{}
	waitMax := min(max(time.Since(m.putOff)/100, moveWaitMin), moveWaitMax)
	defer time.AfterFunc(waitMax, c.Cancel).Stop()
	switch {
	case s.moveT(mv, c):
	case !c.said.Load():
		s.Graph.Reconsider(mv.Node)
	default:
		m.putOff = time.Now()
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.mu.late = append(m.mu.late, mv.Node); m.mu.timer == nil {
			m.mu.timer = time.AfterFunc(movePause, m.tryAgain)
		}
	}
}

// tryAgain proposes the moves again that were put off.
func (m *maintainer) tryAgain() {
	m.mu.Lock()
	late := m.mu.late
	m.mu.late, m.mu.timer = nil, nil
	m.mu.Unlock()
	for _, n := range late {
		m.host.Graph.Reconsider(n)
	}
	m.kick()
}

// wait returns when no move is running, or pending without having been put off.
func (m *maintainer) wait() {
	for {
		m.mu.Lock()
		running, done := m.mu.running, m.mu.done
		m.mu.Unlock()
		if !running {
			return
		}
		m.host.scheduler.Wait(done)
	}
}

func (m *maintainer) close() {
	m.mu.Lock()
	m.mu.closed = true
	if m.mu.timer != nil {
		m.mu.timer.Stop()
	}
	m.mu.Unlock()
	m.wait()
}

// moveEffects are those of a move in T.
var moveEffects = Effects{Self: Write, Below: Any}

// moveWork is a move in dumps and errors.
type moveWork struct{}

func (moveWork) String() string { return "move" }

const moveAttemptsMax = 8

// moveT performs one move: W on the nearest common T-ancestor of the old and the new
// parent, unless that is virtual, then down the T-paths to the node and to its new
// parent. Without the latter, an event that has passed the node and still waits on the
// new path would meet the node's subtree a second time, below itself. It reports false
// if it has been withdrawn too often, or is cancelled.
func (s *Host) moveT(mv dominator.Move, cancel *Cancellation) bool {
	a, c := s.maintainer.a, s.HandleOf(mv.Node)
	if a == nil {
		a = &Attempt{}
		a.Open(s)
		s.maintainer.a = a
	}
	a.Host, a.ID, a.Target, a.Effects, a.Work, a.moveTo = s, s.maintainer.newID(), c, &moveEffects, moveWork{}, s.HandleOf(mv.Parent)
	a.Cancellation = cancel
	defer a.Reset()
	if s.residence != nil {
		a.Begin()
		defer a.End()
		if s.Attach(c) != nil || !a.moveTo.Is(Virtual) && s.Attach(a.moveTo) != nil {
			return true // the process is ending
		}
	}
	a.Start()
	s.scheduler.Yield()
	for range moveAttemptsMax {
		a.Number++
		a.gatherMove()
		if z := a.sequencer(); z.Is(Virtual) {
			a.pass()
		} else {
			a.enterAt(z)
		}
		if a.await() && a.descend(c) && (a.moveTo.Is(Virtual) || a.descend(a.moveTo)) {
			s.relink(c, mv)
			a.Release(false)
			s.Moves.Add(1)
			return true
		}
		if a.withdraw(Withdrawal{}, true); a.Cancelled() {
			break
		}
	}
	return false
}

// relink changes T while the event holds c, and refuses the entries that still come from the former parent.
func (s *Host) relink(c *Handle, mv dominator.Move) {
	d := takeDriver(s)
	s.move(c, mv)
	d.out = c.locked().Moved(s.view, d.out)
	d.execute(c, 0)
	c.unlatch(s)
	d.finish()
}

// move latches c and changes T. A move that has become impossible is dropped: the graph will propose another.
func (s *Host) move(c *Handle, mv dominator.Move) {
	r := s.residence
	if r == nil {
		c.latch.Lock()
		_, _ = s.Graph.MoveT(mv.Node, mv.Parent)
		return
	}
	r.Ownership().Lock()
	defer r.Ownership().Unlock()
	c.latch.Lock()
	old := s.ParentOf(c)
	if _, err := s.Graph.MoveT(mv.Node, mv.Parent); err == nil {
		r.Moved(c, old)
	}
}

// gatherMove computes the footprint of a move: the node, and the place from which both its old and its new parent are seen.
func (a *Attempt) gatherMove() {
	a.members.reset()
	a.members.members = append(a.members.members, member{h: a.Target, mode: Write, tree: true})
	if !a.moveTo.Is(Virtual) {
		a.members.members = append(a.members.members, member{h: a.moveTo, mode: Write, tree: true})
	}
	a.reaching = true
}

// moveFrom returns the sequencer of a move.
func (a *Attempt) moveFrom() *Handle {
	s := a.Host
	old := s.Graph.Parent(&a.Target.Node)
	return s.HandleOf(s.Graph.NCA(old, s.NodeOf(a.moveTo)))
}

// wantMove answers View.Footprint for a move.
func (a *Attempt) wantMove(x *Handle, direct bool) (w lock.Want[*Handle]) {
	if z := a.moveFrom(); direct && z != x && !a.Host.above(x, z) {
		w.Enter = z
	}
	if !x.Is(Virtual | Deleted) {
		w.Mode = lock.Write
	}
	w.Below = true
	return w
}

// descend acquires the T-path down to c and reports false if the attempt has to be
// withdrawn. The path down to the new parent is held only by the sequencer, which suffices in one process ([MOVE]): an enqueue there
// is made in the step that grants it, and none is under way.
func (a *Attempt) descend(c *Handle) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, is := p.(Withdrawal); !is {
				panic(p)
			}
			ok = false
		}
	}()
	mode := lock.Write
	if c.Is(Deleted) {
		mode = lock.None
	}
	a.acquire(c, Mode(mode), lock.Decision[*Handle]{})
	return true
}
