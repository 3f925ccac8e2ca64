package commit

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/event"
)

// A world is some stores whose events touch actors of each other, over journals and sessions that fail. It is the driver of the machines, as simple as
// one can be: the lock of an actor is a queue, locks are asked for in the order of the actors, several at a time by some events, and a write appends the name
// of its attempt. Some writes delete the actor: what comes later finds it so without a lock, and does not write it. Where events wait for each other in a circle one is withdrawn.
type world struct {
	r       *rand.Rand
	cfg     scale
	stores  []*node
	events  []*script
	wire    []packet
	epoch   map[[2]event.StoreID]int  // of the session between two stores, the lower one first
	apart   map[[2]event.StoreID]bool // their session was lost, and not both may know that
	told    []Name                    // in this order, by attempts that tell something
	deaf    [2]event.StoreID          // begin a session when nothing else happens, if they are apart
	trapped bool                      // store 0 crashes when an early vote of it has arrived
	leaving bool                      // store 0 crashes when an early vote of it has left, which arrives
	late    func(packet) bool         // arrives when nothing else happens; may be nil
	lazy    *node                     // its disk takes what it is to keep then; may be nil
	rows    map[Name]bool             // that are written with answers
	log     []string
	bad     string
	saw     map[string]int
	faults  int
	broken  string // what is broken on purpose
}

// scale is how large a world is.
type scale struct {
	stores, actors, events, faults int
	beside                         int  // so many calls of an attempt may be under way
	deletes                        bool // some events delete actors
	lasts                          bool // parts may be over with their answers
	formers                        bool // a former leader may stand for a store that is down, with what that had when it started
}

type actorID int

// access is one of an event.
type access struct {
	actor actorID
	write bool
	final bool // the write deletes it
}

// script is an event: what it accesses, in the order of actors.
type script struct {
	id       event.EventID
	home     event.StoreID
	accesses []access
	aborts   bool
	tells    bool  // something, if it commits over several stores: in the order of the commits
	after    []int // events that were answered when it began
	status   status
	attempt  uint64
	next     int  // of accesses: those before it were asked for
	got      int  // of these
	over     bool // a part is
	sent     map[event.StoreID]int
	rows     map[event.StoreID]bool // have a row, perhaps
	told     map[int]int            // by access, asked for in another store: the got when it was
	touched  bool                   // another store
	seen     map[actorID][]Name     // what the attempt has read
	gone     map[actorID]bool       // what it has found deleted
	answered map[actorID][]Name
	by       Name
}

type status uint8

const (
	waits   status = iota
	runs           // an attempt is under way
	ended          // it is asked to commit
	answers        // its client knows
	lost           // its home has crashed: its client does not know
)

// node is a store.
type node struct {
	id       event.StoreID
	up       bool
	home     Home
	part     Participant
	values   map[actorID][]Name // as of the journal
	queues   map[actorID][]claim
	journal  []record
	synced   int
	disk     disk
	past     disk // that of its last start
	former   bool // a former leader stands for it: nothing becomes durable, or is confirmed, and what it has is not what the store has
	present  disk // of the store, then
	waiting  []waiter
	position map[actorID]int // of the last record that has changed it
	calls    map[Name]*calls // of events of other stores
}

// calls are those that an attempt has made in another store than its home.
type calls struct {
	begun, open int
	last        bool // one of them is thought to be the last thing that the attempt needs locks for
	voting      bool
	early       []packet // come while it votes
}

// disk is what a start finds.
type disk struct {
	values    map[actorID][]Name
	prepared  map[Name]row
	decisions map[Name][]event.StoreID
}

type row struct {
	home   event.StoreID
	actors []actorID // that are held for writing
	reads  []actorID // that are held, and were only read
}

type claim struct {
	name    Name
	index   int
	write   bool
	granted bool
}

type record struct {
	kind   string
	name   Name
	row    row
	stores []event.StoreID
}

