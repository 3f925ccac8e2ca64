package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Entry is one of the log of the group.
type Entry struct {
	Index, Term uint64
	Data        []byte // empty: it changes nothing but the index
	Members     []byte // the row of members as of this entry; nil: it changes none
}

// The kinds of data, which are their first byte. The changes of a group follow it, or a part of them.
const (
	kindPart = 'p' // of a group of which more parts follow
	kindLast = 'l' // part of a group, or all of it
)

// indexKey is the row of the state with the index and term of the entry up to which it is. It lies before all rows of a store, which
// begin with a letter.
var indexKey = []byte{0, 'i'}

// membersKey is the row with the members of the group as of that index, in the form that package replica has them in.
var membersKey = []byte{0, 'm'}

// clockKey is the row with the time of the last leader when it proposed a group, in nanoseconds since 1970: a number of 8 bytes.
var clockKey = []byte{0, 'c'}

// State is the state of a store on one node. It is handed what is committed by Apply, and its engine takes all of that at once by Take: of a row that
// many groups have changed the last change alone. What it was handed and has not taken is in the log. Apply, Take and Replace belong to one goroutine,
// but that a Take may run beside calls of Apply; any goroutine may call the other methods.
type State struct {
	engine *held

	failed error // of a Take: what that was to take is not in waiting any more

	parts changes // of the group that has begun, and not ended
	begun uint64  // the term of that group; 0: there is none

	mu      sync.Mutex
	leader  *Engine   // nil: this node does not lead the group
	waiting []changes // of groups that are whole, and that the engine does not have
	size    int       // of waiting
	coming  []Entry   // with members, that are newer than index
	whole   uint64    // up to which entry all is in the engine or in waiting
	index   uint64    // up to which entry the engine has everything
	synced  uint64    // up to which entry it was synced
}

// OpenState returns the state that an engine has.
func OpenState(e store.Engine) (*State, error) {
	index, err := stateIndex(e)
	return &State{engine: &held{Engine: e}, whole: index, index: index, synced: index}, err
}

func stateIndex(r store.Reader) (uint64, error) {
	b, found, err := r.Get(indexKey, nil)
	if err != nil || !found {
		return 0, err
	}
	n, size := binary.Uvarint(b)
	if size <= 0 || size != len(b) {
		return 0, &store.CorruptError{Key: indexKey, Reason: "it is no index"}
	}
	return n, nil
}

// Members returns the row of members; nil if there is none.
func (s *State) Members() ([]byte, error) { return membersOf(s.engine) }

func membersOf(r store.Reader) ([]byte, error) {
	b, found, err := r.Get(membersKey, nil)
	if !found {
		b = nil
	}
	return b, err
}

// Begin makes the first state of a group, which has no entry yet: that of index 1.
func (s *State) Begin(members []byte) error {
	assert.That(s.index == 0, "engine: a state at %d begins again", s.index)
	b := s.engine.NewBatch()
	b.Set(indexKey, binary.AppendUvarint(nil, 1))
	b.Set(membersKey, members)
	if err := s.engine.Apply(b); err != nil {
		return err
	}
	s.whole, s.index = 1, 1
	return s.Sync()
}

// Whole returns up to which entry the state was handed everything. Entries behind it that were applied are parts of a group that has not ended.
func (s *State) Whole() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.whole
}

// Index returns up to which entry the engine has everything.
func (s *State) Index() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index
}

// Waiting returns how many bytes of changes the engine has not taken, and whether there is anything for it to take.
func (s *State) Waiting() (bytes int, some bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size, s.index < s.whole
}

// Synced returns up to which entry the state is durable. The log may be cut there.
func (s *State) Synced() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.synced
}

// Sync makes durable what the engine had taken before it was called.
func (s *State) Sync() error {
	s.mu.Lock()
	e, index := s.engine, s.index
	release := e.hold()
	s.mu.Unlock()
	if err := errors.Join(e.Sync(), release()); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.engine == e { // else another state has replaced what was synced
		s.synced = max(s.synced, index)
	}
	return nil
}

