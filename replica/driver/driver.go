package driver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/engine"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/metrics"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Driver runs the raft groups of one node. Any goroutine may call it.
type Driver struct {
	cfg Config

	// The core, the number of its newest question, the number of ticks and the time of the last one belong to the loop.
	core     *replica.Core
	question uint64
	ticks    int
	last     time.Time

	loop   queue
	writer queue
	log    *replica.NodeLog  // Write and Announce belong to the writer
	logs   store.Engine      // of log
	syncs  metrics.Histogram // of logs

	tasks   sync.WaitGroup
	running atomic.Int64 // tasks
	hangs   atomic.Bool  // the disk, as of the last tick
	ticker  *time.Ticker // nil: the owner ticks
	ticking atomic.Bool  // a tick is among the jobs of the loop
	stop    chan struct{}

	mu      sync.Mutex
	changed sched.Cond // what members know
	groups  map[replica.Group]*member
	closed  bool
	failed  bool
}

// Open starts a driver with the groups that its disk has.
func Open(cfg Config) (*Driver, error) {
	cfg.complete()
	d := &Driver{cfg: cfg, stop: make(chan struct{}), groups: make(map[replica.Group]*member)}
	d.loop.init(cfg.Scheduler)
	d.writer.init(cfg.Scheduler)
	d.changed.Init(&d.mu, cfg.Scheduler)
	var found map[replica.Group]replica.LogState
	var err error
	if d.logs, err = cfg.Disk.log(); err != nil {
		return nil, fmt.Errorf("the log of node %d: %w", cfg.Node, err)
	}
	if d.log, found, err = replica.OpenLog(d.logs); err == nil {
		d.core = replica.New(replica.Config{
			Node: cfg.Node, Log: d.log, Rand: cfg.Rand, Heartbeat: cfg.Heartbeat, Election: cfg.Election, Stall: cfg.Stall,
			UncommittedMax: uncommittedMax, RecentMax: recentMax, Logger: cfg.Logger,
		})
		err = d.addAll(found)
	}
	if err != nil {
		d.closeDisks()
		return nil, fmt.Errorf("the log of node %d: %w", cfg.Node, err)
	}
	d.mu.Lock()
	for _, m := range d.groups {
		m.start()
	}
	d.mu.Unlock()
	d.start(func() { d.writer.run(nil) })
	d.start(func() { d.loop.run(d.perform) })
	d.loop.add(func() {})
	if cfg.Tick > 0 {
		d.ticker = time.NewTicker(cfg.Tick)
		d.start(d.tick)
	}
	return d, nil
}

// addAll adds the groups that this node has a part in: those with a state, but for what a crash has left of Begin, Join and Leave. A group whose
// state has no entry yet can be begun or joined again, with the vote that the log may have. A group that was left has a vote alone in the log.
func (d *Driver) addAll(found map[replica.Group]replica.LogState) error {
	groups, err := d.cfg.Disk.groups()
	if err != nil {
		return err
	}
	for g, s := range found {
		if !slices.Contains(groups, g) && !s.Left() {
			return fmt.Errorf("group %d has a log and no state", g)
		}
	}
	slices.Sort(groups)
	for _, g := range groups {
		if s, logged := found[g]; logged && s.Left() { // a crash in the middle of the removal leaves a part, which cannot be opened
			if err := d.cfg.Disk.remove(g); err != nil {
				return err
			}
			continue
		}
		m, err := d.open(g)
		if err != nil {
			return err
		}
		if m.state.Index() == 0 {
			if err := m.state.Close(); err != nil {
				return err
			}
			continue
		}
		d.groups[g] = m
		if err := m.join(found[g]); err != nil {
			return err
		}
	}
	return nil
}

// Begin makes a group with these members, of which this node is one, and takes part in it. Each of them begins it with the same members.
func (d *Driver) Begin(g replica.Group, members ...event.NodeID) error {
	return d.enter(g, func(m *member) (log replica.LogState, err error) {
		log.Coming = replica.Position{Index: 1, Term: 1}
		if err := d.log.Announce(g, log.Coming); err != nil {
			return log, err
		}
		return log, m.state.Begin(replica.EncodeMembers(replica.Voters(members...)))
	})
}

// Join takes part in a group whose leader has made, or will make, this node a member. The state comes from there.
func (d *Driver) Join(g replica.Group) error {
	return d.enter(g, func(*member) (log replica.LogState, err error) { return d.log.State(g) })
}

