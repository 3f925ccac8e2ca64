package lock

import (
	"fmt"
	"slices"
)

// The tests of Word interleave the atomic operations that drivers in one process perform
// on words, one at a time, on a node 1 with T-children 2 and 3. A thread performs one
// event; its program is a stack of operations, so that worlds can be copied, compared and
// explored. Spinning needs no operation of its own: it is to be scheduled later.

// wordOpKind is an atomic operation on a word, with what its thread then does that no
// other thread can see, or under the latch.
type wordOpKind uint8

const (
	opTry     wordOpKind = iota // join x on the fast path, before anything was enqueued
	opBelow                     // join want number i, or give back and latch all of them
	opLatch                     // take the latch of x
	opDirect                    // under the latch: the queue's Try, at the event's target
	opEnter                     // under the latch: a direct entry
	opKnown                     // under the latch: enqueue want number i
	opEnqueue                   // under the latch: an Enqueue effect
	opAcquire                   // under the latch: lazily towards want number i
	opRelease                   // under the latch
	opGate                      // give back the latch, or let entries go on that fast-path holders kept waiting
	opStore                     // bug "store": the second half of a gate that is no swap
	opLeave                     // a fast-path holder leaves x
	opAwait                     // wait for all that was asked for
	opEnd                       // the event has ended
	opFreed                     // releases that followed from other releases
	opSpread                    // spread the word of x
	opIn                        // put x into a slot, if that is empty
	opLook                      // a reader that is in a slot looks whether x is spread still
	opBack                      // it was not: out of the slot, unless it has been counted
	opCollect                   // take x out of slot i
	opCount                     // add those to the word
	opUnlatch                   // give back the latch, the queue is as it was
	opOut                       // a reader leaves x by its slot
	opLess                      // a fast-path holder leaves x by the word
)

var opNames = [...]string{"try", "below", "latch", "direct", "enter", "known", "enqueue", "acquire", "release",
	"gate", "store", "leave", "await", "end", "freed", "spread", "in", "look", "back", "collect", "count", "unlatch", "out", "less"}

type wordOp struct {
	kind wordOpKind
	x, i uint8
	last bool // of opBelow: the second round, after which it latches
	slot bool // of opTry and opBelow: it has been in a slot, and joined is set if that was a Join
	ref  Ref
	eff  wordEffect // of opEnqueue
	next Word       // of opStore
}

// wordEffect is an Enqueue effect of a queue, for event e.
type wordEffect struct {
	e, from uint8
	edge    int32
	lazy    bool
}

// wordWant is a child that an event wants.
type wordWant struct {
	x uint8
	m Mode
}

// wordProgram is what an event does.
type wordProgram struct {
	// kind: fast (on node 1, then on the wants), shared (fast on all or on none, else settled), roots (of the wants only, node 1 is virtual), one
	// (target is the first want, alone), settled and lazy (through the queue of node 1), pass (of node
	// 1, virtual), spread (of the first want's node).
	kind  string
	mode  Mode // on node 1
	wants []wordWant
	gives bool // it may be withdrawn while it waits
}

// wordThread is an event under way.
type wordThread struct {
	wordProgram
	stack  []wordOp // the next one is last
	needs  int8     // admissions that are awaited
	called Word     // readers taken out of slots, to be added to a word
	joined bool
	refs   [4]Ref  // entries to release
	fast   [4]Mode // on the fast path of each node
	freed  []wordOp
}

type wordWorld struct {
	words   [4]Word
	queues  [4]Queue[int, int]
	slots   [2]uint8 // the node that a reader is at, 0 if none is; of event e, slot e%2
	threads []wordThread
	broken  string // the bug of the driver
	holds   [4][]Mode
	err     error
}

