package commit

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
)

var (
	worlds    = flag.Int("worlds", 4000, "how many worlds are made")
	firstSeed = flag.Uint64("world", 1, "the seed of the first one")
)

// step does one of the things that can happen, and reports false if there is none. Faults happen as long as there are some left.
func (w *world) step() bool {
	if w.faults > 0 && w.r.IntN(faultEvery) == 0 {
		if w.faults--; w.r.IntN(4) == 0 {
			w.drop()
		} else {
			w.fault()
		}
		return true
	}
	if w.r.IntN(quiesceEvery) == 0 && !w.endQuiesce(false) {
		w.quiesce()
	}
	var all, slow, last []func() // slow are the disks, which leave time for others to see what is not durable, and new sessions: a store may not have heard of a crash
	add := func(f func()) { all = append(all, f) }
	for _, s := range w.events {
		if n := w.stores[s.home]; s.status == waits && n.up {
			add(func() {
				for i, o := range w.events {
					if o.status == answers {
						s.after = append(s.after, i)
					}
				}
				w.attemptNext(n, s)
			})
		}
	}
	w.wire = slices.DeleteFunc(w.wire, func(p packet) bool { return p.epoch != w.epoch[pair(p.from, p.to)] })
	for i, p := range w.wire {
		if w.stores[p.to].up {
			do := func() {
				w.wire = slices.Delete(w.wire, i, i+1)
				w.deliver(p)
			}
			if w.late != nil && w.late(p) {
				last = append(last, do)
			} else {
				add(do)
			}
		}
	}
	for _, n := range w.stores {
		switch {
		case !n.up:
			add(func() { w.start(n) })
			continue
		case n.former:
			slow = append(slow, func() { w.crash(n, 0.5) }) // as another one leads
		case n.synced < len(n.journal):
			do := func() { w.sync(n) }
			if w.lazy == n {
				last = append(last, do)
			} else {
				slow = append(slow, do)
			}
		}
		for _, o := range w.stores[:n.id] {
			if o.up && w.apart[pair(n.id, o.id)] {
				do := func() { w.session(n, o) }
				if w.deaf == pair(n.id, o.id) {
					last = append(last, do)
				} else {
					slow = append(slow, do)
				}
			}
		}
		for i, x := range n.waiting {
			if x.position <= n.synced && !n.former {
				add(func() {
					n.waiting = slices.Delete(n.waiting, i, i+1)
					w.do(n, x.do(nil))
				})
			}
		}
	}
	if len(slow) > 0 && (len(all) == 0 || w.r.IntN(syncEvery) == 0) {
		all = slow
	}
	if len(all) == 0 {
		all = last
	}
	if len(all) == 0 {
		return w.endQuiesce(true) || w.cfg.beside > 1 && w.untie()
	}
	all[w.r.IntN(len(all))]()
	return true
}

// quiesceEvery is after how many steps all stores are quiesced, or go on, in the mean.
const quiesceEvery = 30

// quiesce has all stores be quiesced that are up.
func (w *world) quiesce() {
	for _, n := range w.stores {
		if n.up {
			n.home.Quiesce()
		}
	}
}

// endQuiesce has stores that are quiesced go on, and reports whether there were any. If nothing else happens any more, all that these have decided is carried out.
func (w *world) endQuiesce(still bool) (were bool) {
	for _, n := range w.stores {
		if !n.up || !n.home.quiesced {
			continue
		}
		were = true
		if still {
			w.saw["quiesce"]++
			if list := n.home.Undone(); len(list)+len(n.disk.decisions) > 0 {
				w.fail("store %d is quiesced, and has decisions: stores %v have not carried them out", n.id, list)
			}
		}
		w.do(n, n.home.GoOn(nil))
	}
	return were
}

// faultEvery is after how many steps a fault happens, in the mean.
const faultEvery = 15

// syncEvery is after how many steps a record becomes durable, in the mean.
const syncEvery = 10

// fault has a store crash, or a session end.
func (w *world) fault() {
	n, o := w.stores[w.r.IntN(len(w.stores))], w.stores[w.r.IntN(len(w.stores))]
	switch {
	case !n.up:
	case o == n:
		w.crash(n, 0.5)
	case o.up && !w.apart[pair(n.id, o.id)]:
		w.session(n, o)
	}
}