// Apply hands committed entries to the state. Groups that end among them have been committed: Sync of the leader's engine returns.
//
// The parts of a group are of one leader, which proposes one group behind the other: so an entry of a newer term ends a group
// without its last part, which is in no log then. After a crash, entries that the state does not have are applied again.
func (s *State) Apply(list []Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := 0 // groups of the leader that have ended
	last := s.whole
	for _, e := range list {
		if e.Index <= last {
			continue
		}
		if s.begun != 0 && s.begun != e.Term {
			s.parts, s.begun = nil, 0
		}
		if e.Members != nil {
			s.coming = append(s.coming, Entry{Index: e.Index, Members: e.Members})
		}
		if len(e.Data) > 0 {
			switch kind := e.Data[0]; kind {
			case kindPart:
				s.parts, s.begun = append(s.parts, e.Data[1:]...), e.Term
			case kindLast:
				s.wait(e.Data[1:])
				if s.leader != nil && s.leader.term == e.Term {
					own++
				}
			default:
				return fmt.Errorf("entry %d of the log is of the unknown kind %q", e.Index, kind)
			}
		}
		if s.begun == 0 {
			s.whole = e.Index
		}
	}
	if own > 0 {
		s.leader.committed(own)
	}
	return nil
}

// wait adds a group to those that wait, of which c is the last part. Caller holds mu.
func (s *State) wait(c changes) {
	if s.begun != 0 {
		c = append(s.parts, c...)
		s.parts, s.begun = nil, 0
	}
	s.waiting, s.size = append(s.waiting, c), s.size+len(c)
}

// Take has the engine take all that the state was handed, in one batch with the index up to which that is. Readers of the leader see its own groups
// in the overlay before, in the engine afterwards, and in both meanwhile.
func (s *State) Take() (err error) {
	if s.failed != nil {
		return s.failed
	}
	defer func() { s.failed = err }()
	s.mu.Lock()
	list, index := s.waiting, s.whole
	s.waiting, s.size = nil, 0
	var members []byte
	for len(s.coming) > 0 && s.coming[0].Index <= index {
		members = s.coming[0].Members
		s.coming = s.coming[1:]
	}
	leader, number := s.leader, uint64(0)
	if leader != nil {
		number = leader.landed()
	}
	s.mu.Unlock()

	b := s.engine.NewBatch()
	if err := merge(list, b); err != nil {
		return fmt.Errorf("groups up to entry %d of the log: %w", index, err)
	}
	b.Set(indexKey, binary.AppendUvarint(nil, index))
	if members != nil {
		b.Set(membersKey, members)
	}
	if err := s.engine.Apply(b); err != nil {
		return err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.index = index
	if leader != nil {
		leader.taken(number)
	}
	return nil
}

// Snapshot returns what the engine has now, and up to which entry that is. No Take runs beside it.
func (s *State) Snapshot() (store.Snapshot, uint64) { return s.engine.Snapshot(), s.Index() }

// Replace has the state be what e has, which came from another member, and is newer and durable. It owns e. The engine of the old state is closed
// when nothing reads it any more, and then gone is called. No engine leads: the one of a deposed leader has failed.
func (s *State) Replace(e store.Engine, gone func()) error {
	index, err := stateIndex(e)
	if err != nil {
		return errors.Join(err, e.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	assert.That(index > s.whole, "engine: a state at %d replaces one at %d", index, s.whole)
	assert.That(s.leader == nil || s.leader.hasFailed(), "engine: the state of a leader is replaced")
	old := s.engine
	old.gone = gone
	s.engine, s.leader = &held{Engine: e}, nil
	s.parts, s.begun = nil, 0
	s.waiting, s.size, s.coming = nil, 0, nil
	s.whole, s.index, s.synced = index, index, index
	return old.Close()
}

// Close has the engine take what waits, and closes it as soon as nothing reads it any more. No engine leads.
func (s *State) Close() error {
	var err error
	if _, some := s.Waiting(); some {
		err = s.Take()
	}
	return errors.Join(err, s.engine.Close())
}
