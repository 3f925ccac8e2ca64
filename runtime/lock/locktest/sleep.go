package locktest

import "github.com/aeon-lang/aeon/runtime/lock/locktest/scene"

// Two moves that touch different parts of the world lead to the same state in either order. When the
// search has taken one of them and then takes the other, the first sleeps in what follows, as long
// as nothing happens that it depends on (Godefroid, "Using partial orders to improve automatic
// verification methods", 1990). All states are visited still, but most of the ways that lead to a
// known state are not taken. What a move depends on is observed while it is made.

// scope is a set of parts of a world.
type scope uint64

func partQueue(x scene.Node) scope          { return 1 << x }
func partActor(x scene.Node) scope          { return 1 << (12 + x) } // fields, and the events that have touched them
func partRun(e scene.Event) scope           { return 1 << (24 + e) } // and the order of e
func partAttempt(e scene.Event) scope       { return 1 << (28 + e) } // status and attempt, as nodes look at them
func partKnow(h uint8, e scene.Event) scope { return 1 << (32 + 4*scope(h) + scope(e)) }
func partView(h uint8) scope                { return 1 << (44 + h) }
func partTurns(h uint8) scope               { return partTurn << h }
func partSession(h uint8) scope             { return 1 << (48 + h) } // of host h with the others
const (
	partGlobal   scope = 1 << 47 // what is committed
	partActors   scope = 0xfff << 12
	partSessions scope = 7 << 48
	partTop      scope = 1 << 51 // what store 0 has ordered
	partTurn     scope = 1 << 52 // what store 0 has sent to a store, of three
)

// touched is what a move has read and written.
type touched struct{ reads, writes scope }

func (t *touched) read(p scope)  { t.reads |= p }
func (t *touched) write(p scope) { t.writes |= p }

// settle adds what events have read because their inputs have changed: each event reads
// its inputs again when one of them changes, and may find nothing to do.
func (w *world) settle() {
	for e := range scene.Event(len(w.c.Events)) {
		r := &w.runs[e]
		if r.status != 1 {
			continue
		}
		in := partRun(e) | partView(w.homeHost(e))
		if w.c.Events[e].Move != 0 {
			in |= partGlobal
		}
		if w.c.Crash != 0 || w.c.Faulty() {
			in |= partSessions
		}
		if w.c.Stores {
			for h := range uint8(w.c.Hosts) {
				in |= partKnow(h, e)
			}
		}
		(r.started &^ r.done).Each(func(x scene.Node) { in |= partActor(x) })
		if r.reach != 0 {
			in |= partActors
		}
		if w.touched.writes&in != 0 {
			w.touched.read(in)
		}
	}
}

// sleeper is a move that need not be made.
type sleeper struct {
	id uint64
	touched
}

func (a *sleeper) independent(b *sleeper) bool {
	return a.writes&(b.reads|b.writes) == 0 && b.writes&a.reads == 0
}

// name identifies a move in every state it is possible in.
func (w *world) name(m move) uint64 {
	switch m.kind {
	case moveDeliver:
		return w.net.At(int(m.i)).Sum
	case moveParcel:
		return w.above.parcels[m.i].sum()
	case moveOrphan:
		m.i = uint16(w.above.parts[m.i].id.Attempt)
	}
	return mix(1<<63 | uint64(m.kind)<<40 | uint64(m.e)<<32 | uint64(m.y)<<24 | uint64(m.h)<<16 | uint64(m.i))
}

func asleep(l []sleeper, id uint64) bool {
	for i := range l {
		if l[i].id == id {
			return true
		}
	}
	return false
}