// drop has a store drop an attempt that has not been asked to vote.
func (w *world) drop() {
	n := w.stores[w.r.IntN(len(w.stores))]
	if list := n.part.tasks.Names(); n.up && len(list) > 0 {
		w.do(n, n.part.Drop(list[w.r.IntN(len(list))], nil))
	}
}

// run has everything happen, and checks what is left.
func (w *world) run() {
	for steps := 0; w.bad == "" && w.step(); steps++ {
		if steps > 20_000 {
			w.fail("it does not end")
		}
	}
	if w.bad == "" {
		w.check()
	}
}

// check checks a world in which nothing happens any more.
func (w *world) check() {
	for _, n := range w.stores {
		if tries, undone := n.home.Open(); tries > 0 || undone > 0 || n.part.InDoubt() > 0 || n.part.tasks.Len() > 0 {
			w.fail("store %d has %d tries, %d decisions, %d tasks", n.id, tries, undone, n.part.tasks.Len())
		}
		if len(n.disk.prepared)+len(n.disk.decisions) > 0 {
			w.fail("the disk of store %d has %d prepared and %d decisions", n.id, len(n.disk.prepared), len(n.disk.decisions))
		}
		for a, q := range n.queues {
			if len(q) > 0 {
				w.fail("actor %d is locked by %v", a, q[0].name)
			}
		}
	}
	value := func(a actorID) []Name { return w.stores[w.homeOf(a)].values[a] }
	committed := make(map[event.EventID]Name)
	for a := range actorID(w.cfg.actors) {
		for _, name := range value(a) {
			if was, ok := committed[name.Event]; ok && was != name {
				w.fail("%v and %v have committed", was, name)
			}
			committed[name.Event] = name
		}
	}
	for i, s := range w.events {
		if s.status != answers && s.status != lost {
			w.fail("event %d is neither answered nor lost: %d", i, s.status)
			return
		}
		name, there := committed[s.id]
		writes := false
		for _, a := range s.accesses {
			if !s.writes(a) {
				continue
			}
			writes = true
			n := 0
			for _, by := range value(a.actor) {
				if by == name {
					n++
				}
			}
			if there && n != 1 {
				w.fail("event %d has written actor %d %d times, and something else", i, a.actor, n)
			}
		}
		if s.status == answers && writes && (!there || name != s.by) {
			w.fail("event %d is answered by %v, and %v is there (%v)", i, s.by, name, there)
		}
		for a, seen := range s.answered {
			if v := value(a); len(seen) > len(v) || !slices.Equal(seen, v[:len(seen)]) {
				w.fail("event %d has seen %v of actor %d, which has %v", i, seen, a, v)
			}
		}
	}
	if w.bad == "" {
		w.order(value)
		w.tells(value)
	}
}

// tells checks that what attempts have told has the order of their conflicts.
func (w *world) tells(value func(actorID) []Name) {
	place := func(a actorID, name Name) int { return slices.Index(value(a), name) } // among those that have written it
	for i, first := range w.told {
		for _, then := range w.told[i+1:] {
			w.saw["told"]++
			s, o := w.script(first), w.script(then)
			if o.by != then && o.status != lost || s == o {
				w.fail("%v has told something, and %v is answered", then, o.by)
			}
			for a := range actorID(w.cfg.actors) {
				if p, q := place(a, first), place(a, then); p >= 0 && q >= 0 && q < p {
					w.fail("%v has told something before %v, whose value of actor %d it has written over", first, then, a)
				}
				if seen, ok := o.answered[a]; ok && place(a, first) >= len(seen) {
					w.fail("%v has told something before %v, which has read actor %d before it wrote that", first, then, a)
				}
			}
		}
	}
}

