package grpc

import "sync"

// class is one of the two kinds of messages. Neither waits for what waits of the other.
type class int

const (
	lossy    class = iota // of Send
	lossless              // of SendReliable
	classes
)

// queue is what waits for the sender of a session. Any goroutine puts, the sender takes.
type queue struct {
	max   int           // bytes that wait of the lossy messages
	ready chan struct{} // has an element when there is something to take
	mu    struct {
		sync.Mutex
		waits [classes]waiting
	}
}

// waiting are the messages of a class, in order.
type waiting struct {
	list  [][]byte
	from  int // of the list, what was not taken
	bytes int // of what was not taken
}

// perMessage is what a message costs beside its bytes, so that empty ones are bounded, too.
const perMessage = 32

// turnMax is how many bytes of a class the sender takes at a time, unless one message has more: as long the other class waits.
const turnMax = 2 * frameMax

func newQueue(max int) *queue { return &queue{max: max, ready: make(chan struct{}, 1)} }

// put adds a message, and reports whether there was room. One message alone always has, and a lossless one.
func (q *queue) put(c class, m []byte) bool {
	q.mu.Lock()
	w := &q.mu.waits[c]
	if c == lossy && w.bytes > 0 && w.bytes+len(m)+perMessage > q.max {
		q.mu.Unlock()
		return false
	}
	first := q.mu.waits[lossy].bytes+q.mu.waits[lossless].bytes == 0
	if len(w.list) == cap(w.list) && 2*w.from >= len(w.list) { // what was taken makes room
		n := copy(w.list, w.list[w.from:])
		clear(w.list[n:])
		w.list, w.from = w.list[:n], 0
	}
	w.bytes += len(m) + perMessage
	w.list = append(w.list, m)
	q.mu.Unlock()
	if first {
		select {
		case q.ready <- struct{}{}:
		default:
		}
	}
	return true
}

// take appends the next messages of either class to list, none if none wait.
func (q *queue) take(list [][]byte) [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	for c := range q.mu.waits {
		list = q.mu.waits[c].take(list)
	}
	return list
}

func (w *waiting) take(list [][]byte) [][]byte {
	for taken := 0; w.from < len(w.list) && (taken == 0 || taken+len(w.list[w.from]) <= turnMax); w.from++ {
		m := w.list[w.from]
		list = append(list, m)
		w.list[w.from] = nil
		w.bytes -= len(m) + perMessage
		taken += len(m) + perMessage
	}
	if w.from == len(w.list) {
		w.list, w.from = w.list[:0], 0
	}
	return list
}

// waiting returns how many bytes wait.
func (q *queue) waiting() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for c := range q.mu.waits {
		n += q.mu.waits[c].bytes
	}
	return n
}
