package commit

import (
	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Participant has the part that one store takes in the events of other stores, in one start of it. Its caller guards it.
type Participant struct {
	tasks Table[Task]
}

// stage is how far an attempt has come at a participant.
type stage uint8

const (
	working   stage = iota // it asks for locks, and runs methods
	preparing              // its row is appended, or what it has read is being confirmed
	prepared               // its row is durable, and it has voted: only its home knows what becomes of it
	applying               // it has committed, and its writes are appended
	dead                   // it was dropped here, and its home may not have heard of that: it gets nothing more, as it would not miss what it has lost
)

// Task is an attempt at a participant. The zero value is one that has not begun.
type Task struct {
	home  event.StoreID
	stage stage
	row   bool // it has one, or it is on its way to the disk
	early bool // [EARLY]: it has voted with an answer
}

// Begin notes that an attempt of another store's event asks something of this store for the first time. What has begun it may be late, and
// the attempt over: so the home, when it hears of it, asks itself (Home.Asked). It is kept in t.
func (p *Participant) Begin(name Name, home event.StoreID, t *Task) {
	t.home = home
	p.add(name, t)
}

// Miss is Begin where there is no session with the home. Nothing would tell this store before the next one that the attempt is over, so it gets nothing here that
// others want: it is dropped, and its home, which may wait for it, hears that in the next session (Up).
func (p *Participant) Miss(name Name, home event.StoreID) {
	p.add(name, &Task{home: home, stage: dead})
}

func (p *Participant) add(name Name, t *Task) {
	n := p.tasks.Len()
	if p.tasks.Put(name, t); p.tasks.Len() == n {
		assert.Unreachable("commit: %v begins twice", name)
	}
}

// Has reports whether the attempt has a part here, and whether it may still ask for something. What it asks
// then is dropped.
func (p *Participant) Has(name Name) (has, works bool) {
	t := p.tasks.Get(name)
	return t != nil, t != nil && t.stage == working
}

// Drop is [WITHDRAW], for a reason that this package does not know; the home is told. It does nothing if the attempt has been asked to vote.
func (p *Participant) Drop(name Name, out []Effect) []Effect {
	t := p.tasks.Get(name)
	if t == nil || t.stage != working {
		return out
	}
	t.stage = dead
	return send(append(out, Effect{Act: Drop, Name: name}), t.home, Message{Kind: Dropped, Name: name})
}

// Answered is [EARLY]: what the attempt has asked for is answered, with a vote. What it has written here is a durable row, if row says that there is
// one; all that it has seen is durable.
func (p *Participant) Answered(name Name, row bool) {
	t := p.tasks.Get(name)
	if t == nil || t.stage != working {
		assert.Unreachable("commit: %v votes early, and is not at work", name)
	}
	t.stage, t.row, t.early = prepared, row, true
}

// Over is [LAST]: what the attempt has asked for is answered, with a vote, and the attempt needs no lock any more. It has written nothing here, and all that it has seen is durable.
func (p *Participant) Over(name Name, out []Effect) []Effect {
	t := p.tasks.Get(name)
	// Invariant: what has a row waits for the decision.
	if t == nil || t.stage != working || t.row {
		assert.Unreachable("commit: %v is over with an answer, and is not at work, or has a row", name)
	}
	p.tasks.Delete(name)
	return append(out, Effect{Act: Release, Name: name})
}

// Reopen is [EARLY]: the attempt asks for more, so its vote does not count any more. If it has a row that stays until it votes again, or is dropped.
// Reopen reports false if it has not voted early.
func (p *Participant) Reopen(name Name) bool {
	t := p.tasks.Get(name)
	if t == nil || t.stage != prepared || !t.early {
		return false
	}
	t.stage, t.early = working, false
	return true
}

// Prepare is [VOTE]. A yes follows when what it has appended is durable (Prepared).
func (p *Participant) Prepare(from event.StoreID, m Message, out []Effect) []Effect {
	t := p.tasks.Get(m.Name)
	if t == nil || t.stage == dead {
		p.tasks.Delete(m.Name)
		return send(out, from, Message{Kind: Vote, Name: m.Name})
	}
	// Invariant: a home asks once.
	if t.stage != working && !(t.stage == prepared && t.early) || t.home != from {
		assert.Unreachable("commit: %v is prepared twice, or by store %d", m.Name, from)
	}
	again := t.stage == prepared && (t.row || !m.Writes)
	t.stage = preparing
	switch {
	case again:
		return append(out, Effect{Act: Confirm, Keep: true, Name: m.Name})
	case m.Writes:
		t.row = true
		return append(out, Effect{Act: Write, Name: m.Name})
	}
	t.row = false
	return append(out, Effect{Act: Confirm, Name: m.Name})
}

// Prepared says that what Prepare has asked for is durable. One that has only read is over with its vote.
func (p *Participant) Prepared(name Name, out []Effect) []Effect {
	t := p.tasks.Get(name)
	if t == nil {
		return out // it was dropped meanwhile
	}
	if t.stage != preparing {
		assert.Unreachable("commit: %v is prepared, and was not to be", name)
	}
	out = send(out, t.home, Message{Kind: Vote, Name: name, Yes: true})
	if t.stage = prepared; !t.row && !t.early {
		p.tasks.Delete(name)
		out = append(out, Effect{Act: Release, Name: name})
	}
	return out
}

// Refuse says that what Prepare has asked for cannot be appended: the participant votes no.
func (p *Participant) Refuse(name Name, out []Effect) []Effect {
	t := p.tasks.Get(name)
	if t == nil {
		return out // it was dropped meanwhile
	}
	assert.That(t.stage == preparing, "commit: %v is refused, and was not to be prepared", name)
	out = send(out, t.home, Message{Kind: Vote, Name: name})
	return p.drop(name, t, out)
}

// Decided is [RESOLVE].
func (p *Participant) Decided(from event.StoreID, m Message, out []Effect) []Effect {
	t := p.tasks.Get(m.Name)
	switch {
	case t == nil && m.Yes: // it was carried out, durably, or it would be here
		return sendConfirmed(out, from, Message{Kind: Done, Name: m.Name})
	case t == nil:
		return out
	case !m.Yes:
		// Invariant: what has committed stays committed.
		if t.stage == applying {
			assert.Unreachable("commit: %v has committed, and is not to have", m.Name)
		}
		return p.drop(m.Name, t, out)
	case t.stage == applying:
		return out // it is told again
	}
	// Invariant: what has not voted does not commit.
	if t.stage != prepared {
		assert.Unreachable("commit: %v commits, and has not voted", m.Name)
	}
	if !t.row { // [EARLY]
		p.tasks.Delete(m.Name)
		return append(out, Effect{Act: Release, Name: m.Name})
	}
	t.stage = applying
	return append(out, Effect{Act: Apply, Name: m.Name, At: m.At})
}

// Applied says that what Apply has asked for is durable.
func (p *Participant) Applied(name Name, out []Effect) []Effect {
	t := p.tasks.Get(name)
	if t == nil || t.stage != applying {
		assert.Unreachable("commit: %v is applied, and was not to be", name)
	}
	p.tasks.Delete(name)
	return send(out, t.home, Message{Kind: Done, Name: name})
}

func (p *Participant) drop(name Name, t *Task, out []Effect) []Effect {
	p.tasks.Delete(name)
	if t.stage == dead {
		return out
	}
	return append(out, Effect{Act: Drop, Name: name})
}

// Lost says that the session with a store has ended. Its attempts that have no row are dropped: it withdraws them, too. Those whose row is on
// its way to the disk are asked about when that is there.
func (p *Participant) Lost(home event.StoreID, out []Effect) []Effect {
	for _, name := range p.tasks.Names() {
		if t := p.tasks.Get(name); t.home == home && (t.stage == working || t.stage == dead || !t.row) {
			out = p.drop(name, t, out)
		}
	}
	return out
}

// Up says that a session with a store has begun: it is asked about all that has not been carried out, and told what was dropped before there was a
// session.
func (p *Participant) Up(home event.StoreID, out []Effect) []Effect {
	for _, name := range p.tasks.Names() {
		switch t := p.tasks.Get(name); {
		case t.home != home || t.stage == applying:
		case t.stage == dead:
			out = send(out, home, Message{Kind: Dropped, Name: name})
		default:
			out = send(out, home, Message{Kind: Ask, Name: name})
		}
	}
	return out
}

// Restore is [RESTORE], of a row that says what is prepared. The caller has put its locks at the heads of their queues.
func (p *Participant) Restore(name Name, home event.StoreID) {
	p.add(name, &Task{home: home, stage: prepared, row: true})
}

// IsInDoubt reports whether the attempt has voted here, and only its home knows what becomes of it.
func (p *Participant) IsInDoubt(name Name) bool {
	t := p.tasks.Get(name)
	return t != nil && t.stage == prepared
}

// InDoubt returns how many attempts have a row here, and have not been carried out durably.
func (p *Participant) InDoubt() (n int) {
	for _, t := range p.tasks.All {
		if t.row {
			n++
		}
	}
	return n
}
