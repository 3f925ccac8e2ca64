package store

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Format is the form of the rows of a store; a store of another form is refused.
const Format = 4

// UpgradableFormat is the only other one that can be read: aeond upgrade and aeond restore convert it (archive.RowSource.Upgraded).
const UpgradableFormat = 3

// The names of the node's own rows.
const (
	metaFormat     = "format"
	metaStore      = "store"
	metaPartitions = "partitions"
	metaStarts     = "starts"
	metaNumber     = "number"
	metaIDs        = "ids"
	metaSnapshot   = "snapshot"
)

// idsBlock is how many serial numbers are reserved at once.
const idsBlock = 1 << 16

// meta is the contents of the node's own rows.
type meta struct {
	identity   Identity
	partitions int
	number     event.StoreID
	starts     uint64
	firstID    uint64
	snapshot   atomic.Uint64
	fresh      bool

	ids struct {
		sync.Mutex               // held while some are reserved
		reserved   atomic.Uint64 // serials up to this one may be used
		starts     uint64        // the last number of a start that is used, by this one or one that went on after it
	}
}

// NewStoreID returns an id for a new store.
func NewStoreID() string {
	var id [16]byte
	rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// Identity returns the identity of the store and of its program.
func (s *Store) Identity() Identity { return s.meta.identity }

// Fresh reports whether the store was created by this Open.
func (s *Store) Fresh() bool { return s.meta.fresh }

// Number returns the number of the store in its cluster, 0 if it is in none.
func (s *Store) Number() event.StoreID { return s.meta.number }

// Starts returns the number of this start: 1 for a new store, and larger than that of each start before.
func (s *Store) Starts() uint64 { return s.meta.starts }

// Partitions returns how many partitions the store was made with.
func (s *Store) Partitions() int { return s.meta.partitions }

// FirstID returns the largest serial number that an earlier run may have used; larger ones are
// free.
func (s *Store) FirstID() uint64 { return s.meta.firstID }

// ReserveIDs makes sure that no later run uses serial numbers up to n. It is called
// before the batch that first uses n is appended, and rarely writes.
func (s *Store) ReserveIDs(n uint64) {
	ids := &s.meta.ids
	if n <= ids.reserved.Load() {
		return
	}
	ids.Lock()
	defer ids.Unlock()
	if n <= ids.reserved.Load() {
		return
	}
	upTo := n + idsBlock
	b := s.NewBatch()
	setNumber(b, metaIDs, upTo)
	s.Append(b)
	ids.reserved.Store(upTo)
}

// nextStart returns the number of another start, so that no later start has it. It does not wait until that is durable: what is stored
// with the number comes later in the journal.
func (s *Store) nextStart() uint64 {
	ids := &s.meta.ids
	ids.Lock()
	defer ids.Unlock()
	ids.starts++
	if err := startsLeft(ids.starts); err != nil {
		s.Fail(err)
	}
	b := s.NewBatch()
	setNumber(b, metaStarts, ids.starts)
	s.Append(b)
	return ids.starts
}

// startsLeft returns an error if ids cannot tell a start from those before.
func startsLeft(start uint64) error {
	if start > startsMax {
		return fmt.Errorf("the store was opened %d times: it cannot be opened again", start-1)
	}
	return nil
}

// SnapshotNumber returns the number of the last snapshot.
func (s *Store) SnapshotNumber() uint64 { return s.meta.snapshot.Load() }

// SetSnapshotNumber counts a snapshot, in the batch b.
func (s *Store) SetSnapshotNumber(b Batch, n uint64) {
	assert.That(n >= s.meta.snapshot.Load(), "snapshot %d after %d", n, s.meta.snapshot.Load())
	setNumber(b, metaSnapshot, n)
	s.meta.snapshot.Store(n)
}

// start reads the node's own rows, or writes those of a new store, and counts the start.
func (s *Store) start(o Options) error {
	m := &s.meta
	if e, ok := s.engine.(Identified); ok {
		m.identity = e.Identity()
	}
	format, ok, err := getNumber(s.engine, metaFormat)
	switch {
	case err != nil:
		return err
	case ok && format != Format:
		return formatError(m.identity.Place, int(format))
	case !ok:
		if err := s.requireEmpty(); err != nil {
			return err
		}
	}
	b := s.engine.NewBatch()
	if ok {
		err = s.readMeta(o)
	} else {
		s.writeMeta(o, b)
	}
	if err != nil {
		b.Discard()
		return err
	}
	m.starts++
	if err := startsLeft(m.starts); err != nil {
		b.Discard()
		return err
	}
	m.ids.starts = m.starts
	setNumber(b, metaStarts, m.starts)
	m.ids.reserved.Store(m.firstID)
	if err := s.engine.Apply(b); err != nil {
		return err
	}
	return s.engine.Sync()
}

// requireEmpty returns an error unless the engine holds nothing: rows without the row of
// their format are damage.
func (s *Store) requireEmpty() error {
	it := s.engine.Scan([]byte{}, []byte{0xff})
	var found []byte
	if it.Next() {
		found = bytes.Clone(it.Key())
	}
	if err := it.Close(); err != nil {
		return err
	}
	if found != nil {
		return &CorruptError{MetaKey(metaFormat), "it is missing, though there is " + DescribeKey(found)}
	}
	return nil
}

// writeMeta fills in the rows of a new store.
func (s *Store) writeMeta(o Options, b Batch) {
	m := &s.meta
	m.fresh = true
	if m.identity.Store == "" {
		m.identity.Store = NewStoreID()
	}
	if m.identity.Program == "" {
		m.identity.Program = o.Program
	}
	m.partitions = o.Partitions
	if m.partitions == 0 {
		m.partitions = event.Partitions
	}
	setNumber(b, metaFormat, Format)
	setNumber(b, metaPartitions, uint64(m.partitions))
	m.number = o.Number
	setNumber(b, metaNumber, uint64(m.number))
	setMeta(b, metaStore, []byte(m.identity.Store+" "+m.identity.Program))
}

// readMeta reads and checks the rows of a store that existed.
func (s *Store) readMeta(o Options) error {
	m := &s.meta
	text, err := needMeta(s.engine, metaStore)
	if err != nil {
		return err
	}
	if err := sameStore(text, m.identity); err != nil {
		return err
	}
	id, program, _ := bytes.Cut(text, []byte(" "))
	m.identity.Store, m.identity.Program = string(id), string(program)
	if o.Program != "" && o.Program != m.identity.Program {
		return &OtherProgramError{Place: m.identity.Place, Found: m.identity.Program, Program: o.Program}
	}
	if m.partitions, err = PartitionsOf(s.engine); err != nil {
		return err
	}
	number, err := needNumber(s.engine, metaNumber)
	if err != nil {
		return err
	}
	if m.number = event.StoreID(number); m.number != o.Number {
		return fmt.Errorf("%s has number %d in its cluster, and was opened with number %d: it is another store", place(m.identity.Place), m.number, o.Number)
	}
	if m.starts, err = needNumber(s.engine, metaStarts); err != nil {
		return err
	}
	if m.firstID, _, err = getNumber(s.engine, metaIDs); err != nil {
		return err
	}
	snapshot, _, err := getNumber(s.engine, metaSnapshot)
	m.snapshot.Store(snapshot)
	return err
}

// sameStore returns an error unless the row of the identity names the same store as the place.
func sameStore(row []byte, place Identity) error {
	id, _, _ := bytes.Cut(row, []byte(" "))
	if place.Store != "" && place.Store != string(id) {
		return &CorruptError{MetaKey(metaStore), fmt.Sprintf("it is that of store %s, and the place belongs to store %s", id, place.Store)}
	}
	return nil
}

// RequireIdentity returns an error if the rows in a place are of another store than the place. It is for callers that
// read the rows without opening the store. A damaged row is no error here: Verify finds it.
func RequireIdentity(r Reader, place Identity) error {
	row, ok, err := getMeta(r, metaStore)
	if err == nil && ok {
		return sameStore(row, place)
	}
	if errors.Is(err, ErrCorrupt) {
		return nil
	}
	return err
}

// RequireFormat returns an error if the rows in a place have another form than those of this version. It is for callers
// that read the rows without opening the store.
func RequireFormat(r Reader, place string) error {
	n, err := needNumber(r, metaFormat)
	if err != nil {
		return err
	}
	return formatError(place, int(n))
}

func setMeta(b Batch, name string, payload []byte) {
	key := MetaKey(name)
	b.Set(key, AppendRow(nil, key, payload))
}

func setNumber(b Batch, name string, n uint64) { setMeta(b, name, binary.AppendUvarint(nil, n)) }

func getMeta(r Reader, name string) ([]byte, bool, error) {
	key := MetaKey(name)
	row, ok, err := r.Get(key, nil)
	if err != nil || !ok {
		return nil, false, err
	}
	payload, err := Payload(key, row)
	return payload, err == nil, err
}

func needMeta(r Reader, name string) ([]byte, error) {
	payload, ok, err := getMeta(r, name)
	if err == nil && !ok {
		err = &CorruptError{MetaKey(name), "it is missing"}
	}
	return payload, err
}

func getNumber(r Reader, name string) (uint64, bool, error) {
	payload, ok, err := getMeta(r, name)
	if err != nil || !ok {
		return 0, false, err
	}
	n, err := numberOf(name, payload)
	return n, err == nil, err
}

// numberOf reads the payload of a row that is a number.
func numberOf(name string, payload []byte) (uint64, error) {
	n, size := binary.Uvarint(payload)
	if size != len(payload) || size <= 0 {
		return 0, &CorruptError{MetaKey(name), "it is no number"}
	}
	return n, nil
}

func needNumber(r Reader, name string) (uint64, error) {
	n, ok, err := getNumber(r, name)
	if err == nil && !ok {
		err = &CorruptError{MetaKey(name), "it is missing"}
	}
	return n, err
}
