package lock

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// The tests below interleave the atomic operations on words, as drivers in one process
// perform them, on a node 1 with T-children 2 and 3. They run step by step under a random
// schedule, and any schedule is possible.

// wordActor is one event: its program, as coroutine steps, and what it holds.
type wordActor struct {
	id     int
	kind   string // guest, slow, coarse
	mode   Mode   // on node 1
	wants  []int  // children, to be written
	pc     int
	refs   map[int]Ref
	guest  map[int]Mode
	needs  int // admissions that are awaited
	asked  int
	leaves []int // nodes to latch and unlatch, since the guest was awaited; negative: latched
	freed  []Effect[int, int]
}

type wordWorld struct {
	t      *testing.T
	words  [4]Word
	queues [4]*Queue[int, int]
	actors []*wordActor
	broken string // the bug of the driver
	holds  [4]map[int]Mode
	err    error
}

func (w *wordWorld) Footprint(x int, id ID[int]) Want[int] {
	a := w.actors[id.Event-1]
	if x != 1 {
		return Want[int]{Mode: Write}
	}
	return Want[int]{Mode: a.mode, Below: len(a.wants) > 0}
}

func (w *wordWorld) Expand(_ int, id ID[int], _ Mode, children []int) Expansion[int] {
	a := w.actors[id.Event-1]
	return Expansion[int]{Children: append(children, a.wants...), Lazy: a.kind == "coarse"}
}
func (w *wordWorld) Parent(x int) int            { return map[int]int{2: 1, 3: 1}[x] }
func (w *wordWorld) Toward(_, y int) (int, bool) { return y, true }
func (w *wordWorld) Remote(_, _ int) bool        { return false }

// hold notes a grant and checks it against the others (RULE-4).
func (w *wordWorld) hold(x, e int, m Mode) {
	for o, n := range w.holds[x] {
		if o != e && m.Conflicts(n) {
			w.err = fmt.Errorf("at %d: %d in %v beside %d in %v", x, e, m, o, n)
		}
	}
	w.holds[x][e] = m
}

func (w *wordWorld) latch(x int) bool {
	next, ok := w.words[x].Latch()
	w.words[x] = next
	return ok
}

// unlatch gives the latch back; whom guests that have left kept waiting goes on first.
func (w *wordWorld) unlatch(x int) {
	for {
		next, ok := w.queues[x].Gate(w.words[x])
		if ok {
			w.words[x] = next
			return
		}
		w.execute(x, w.queues[x].Left(w, w.words[x], nil))
	}
}

// execute carries out effects; the children's latches are free or the schedule waits.
func (w *wordWorld) execute(x int, out []Effect[int, int]) {
	for _, f := range out {
		a := w.actors[f.ID.Event-1]
		switch f.Kind {
		case Admitted:
			a.needs--
			w.hold(x, a.id, f.Mode)
		case Enqueue:
			a.needs++
			q := w.queues[f.To]
			q.See(w.words[f.To])
			ref, more := q.Enqueue(w, Sent[int]{From: x, Acquired: f.Lazy}, f.ID, nil)
			w.queues[x].Bind(f.Ref, f.Edge, ref)
			w.execute(f.To, more)
			w.unlatch(f.To)
		case Release:
			a.freed = append(a.freed, f)
		default:
			w.err = fmt.Errorf("unexpected %v", f)
		}
	}
}

func (w *wordWorld) anyLatched(list ...int) bool {
	return slices.ContainsFunc(list, func(x int) bool { return w.words[x]&latched != 0 })
}

func (w *wordWorld) join(a *wordActor, x int, m Mode) bool {
	next, ok := w.words[x].Join(m)
	if ok {
		w.words[x] = next
		a.guest[x] = m
		w.hold(x, a.id, m)
	}
	return ok
}

// step performs one atomic step of a and reports whether it could.
func (w *wordWorld) step(a *wordActor) bool {
	switch {
	case len(a.leaves) > 0:
		x := a.leaves[0]
		if x < 0 { // the latch is ours
			w.unlatch(-x)
			a.leaves = a.leaves[1:]
			return true
		}
		if w.anyLatched(x, 2, 3) || !w.latch(x) {
			return false
		}
		a.leaves[0] = -x
	case len(a.freed) > 0:
		f := a.freed[0]
		if w.anyLatched(f.To) {
			return false
		}
		a.freed = a.freed[1:]
		w.latch(f.To)
		delete(w.holds[f.To], a.id)
		w.execute(f.To, w.queues[f.To].Release(w, f.Ref, false, nil))
		w.unlatch(f.To)
	case a.pc == 0:
		return w.begin(a)
	case a.pc == 1:
		return w.enqueueBelow(a)
	case a.needs > 0:
		return false
	case a.kind == "coarse" && a.asked < len(a.wants):
		if w.anyLatched(1, 2, 3) {
			return false
		}
		w.latch(1)
		a.asked++
		w.execute(1, w.queues[1].Acquire(w, a.refs[1], first(a.id), a.wants[a.asked-1], nil))
		w.unlatch(1)
	default:
		return w.end(a)
	}
	return true
}