// newWordWorld returns the world before the first step, in which all words are start.
func newWordWorld(start Word, broken string, programs ...wordProgram) *wordWorld {
	w := &wordWorld{broken: broken}
	for x := 1; x <= 3; x++ {
		w.queues[x].Reset(x)
		w.words[x] = start
		w.holds[x] = make([]Mode, len(programs))
	}
	for _, p := range programs {
		t := wordThread{wordProgram: p}
		t.then(wordOp{kind: opEnd})
		t.begin()
		w.threads = append(w.threads, t)
	}
	return w
}

// then makes ops the next ones, in this order.
func (t *wordThread) then(ops ...wordOp) {
	for _, o := range slices.Backward(ops) {
		t.stack = append(t.stack, o)
	}
}

// under makes one operation under the latch of its node the next one.
func (t *wordThread) under(o wordOp) {
	t.then(wordOp{kind: opLatch, x: o.x}, o, wordOp{kind: opGate, x: o.x})
}

func (t *wordThread) begin() {
	switch t.kind {
	case "fast", "shared":
		t.then(wordOp{kind: opTry, x: 1})
	case "roots":
		t.below(false)
	case "pass":
		t.latchBelow()
	case "one":
		t.then(wordOp{kind: opTry, x: t.wants[0].x})
	case "settled":
		t.under(wordOp{kind: opEnter, x: 1})
	case "spread":
		t.then(wordOp{kind: opSpread, x: t.wants[0].x})
	case "lazy":
		for i := range slices.Backward(t.wants) {
			t.then(wordOp{kind: opAwait})
			t.under(wordOp{kind: opAcquire, x: 1, i: uint8(i)})
		}
		t.then(wordOp{kind: opAwait})
		t.under(wordOp{kind: opEnter, x: 1})
	}
}

// below is the step of a fast-path holder on its wants: all joined, in one of two rounds, else all latched
// in order.
func (t *wordThread) below(last bool) {
	if len(t.wants) > 0 {
		t.then(wordOp{kind: opBelow, x: t.wants[0].x, last: last})
	}
}

// latchBelow enqueues on the wants in one step.
func (t *wordThread) latchBelow() {
	for i := range slices.Backward(t.wants) {
		t.then(wordOp{kind: opGate, x: t.wants[i].x})
	}
	for i := range slices.Backward(t.wants) {
		t.then(wordOp{kind: opKnown, x: t.wants[i].x, i: uint8(i)})
	}
	for i := range slices.Backward(t.wants) {
		t.then(wordOp{kind: opLatch, x: t.wants[i].x})
	}
}

// The view of all queues.

func (w *wordWorld) of(id ID[int]) *wordThread { return &w.threads[id.Event-1] }

func (t *wordThread) modeOf(x int) Mode {
	for _, c := range t.wants {
		if int(c.x) == x {
			return c.m
		}
	}
	return None
}

func (w *wordWorld) Footprint(x int, id ID[int]) Want[int] {
	t := w.of(id)
	if x != 1 {
		return Want[int]{Mode: t.modeOf(x)}
	}
	return Want[int]{Mode: t.mode, Below: len(t.wants) > 0}
}

func (w *wordWorld) Expand(_ int, id ID[int], _ Mode, children []int) Expansion[int] {
	t := w.of(id)
	for _, c := range t.wants {
		children = append(children, int(c.x))
	}
	return Expansion[int]{Children: children, Lazy: t.kind == "lazy"}
}
func (w *wordWorld) Parent(x int) int            { return [...]int{0, 0, 1, 1}[x] }
func (w *wordWorld) Toward(_, y int) (int, bool) { return y, true }
func (w *wordWorld) Remote(_, _ int) bool        { return false }

// hold notes a grant and checks it against the others (RULE-4).
func (w *wordWorld) hold(x int, e int, m Mode) {
	for o, n := range w.holds[x] {
		if o != e && m.Conflicts(n) {
			w.fail("at %d: %d in %v beside %d in %v", x, e+1, m, o+1, n)
		}
	}
	w.holds[x][e] = m
}