// Leave ends the part that this node has in a group, and removes the group's state and log. A leader has said as of an entry that this node is no member
// (see Progress); Leave returns ErrStays, and changes nothing, if something has come to this node since. An engine that leads fails.
func (d *Driver) Leave(g replica.Group, asOf replica.Position) error {
	var m *member
	stays := false
	d.ask(&d.loop, func() {
		if stays = !d.core.Remove(g, asOf); stays {
			return
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		m = d.groups[g]
		delete(d.groups, g)
	})
	switch {
	case stays:
		return ErrStays
	case m == nil:
		return ErrNoMember
	}
	m.turn(replica.Role{Group: g})
	m.jobs.close()
	m.judged()
	d.cfg.Scheduler.Wait(m.gone)
	var err error
	if !d.ask(&d.writer, func() {
		if err = d.log.Leave(g); err == nil {
			err = m.state.Close()
		}
		if err == nil {
			err = d.cfg.Disk.remove(g)
		}
	}) {
		return errors.Join(ErrClosed, m.state.Close())
	}
	return err
}

// enter has the writer open the state of a group that this node had no part in, and the loop add the group.
func (d *Driver) enter(g replica.Group, begin func(*member) (replica.LogState, error)) error {
	var err error
	if !d.ask(&d.writer, func() {
		if d.member(g) != nil {
			err = fmt.Errorf("group %d is on node %d already", g, d.cfg.Node)
			return
		}
		var m *member
		if m, err = d.open(g); err != nil {
			return
		}
		var log replica.LogState
		if log, err = begin(m); err != nil {
			err = errors.Join(err, m.state.Close())
			return
		}
		if !d.ask(&d.loop, func() { err = d.addMember(m, log) }) {
			err = ErrClosed
		}
		if err != nil {
			err = errors.Join(err, m.state.Close())
		}
	}) {
		return ErrClosed
	}
	return err
}

// addMember adds a group while the driver runs, and starts its goroutine. A group that the core refuses, since its log does not fit its state, is not
// on this node: what is to have it there sees that, and tries again. The loop calls it.
func (d *Driver) addMember(m *member, log replica.LogState) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return ErrClosed
	}
	if err := m.join(log); err != nil {
		return err
	}
	d.groups[m.id] = m
	m.start()
	return nil
}

// Tick says that a tick has passed, for an owner that has the time.
func (d *Driver) Tick() { d.loop.add(d.ticked) }

func (d *Driver) ticked() {
	d.core.Tick()
	d.hangs.Store(d.core.Hangs())
	if d.ticks++; d.ticks%takeTicks == 0 {
		for _, g := range slices.Sorted(maps.Keys(d.groups)) {
			m := d.groups[g]
			m.jobs.add(m.take)
		}
	}
}

// tick ticks by the clock of the machine. While the loop is late one tick waits at most: the machine was paused, say, and messages that
// came meanwhile are to be heard first.
func (d *Driver) tick() {
	for {
		select {
		case <-d.stop:
			return
		case <-d.ticker.C:
			if !d.ticking.Swap(true) {
				d.loop.add(func() {
					d.ticking.Store(false)
					d.notePause()
					d.last = time.Now()
					d.ticked()
				})
			}
		}
	}
}

// notePause tells the core if it was told of no tick for longer than an election timeout, as the process or its machine stood still. The clock that runs on
// steadily may stand still with the machine, and the one of the day may be set: the longer time counts. The loop calls it.
func (d *Driver) notePause() {
	if d.ticker == nil || d.last.IsZero() {
		return
	}
	now := time.Now()
	if max(now.Sub(d.last), now.Round(0).Sub(d.last.Round(0))) > time.Duration(d.cfg.Election)*d.cfg.Tick {
		d.core.Paused()
	}
}

// Message takes what another node's Send was given. It never waits, and keeps b.
func (d *Driver) Message(from event.NodeID, b []byte) {
	m, err := replica.DecodeMessage(b)
	if err != nil || m.From() != from || m.HasState() {
		d.cfg.Logger.Warn("a message of another node is dropped", "from", from, "error", err)
		return
	}
	d.loop.add(func() { d.core.Step(m) })
}

// Down says that messages to a node were lost.
func (d *Driver) Down(n event.NodeID) { d.loop.add(func() { d.core.Unreachable(n) }) }

