package exec

// planted are bugs that the tests plant, to show that they would be found. Nothing but
// tests sets them, before a system is opened.
var planted struct {
	skipLock     bool   // an access runs without its lock
	releaseEarly bool   // locks go before the method has ended
	forgetUndo   bool   // the last write of an aborted event stays
	linger       bool   // no bug: others run between the steps of guests, which shows theirs
	oneByOne     func() // a guest enqueues on his children in several steps, and calls this between them
	narrowAtPass bool   // a path through a field is narrowed without a hold on it

	timerAfterCancel bool // a timer whose firing has begun when it is cancelled fires
	timerTwice       bool // a one-shot timer fires twice
	timerNameKept    bool // a timer of a name does not replace the one before
	callbackOnAbort  bool // callbacks of an event that is undone are made
	callbackSwapped  bool // a client gets the latest callback first
	laneSwapped      bool // a sub-event overtakes the one before it in its lane
	keepNothing      bool // a tail call of this keeps nothing
	bornKept         bool // a named actor survives the event that made it and was undone

	releaseFirst     bool // locks go before the batch has its place in the journal
	answerEarly      bool // an answer does not wait until it is durable
	outboxKept       bool // the row of a sub-event is not removed with the batch of the event
	outcomeForgotten bool // the outcome of a request of a durable session is not stored
	edgeForgotten    bool // a changed edge has no row
	parentForgotten  bool // a move in the sequencing tree is not stored
	twoHandles       bool // a detached actor gets another handle for each reference that is read
	ownerForgotten   bool // an actor is attached without its owner
	firingEnded      bool // a firing that Close leaves to the next opening has ended for this one
	keptLeft         bool // a chain that Close leaves to the next opening keeps nothing until then
	graceForgotten   bool // actors are detached while events are under way that rely on them
}

// enterOneByOne is enterBelow with a planted bug: others may enqueue in between.
func (a *Attempt) enterOneByOne() (waits bool) {
	for _, c := range a.passed {
		c.latch.Lock()
		waits = a.enqueueKnown(a.target, c, a.narrowed.find(c).mode) || waits
		c.unlatchBy(a)
		planted.oneByOne()
	}
	a.passed = a.passed[:0]
	return waits
}

// Plant plants the bug of that name for the tests of the packages above, which run it in
// a process of its own. It must be called before a system is opened.
func Plant(name string) {
	bug := map[string]*bool{
		"skipLock": &planted.skipLock, "releaseEarly": &planted.releaseEarly,
		"forgetUndo": &planted.forgetUndo, "narrowAtPass": &planted.narrowAtPass,
		"releaseFirst": &planted.releaseFirst, "answerEarly": &planted.answerEarly, "outboxKept": &planted.outboxKept,
		"timerTwice": &planted.timerTwice, "outcomeForgotten": &planted.outcomeForgotten,
	}[name]
	if bug == nil {
		panic("exec: no such bug: " + name)
	}
	*bug = true
}

// plantCallbacks makes the callbacks of an event that is undone.
func (ev *Event) plantCallbacks() {
	for i := range ev.root.ops {
		if o := &ev.root.ops[i]; o.kind == opCallback && o.object.client.post(callback{object: o.object, method: o.call, args: o.args}) {
			ev.sys.workers.Run(o.object.client.drain)
		}
	}
}