// order checks that the events that were answered, and those that have written, have an order in which each sees what came before it, and that what
// was answered before another began comes before it.
func (w *world) order(value func(actorID) []Name) {
	edges := make([][]int, len(w.events))
	for i, s := range w.events {
		edges[i] = append(edges[i], s.after...) // they come before i
		for a, seen := range s.answered {
			for _, by := range seen {
				if e := int(by.Event.Seq) - 1; e != i {
					edges[i] = append(edges[i], e)
				}
			}
			for _, by := range value(a)[len(seen):] {
				if e := int(by.Event.Seq) - 1; e != i {
					edges[e] = append(edges[e], i)
				}
			}
		}
	}
	for a := range actorID(w.cfg.actors) {
		v := value(a)
		for k := 1; k < len(v); k++ {
			edges[v[k].Event.Seq-1] = append(edges[v[k].Event.Seq-1], int(v[k-1].Event.Seq)-1)
		}
	}
	state := make([]int, len(w.events))
	var visit func(i int) bool
	visit = func(i int) bool {
		if state[i] != 0 {
			return state[i] == 2
		}
		state[i] = 1
		for _, e := range edges[i] {
			if !visit(e) {
				return false
			}
		}
		state[i] = 2
		return true
	}
	for i := range w.events {
		if !visit(i) {
			w.fail("the events have no order: %v", edges)
			return
		}
	}
}

// scaleOf draws the size of a world.
func scaleOf(seed uint64) scale {
	r := rand.New(rand.NewPCG(seed, 2))
	return scale{stores: 2 + min(r.IntN(4), 1), actors: 2 + r.IntN(4), events: 3 + r.IntN(5), faults: r.IntN(9), beside: 1 + max(0, r.IntN(4)-1), deletes: r.IntN(2) == 0, lasts: r.IntN(2) == 0, formers: r.IntN(2) == 0}
}

// Whatever crashes, and whichever messages are lost, late or overtaken: events happen in all stores or in none, in one order, and nothing is left of
// them but what they have written.
func TestWorlds(t *testing.T) {
	saw := make(map[string]int)
	for i := range uint64(*worlds) {
		w := newWorld(*firstSeed+i, scaleOf(*firstSeed+i))
		if w.run(); w.bad != "" {
			t.Fatalf("go test ./runtime/commit -run TestWorlds -worlds 1 -world %d: %v", *firstSeed+i, w)
		}
		for k, n := range w.saw {
			saw[k] += n
		}
		for _, s := range w.events {
			saw[fmt.Sprint("status ", s.status)]++
		}
	}
	t.Log(saw)
	if *worlds < 4000 {
		return
	}
	for _, rare := range []string{"in doubt at a start", "decisions restored", "prepared in vain", "votes false", "withdraw", "drop", "early votes", "early votes count", "calls beside others", "calls while a part votes", "votes that may be stale", "circles", "held at a start, and only read", "found deleted", "over with an answer", "asks what is over", "quiesce", "former leaders", "send confirmed"} {
		if saw[rare] < 20 {
			t.Errorf("%s: %d times", rare, saw[rare])
		}
	}
}

// inMany runs worlds, of which some have to see all of some things.
func inMany(t *testing.T, of func(seed uint64) *world, see ...string) {
	saw := 0
	for seed := range uint64(*worlds) {
		w := of(seed)
		if w.run(); w.bad != "" {
			t.Fatalf("world %d: %v", seed, w)
		}
		if !slices.ContainsFunc(see, func(what string) bool { return w.saw[what] == 0 }) {
			saw++
		}
	}
	if saw < 20 {
		t.Errorf("%d worlds have seen %q", saw, see)
	}
}

// overtaken returns a world in which a part that has read votes early, and crashes; another event takes what it has read, and the reader's home hears of that last of all. With
// several calls at a time the vote is still under way when the reader takes its last lock.
func overtaken(seed uint64, beside int) *world {
	w := newWorld(seed, scale{stores: 3, actors: 3, events: 2, beside: beside})
	w.deaf, w.trapped = pair(0, 1), beside == 1
	if beside > 1 {
		w.leaving, w.late = true, func(p packet) bool { return p.votes > 0 && p.from == 0 || p.call && p.from == 1 && p.to == 2 }
	}
	reader, writer := w.events[0], w.events[1]
	reader.home, reader.accesses, reader.aborts = 1, []access{{actor: 0}, {actor: 2}}, false
	writer.home, writer.accesses, writer.aborts = 2, []access{{0, true, false}, {2, true, false}}, false
	return w
}