// ask has a queue do a job, and waits for its end; it reports false if the queue is closed.
func (d *Driver) ask(q *queue, job func()) bool {
	done := make(chan struct{})
	if !q.add(func() { job(); close(done) }) {
		return false
	}
	d.cfg.Scheduler.Wait(done)
	return true
}

func (d *Driver) member(g replica.Group) *member {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.groups[g]
}

// perform does what the core wants done. Roles come first: the engine of a deposed leader has failed before another state replaces its own.
func (d *Driver) perform() {
	e := d.core.Effects()
	for _, r := range e.Roles {
		if m := d.groups[r.Group]; m != nil {
			m.turn(r)
			d.cfg.Roles(r)
		}
	}
	for _, msg := range e.Send {
		switch m := d.groups[msg.Group]; {
		case m == nil: // the node has left the group meanwhile
		case msg.HasState():
			m.send(msg)
		default:
			d.cfg.Send(msg.To(), msg.Encode())
		}
	}
	if a := e.Append; a != nil {
		d.writer.add(func() { d.write(a) })
	}
	for i := range e.Apply {
		a := &e.Apply[i]
		if m := d.groups[a.Group]; m != nil {
			m.jobs.add(func() { m.apply(a) })
			if len(a.Members) > 0 {
				m.askAgain()
			}
		}
	}
	for _, r := range e.Reads {
		if m := d.groups[r.Group]; m != nil {
			m.confirmed(r.ID)
		}
	}
}

// write writes those records of an append that are ready.
func (d *Driver) write(a *replica.Append) {
	records := make([]replica.Record, 0, len(a.Records))
	for i := range a.Records {
		r := &a.Records[i]
		switch ready, err := d.ready(r); {
		case err != nil:
			d.fail(fmt.Errorf("a state of group %d that has come: %w", r.Group, err))
			return
		case ready:
			records = append(records, *r)
		}
	}
	err := d.log.Write(&replica.Append{Records: records})
	if err == nil && a.Sync {
		began := time.Now()
		err = d.logs.Sync()
		d.syncs.Observe(time.Since(began))
	}
	if err != nil {
		d.fail(fmt.Errorf("the log of node %d: %w", d.cfg.Node, err))
		return
	}
	d.loop.add(func() { d.core.Appended(a) })
}

// ready has the state that a record names replace that of its group, announced before. It reports false if the record is not to be written: the node has
// left the group, or the driver is closed and the state has not replaced that of the group. Nothing of it is acknowledged.
func (d *Driver) ready(r *replica.Record) (bool, error) {
	m := d.member(r.Group)
	if m == nil || r.State == nil {
		return m != nil, nil
	}
	if m.hasCome(r.State.GetIndex()) {
		err := d.log.Announce(r.Group, r.StateAt())
		if err == nil {
			err = m.replace()
		}
		if err != nil && !errors.Is(err, ErrClosed) {
			return false, err
		}
	}
	return m.state.Index() >= r.State.GetIndex(), nil
}

// fail ends all: a disk of this node has failed. What waits for it waits for ever, so that nothing is acknowledged.
func (d *Driver) fail(err error) {
	d.mu.Lock()
	first := !d.failed && !d.closed
	d.failed = true
	d.changed.Broadcast()
	d.mu.Unlock()
	if first {
		d.cfg.Fatal(err)
	}
}

