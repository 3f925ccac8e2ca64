package remote

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/bench/app"
	"github.com/aeon-lang/aeon/bench/load"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
)

// LockPart is the far node of TwoPhaseLocking.
const LockPart = "two-phase locking"

// The kinds of its messages.
const (
	lockActor    byte = iota // it is answered when the client has the actor
	writeActor               // adds to it and unlocks it, and is answered
	unlockActor              // has no answer
	inspectActor             // is answered with the value in place of the actor
)

// locked is an actor that one client at a time may hold.
type locked struct {
	value   uint64
	held    bool
	waiting []func()
}

// table has actors.
type table struct {
	mu     sync.Mutex
	actors map[uint64]*locked
}

// do does what a message asks for, and calls answer when that is done.
func (t *table) do(kind byte, actor uint64, answer func(value uint64)) {
	t.mu.Lock()
	a := t.actors[actor]
	if a == nil {
		if t.actors == nil {
			t.actors = make(map[uint64]*locked)
		}
		a = &locked{}
		t.actors[actor] = a
	}
	next := func() {}
	granted := func() { answer(actor) }
	switch kind {
	case lockActor:
		if a.held {
			a.waiting = append(a.waiting, granted)
			t.mu.Unlock()
			return
		}
		a.held = true
	case writeActor, unlockActor:
		if kind == writeActor {
			a.value++
		}
		if a.held = len(a.waiting) > 0; a.held {
			next, a.waiting = a.waiting[0], a.waiting[1:]
		}
	}
	value := a.value
	t.mu.Unlock()
	switch kind {
	case inspectActor:
		answer(value)
	case unlockActor:
	default:
		granted()
	}
	next()
}

// lockHolder is the far node.
type lockHolder struct {
	*line
	table table
}

func (*lockHolder) Up(event.NodeID)   {}
func (*lockHolder) Down(event.NodeID) {}

func (h *lockHolder) Message(from event.NodeID, m []byte) {
	answer := slices.Clone(m)
	h.table.do(m[4], binary.LittleEndian.Uint64(m[5:]), func(value uint64) {
		binary.LittleEndian.PutUint64(answer[5:], value)
		h.Send(from, answer)
	})
}

// ServeLocks is the server.Part of LockPart.
func ServeLocks(dir string) (address string, close func() error, err error) {
	h := &lockHolder{}
	if _, err = open(dir, "", func(l *line) listener {
		h.line = l
		return h
	}); err != nil {
		return "", nil, err
	}
	return h.port.Addr().String(), h.close, nil
}

// Update says what the requests of figure 4.8 update.
type Update struct {
	Actors int  // of which every other one is at the far node
	Two    bool // two of them, drawn at random, and not all
}

// draw returns which actors a request updates, in order.
func (u Update) draw(r *rand.Rand) (list []int) {
	if u.Two {
		a, b := r.IntN(u.Actors), r.IntN(u.Actors-1)
		if b >= a {
			return []int{a, b + 1}
		}
		return []int{b, a}
	}
	for i := range u.Actors {
		list = append(list, i)
	}
	return list
}

func isFar(actor int) bool { return actor%2 == 1 }

// locker is a client of the two-phase locking.
type locker struct {
	number int
	line   *line
	here   *table
	came   chan uint64
}

// send has a message reach an actor, whose answer comes if it has one.
func (c *locker) send(kind byte, actor int) error {
	if !isFar(actor) {
		c.here.do(kind, uint64(actor), func(value uint64) { c.came <- value })
	} else if !c.line.Send(far, newMessage(c.number, kind, uint64(actor))) {
		return errSession
	}
	return nil
}

// lockers has the answers reach their clients.
type lockers struct{ came []chan uint64 }

func (lockers) Up(event.NodeID)   {}
func (lockers) Down(event.NodeID) {}

func (l lockers) Message(_ event.NodeID, m []byte) {
	l.came[binary.LittleEndian.Uint32(m)] <- binary.LittleEndian.Uint64(m[5:])
}

// TwoPhaseLocking is the baseline of figure 4.8: a client locks one actor after the other, in ascending order so that there are no deadlocks, and then sends all writes, each of
// which unlocks, and awaits their answers. As in the dissertation, an update of two actors locks all that are below the larger one, too: any could be among those that another
// client updates with them. Nothing is logged.
func TwoPhaseLocking(dir string, peer Peer, clients int, u Update) (load.System, error) {
	l := lockers{make([]chan uint64, clients+1)}
	for i := range l.came {
		l.came[i] = make(chan uint64, 2*u.Actors)
	}
	line, err := openLine(filepath.Join(dir, nearDir), peer.Address(), l)
	if err != nil {
		return load.System{}, err
	}
	here := &table{}
	var writes, requests atomic.Uint64
	client := func(i int) *locker { return &locker{i, line, here, l.came[i]} }
	return load.System{
		NewClient: func(i, _ int) load.Client {
			c := client(i)
			return func(r *rand.Rand) error {
				list := u.draw(r)
				last := list[len(list)-1]
				for actor := range last + 1 {
					if err := c.send(lockActor, actor); err != nil {
						return err
					}
					if _, err := awaited(line, c.came); err != nil {
						return err
					}
				}
				for actor := range last + 1 {
					kind := unlockActor
					if slices.Contains(list, actor) {
						kind = writeActor
					}
					if err := c.send(kind, actor); err != nil {
						return err
					}
				}
				for range list {
					if _, err := awaited(line, c.came); err != nil {
						return err
					}
				}
				writes.Add(uint64(len(list)))
				requests.Add(1)
				return nil
			}
		},
		Check: func() error {
			c, sum := client(clients), uint64(0)
			for actor := range u.Actors {
				if err := c.send(inspectActor, actor); err != nil {
					return err
				}
				value, err := awaited(line, c.came)
				if err != nil {
					return err
				}
				sum += value
			}
			return sumOf(sum, writes.Load())
		},
		Notes: func() []string { return line.notes(requests.Load()) },
		Close: func() { _ = line.close() },
	}, nil
}

func sumOf(sum, writes uint64) error {
	if sum != writes {
		return fmt.Errorf("the actors were written %d times, and have %d", writes, sum)
	}
	return nil
}

// Updates are the same updates as events.
func Updates(dir string, peer Peer, u Update) (load.System, error) {
	n, err := openNear(dir, peer.Address(), false)
	if err != nil {
		return load.System{}, err
	}
	var actors []app.CounterRef
	for i := range u.Actors {
		at := near
		if isFar(i) {
			at = far
		}
		actors = append(actors, app.CounterRef{Ref: n.named(&app.AeonClassCounter, at, i)})
	}
	var writes atomic.Uint64
	return load.System{
		NewClient: func(i, _ int) load.Client {
			cl := n.System.Client()
			relay := app.RelayRef{Ref: n.named(&app.AeonClassRelay, near, i)}
			return func(r *rand.Rand) error {
				var list []app.CounterRef
				for _, i := range u.draw(r) {
					list = append(list, actors[i])
				}
				err := relay.AddToAll(cl, aeonrt.VectorOf(list...), 1)
				if err == nil {
					writes.Add(uint64(len(list)))
				}
				return err
			}
		},
		Check: func() error {
			var sum uint64
			for _, c := range actors {
				v, err := c.Read(n.System.Client())
				if err != nil {
					return err
				}
				sum += uint64(v)
			}
			return sumOf(sum, writes.Load())
		},
		Retries: n.withdrawn,
		Notes:   n.notes,
		Close:   func() { _ = n.close() },
	}, nil
}
