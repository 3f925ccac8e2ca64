package driver

import (
	"errors"
	"fmt"

	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/engine"
)

// member is a group on this node.
type member struct {
	of    *Driver
	id    replica.Group
	state *engine.State
	jobs  queue         // for the goroutine that owns the state
	gone  chan struct{} // closed when that has ended

	term    uint64        // of the newest entry that the state was handed
	taking  *taking       // by the state's engine, under way; nil: none is
	bytes   int           // of entries that the state was handed since it was synced
	syncing chan struct{} // closed when the sync of the state ends that is under way; nil: none is
	other   bool          // that sync is of a state that was replaced
	kept    uint64        // up to where the state was synced the time before: behind it the log begins

	coming coming
	confirmations

	broken uint64 // the newest term in which a proposal was refused; belongs to the loop

	// Guarded by of.mu; of.changed tells of changes.
	role    replica.Role
	reached uint64 // the term up to which the state was handed entries, and has taken those of former ones
	lead    *engine.Engine
}

// open opens the state of a group.
func (d *Driver) open(g replica.Group) (*member, error) {
	e, err := d.cfg.Disk.state(g)
	if err != nil {
		return nil, fmt.Errorf("the state of group %d: %w", g, err)
	}
	m := &member{of: d, id: g, role: replica.Role{Group: g}, gone: make(chan struct{})}
	m.jobs.init(d.cfg.Scheduler)
	if m.state, err = engine.OpenState(e); err != nil {
		return nil, errors.Join(fmt.Errorf("the state of group %d: %w", g, err), e.Close())
	}
	return m, nil
}

// join has the core take part in the group, whose log has what is given. The loop calls it, or what starts the driver.
func (m *member) join(log replica.LogState) error {
	b, err := m.state.Members()
	if err != nil {
		return err
	}
	members, err := replica.DecodeMembers(b)
	if err != nil {
		return err
	}
	m.kept = m.state.Synced()
	return m.of.core.Add(m.id, replica.Start{Applied: m.state.Index(), Members: members, Log: log})
}

// start starts the goroutine of the group. Caller holds of.mu.
func (m *member) start() {
	m.of.start(func() {
		m.jobs.run(nil)
		if m.taking != nil {
			m.of.cfg.Scheduler.Wait(m.taking.done)
		}
		if m.syncing != nil {
			m.of.cfg.Scheduler.Wait(m.syncing)
		}
		close(m.gone)
	})
}

// taking is the engine of a state taking what waits.
type taking struct {
	done chan struct{}
	err  error // set before done is closed
}

// apply hands the state what is committed. It has taken all before a leader begins: the overlay of that one has its own groups only.
func (m *member) apply(a *replica.Apply) {
	if err := m.state.Apply(entriesOf(a)); err != nil {
		m.fail(err)
		return
	}
	for _, e := range a.Entries {
		m.bytes += len(e.GetData())
	}
	m.of.loop.add(func() { m.of.core.Applied(a) })
	term := a.Entries[len(a.Entries)-1].GetTerm()
	waiting, _ := m.state.Waiting()
	switch enough := m.of.cfg.takeBytes(); {
	case term > m.term:
		m.term = term
		m.takeAll()
	case waiting >= takesMax*enough: // the disk is slow
		m.takeAll()
	case waiting >= enough:
		m.take()
	}
	m.reach(term)
}

// take has the engine of the state begin to take what waits, unless it is taking something, while the state is handed more.
func (m *member) take() {
	if _, some := m.state.Waiting(); !some || m.taking != nil {
		return
	}
	t := &taking{done: make(chan struct{})}
	m.taking = t
	m.of.start(func() {
		t.err = m.state.Take()
		close(t.done)
		m.jobs.add(func() {
			if m.taking == t {
				m.taken()
			}
		})
	})
}

// takeAll returns when the engine of the state has taken all.
func (m *member) takeAll() {
	m.taken()
	m.take()
	m.taken()
}

// taken waits until the engine of the state takes nothing, and has the state be synced when the engine has taken enough.
func (m *member) taken() {
	t := m.taking
	if t == nil {
		return
	}
	m.of.cfg.Scheduler.Wait(t.done)
	m.taking = nil
	if t.err != nil {
		m.fail(t.err)
		return
	}
	settled := m.state.Index()
	m.of.loop.add(func() { m.of.core.Settled(m.id, settled) })
	m.sync()
}

