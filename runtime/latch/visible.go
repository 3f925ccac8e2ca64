package latch

import (
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/aeon-lang/aeon/runtime/lock"
)

// visibleReader is a place that shows one reader of an actor whose word is spread (lock.Word). Few other goroutines write
// its cache line. After BRAVO (Dice and Kogan, USENIX ATC 2019), which has one table of visible readers for all
// locks, too.
type visibleReader struct {
	at atomic.Pointer[Latch]
	_  [56]byte
}

// visibleReaders is one table for all actors, since few actors have many readers at once. Calling readers in scans all of it.
var visibleReaders = make([]visibleReader, 1<<bits.Len(uint(8*runtime.NumCPU()-1)))

// spreadOdds is how many joins of a reader that had to be tried again it takes, on average, to spread a
// word. Calling the readers in again costs about as much as some tens of such joins.
const spreadOdds = 64

// placeOf returns the place of a reader of l. Events that run beside each other mostly have different places, as each
// processor has events in a pool of its own.
func (l *Latch) placeOf(serial uint32) *visibleReader {
	place := uintptr(unsafe.Pointer(l))>>5 + uintptr(serial)
	return &visibleReaders[place&uintptr(len(visibleReaders)-1)]
}

// join makes the caller, which has seen that l is spread, a reader of l, or reports false.
func (s *visibleReader) join(l *Latch) bool {
	if s.at.Load() != nil || !s.at.CompareAndSwap(nil, l) {
		return false
	}
	// Either this sees that the readers are called in, or the caller that calls them in sees the reader.
	return l.Load().Spreads() || !s.leave(l)
}

// leave takes a reader of l out of the place, and reports false if there is none: then it is counted in the word.
func (s *visibleReader) leave(l *Latch) bool { return s.at.CompareAndSwap(l, nil) }

// dispute is called by a reader that other readers have kept from joining l. Now and then it spreads the word.
func (l *Latch) dispute(w lock.Word) {
	if rand.Uint32N(spreadOdds) == 0 {
		l.spread(w)
	}
}

// Spread spreads the word, as happens when readers have been in each other's way.
func (l *Latch) Spread() { l.spread(l.Load()) }

// spread spreads the word of l, which is w, if it can be.
func (l *Latch) spread(w lock.Word) {
	if next, ok := w.Spread(); ok {
		l.Swap(w, next)
	}
}

// recall calls in the readers of l, whose word was w and spread, and takes the latch. It reports false if
// the word has changed.
func (l *Latch) recall(w lock.Word) bool {
	if !l.Swap(w, w.Recall()) {
		return false
	}
	n := 0
	for i := range visibleReaders {
		if s := &visibleReaders[i]; s.at.Load() == l && s.leave(l) {
			n++
		}
	}
	l.word.Add(uint32(lock.Gathered(n)))
	return true
}