// begin is the entry at node 1: as a guest, or through the queue.
func (w *wordWorld) begin(a *wordActor) bool {
	if a.kind == "guest" && w.join(a, 1, a.mode) {
		a.pc = 1
		return true
	}
	if w.anyLatched(1, 2, 3) {
		return false
	}
	w.latch(1)
	w.queues[1].See(w.words[1])
	a.needs++
	ref, out := w.queues[1].Enter(w, first(a.id), nil)
	a.refs[1] = ref
	w.execute(1, out)
	w.unlatch(1)
	a.pc = 2
	return true
}

// enqueueBelow is the atomic step of a guest on the T-children: latch, one at a time in
// order, enqueue on each, unlatch.
func (w *wordWorld) enqueueBelow(a *wordActor) bool {
	if a.asked < len(a.wants) {
		x := a.wants[a.asked]
		if !w.latch(x) {
			return false
		}
		a.asked++
		if w.broken == "order" {
			w.enqueueGuest(a, x)
		}
		return true
	}
	if w.broken != "order" {
		for _, x := range a.wants {
			w.enqueueGuest(a, x)
		}
	}
	a.pc = 2
	return true
}

func (w *wordWorld) enqueueGuest(a *wordActor, x int) {
	if next, ok := w.words[x].JoinLatched(Write); ok {
		w.words[x] = next
		a.guest[x] = Write
		w.hold(x, a.id, Write)
	} else {
		w.queues[x].See(w.words[x])
		a.needs++
		ref, out := w.queues[x].Enqueue(w, Sent[int]{From: 1}, first(a.id), nil)
		a.refs[x] = ref
		w.execute(x, out)
	}
	w.unlatch(x)
}

// end releases, one hold per step, in a fixed order.
func (w *wordWorld) end(a *wordActor) bool {
	for x := 1; x <= 3; x++ {
		if m, ok := a.guest[x]; ok {
			delete(a.guest, x)
			delete(w.holds[x], a.id)
			w.words[x] -= m.Guest()
			if w.words[x].Awaited() && w.broken != "sleep" {
				a.leaves = append(a.leaves, x)
			}
			return true
		}
		if ref, ok := a.refs[x]; ok {
			if w.anyLatched(x, 2, 3) {
				return false
			}
			delete(a.refs, x)
			delete(w.holds[x], a.id)
			w.latch(x)
			w.execute(x, w.queues[x].Release(w, ref, false, nil))
			w.unlatch(x)
			return true
		}
	}
	a.pc = -1
	return true
}

// runWords performs one random run and returns what was wrong with it.
func runWords(seed uint64, broken string) error {
	rng := rand.New(rand.NewPCG(seed, 3))
	w := &wordWorld{broken: broken}
	for x := 1; x <= 3; x++ {
		w.queues[x], w.holds[x] = newTestQueue(x), map[int]Mode{}
	}
	sets := [][]int{nil, {2}, {3}, {2, 3}, {2, 3}}
	for i := range 2 + rng.IntN(4) {
		a := &wordActor{id: i + 1, refs: map[int]Ref{}, guest: map[int]Mode{}}
		a.kind = []string{"guest", "guest", "slow", "coarse"}[rng.IntN(4)]
		a.mode = Read + Mode(rng.IntN(4)/3)
		a.wants = slices.Clone(sets[rng.IntN(len(sets))])
		if len(a.wants) == 2 && rng.IntN(2) == 0 && (a.kind == "coarse" || broken == "order") {
			slices.Reverse(a.wants)
		}
		w.actors = append(w.actors, a)
	}
	for left := slices.Clone(w.actors); len(left) > 0; {
		k, moved := rng.IntN(len(left)), false
		for i := range left {
			if a := left[(k+i)%len(left)]; w.step(a) {
				moved = true
				break
			}
		}
		if w.err != nil {
			return w.err
		}
		if !moved {
			return fmt.Errorf("%d events wait for ever", len(left))
		}
		left = slices.DeleteFunc(left, func(a *wordActor) bool { return a.pc < 0 && len(a.freed)+len(a.leaves) == 0 })
	}
	for x := 1; x <= 3; x++ {
		if w.words[x] != 0 || !w.queues[x].Idle() {
			return fmt.Errorf("node %d is left with word %b", x, w.words[x])
		}
	}
	return nil
}

const wordRuns = 100_000

func TestGuestsAndQueuesNeverDisagree(t *testing.T) {
	for seed := range uint64(wordRuns) {
		if err := runWords(seed, ""); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func TestBugsOfGuestsAreCaught(t *testing.T) {
	defer func() { faults.guestIntrudes, faults.passGuests = false, false }()
	for _, bug := range []string{"order", "sleep", "intrude", "pass"} {
		faults.guestIntrudes, faults.passGuests = bug == "intrude", bug == "pass"
		caught := func() (err error) {
			for seed := range uint64(wordRuns) {
				func() {
					defer func() { // an assertion of the core catches it, too
						if p := recover(); p != nil {
							err = fmt.Errorf("%v", p)
						}
					}()
					err = runWords(seed, bug)
				}()
				if err != nil {
					return fmt.Errorf("seed %d: %w", seed, err)
				}
			}
			return nil
		}()
		if caught == nil {
			t.Errorf("%s: missed in %d runs", bug, wordRuns)
		}
		t.Log(bug, caught)
	}
}