// entriesOf returns entries as a state takes them.
func entriesOf(a *replica.Apply) []engine.Entry {
	list := make([]engine.Entry, len(a.Entries))
	for i, e := range a.Entries {
		list[i] = engine.Entry{Index: e.GetIndex(), Term: e.GetTerm()}
		list[i].Data, list[i].Members = a.Data(i)
	}
	return list
}

func (m *member) fail(err error) { m.of.fail(fmt.Errorf("the state of group %d: %w", m.id, err)) }

// sync has the state be synced when it was handed enough, while it is handed more: answers do not wait for it.
func (m *member) sync() {
	if m.bytes < m.of.cfg.SyncBytes || m.syncing != nil {
		return
	}
	ended := make(chan struct{})
	m.bytes, m.syncing = 0, ended
	m.of.start(func() {
		err := m.state.Sync()
		close(ended)
		m.jobs.add(func() { m.synced(err) })
	})
}

// synced has the log begin where the state was synced the time before: a member that was away for a short time finds in the log what it
// has missed.
func (m *member) synced(err error) {
	other := m.other
	m.syncing, m.other = nil, false
	switch {
	case err != nil:
		m.fail(err)
		return
	case other: // the core may not know yet of the state that has replaced it
		return
	}
	cut := m.kept
	m.kept = m.state.Synced()
	m.of.loop.add(func() { m.of.core.Cut(m.id, cut) })
}

// reach notes the term up to which the state was handed entries.
func (m *member) reach(term uint64) {
	d := m.of
	d.mu.Lock()
	defer d.mu.Unlock()
	m.reached = max(m.reached, term)
	d.changed.Broadcast()
}

// turn takes a new role. The engine of a leader that is deposed fails.
func (m *member) turn(r replica.Role) {
	d := m.of
	d.mu.Lock()
	m.role = r
	deposed := m.lead
	if deposed != nil && m.leads(deposed.Term()) {
		deposed = nil
	}
	if deposed != nil {
		m.lead = nil
	}
	d.changed.Broadcast()
	d.mu.Unlock()
	if deposed != nil {
		deposed.Fail(ErrDeposed)
	}
	m.failWaiters(ErrDeposed)
}

// leads reports whether this node leads the group in a term. Caller holds of.mu.
func (m *member) leads(term uint64) bool {
	return !m.of.closed && m.role.Leader == m.of.cfg.Node && m.role.Term == term
}

// propose appends data to the log behind all that was proposed before. Whatever happens to it, the engine of the term hears of it: the data is
// committed, or the engine fails.
//
// Invariant: behind a proposal that was refused none of its term is taken. A large group of changes is many proposals. Package raft refuses them while
// leadership is handed over, and takes them again when it has given that up, in the same term: the log would have the end of a group without its begin.
func (m *member) propose(term uint64, data []byte) error {
	d := m.of
	if !d.loop.add(func() {
		err := error(ErrDeposed)
		if r := d.core.Leader(m.id); r.Leader == d.cfg.Node && r.Term == term && m.broken != term {
			err = d.core.Propose(m.id, data)
		}
		if err == replica.ErrNotLeading { // it hands over
			err = ErrDeposed
		}
		if err != nil {
			m.failLead(term, err)
		}
	}) {
		return ErrClosed
	}
	return nil
}

// failLead fails the engine of a term. There is no other one in the term, so another term has to come: package raft may lead on in this one. The loop
// calls it.
func (m *member) failLead(term uint64, err error) {
	d := m.of
	m.broken = max(m.broken, term)
	d.core.Resign(m.id, term)
	d.mu.Lock()
	e := m.lead
	d.mu.Unlock()
	if e != nil && e.Term() == term {
		e.Fail(err)
	}
}

// replace has the state that has come stand in the place of the old one. The writer calls it.
func (m *member) replace() (err error) {
	disk := m.of.cfg.Disk
	old := disk.number(m.id)
	e, err := disk.replace(m.id)
	if err != nil {
		return err
	}
	gone := func() {
		if err := disk.forget(m.id, old); err != nil {
			m.of.cfg.Logger.Warn("a state that was replaced stays on the disk", "group", m.id, "error", err)
		}
	}
	if !m.of.ask(&m.jobs, func() {
		m.taken()
		if err = m.state.Replace(e, gone); err == nil {
			m.kept, m.bytes, m.other = m.state.Synced(), 0, m.syncing != nil
		}
	}) {
		return errors.Join(ErrClosed, e.Close())
	}
	m.reach(0)
	m.judged()
	return err
}
