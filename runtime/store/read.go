package store

import "context"

// Get implements Reader.
func (s *Store) Get(key, buf []byte) (value []byte, ok bool, err error) {
	return s.get(s.engine, key, buf)
}

// Scan implements Reader.
func (s *Store) Scan(from, to []byte) Iterator {
	return &failingIterator{s.engine.Scan(from, to), s}
}

// Snapshot returns a view of the store as it is now.
func (s *Store) Snapshot() Snapshot { return &failingSnapshot{s.engine.Snapshot(), s} }

// View is Snapshot, and a position: the view has everything up to it, and perhaps more.
func (s *Store) View() (Snapshot, Position) {
	p := Position(s.appended.Load()) // before: what has a position is in the store
	return s.Snapshot(), p
}

// Settle returns when everything that a view of before shows is durable, as Wait does. A view may show a batch that has no
// position yet. So Settle waits for a batch of its own, which has its place behind that one, and which changes nothing.
func (s *Store) Settle(ctx context.Context) error {
	b := s.NewBatch()
	b.Delete(MetaKey("settled"))
	return s.Wait(ctx, s.Append(b))
}

func (s *Store) get(from Reader, key, buf []byte) ([]byte, bool, error) {
	value, ok, err := from.Get(key, buf)
	if err != nil {
		s.Fail(err)
	}
	return value, ok, err
}

// failingSnapshot makes the store fail by an error of a read.
type failingSnapshot struct {
	Snapshot
	s *Store
}

func (r *failingSnapshot) Get(key, buf []byte) (value []byte, ok bool, err error) {
	return r.s.get(r.Snapshot, key, buf)
}

func (r *failingSnapshot) Scan(from, to []byte) Iterator {
	return &failingIterator{r.Snapshot.Scan(from, to), r.s}
}

type failingIterator struct {
	Iterator
	s *Store
}

func (it *failingIterator) Close() error {
	err := it.Iterator.Close()
	if err != nil {
		it.s.Fail(err)
	}
	return err
}
