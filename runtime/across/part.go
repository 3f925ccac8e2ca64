package across

import (
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/commit"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Proxy runs the code of a part.
type Proxy interface {
	// Run makes a call in the calling goroutine, while others may do so for other threads.
	Run(Thread, *Call) *Reply
	// Vote does what Write or Confirm do, before the answer of the last call that has run is sent, and reports whether the store votes for the attempt. What it
	// cannot store is a failure of the call. Further calls may run after that. holds: there is to be a row in any case; the reply says whether there is.
	Vote(holds bool, r *Reply) bool
	// Write is commit.Write. It returns when the row is durable; false: what the attempt has written cannot be stored, or the store has failed.
	Write() bool
	// Confirm is commit.Confirm. It returns when all that the attempt has seen is durable; false: the store has failed.
	Confirm(keep bool) bool
	// Undo takes back what the attempt has written. It holds its locks.
	Undo()
	// Apply is commit.Apply: when it returns the writes have their place in the journal, and the locks are released.
	Apply()
	// Ended says that the part is over, and has released its locks.
	Ended()
	// Applied returns when what Apply has written is durable, perhaps after Ended; false: the store has failed.
	Applied() bool
}

// Part is what an attempt of another store's event has here.
type Part struct {
	s       *Store
	name    commit.Name
	home    event.StoreID
	Chain   event.Chain // that the event is a step of, or would begin
	At      int64       // of a part that commits: when its home has decided that, in nanoseconds since 1970
	proxy   Proxy
	attempt *order.Attempt
	token   uint32

	// Guarded by the mutex of the Store.
	claim   order.Wanted // that a queue has found not to be covered
	threads []*visit     // whose calls run here
	begun   uint64       // so many calls
	last    uint64       // when so many have, and have ended, a vote is asked for; 0: it is not, or has been given
	holds   bool         // there is to be a row in any case then
	leaves  bool         // the part is over then, if the attempt has only read
	votes   bool         // it is about to vote with an answer
	early   []Message    // calls that have come since then
	asked   bool         // to vote: the attempt has come to its end in all stores
	dropped bool
	ending  bool // it has committed, or has only read and voted
	jobs    []func()
	busy    bool // a worker does the jobs

	task commit.Task // of the machine

	// What most parts have of threads is part of the Part.
	firstThread [1]*visit
	own         visit
}

// Name names the attempt.
func (p *Part) Name() commit.Name { return p.name }

// Home returns the store of the attempt.
func (p *Part) Home() event.StoreID { return p.home }

// begin begins the part of an attempt, whose turn it is, or which is unordered. Caller holds mu.
func (s *Store) begin(m *Message) {
	if !s.reaches(m.Home) { // that the attempt is over would not be heard before the next session, and others would wait for its locks until then
		s.participant.Miss(m.Name, m.Home)
		return
	}
	p := &Part{s: s, name: m.Name, home: m.Home, Chain: m.Chain}
	p.threads = p.firstThread[:0]
	p.proxy, p.attempt = s.cfg.Local.NewPart(p, m.Method)
	s.parts.Put(m.Name, p)
	s.counts.Parts++
	s.participant.Begin(m.Name, m.Home, &p.task)
	turn := m.Place
	if m.Kind == Visited {
		turn = m.Name.Number
	}
	p.attempt.StartPart(m.Home, turn, m.Wanted, s.cfg.Local, p)
	p.token = p.attempt.Token()
	p.attempt.TakePart()
	if m.Kind == Visited {
		p.deliver(m.Home, m)
		return
	}
	s.send(m.Home, &Message{Kind: Taken, Name: m.Name, Tick: s.cfg.Ticks.Time()})
}

// RestorePart is [RESTORE], of what was prepared here in an earlier start. open returns what carries it out, with an attempt that holds its locks.
// No attempt is made before that, and there is no session yet.
func (s *Store) RestorePart(name commit.Name, home event.StoreID, chain event.Chain, open func(*Part) (Proxy, *order.Attempt)) {
	p := &Part{s: s, name: name, home: home, Chain: chain}
	p.proxy, p.attempt = open(p)
	p.token = p.attempt.Token()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts.Put(name, p)
	s.counts.Restored++
	s.participant.Restore(name, home)
}

// RestoreDecision is [RESTORE], of a decision that has its time and names the stores which have to carry it out.
func (s *Store) RestoreDecision(name commit.Name, at int64, stores []event.StoreID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.home.Restore(name, at, stores)
}

// Refused implements order.Refused.
func (p *Part) Refused() { p.s.cfg.Workers.Run(p.dropRefused) }

// dropRefused drops a part that a queue has refused.
func (p *Part) dropRefused() {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parts.Get(p.name) == p {
		p.claim, _ = p.attempt.Refused()
		s.carryOut(s.participant.Drop(p.name, nil))
	}
}

// deliver takes a message of a thread. Caller holds the mutex of the Store.
func (p *Part) deliver(from event.StoreID, m *Message) {
	if p.dropped || p.ending { // it may be over with an answer, and the call have been sent before the home knew that
		return
	}
	if i := slices.IndexFunc(p.threads, func(v *visit) bool { return v.number == m.Number }); i >= 0 {
		v := p.threads[i]
		p.attempt.Notify(p.token, func() { v.inbox = append(v.inbox, delivery{from, m.Call, m.Reply}) })
		return
	}
	if p.votes {
		p.early = append(p.early, *m)
		return
	}
	v := &p.own
	if p.begun > 0 {
		v = new(visit)
	}
	v.p, v.number, v.inbox = p, m.Number, v.firstIn[:0]
	p.threads = append(p.threads, v)
	p.begun++
	p.last, p.holds, p.leaves = max(p.last, m.Call.Votes), p.holds || m.Call.Holds, p.leaves || m.Call.Last
	if p.begun > 1 {
		p.s.participant.Reopen(p.name)
	}
	p.s.counts.Calls++
	c := m.Call
	p.s.cfg.Workers.Run(func() { p.run(v, c) })
}

// run makes a call, and answers it.
func (p *Part) run(v *visit, c *Call) {
	var r *Reply
	defer func() {
		if r == nil { // runtime.Goexit ends the worker
			r = unwound(p.name.Event, c)
		}
		if p.answer(v, r) {
			p.work() // another worker would have to be woken
		}
	}()
	r = p.proxy.Run(v, c)
}

// unwound is the answer to a call whose code has called runtime.Goexit. It may have got locks that nothing has told of.
func unwound(of event.EventID, c *Call) *Reply {
	return &Reply{Failed: &event.AbortError{Msg: event.MsgGoexit, Event: of, Fault: true}, Granted: true, Run: c.Run}
}

// answer answers a call, perhaps with a vote. It reports whether the part is over then: the caller is its worker.
func (p *Part) answer(v *visit, r *Reply) (over bool) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if holds := p.holds; p.last > 0 && p.begun >= p.last && r.Failed == nil && !r.Withdrawn && !p.dropped && len(p.threads) == 1 {
		p.votes, p.last = true, 0
		var voted bool
		s.mu.outside(func() { voted = p.proxy.Vote(holds, r) })
		p.votes = false
		if voted && !p.dropped {
			r.Votes = p.begun
			s.counts.Early++
			// What waits for the vote asks for more, and what is told is told when the attempt is decided.
			if r.Over = p.leaves && !r.Wrote && !r.Holds && len(p.early) == 0 && len(r.Lines) == 0; !r.Over {
				s.participant.Answered(p.name, r.Wrote || r.Holds)
			}
		}
	}
	p.threads = slices.DeleteFunc(p.threads, func(o *visit) bool { return o == v })
	if p.dropped {
		if len(p.threads) == 0 {
			p.do(p.undo)
		}
		return false
	}
	s.send(p.home, &Message{Kind: Returned, Name: p.name, Number: v.number, Reply: r})
	if r.Over {
		s.counts.Over++
		// Invariant: a part that is at work has no job. So no worker does any.
		if p.busy {
			assert.Unreachable("across: %v is over, and has jobs", p.name)
		}
		p.busy = true
		s.carryOut(s.participant.Over(p.name, s.noEffects()))
		return true
	}
	list := p.early
	p.early = nil
	for i := range list {
		p.deliver(p.home, &list[i])
	}
	return false
}