// Lead returns the engine of a group that this node leads in a term, as soon as the state has all that former leaders have committed. It
// waits for that, and returns ErrDeposed if it does not lead, or leads no more. There is one engine for a term, and none when the node has failed: a state that
// could not be written lacks what was acknowledged.
func (d *Driver) Lead(g replica.Group, term uint64) (*engine.Engine, error) {
	m := d.member(g)
	if m == nil {
		return nil, ErrNoMember
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for m.leads(term) && m.reached != term && !d.failed {
		d.changed.Wait()
	}
	switch {
	case d.closed, d.failed:
		return nil, ErrClosed
	case !m.leads(term) || m.lead != nil:
		return nil, ErrDeposed
	}
	m.lead = engine.Lead(m.state, term, engine.Log{
		Propose:   func(data []byte) error { return m.propose(term, data) },
		Confirm:   func() error { return m.confirm(term) },
		Clock:     d.cfg.Clock,
		Scheduler: d.cfg.Scheduler,
	})
	return m.lead, nil
}

// Has reports whether this node has a part in a group.
func (d *Driver) Has(g replica.Group) bool { return d.member(g) != nil }

// Progresses reports whether the disk makes progress: no append takes longer than it may.
func (d *Driver) Progresses() bool { return !d.hangs.Load() }

// Leader returns what this node knows of the leader of a group.
func (d *Driver) Leader(g replica.Group) replica.Role {
	d.mu.Lock()
	defer d.mu.Unlock()
	if m := d.groups[g]; m != nil {
		return m.role
	}
	return replica.Role{Group: g}
}

// Await is for tests. It returns when the state of a group on this node was handed the entries up to index.
func (d *Driver) Await(ctx context.Context, g replica.Group, index uint64) error {
	m := d.member(g)
	if m == nil {
		return ErrNoMember
	}
	stop := context.AfterFunc(ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.changed.Broadcast()
	})
	defer stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	for m.state.Whole() < index {
		switch {
		case d.closed:
			return ErrClosed
		case ctx.Err() != nil:
			return ctx.Err()
		}
		d.changed.Wait()
	}
	return nil
}

// Follow brings the members of each group that this node leads nearer to those that are wanted, by one step (replica.Core.Follow). It returns these groups, and whether they are
// settled.
func (d *Driver) Follow(want map[replica.Group][]event.NodeID) map[replica.Group]bool {
	settled := make(map[replica.Group]bool)
	d.ask(&d.loop, func() {
		d.notePause() // of which no tick has told yet
		for _, g := range slices.Sorted(maps.Keys(want)) {
			if is, err := d.core.Follow(g, want[g]); err == nil {
				settled[g] = is
			}
		}
	})
	return settled
}

// Progress returns what is known of the members of a group that this node leads, as of the last entry that is committed and was handed to the state.
func (d *Driver) Progress(g replica.Group) (list []replica.Progress, asOf replica.Position) {
	d.ask(&d.loop, func() { list, asOf = d.core.Progress(g) })
	return list, asOf
}

// Syncs has the syncs of the log that the groups share.
func (d *Driver) Syncs() *metrics.Histogram { return &d.syncs }

// LogLength returns how many entries the log of a group has on this node.
func (d *Driver) LogLength(g replica.Group) (n uint64) {
	d.ask(&d.loop, func() { n = d.core.LogLength(g) })
	return n
}

// Transfer asks that another member leads a group that this node leads.
func (d *Driver) Transfer(g replica.Group, to event.NodeID) (err error) {
	if !d.ask(&d.loop, func() { err = d.core.Transfer(g, to) }) {
		return ErrClosed
	}
	return err
}

// Resign has another member lead a group that this node leads in a term, as soon as one can. It does not wait.
func (d *Driver) Resign(g replica.Group, term uint64) { d.loop.add(func() { d.core.Resign(g, term) }) }

// Retire has this node lead no group any more, until Close (replica.Core.Retire). It does not wait.
func (d *Driver) Retire() { d.loop.add(func() { d.core.Retire() }) }

// Close ends all goroutines and closes the disks. Engines that were returned fail; what is under way has an unknown fate. States that come or
// go end with an error of the transport, which its owner closes before.
func (d *Driver) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	for _, m := range d.groups {
		if m.lead != nil {
			m.lead.Fail(ErrClosed)
		}
	}
	groups := slices.Collect(maps.Values(d.groups))
	d.changed.Broadcast()
	d.mu.Unlock()
	close(d.stop)
	if d.ticker != nil {
		d.ticker.Stop()
	}
	d.loop.close()
	d.writer.close()
	for _, m := range groups {
		m.jobs.close()
		m.failWaiters(ErrClosed)
		m.judged()
	}
	if s := d.cfg.Scheduler; s != nil {
		s.Until(func() bool { return d.running.Load() == 0 })
	}
	d.tasks.Wait()
	return d.closeDisks()
}

// start starts a goroutine that Close waits for.
func (d *Driver) start(f func()) {
	d.running.Add(1)
	d.cfg.Scheduler.Go(&d.tasks, func() {
		f()
		d.running.Add(-1)
	})
}

func (d *Driver) closeDisks() error {
	err := d.logs.Close()
	for _, m := range d.groups {
		if closed := m.state.Close(); err == nil {
			err = closed
		}
	}
	return err
}
