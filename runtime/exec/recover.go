package exec

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Recover opens a system on cfg.Store with everything that is in it: actors, ownership, the
// sequencing tree, sessions, sub-events that have not ended, timers. The states of actors are
// read when they are used. Events run from then on. An error means that nothing has run and
// nothing was changed; it is an error of the store, a *store.CorruptError, or it says what of the store the
// program cannot read: it wraps ErrClass for a class, a *store.SchemaError for each field and a *store.CallError
// for each method.
//
// The caller closes the system, then the store.
func Recover(cfg Config) (*System, error) {
	s := newSystem(cfg)
	d, err := newDurable(s, &s.cfg)
	if err == nil {
		s.durable = d
		if s.tracer != nil {
			s.tracer.resume(d)
		}
		r := recovery{d: d, s: s}
		err = r.run()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	if cfg.MemoryMax > 0 && s.baton == nil {
		d.memory.start(s, cfg.MemoryMax)
	}
	return s, nil
}

// recovery is one reading of a store.
type recovery struct {
	d      *durable
	s      *System
	placed []dominator.Placed
	lanes  []*lane
	gone   []*Handle
	timers map[uint64]*timer // by generation: those that are set
	steps  []tailStep        // of chains that keep their actors
	chains []*chain          // theirs
	live   int               // how much of that the system counts as issued
}

func (r *recovery) run() error {
	for _, step := range []func() error{r.graph, r.sessions, r.setTimers, r.continuations, r.outbox, r.unread} {
		if err := step(); err != nil {
			r.s.live.add(-r.live) // it will not run, and closing the system waits for what does
			return err
		}
	}
	r.d.store.WriteSchema(r.d.layouts.schema)
	if r.s.tracer == nil {
		r.d.untraced()
	}
	r.clean()
	for i, ch := range r.chains {
		r.s.workers.run(func() { ch.proceed(r.steps[i]) })
	}
	for _, l := range r.lanes {
		r.s.workers.run(func() { r.s.drain(l) })
	}
	r.s.timers.wake()
	r.s.maintainer.kick()
	return nil
}

// unread refuses a store in which calls wait that the program cannot read.
func (r *recovery) unread() error { return r.d.signatures.unread(r.d.layouts.schema) }

// head is what recovery needs of a header until the graph is restored.
type head struct {
	parent event.ActorID
	units  uint32
	top    bool
	dead   bool
}

// part is what one goroutine reads.
type part struct {
	blocks []block
	heads  [][]head // of the handles in blocks
	free   []Handle
	spare  []head // as many as free
	err    error
}

// handlesBlock is how many handles are allocated at once. Nothing is read into one slice: it is
// not known how much there is, and to copy what is there costs as much as to read it.
const handlesBlock = 1 << 12

// graph reads headers and edges.
func (r *recovery) graph() error {
	workers := min(runtime.GOMAXPROCS(0), len(r.s.partitions))
	parts := make([]part, workers)
	each := (len(r.s.partitions) + workers - 1) / workers
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			for p := i * each; p < min((i+1)*each, len(r.s.partitions)) && parts[i].err == nil; p++ {
				parts[i].err = r.headers(&parts[i], event.PartitionID(p))
			}
		})
	}
	wg.Wait()
	total := 0
	for i := range parts {
		if parts[i].err != nil {
			return parts[i].err
		}
		r.d.actors.blocks = append(r.d.actors.blocks, parts[i].blocks...)
		total += parts[i].actors()
	}
	r.placed = make([]dominator.Placed, total)
	rest := r.placed
	for i := range parts {
		chunk := rest[:parts[i].actors()]
		rest = rest[len(chunk):]
		wg.Go(func() { parts[i].err = r.parents(chunk, &parts[i]) })
	}
	wg.Wait()
	for i := range parts {
		if parts[i].err != nil {
			return parts[i].err
		}
	}
	edges, err := r.edges()
	if err != nil {
		return err
	}
	gone, err := r.s.graph.Restore(r.placed, edges)
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	for _, n := range gone {
		r.gone = append(r.gone, r.s.handleOf(n))
	}
	r.placed = nil
	return nil
}

// actors is how many there are in the part.
func (p *part) actors() int {
	n := 0
	for _, b := range p.blocks {
		n += len(b)
	}
	return n
}