// Such a vote does not count.
func TestAVoteIsOvertaken(t *testing.T) {
	for seed := range uint64(*worlds) {
		for beside := 1; beside <= 2; beside++ {
			w := overtaken(seed, beside)
			w.cfg.lasts = seed%2 == 0
			if w.run(); w.bad != "" {
				t.Fatalf("world %d, %d calls at a time: %v", seed, beside, w)
			}
		}
	}
}

// released returns a world as overtaken, in which no store crashes, and the part may be over with its answer.
func released(seed uint64) *world {
	w := overtaken(seed, 1)
	w.cfg.lasts, w.trapped, w.deaf = true, false, [2]event.StoreID{}
	return w
}

// The reader is withdrawn if it takes its last lock after that.
func TestAReleaseIsOvertaken(t *testing.T) {
	inMany(t, released, "over with an answer", "withdraw")
}

// deleted returns a world as overtaken, in which the other event deletes what the reader takes last.
func deleted(seed uint64) *world {
	w := overtaken(seed, 1)
	w.events[1].accesses[1].final = true
	return w
}

// Nor does it count if what the event has found deleted since was deleted by the other event.
func TestAVoteIsOvertakenByADeletion(t *testing.T) {
	inMany(t, func(seed uint64) *world {
		w := deleted(seed)
		w.cfg.lasts = seed%2 == 0
		return w
	}, "found deleted")
}

// followed returns a world in which a part that has read votes early, and crashes; another event is to write what it has read, and to tell something, before the disk of the
// reader's home has its decision.
func followed(seed uint64) *world {
	w := newWorld(seed, scale{stores: 3, actors: 3, events: 2, beside: 1})
	w.deaf, w.leaving, w.lazy = pair(0, 1), true, w.stores[1]
	reader, writer := w.events[0], w.events[1]
	reader.home, reader.accesses, reader.aborts, reader.tells = 1, []access{{actor: 0}}, false, true
	writer.home, writer.accesses, writer.aborts, writer.tells = 2, []access{{0, true, false}}, false, true
	return w
}

// What is told first is what comes first.
func TestATellerIsNotOvertaken(t *testing.T) {
	inMany(t, followed, "held at a start, and only read")
}

// What a driver must not do is noticed.
func TestBrokenDrivers(t *testing.T) {
	drawn := func(seed uint64) *world { return newWorld(seed, scaleOf(seed)) }
	dense := func(seed uint64) *world {
		return newWorld(seed, scale{stores: 2, actors: 6, events: 6, faults: 4, beside: 3, lasts: true})
	}
	for _, b := range []struct {
		broken string
		world  func(seed uint64) *world
	}{
		{"a vote leaves before its row is durable", drawn},
		{"readers vote before what they saw is durable", drawn},
		{"done is said before it is durable", drawn},
		{"a decision leaves before it is durable", drawn},
		{"answers leave with votes that are not durable", drawn},
		{"decisions are forgotten", drawn},
		{"what a store does not know is told before it is confirmed", drawn},
		{"locks in doubt are forgotten", drawn},
		{"what was read is not held", followed},
		{"a part votes while others of its calls run", dense},
		{"a call runs while its part votes", dense},
		{"a vote counts though its part was asked for more", drawn},
		{"a vote counts though another call has taken locks", func(seed uint64) *world { return overtaken(seed, 2) }},
		{"a vote counts though an actor was found deleted since", deleted},
		{"a lock is taken after a part is over", released},
	} {
		caught := uint64(0)
		for seed := uint64(1); seed <= uint64(*worlds) && caught == 0; seed++ {
			func() {
				defer func() {
					if recover() != nil {
						caught = seed
					}
				}()
				w := b.world(seed)
				w.broken = b.broken
				if w.run(); w.bad != "" {
					caught = seed
				}
			}()
		}
		t.Logf("%s: seed %d", b.broken, caught)
		if caught == 0 {
			t.Errorf("it is not noticed that %s", b.broken)
		}
	}
}