type waiter struct {
	position int
	do       func(out []Effect) []Effect
}

// packet is a message under way: of the machines, or of the locks.
type packet struct {
	from, to event.StoreID
	epoch    int
	message  Message
	index    int // of an access that is asked for, or granted
	seen     []Name
	call     bool
	grant    bool
	found    bool // with a grant: that the actor was deleted
	votes    int  // with a grant: so many calls have begun, 0: no vote
	row      bool // then
	over     bool // then: the part is over
	last     bool // with a call: the attempt is thought to need no lock after it
}

func (w *world) homeOf(a actorID) event.StoreID { return event.StoreID(int(a) % w.cfg.stores) }

func newWorld(seed uint64, cfg scale) *world {
	w := &world{r: rand.New(rand.NewPCG(seed, 1)), cfg: cfg, epoch: make(map[[2]event.StoreID]int), apart: make(map[[2]event.StoreID]bool), rows: make(map[Name]bool), saw: make(map[string]int), faults: cfg.faults}
	for i := range cfg.stores {
		n := &node{id: event.StoreID(i), disk: disk{make(map[actorID][]Name), make(map[Name]row), make(map[Name][]event.StoreID)}}
		w.stores = append(w.stores, n)
		w.start(n)
	}
	for i := range cfg.events {
		s := &script{home: event.StoreID(w.r.IntN(cfg.stores)), aborts: w.r.IntN(6) == 0, tells: w.r.IntN(2) == 0}
		readOnly := w.r.IntN(2) == 0
		for a := range actorID(cfg.actors) {
			if w.r.IntN(2) == 0 {
				write := !readOnly && w.r.IntN(3) > 0
				s.accesses = append(s.accesses, access{a, write, write && w.cfg.deletes && w.r.IntN(8) == 0})
			}
		}
		s.id = event.EventID{Seq: uint64(i + 1)}
		w.events = append(w.events, s)
	}
	return w
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *world) fail(format string, args ...any) {
	if w.bad == "" {
		w.bad = fmt.Sprintf(format, args...)
	}
}

// clone returns a copy of a disk.
func (d disk) clone() disk {
	return disk{maps.Clone(d.values), maps.Clone(d.prepared), maps.Clone(d.decisions)} // their elements do not change
}

// start starts a store, or a former leader of it.
func (w *world) start(n *node) {
	if n.former = w.cfg.formers && n.past.values != nil && w.r.IntN(2) == 0; n.former {
		w.saw["former leaders"]++
		n.present, n.disk = n.disk, n.past.clone()
	} else {
		n.past = n.disk.clone()
	}
	w.note("%d starts, as a former leader: %v", n.id, n.former)
	w.open(n)
}

