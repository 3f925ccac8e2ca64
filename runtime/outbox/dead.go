package outbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/metrics"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// DeadLettersMax is how many dead letters a store keeps: the newest. DeadArgsMax is how many bytes the arguments of one may
// have to be kept with it.
const (
	DeadLettersMax = 1000
	DeadArgsMax    = 16 << 10
)

// DeadLetters knows which dead letters a store has, and not what is in them. A letter is written in the batch that removes the
// row of what has failed, so that there is one of the two. The batch of a letter that is one too many deletes the oldest.
//
// Invariant: the batch of each letter that is listed was appended before it was listed, so what deletes it comes later in the
// journal. What is taken from the list is deleted by one batch.
type DeadLetters struct {
	mu struct {
		sync.Mutex
		list    []deadLetter // the oldest first
		coming  int          // letters whose batches are not appended yet
		known   uint64       // how many were dropped, in earlier runs, too
		dropped uint64       // in this run
	}
}

// deadLetter is where a letter has its row.
type deadLetter struct {
	seq uint64
	p   event.PartitionID
}

// Recover finds the letters that a store has. No other goroutine uses ds.
func (ds *DeadLetters) Recover(st *store.Store) error {
	for p := range st.Partitions() {
		p := event.PartitionID(p)
		err := row.Section(st, p, store.DeadLetters, row.DeadLetterKeyMin, func(key, rest, _, payload []byte) error {
			dropped, err := row.DroppedLetters(payload)
			ds.mu.known = max(ds.mu.known, dropped)
			ds.insert(deadLetter{row.ReadDeadLetterKey(rest), p})
			return row.Damage(key, err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// insert lists a letter. Most are the newest.
func (ds *DeadLetters) insert(l deadLetter) {
	i := len(ds.mu.list)
	for i > 0 && ds.mu.list[i-1].seq > l.seq {
		i--
	}
	ds.mu.list = slices.Insert(ds.mu.list, i, l)
}

// Write puts a letter into a batch, and what deletes the oldest ones if there are too many. Once the batch is appended
// Written is called.
func (ds *DeadLetters) Write(w *row.Writer, l *event.DeadLetter) {
	ds.mu.Lock()
	n := max(0, min(len(ds.mu.list)+ds.mu.coming+1-DeadLettersMax, len(ds.mu.list)))
	drop := slices.Clone(ds.mu.list[:n])
	ds.mu.list = slices.Delete(ds.mu.list, 0, n)
	ds.mu.coming++
	ds.mu.known += uint64(n)
	ds.mu.dropped += uint64(n)
	l.Dropped = ds.mu.known
	ds.mu.Unlock()
	for _, old := range drop {
		w.Key = row.AppendDeadLetterKey(w.Key[:0], old.p, old.seq)
		w.Delete()
	}
	w.Key = row.AppendDeadLetterKey(w.Key[:0], l.Partition, l.Seq)
	w.Begin()
	w.Row = row.AppendDeadLetter(w.Row, l)
	w.Set()
}

// Written lists a letter whose batch was appended.
func (ds *DeadLetters) Written(l *event.DeadLetter) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.mu.coming--
	ds.insert(deadLetter{l.Seq, l.Partition})
}

// Forget deletes letters from the store, in a batch that the caller appends, and from the list. It returns how many of them were
// there still.
func (ds *DeadLetters) Forget(w *row.Writer, letters []event.DeadLetter) (n int) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for i := range letters {
		l := deadLetter{letters[i].Seq, letters[i].Partition}
		at := slices.Index(ds.mu.list, l)
		if at < 0 {
			continue
		}
		ds.mu.list = slices.Delete(ds.mu.list, at, at+1)
		w.Key = row.AppendDeadLetterKey(w.Key[:0], l.p, l.seq)
		w.Delete()
		n++
	}
	return n
}

// Count returns how many letters there are, and how many were dropped in this run.
func (ds *DeadLetters) Count() (kept int, dropped uint64) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	return len(ds.mu.list), ds.mu.dropped
}

// WriteMetrics writes how many letters there are. Any goroutine.
func (ds *DeadLetters) WriteMetrics(w *metrics.Writer) {
	kept, dropped := ds.Count()
	w.Gauge("aeon_dead_letters", "Dead letters in the store.", int64(kept))
	w.Counter("aeon_dead_letters_dropped_total", "Dead letters that the store has dropped, as there were too many.", dropped)
}

// ErrNoLetter says that a store has no such dead letter.
var ErrNoLetter = errors.New("there is no such dead letter")

// PickLetters returns the letters of events. The error wraps ErrNoLetter if there is none of one of them.
func PickLetters(letters []event.DeadLetter, events []string) ([]event.DeadLetter, error) {
	var picked []event.DeadLetter
	missing := slices.Clone(events)
	for _, l := range letters {
		if id := l.Event.String(); slices.Contains(events, id) {
			picked = append(picked, l)
			missing = slices.DeleteFunc(missing, func(e string) bool { return e == id })
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%w: %s; nothing was forgotten", ErrNoLetter, strings.Join(missing, ", "))
	}
	return picked, nil
}