func (w *wordWorld) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// join gives e a hold on the fast path of x, if its word allows it.
func (w *wordWorld) join(e int, x uint8, m Mode, latched bool) bool {
	join := w.words[x].Join
	if latched {
		join = w.words[x].JoinLatched
	}
	next, ok := join(m)
	if !ok {
		return false
	}
	if q := &w.queues[x]; q.head != 0 {
		w.fail("at %d: %d overtakes %d on the fast path", x, e+1, q.slot(q.head).id.Event)
	}
	w.words[x] = next
	w.threads[e].fast[x] = m
	w.hold(int(x), e, m)
	return true
}

// inSlot has a reader of x try a slot before o, which joins x, and reports whether it does.
func (w *wordWorld) inSlot(e int, x uint8, m Mode, o wordOp) bool {
	t := &w.threads[e]
	if m != Read || o.slot || !w.words[x].Spreads() {
		return false
	}
	o.slot = true
	t.then(wordOp{kind: opIn, x: x}, o)
	return true
}

// joins is join for o, which may have given e its hold already.
func (w *wordWorld) joins(e int, x uint8, m Mode, o wordOp) bool {
	t := &w.threads[e]
	if !o.slot || !t.joined {
		return w.join(e, x, m, false)
	}
	t.joined = false
	t.fast[x] = m
	w.hold(int(x), e, m)
	return true
}

// calls reports whether a writer has first to call in the readers of x, and has e do so before o.
func (w *wordWorld) calls(e int, x uint8, m Mode, o wordOp) bool {
	t := &w.threads[e]
	if m != Write || !w.words[x].Spreads() {
		return false
	}
	t.then(wordOp{kind: opUnlatch, x: x}, o)
	w.recall(t, x)
	return true
}

// recall is the step that ends the spread of x and takes the latch; what must follow are the next steps of t.
func (w *wordWorld) recall(t *wordThread, x uint8) {
	w.words[x] = w.words[x].Recall()
	collect := []wordOp{{kind: opCollect, x: x}, {kind: opCollect, x: x, i: 1}, {kind: opCount, x: x}}
	switch w.broken {
	case "forget":
		collect = collect[1:]
	case "late":
		next := t.stack[len(t.stack)-1] // what needs the latch
		t.stack = t.stack[:len(t.stack)-1]
		collect = append(collect[:2], next, collect[2])
	}
	t.then(collect...)
}

// able reports whether the next operation of thread e can be performed.
func (w *wordWorld) able(e int) bool {
	t := &w.threads[e]
	if len(t.stack) == 0 {
		return false
	}
	switch o := t.stack[len(t.stack)-1]; o.kind {
	case opLatch:
		return w.words[o.x]&latched == 0
	case opAwait, opEnd:
		return t.needs == 0 || t.gives
	}
	return true
}

