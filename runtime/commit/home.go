package commit

import (
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Home decides the events of one store that touch other stores, in one start of the store. Its caller guards it.
type Home struct {
	tries    Table[Try]
	quiesced bool // [QUIESCE]
}

// phase is how far an attempt has come at its home.
type phase uint8

const (
	running  phase = iota // branches may ask for locks
	voting                // all have been asked to vote
	deciding              // the decision is appended, or what was read is being confirmed
	decided               // the decision is durable; some stores may not have carried it out
)

// Try is an attempt at its home. The zero value is one that has not begun.
type Try struct {
	phase  phase
	writes bool  // somewhere
	at     int64 // when it was decided, in nanoseconds since 1970
	parts  []part
	// What most attempts have of lists is part of the Try.
	first [2]part
	named [2]event.StoreID // in their decision
}

// part is what a home knows of one participant of an attempt.
type part struct {
	store  event.StoreID
	writes bool
	voted  bool
	early  bool // [EARLY]: with an answer, and it holds its locks
	row    bool // then: it has one
	over   bool // [LAST]: it has voted with an answer, and has released its locks
	done   bool // it has carried out the decision, or has nothing to carry out
}

func (t *Try) part(store event.StoreID) *part {
	i := slices.IndexFunc(t.parts, func(p part) bool { return p.store == store })
	if i < 0 {
		return nil
	}
	return &t.parts[i]
}

// Begin notes an attempt that is about to ask something of another store, for the first time. It is kept in t.
func (h *Home) Begin(name Name, t *Try) {
	t.parts = t.first[:0]
	h.add(name, t)
}

func (h *Home) add(name Name, t *Try) {
	n := h.tries.Len()
	if h.tries.Put(name, t); h.tries.Len() == n {
		assert.Unreachable("commit: %v begins twice", name)
	}
}

// Touch notes that the attempt asks something of another store. It is called before that is sent. False says that the attempt is being
// withdrawn, perhaps as that store is over with it ([LAST]), and asks for nothing more.
func (h *Home) Touch(name Name, store event.StoreID, out []Effect) ([]Effect, bool) {
	t := h.tries.Get(name)
	if t == nil {
		return out, false
	}
	// Invariant: an attempt that has ended asks for nothing.
	if t.phase != running {
		assert.Unreachable("commit: %v, which has ended, asks something of store %d", name, store)
	}
	switch p := t.part(store); {
	case p == nil:
		t.parts = append(t.parts, part{store: store})
	case p.over:
		return h.withdraw(name, t, out), false
	default:
		p.voted, p.early, p.row = false, false, false
	}
	return out, true
}

// Answered is [EARLY]: a participant has voted with an answer; row says whether it has a row. False says that the attempt is being withdrawn.
func (h *Home) Answered(name Name, from event.StoreID, row bool) bool {
	p := h.voter(name, from)
	if p == nil {
		return false
	}
	p.voted, p.early, p.row = true, true, row
	return true
}

// Over is [LAST]: a participant has voted with an answer, and is over. False says that the attempt is being withdrawn.
func (h *Home) Over(name Name, from event.StoreID) bool {
	p := h.voter(name, from)
	if p == nil {
		return false
	}
	p.voted, p.early, p.row, p.over = true, false, false, true
	return true
}

// voter returns a participant that has voted with an answer; nil: the attempt is being withdrawn.
func (h *Home) voter(name Name, from event.StoreID) *part {
	t := h.tries.Get(name)
	if t == nil {
		return nil
	}
	p := t.part(from)
	if p == nil || t.phase != running || p.over {
		assert.Unreachable("commit: store %d votes on %v, and was not asked", from, name)
	}
	return p
}

// Taken is [EARLY]: the attempt has taken a lock somewhere, or has read something without one. What has voted before, and has no row that holds what it votes for, votes once
// more. If it is over ([LAST]) the attempt is withdrawn.
func (h *Home) Taken(name Name, out []Effect) []Effect {
	t := h.tries.Get(name)
	if t == nil {
		return out
	}
	if t.phase != running {
		assert.Unreachable("commit: %v, which has ended, takes locks", name)
	}
	for i := range t.parts {
		switch p := &t.parts[i]; {
		case p.over:
			return h.withdraw(name, t, out)
		case !p.row:
			p.voted = false
		}
	}
	return out
}

// End is [PREPARE]: all branches of the attempt have ended, and it asks for no lock any more. wrote are the participants in which it has changed
// something, here whether it has in this store. It has wherever a row is to hold what it has read ([HOLD]), and nowhere if it has
// aborted by itself. If it is being withdrawn, End does nothing.
func (h *Home) End(name Name, here bool, wrote func(event.StoreID) bool, out []Effect) []Effect {
	t := h.tries.Get(name)
	if t == nil {
		return out
	}
	if t.phase != running {
		assert.Unreachable("commit: %v ends twice", name)
	}
	t.phase, t.writes = voting, here
	for i := range t.parts {
		p := &t.parts[i]
		p.writes = wrote(p.store)
		t.writes = t.writes || p.writes
		p.voted = p.voted && (p.row || !p.writes)
		if !p.voted {
			out = send(out, p.store, Message{Kind: Prepare, Name: name, Writes: p.writes})
		}
	}
	return h.judge(name, t, out)
}

// Voted takes a Vote.
func (h *Home) Voted(from event.StoreID, m Message, out []Effect) []Effect {
	t := h.tries.Get(m.Name)
	if t == nil {
		if m.Yes { // it was withdrawn meanwhile
			out = send(out, from, Message{Kind: Decision, Name: m.Name})
		}
		return out
	}
	p := t.part(from)
	if p == nil || t.phase != voting || p.voted {
		assert.Unreachable("commit: store %d votes on %v, and was not asked", from, m.Name)
	}
	if !m.Yes {
		return h.withdraw(m.Name, t, out)
	}
	p.voted = true
	return h.judge(m.Name, t, out)
}

// judge decides an attempt if it has all votes.
func (h *Home) judge(name Name, t *Try, out []Effect) []Effect {
	if slices.ContainsFunc(t.parts, func(p part) bool { return !p.voted }) {
		return out
	}
	if h.quiesced && slices.ContainsFunc(t.parts, func(p part) bool { return p.writes }) {
		return out
	}
	t.phase = deciding
	if !t.writes {
		return append(out, Effect{Act: Confirm, Name: name})
	}
	f := Effect{Act: Decide, Name: name, Stores: t.named[:0]}
	for i := range t.parts {
		if p := &t.parts[i]; p.writes {
			f.Keep, f.Stores = true, append(f.Stores, p.store)
		}
	}
	return append(out, f)
}

// Quiesce is [QUIESCE]: up to GoOn nothing is decided that other stores would have to carry out.
func (h *Home) Quiesce() { h.quiesced = true }

// GoOn ends [QUIESCE].
func (h *Home) GoOn(out []Effect) []Effect {
	h.quiesced = false
	for _, name := range h.tries.Names() {
		if t := h.tries.Get(name); t.phase == voting {
			out = h.judge(name, t, out)
		}
	}
	return out
}

// Undone returns the stores that have not carried out all that is decided, or being decided.
func (h *Home) Undone() (list []event.StoreID) {
	for _, t := range h.tries.All {
		for _, p := range t.parts {
			if t.phase >= deciding && p.writes && !p.done && !slices.Contains(list, p.store) {
				list = append(list, p.store)
			}
		}
	}
	slices.Sort(list)
	return list
}

// Dropped takes a Dropped.
func (h *Home) Dropped(from event.StoreID, m Message, out []Effect) []Effect {
	t := h.tries.Get(m.Name)
	if t == nil { // it was withdrawn, and the participant may not have heard of that
		return send(out, from, Message{Kind: Decision, Name: m.Name})
	}
	p := t.part(from)
	// Invariant: what has voted stays.
	assert.That(p != nil && !p.voted && t.phase < deciding, "commit: store %d has dropped %v, which it has voted for", from, m.Name)
	return h.withdraw(m.Name, t, out)
}

// Decided is [DECIDE]: what Decide or Confirm asked for is durable. It was appended at a time, in nanoseconds since 1970.
func (h *Home) Decided(name Name, at int64, out []Effect) []Effect {
	t := h.tries.Get(name)
	if t == nil || t.phase != deciding {
		assert.Unreachable("commit: %v is decided, and not to be", name)
	}
	t.phase, t.at = decided, at
	out = append(out, Effect{Act: Answer, Name: name})
	left := 0
	for i := range t.parts {
		p := &t.parts[i]
		if p.done = !p.writes; !p.done {
			left++
			out = send(out, p.store, t.committed(name))
		} else if p.early { // it holds its locks; if it has a row the attempt has aborted
			out = send(out, p.store, Message{Kind: Decision, Name: name, Yes: !p.row})
		}
	}
	if left == 0 {
		h.tries.Delete(name)
	}
	return out
}

// committed is the Decision for what has to carry out that the attempt has committed.
func (t *Try) committed(name Name) Message {
	return Message{Kind: Decision, Name: name, Yes: true, At: t.at}
}

// Done takes a Done.
func (h *Home) Done(from event.StoreID, m Message, out []Effect) []Effect {
	t := h.tries.Get(m.Name)
	if t == nil {
		return out // it was told twice
	}
	p := t.part(from)
	if p == nil || t.phase != decided {
		assert.Unreachable("commit: store %d has carried out %v, which is not decided", from, m.Name)
	}
	if p.done = true; slices.ContainsFunc(t.parts, func(p part) bool { return !p.done }) {
		return out
	}
	h.tries.Delete(m.Name)
	return append(out, Effect{Act: Forget, Name: m.Name})
}

// Asked takes an Ask. It is [PRESUME]: of what this home does not know a participant is told that it has not committed. While it is not decided
// the participant is told nothing: it will be.
func (h *Home) Asked(from event.StoreID, m Message, out []Effect) []Effect {
	switch t := h.tries.Get(m.Name); {
	case t == nil:
		return sendConfirmed(out, from, Message{Kind: Decision, Name: m.Name})
	case t.phase == decided:
		return send(out, from, t.committed(m.Name))
	}
	return out
}

// Withdraw is [WITHDRAW], for a reason that this package does not know; an attempt that has touched no other store is not known here. The caller
// withdraws it in its own store. It reports false if the attempt cannot be withdrawn any more: its decision is appended.
func (h *Home) Withdraw(name Name, out []Effect) ([]Effect, bool) {
	t := h.tries.Get(name)
	switch {
	case t == nil:
		return out, true
	case t.phase >= deciding:
		return out, false
	}
	out = h.withdraw(name, t, out)
	return out[:len(out)-1], true
}

// withdraw tells all participants that the attempt has not committed. The last effect is a Withdraw.
func (h *Home) withdraw(name Name, t *Try, out []Effect) []Effect {
	h.tries.Delete(name)
	for i := range t.parts {
		out = send(out, t.parts[i].store, Message{Kind: Decision, Name: name})
	}
	return append(out, Effect{Act: Withdraw, Name: name})
}

// Lost says that the session with a store has ended. Attempts that have not got its vote, or may ask for more, are withdrawn: what it has granted them may be gone.
func (h *Home) Lost(store event.StoreID, out []Effect) []Effect {
	for _, name := range h.tries.Names() {
		t := h.tries.Get(name)
		if p := t.part(store); p != nil && t.phase < deciding && (!p.voted || t.phase == running) {
			out = h.withdraw(name, t, out)
		}
	}
	return out
}

// Up says that a session with a store has begun: it is told again what was decided.
func (h *Home) Up(store event.StoreID, out []Effect) []Effect {
	for _, name := range h.tries.Names() {
		t := h.tries.Get(name)
		if p := t.part(store); p != nil && t.phase == decided && !p.done {
			out = send(out, store, t.committed(name))
		}
	}
	return out
}

// Restore is [RESTORE], of the row of a decision, which has its time and names the stores that have to carry it out.
func (h *Home) Restore(name Name, at int64, stores []event.StoreID) {
	assert.That(len(stores) > 0, "commit: the decision of %v is for no store", name)
	t := &Try{phase: decided, writes: true, at: at}
	for _, s := range stores {
		t.parts = append(t.parts, part{store: s, writes: true, voted: true})
	}
	h.add(name, t)
}

// Unvoted returns the stores that have been asked to vote on an attempt, and have not answered.
func (h *Home) Unvoted(name Name) (list []event.StoreID) {
	t := h.tries.Get(name)
	if t == nil || t.phase != voting {
		return nil
	}
	for _, p := range t.parts {
		if !p.voted {
			list = append(list, p.store)
		}
	}
	return list
}

// Open returns how many attempts touch other stores, and of how many of them the decision has not been carried out everywhere.
func (h *Home) Open() (tries, undone int) {
	for _, t := range h.tries.All {
		if t.phase == decided {
			undone++
		}
	}
	return h.tries.Len(), undone
}