// awaitsHome reports whether any thread waits for a call that it has made. Caller holds the mutex of the Store.
func (p *Part) awaitsHome() bool {
	for _, v := range p.threads {
		if v.calls.Load() {
			return true
		}
	}
	return false
}

// do has a worker do a job of the part, after those before. Caller holds the mutex of the Store.
func (p *Part) do(job func()) {
	p.jobs = append(p.jobs, job)
	if p.busy {
		return
	}
	p.busy = true
	p.s.cfg.Workers.Run(p.work)
}

func (p *Part) work() {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(p.jobs) > 0 {
		job := p.jobs[0]
		p.jobs = p.jobs[1:]
		s.mu.outside(job)
	}
	p.busy = false
}

// told hands the machine what a job has done.
func (p *Part) told(step func(commit.Name, []commit.Effect) []commit.Effect) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.carryOut(step(p.name, s.noEffects()))
}

// ends notes that the attempt has come to its end in all stores, and is being decided. Caller holds the mutex of the Store.
func (p *Part) ends() {
	// Invariant: a part votes for what has been done. Code that runs on would write behind the vote.
	if len(p.threads) > 0 {
		assert.Unreachable("across: %v is to vote, and %d of its calls run", p.name, len(p.threads))
	}
	p.attempt.Ended()
	p.asked = true
}

// IsEnding reports whether the attempt has come to its end in all stores.
func (p *Part) IsEnding() bool {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.asked
}

func (p *Part) write() {
	if p.proxy.Write() {
		p.told(p.s.participant.Prepared)
		return
	}
	p.told(p.s.participant.Refuse)
}

func (p *Part) confirm(keep bool) {
	if p.proxy.Confirm(keep) {
		p.told(p.s.participant.Prepared)
	}
}

// apply has the part commit, after other jobs.
func (p *Part) apply() {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.committed.add(p, p.s.cfg.Workers)
}

// drop ends a part that has not committed. Caller holds the mutex of the Store.
func (p *Part) drop() {
	if p.dropped { // the store has ended
		return
	}
	p.dropped = true
	p.attempt.Abandon()
	if len(p.threads) == 0 {
		p.do(p.undo)
	}
}

func (p *Part) undo() {
	p.proxy.Undo()
	p.end(true)
}

// end releases the locks of the part.
func (p *Part) end(withdrawn bool) {
	p.attempt.EndPart(withdrawn)
	p.gone()
}

// gone forgets the part, which holds nothing any more.
func (p *Part) gone() {
	p.s.mu.Lock()
	p.forget()
	p.s.mu.Unlock()
	p.proxy.Ended()
}

// forget is the part of gone in the Store. Caller holds its mutex.
func (p *Part) forget() {
	// Invariant: what comes last of a part is that it commits, or that it is undone.
	if len(p.jobs) > 0 {
		assert.Unreachable("across: %v is over, and has jobs", p.name)
	}
	p.s.parts.Delete(p.name)
}