// step performs the next operation of thread e. An assertion of the core is an error.
func (w *wordWorld) step(e int) {
	defer func() {
		if p := recover(); p != nil {
			w.fail("%v", p)
		}
	}()
	t := &w.threads[e]
	o := t.stack[len(t.stack)-1]
	t.stack = t.stack[:len(t.stack)-1]
	q, id := &w.queues[o.x], first(e+1)
	switch o.kind {
	case opTry:
		w.try(e, o)
	case opBelow:
		w.below(e, o)
	case opLatch:
		if w.words[o.x].Spreads() {
			w.recall(t, o.x)
		} else {
			w.words[o.x], _ = w.words[o.x].Latch()
		}
	case opSpread:
		if next, ok := w.words[o.x].Spread(); ok {
			w.words[o.x] = next
		}
	case opIn:
		if w.slots[e%2] == 0 {
			w.slots[e%2] = o.x
			t.then(wordOp{kind: opLook, x: o.x})
		}
	case opLook:
		if t.joined = w.words[o.x].Spreads() || w.broken == "blind"; !t.joined {
			t.then(wordOp{kind: opBack, x: o.x})
		}
	case opBack:
		t.joined = !w.outOfSlot(e, o.x) && w.broken != "lost"
	case opCollect:
		if w.slots[o.i] == o.x {
			w.slots[o.i] = 0
			t.called++
		}
	case opCount:
		w.words[o.x] += Gathered(int(t.called))
		t.called = 0
	case opUnlatch:
		w.words[o.x] = w.words[o.x].Unlatched()
	case opDirect:
		q.See(w.words[o.x])
		if ref, ok := q.Try(id, 0, t.modeOf(int(o.x)), nil); ok {
			t.refs[o.x] = ref
			w.hold(int(o.x), e, t.modeOf(int(o.x)))
			return
		}
		gate := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.under(wordOp{kind: opEnter, x: o.x})
		t.then(gate)
	case opEnter:
		q.See(w.words[o.x])
		t.needs++
		ref, out := q.Enter(w, id, nil)
		t.refs[o.x] = ref
		w.execute(e, o.x, out)
	case opKnown:
		w.known(e, o)
	case opEnqueue:
		q.See(w.words[o.x])
		ref, out := q.Enqueue(w, Sent[int]{From: int(o.eff.from), Acquired: o.eff.lazy}, first(int(o.eff.e)), nil)
		w.queues[o.eff.from].Bind(o.ref, o.eff.edge, ref)
		w.execute(e, o.x, out)
	case opAcquire:
		w.execute(e, 1, q.Acquire(w, t.refs[1], id, int(t.wants[o.i].x), nil))
	case opRelease:
		w.holds[o.x][e] = None
		w.execute(e, o.x, q.Release(w, o.ref, t.needs > 0, nil))
	case opGate:
		w.gate(e, o.x)
	case opStore:
		w.words[o.x] = o.next
	case opLeave:
		kind := opLess
		if t.fast[o.x] == Read && w.words[o.x].Spreads() {
			kind = opOut
		}
		t.then(wordOp{kind: kind, x: o.x})
	case opOut:
		if !w.outOfSlot(e, o.x) {
			t.then(wordOp{kind: opLess, x: o.x})
			return
		}
		w.holds[o.x][e] = None
		t.fast[o.x] = None
	case opLess:
		w.holds[o.x][e] = None
		w.words[o.x] -= t.fast[o.x].Unit()
		t.fast[o.x] = None
		if w.words[o.x].Awaited() && w.broken != "sleep" {
			t.then(wordOp{kind: opLatch, x: o.x}, wordOp{kind: opGate, x: o.x})
		}
	case opEnd:
		w.end(t)
	case opFreed:
		list := t.freed
		t.freed = nil
		for _, f := range list {
			t.under(f)
		}
	}
}

// outOfSlot takes the unit of x out of the slot of e, unless it has been called in.
func (w *wordWorld) outOfSlot(e int, x uint8) bool {
	if w.slots[e%2] != x {
		return false
	}
	w.slots[e%2] = 0
	return true
}

// try is the fast path at the target: on the fast path, else like the entries of the queue.
func (w *wordWorld) try(e int, o wordOp) {
	t, x := &w.threads[e], o.x
	m := t.mode
	if x != 1 {
		m = t.modeOf(int(x))
	}
	switch {
	case w.inSlot(e, x, m, o), w.calls(e, x, m, o):
	case w.joins(e, x, m, o):
		if x == 1 {
			t.below(false)
		}
	case x == 1:
		t.under(wordOp{kind: opEnter, x: 1})
	default:
		t.under(wordOp{kind: opDirect, x: x})
	}
}