// open starts a store with what its disk has.
func (w *world) open(n *node) {
	n.up = true
	n.home, n.part = Home{}, Participant{}
	n.values, n.queues, n.position = make(map[actorID][]Name), make(map[actorID][]claim), make(map[actorID]int)
	n.journal, n.synced, n.waiting, n.calls = nil, 0, nil, make(map[Name]*calls)
	for a, v := range n.disk.values {
		n.values[a] = slices.Clone(v)
	}
	if w.broken != "decisions are forgotten" {
		for _, name := range slices.SortedFunc(maps.Keys(n.disk.decisions), Name.Compare) {
			n.home.Restore(name, timeOf(name), n.disk.decisions[name])
			w.saw["decisions restored"]++
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(n.disk.prepared), Name.Compare) {
		r := n.disk.prepared[name]
		n.part.Restore(name, r.home)
		w.saw["in doubt at a start"]++
		if w.broken == "locks in doubt are forgotten" {
			continue
		}
		for _, a := range r.actors {
			n.queues[a] = append(n.queues[a], claim{name: name, write: true, granted: true})
		}
		for _, a := range r.reads {
			w.saw["held at a start, and only read"]++
			n.queues[a] = append(n.queues[a], claim{name: name, granted: true})
		}
	}
}

func pair(a, b event.StoreID) [2]event.StoreID { return [2]event.StoreID{min(a, b), max(a, b)} }

// session begins another session between two stores that are up.
func (w *world) session(a, b *node) {
	w.epoch[pair(a.id, b.id)]++
	delete(w.apart, pair(a.id, b.id))
	w.note("a session of %d and %d", a.id, b.id)
	for _, n := range [][2]*node{{a, b}, {b, a}} {
		w.do(n[0], n[0].home.Lost(n[1].id, nil))
		w.do(n[0], n[0].part.Lost(n[1].id, nil))
	}
	for _, n := range [][2]*node{{a, b}, {b, a}} {
		w.do(n[0], n[0].home.Up(n[1].id, nil))
		w.do(n[0], n[0].part.Up(n[1].id, nil))
	}
}

// post sends a packet, unless the session is lost.
func (w *world) post(p packet) {
	if w.apart[pair(p.from, p.to)] {
		return
	}
	p.epoch = w.epoch[pair(p.from, p.to)]
	w.wire = append(w.wire, p)
}

// do carries out effects at a store.
func (w *world) do(n *node, out []Effect) {
	for len(out) > 0 {
		f := out[0]
		out = out[1:]
		w.note("%d: %v %v %v", n.id, f.Act, f.Name, f.Message.Kind)
		w.saw[f.Act.String()]++
		switch f.Act {
		case Send:
			w.post(packet{from: n.id, to: f.To, message: f.Message})
		case SendConfirmed:
			told, epoch := packet{from: n.id, to: f.To, message: f.Message}, w.epoch[pair(n.id, f.To)]
			if w.broken == "what a store does not know is told before it is confirmed" {
				w.post(told)
				break
			}
			w.wait(n, 0, func(out []Effect) []Effect {
				if w.epoch[pair(n.id, f.To)] == epoch {
					w.post(told)
				}
				return out
			})
		case Write:
			r := w.rowOf(n, w.script(f.Name), f.Name)
			at := w.append(n, record{kind: "prepare", name: f.Name, row: r})
			if w.broken == "a vote leaves before its row is durable" {
				at = 0
			}
			w.wait(n, at, func(out []Effect) []Effect { return n.part.Prepared(f.Name, out) })
		case Confirm:
			at := w.read(n, f.Name)
			if w.rows[f.Name] && n.id != w.script(f.Name).home && !f.Keep {
				at = w.append(n, record{kind: "drop", name: f.Name})
			}
			if w.broken == "readers vote before what they saw is durable" {
				at = 0
			}
			if n.id == w.script(f.Name).home {
				w.wait(n, at, func(out []Effect) []Effect { return n.home.Decided(f.Name, timeOf(f.Name), out) })
				w.release(n, f.Name)
			} else {
				w.wait(n, at, func(out []Effect) []Effect { return n.part.Prepared(f.Name, out) })
			}
		case Apply:
			if f.At != timeOf(f.Name) {
				w.fail("%v has committed at %d, and store %d is told at %d", f.Name, timeOf(f.Name), n.id, f.At)
			}
			at := w.append(n, record{kind: "apply", name: f.Name})
			w.release(n, f.Name)
			if w.broken == "done is said before it is durable" {
				at = 0
			}
			w.wait(n, at, func(out []Effect) []Effect { return n.part.Applied(f.Name, out) })
		case Drop:
			w.append(n, record{kind: "drop", name: f.Name})
			w.release(n, f.Name)
		case Release:
			w.release(n, f.Name)
		case Decide:
			if n.home.quiesced && len(f.Stores) > 0 {
				w.fail("%v is decided by a store that is quiesced", f.Name)
			}
			at := w.append(n, record{kind: "decide", name: f.Name, stores: f.Stores})
			w.release(n, f.Name)
			if w.broken == "a decision leaves before it is durable" {
				at = 0
			}
			w.wait(n, at, func(out []Effect) []Effect { return n.home.Decided(f.Name, timeOf(f.Name), out) })
		case Answer:
			w.answer(f.Name)
		case Forget:
			w.append(n, record{kind: "forget", name: f.Name})
		case Withdraw:
			w.withdrawn(n, f.Name)
		}
	}
}

// timeOf returns when an attempt is decided.
func timeOf(name Name) int64 { return int64(name.Number) + 1 }

// rowOf returns what a participant has of an attempt.
func (w *world) rowOf(n *node, s *script, name Name) row {
	r := row{home: s.home}
	for _, a := range s.accesses {
		granted := func(c claim) bool { return c.name == name && c.granted }
		switch {
		case w.homeOf(a.actor) != n.id || !slices.ContainsFunc(n.queues[a.actor], granted):
		case a.write:
			r.actors = append(r.actors, a.actor)
		case w.broken != "what was read is not held":
			r.reads = append(r.reads, a.actor)
		}
	}
	return r
}

func (w *world) script(name Name) *script { return w.events[name.Event.Seq-1] }

// mayWrite reports what an attempt has changed in a store.
func (w *world) wrote(s *script, store event.StoreID) bool {
	return slices.ContainsFunc(s.accesses, func(a access) bool { return s.writes(a) && w.homeOf(a.actor) == store })
}

// writes reports whether the last attempt of an event changes what it accesses, if it commits.
func (s *script) writes(a access) bool { return a.write && !s.aborts && !s.gone[a.actor] }

// deleted reports whether an actor was deleted.
func (w *world) deleted(n *node, a actorID) bool {
	v := n.values[a]
	return len(v) > 0 && slices.ContainsFunc(w.script(v[len(v)-1]).accesses, func(x access) bool { return x.actor == a && x.final })
}

// claim asks for the lock of an actor. There is none if that was deleted.
func (w *world) claim(n *node, a actorID, c claim) {
	if w.deleted(n, a) {
		w.saw["found deleted"]++
		w.granted(n, a, c, true)
		return
	}
	n.queues[a] = append(n.queues[a], c)
	w.admit(n, a)
}

// append adds a record to the journal, and returns its position.
func (w *world) append(n *node, r record) int {
	n.journal = append(n.journal, r)
	if r.kind == "apply" || r.kind == "decide" {
		for _, a := range w.script(r.name).accesses {
			if w.script(r.name).writes(a) && w.homeOf(a.actor) == n.id {
				n.values[a.actor] = append(slices.Clone(n.values[a.actor]), r.name)
				n.position[a.actor] = len(n.journal)
			}
		}
	}
	return len(n.journal)
}

// wait calls do when the journal is durable up to a position.
func (w *world) wait(n *node, at int, do func([]Effect) []Effect) {
	n.waiting = append(n.waiting, waiter{at, do})
}

// read returns the position up to which the journal must be durable for what an attempt has read in a store.
func (w *world) read(n *node, name Name) (at int) {
	for _, a := range w.script(name).accesses {
		if w.homeOf(a.actor) == n.id {
			at = max(at, n.position[a.actor])
		}
	}
	return at
}

// sync makes the first record that is not durable durable.
func (w *world) sync(n *node) {
	r := n.journal[n.synced]
	n.synced++
	w.note("%d: %s of %v is durable", n.id, r.kind, r.name)
	d := &n.disk
	switch r.kind {
	case "prepare":
		d.prepared[r.name] = r.row
	case "drop":
		delete(d.prepared, r.name)
	case "apply", "decide":
		delete(d.prepared, r.name)
		for _, a := range w.script(r.name).accesses {
			if w.script(r.name).writes(a) && w.homeOf(a.actor) == n.id {
				d.values[a.actor] = append(slices.Clone(d.values[a.actor]), r.name)
			}
		}
		if len(r.stores) > 0 {
			d.decisions[r.name] = r.stores
		}
		if s := w.script(r.name); r.kind == "decide" && s.tells && s.touched && !s.aborts {
			w.told = append(w.told, r.name)
		}
	case "forget":
		delete(d.decisions, r.name)
	}
}

// release takes the locks of an attempt at a store away, and grants what waited for them.
func (w *world) release(n *node, name Name) {
	delete(n.calls, name)
	for a, q := range n.queues {
		n.queues[a] = slices.DeleteFunc(q, func(c claim) bool { return c.name == name })
	}
	for a := range actorID(w.cfg.actors) {
		w.admit(n, a)
	}
}

// admit grants what can be granted of an actor, first come, first served.
func (w *world) admit(n *node, a actorID) {
	for again := true; again; {
		again = false
		for i, c := range n.queues[a] {
			if i > 0 && (c.write || n.queues[a][0].write) {
				return
			}
			if !c.granted {
				n.queues[a][i].granted = true
				w.granted(n, a, c, false)
				again = true
				break // the queue may have changed
			}
		}
	}
}

func (w *world) granted(n *node, a actorID, c claim, found bool) {
	s := w.script(c.name)
	s.gone[a] = w.deleted(n, a) // perhaps while it waited
	if s.home == n.id {
		if w.taken(n, c.name, found) {
			w.goOn(n, s, c.index, n.values[a])
		}
		return
	}
	p := packet{from: n.id, to: s.home, grant: true, found: found, message: Message{Name: c.name}, index: c.index, seen: n.values[a]}
	v := n.calls[c.name]
	alone := v.open == 1 || w.broken == "a part votes while others of its calls run"
	if _, works := n.part.Has(c.name); works && w.r.IntN(2) > 0 && alone {
		w.voteEarly(n, s, v, p)
		return
	}
	v.open--
	w.post(p)
}

// taken notes at its home that an attempt has a lock, or has found an actor deleted. False: it is withdrawn for that.
func (w *world) taken(n *node, name Name, found bool) bool {
	s := w.script(name)
	if found && w.broken == "a vote counts though an actor was found deleted since" || s.over && w.broken == "a lock is taken after a part is over" {
		return true
	}
	w.do(n, n.home.Taken(name, nil))
	return s.attempt == name.Number && s.status == runs
}

// voteEarly has a participant vote with its answer.
func (w *world) voteEarly(n *node, s *script, v *calls, p packet) {
	name := p.message.Name
	t := n.part.tasks.Get(name)
	r, at := w.rowOf(n, s, name), 0
	hasRow := len(r.actors) > 0 || w.r.IntN(2) == 0 || t != nil && t.row // the home may expect that it tells something; a row that there is stays one
	over := v.last && !hasRow
	for _, a := range s.accesses {
		if w.homeOf(a.actor) == n.id {
			at = max(at, n.position[a.actor])
		}
	}
	v.voting = w.broken != "a call runs while its part votes"
	if hasRow {
		at = w.append(n, record{kind: "prepare", name: name, row: r})
		w.rows[name] = true
	}
	if w.broken == "answers leave with votes that are not durable" {
		at = 0
	}
	w.wait(n, at, func(out []Effect) []Effect {
		if _, works := n.part.Has(name); works && n.calls[name] == v {
			w.saw["early votes"]++
			p.votes, p.row, p.over = v.begun, hasRow, over
			w.post(p)
			if over {
				w.saw["over with an answer"]++
				early := v.early
				w.do(n, n.part.Over(name, nil))
				for _, c := range early {
					w.deliver(c)
				}
				return out
			}
			n.part.Answered(name, hasRow)
			if w.leaving && n.id == 0 {
				w.leaving = false
				w.crash(n, 1)
				return out
			}
			early := v.early
			v.open, v.voting, v.early = v.open-1, false, nil
			for _, c := range early {
				w.saw["calls while a part votes"]++
				w.deliver(c)
			}
		}
		return out
	})
}

// ask asks for locks of the next accesses of an attempt, or ends it if it has all.
func (w *world) ask(n *node, s *script) {
	name := Name{s.id, s.attempt}
	if s.got == len(s.accesses) {
		s.status = ended
		if !s.touched {
			w.commitLocal(n, s, name)
			return
		}
		w.do(n, n.home.End(name, w.wrote(s, n.id), func(store event.StoreID) bool { return !s.aborts && (s.tells || s.rows[store] || w.wrote(s, store)) }, nil))
		return
	}
	for s.status == runs && s.attempt == name.Number && s.next < len(s.accesses) && s.next-s.got < w.cfg.beside && (s.next == s.got || w.r.IntN(2) > 0) {
		if !w.askOne(n, s, name) {
			return
		}
	}
}

// askOne asks for the lock of the next access. It reports false if the attempt is being withdrawn.
func (w *world) askOne(n *node, s *script, name Name) bool {
	i := s.next
	s.next++
	a := s.accesses[i]
	at := w.homeOf(a.actor)
	if at == n.id {
		w.claim(n, a.actor, claim{name: name, index: i, write: a.write})
		return true
	}
	if !s.touched {
		n.home.Begin(name, new(Try))
	}
	s.touched = true
	out, ok := n.home.Touch(name, at, nil)
	if w.do(n, out); !ok {
		w.saw["asks what is over"]++
		return false
	}
	if s.next-s.got > 1 {
		w.saw["calls beside others"]++
	}
	s.sent[at]++
	s.told[i] = s.got
	w.post(packet{from: n.id, to: at, call: true, message: Message{Name: name}, index: i, last: w.cfg.lasts && w.r.IntN(3) == 0})
	return true
}

// commitLocal commits an attempt that has touched no other store.
func (w *world) commitLocal(n *node, s *script, name Name) {
	at := w.read(n, name)
	if w.wrote(s, n.id) {
		at = w.append(n, record{kind: "decide", name: name})
	}
	w.release(n, name)
	w.wait(n, at, func(out []Effect) []Effect { w.answer(name); return out })
}

func (w *world) goOn(n *node, s *script, index int, seen []Name) {
	s.seen[s.accesses[index].actor] = slices.Clone(seen)
	s.got++
	w.ask(n, s)
}

// attemptNext begins the next attempt of an event.
func (w *world) attemptNext(n *node, s *script) {
	s.attempt++
	s.next, s.got, s.touched, s.status, s.seen = 0, 0, false, runs, make(map[actorID][]Name)
	s.gone, s.over = make(map[actorID]bool), false
	s.sent, s.told, s.rows = make(map[event.StoreID]int), make(map[int]int), make(map[event.StoreID]bool)
	w.ask(n, s)
}

// withdraw withdraws an attempt for a reason of the locks.
func (w *world) withdraw(n *node, name Name) {
	out, ok := n.home.Withdraw(name, nil)
	if !ok {
		w.fail("%v cannot be withdrawn", name)
	}
	w.do(n, append(out, Effect{Act: Withdraw, Name: name}))
}

// untie withdraws an attempt, as all that are left wait for each other. It reports false if there is none.
func (w *world) untie() bool {
	for _, i := range w.r.Perm(len(w.events)) {
		s := w.events[i]
		if s.status != runs {
			continue
		}
		w.saw["circles"]++
		if n, name := w.stores[s.home], (Name{s.id, s.attempt}); s.touched {
			w.withdraw(n, name)
		} else {
			w.withdrawn(n, name)
		}
		return true
	}
	return false
}

// withdrawn ends an attempt at its home.
func (w *world) withdrawn(n *node, name Name) {
	s := w.script(name)
	if s.attempt != name.Number || s.status >= answers {
		w.fail("%v is withdrawn, and is over", name)
		return
	}
	w.release(n, name)
	w.attemptNext(n, s)
}

func (w *world) answer(name Name) {
	s := w.script(name)
	if s.status != ended || s.attempt != name.Number {
		w.fail("%v is answered", name)
		return
	}
	s.status, s.answered, s.by = answers, s.seen, name
}

// deliver delivers a packet whose session goes on.
func (w *world) deliver(p packet) {
	n, m := w.stores[p.to], p.message
	w.note("%d <- %d: %v of %v, call %v grant %v", p.to, p.from, m.Kind, m.Name, p.call, p.grant)
	s := w.script(m.Name)
	switch {
	case p.call:
		v := n.calls[m.Name]
		if v != nil && v.voting {
			v.early = append(v.early, p)
			return
		}
		has, works := n.part.Has(m.Name)
		if !has {
			n.part.Begin(m.Name, p.from, new(Task))
		} else if !works && !n.part.Reopen(m.Name) {
			return
		}
		if v == nil {
			v = &calls{}
			n.calls[m.Name] = v
		}
		v.begun, v.last = v.begun+1, v.last || p.last
		v.open++
		a := s.accesses[p.index]
		w.claim(n, a.actor, claim{name: m.Name, index: p.index, write: a.write})
	case p.grant:
		if s.attempt != m.Name.Number || s.status != runs { // a late message may have begun what is over
			w.do(n, n.home.Asked(p.from, m, nil))
			return
		}
		if w.r.IntN(40) == 0 { // for a reason of the locks
			w.withdraw(n, m.Name)
			return
		}
		if !w.taken(n, m.Name, p.found) {
			return
		}
		s.rows[p.from] = s.rows[p.from] || p.row
		all := p.votes == s.sent[p.from]
		if all || p.over || p.votes > 0 && w.broken == "a vote counts though its part was asked for more" { // else a call has come behind the vote, or will
			if p.over {
				n.home.Over(m.Name, p.from)
			} else {
				n.home.Answered(m.Name, p.from, p.row)
			}
			if s.got > s.told[p.index] || p.over && !all { // this may have been taken after the vote
				w.saw["votes that may be stale"]++
				if w.broken != "a vote counts though another call has taken locks" && !w.taken(n, m.Name, false) {
					return
				}
			}
			s.over = s.over || p.over
			if w.trapped && p.from == 0 {
				w.trapped = false
				w.crash(w.stores[0], 0)
			}
		}
		w.goOn(n, s, p.index, p.seen)
	default:
		switch m.Kind {
		case Prepare:
			w.do(n, n.part.Prepare(p.from, m, nil))
		case Vote:
			w.saw[fmt.Sprint("votes ", m.Yes)]++
			w.do(n, n.home.Voted(p.from, m, nil))
		case Decision:
			if t := n.part.tasks.Get(m.Name); t != nil && t.early && m.Yes {
				w.saw["early votes count"]++
			}
			if !m.Yes && n.part.tasks.Get(m.Name) != nil && n.part.tasks.Get(m.Name).row {
				w.saw["prepared in vain"]++
			}
			w.do(n, n.part.Decided(p.from, m, nil))
		case Done:
			w.do(n, n.home.Done(p.from, m, nil))
		case Ask:
			w.do(n, n.home.Asked(p.from, m, nil))
		case Dropped:
			w.do(n, n.home.Dropped(p.from, m, nil))
		}
	}
}

// crash ends a store with a part of its journal that was not durable. What it has sent may arrive as long as the others do not know of that: such a share of it.
func (w *world) crash(n *node, share float64) {
	w.note("%d crashes", n.id)
	if n.up = false; n.former {
		n.disk = n.present
	}
	for _, s := range w.events {
		if s.home == n.id && (s.status == runs || s.status == ended) {
			s.status = lost
		}
	}
	w.wire = slices.DeleteFunc(w.wire, func(p packet) bool { return p.to == n.id || p.from == n.id && w.r.Float64() >= share })
	for _, o := range w.stores {
		w.apart[pair(n.id, o.id)] = true
	}
}

// String returns what has happened.
func (w *world) String() string { return w.bad + "\n" + strings.Join(w.log, "\n") }