// headers reads the headers of a partition and makes handles of them.
func (r *recovery) headers(p *part, id event.PartitionID) error {
	begin, heads := p.free, p.spare
	n := 0
	cut := func() {
		if n > 0 {
			p.blocks = append(p.blocks, block(begin[:n:n]))
			p.heads = append(p.heads, heads[:n:n])
		}
		begin, heads, n = p.free, p.spare, 0
	}
	var row headerRow
	var last uint32 // layout seen, which is never 0
	var class *Class
	err := r.rows(id, store.Headers, 8, func(key, payload []byte) error {
		if err := row.read(payload); err != nil {
			return err
		}
		if row.layout != last {
			var err error
			if _, class, err = r.d.layouts.byNumber(row.layout); err != nil && (row.flags&headerDead == 0 || !isClass(err)) {
				return err
			}
			last = row.layout
		}
		if len(p.free) == 0 {
			cut()
			p.free, p.spare = make([]Handle, handlesBlock), make([]head, handlesBlock)
			begin, heads = p.free, p.spare
		}
		h := &p.free[0]
		p.spare[0] = head{parent: row.parent, units: row.units, top: row.top, dead: row.flags&headerDead != 0}
		p.free, p.spare = p.free[1:], p.spare[1:]
		n++
		h.id = event.ActorID{Birth: id, Serial: binary.BigEndian.Uint64(key)}
		h.node.ID, h.layout = h.id.Serial, row.layout
		h.class = class
		state := created | unloaded
		switch {
		case row.flags&headerDead != 0:
			state = created | deleted
			r.d.found[store.Headers].Add(-1)
		case row.flags&headerUnborn != 0:
			state = 0
			r.d.found[store.Headers].Add(-1)
		}
		h.state.Store(state)
		if row.flags&headerNamed != 0 {
			h.named = &naming{name: row.name, incarnation: row.incarnation}
		}
		return nil
	})
	cut()
	return err
}

// parents finds the T-parents of a part, and says where its actors are placed.
func (r *recovery) parents(placed []dominator.Placed, p *part) error {
	var last event.ActorID
	var node *dominator.Node // of last
	for i, b := range p.blocks {
		for j := range b {
			h, f := &b[j], &p.heads[i][j]
			if !f.top && (f.parent != last || node == nil) {
				var err error
				if node, err = r.parent(f.parent); err != nil {
					return r.corrupt(store.HeaderKey(h.id), err)
				}
				last = f.parent
			}
			placed[0] = dominator.Placed{Node: &h.node, Parent: node, Units: f.units, Dead: f.dead}
			if f.top {
				placed[0].Parent = r.s.graph.TOP()
			}
			placed = placed[1:]
		}
		p.heads[i] = nil
	}
	return nil
}

// parent returns the node of a T-parent other than TOP.
func (r *recovery) parent(id event.ActorID) (*dominator.Node, error) {
	if id.Serial == 0 {
		if int(id.Birth) >= len(r.s.partitions) {
			return nil, fmt.Errorf("there is no partition %d", id.Birth)
		}
		return &r.s.partitions[id.Birth].node, nil
	}
	h := r.d.actors.recovered(id)
	if h == nil {
		return nil, fmt.Errorf("its parent %v is missing", id)
	}
	return &h.node, nil
}

// edges reads the edges whose owner is not the T-parent.
func (r *recovery) edges() (list []dominator.Edit, err error) {
	for p := range r.s.partitions {
		err := r.rows(event.PartitionID(p), store.Edges, 18, func(key, payload []byte) error {
			in := payloadReader{rest: payload}
			units := in.uint()
			if err := in.end(); err != nil {
				return err
			}
			child := event.ActorID{Birth: event.PartitionID(p), Serial: binary.BigEndian.Uint64(key)}
			owner := actorInKey(key[8:])
			c, o := r.d.actors.recovered(child), r.d.actors.recovered(owner)
			switch {
			case c == nil:
				return fmt.Errorf("the owned actor %v is missing", child)
			case o == nil:
				return fmt.Errorf("the owner %v is missing", owner)
			}
			list = append(list, dominator.Edit{Owner: &o.node, Child: &c.node, Units: int(units)})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// actorInKey reads an id as store.AppendActor writes it.
func actorInKey(key []byte) event.ActorID {
	return event.ActorID{Birth: event.PartitionID(binary.BigEndian.Uint16(key)), Serial: binary.BigEndian.Uint64(key[2:])}
}

// sectionPrefix is how long the common part of the keys of a section is.
const sectionPrefix = 4

// rows calls f for every row of a section, in order, with the rest of its key, which has at
// least keyMin bytes. Errors of f are damage of that row, unless they say otherwise.
func (r *recovery) rows(p event.PartitionID, section store.Section, keyMin int, f func(key, payload []byte) error) error {
	it := r.d.store.Scan(store.SectionRange(p, section))
	var err error
	n := int64(0)
	for err == nil && it.Next() {
		var payload []byte
		if payload, err = store.Payload(it.Key(), it.Value()); err != nil {
			break
		}
		if len(it.Key()) < sectionPrefix+keyMin {
			err = r.corrupt(it.Key(), fmt.Errorf("its key is too short"))
		} else if e := f(it.Key()[sectionPrefix:], payload); e != nil {
			err = r.corrupt(it.Key(), e)
		} else {
			n++
		}
	}
	if closed := it.Close(); err == nil {
		err = closed
	}
	r.d.found[section].Add(n)
	return err
}

// corrupt names the row that an error is about.
func (r *recovery) corrupt(key []byte, err error) error {
	key = append([]byte(nil), key...)
	if isClass(err) {
		return fmt.Errorf("%s: %w", store.DescribeKey(key), err)
	}
	return &store.CorruptError{Key: key, Reason: err.Error()}
}

// clean removes rows that nobody needs any more.
func (r *recovery) clean() {
	if len(r.gone) == 0 {
		return
	}
	b := r.d.store.NewBatch()
	for _, h := range r.gone {
		b.Delete(store.HeaderKey(h.id))
	}
	r.d.journal.Append(b)
	r.gone = nil
}