// below joins one of the wants, and the next after it; a refusal gives all back.
func (w *wordWorld) below(e int, o wordOp) {
	t := &w.threads[e]
	if m := t.wants[o.i].m; w.inSlot(e, o.x, m, o) || w.calls(e, o.x, m, o) {
		return
	}
	if w.joins(e, o.x, t.wants[o.i].m, o) {
		if o.i++; int(o.i) < len(t.wants) {
			t.then(wordOp{kind: opBelow, x: t.wants[o.i].x, i: o.i, last: o.last})
		}
		return
	}
	if t.kind == "shared" {
		t.under(wordOp{kind: opEnter, x: 1})
		if w.broken != "hoard" {
			for x := uint8(1); x <= 3; x++ {
				if t.fast[x] != None {
					t.then(wordOp{kind: opLeave, x: x})
				}
			}
		}
		return
	}
	if !o.last && w.broken != "keep" {
		t.below(true)
	} else if w.broken == "order" { // enqueued on one by one
		for i := range slices.Backward(t.wants) {
			t.under(wordOp{kind: opKnown, x: t.wants[i].x, i: uint8(i)})
		}
	} else {
		t.latchBelow()
	}
	if w.broken == "keep" { // what was joined is kept while it waits for the rest
		return
	}
	for i := range o.i {
		t.then(wordOp{kind: opLeave, x: t.wants[i].x})
	}
}

// known enqueues on a want whose latch the thread has.
func (w *wordWorld) known(e int, o wordOp) {
	t := &w.threads[e]
	x, m := o.x, t.wants[o.i].m
	if t.fast[x] != None {
		return // bug "keep"
	}
	if w.join(e, x, m, true) {
		return
	}
	q := &w.queues[x]
	q.See(w.words[x])
	ref, ok := q.Try(first(e+1), 1, m, nil)
	if ok {
		w.hold(int(x), e, m)
	} else {
		var out []Effect[int, int]
		t.needs++
		ref, out = q.Enqueue(w, Sent[int]{From: 1}, first(e+1), nil)
		w.execute(e, x, out)
	}
	t.refs[x] = ref
}

// execute has thread e carry out the effects of a step at x, whose latch it has.
func (w *wordWorld) execute(e int, x uint8, out []Effect[int, int]) {
	t := &w.threads[e]
	for _, f := range slices.Backward(out) {
		switch c := uint8(f.To); f.Kind {
		case Enqueue:
			w.of(f.ID).needs++
			t.then(wordOp{kind: opLatch, x: c}, wordOp{kind: opEnqueue, x: c, ref: f.Ref,
				eff: wordEffect{e: uint8(f.ID.Event), from: x, edge: f.Edge, lazy: f.Lazy}}, wordOp{kind: opGate, x: c})
		case Admitted:
			w.of(f.ID).needs--
			if f.Mode != None {
				w.hold(int(x), f.ID.Event-1, f.Mode)
			}
		case Release:
			t.freed = append(t.freed, wordOp{kind: opRelease, x: c, ref: f.Ref})
		default:
			w.fail("unexpected %v", f)
		}
	}
}

// gate is a swap of the word, or finds that the waiting has to go on first.
func (w *wordWorld) gate(e int, x uint8) {
	t, q := &w.threads[e], &w.queues[x]
	word := w.words[x]
	next, ok := word.Free(), true
	if !q.Idle() {
		next, ok = q.Gate(word)
	}
	switch {
	case w.broken == "nogate":
		w.words[x] = word.Unlatched()
	case !ok && w.broken == "unseen": // which holders have left is not looked at
		w.words[x] = word.Unlatched() | closed
	case !ok:
		t.then(wordOp{kind: opGate, x: x})
		w.execute(e, x, q.Left(w, word, nil))
	case w.broken == "store":
		t.then(wordOp{kind: opStore, x: x, next: next})
	default:
		w.words[x] = next
	}
}

// end releases what the event holds, on fast paths first.
func (w *wordWorld) end(t *wordThread) {
	t.then(wordOp{kind: opFreed})
	for x := uint8(3); x >= 1; x-- {
		if t.refs[x].Valid() {
			t.under(wordOp{kind: opRelease, x: x, ref: t.refs[x]})
			t.refs[x] = Ref{}
		}
	}
	for x := uint8(3); x >= 1; x-- {
		if t.fast[x] != None {
			t.then(wordOp{kind: opLeave, x: x})
		}
	}
}
