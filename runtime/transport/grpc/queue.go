package grpc

import "sync"

// queue is what waits for the sender of a session. Any goroutine puts, the sender takes.
type queue struct {
	max   int
	ready chan struct{} // has an element when there is something to take
	mu    struct {
		sync.Mutex
		list  [][]byte
		spare [][]byte // the memory of the list that was taken last
		bytes int      // of all that was put and not released
	}
}

// perMessage is what a message costs beside its bytes, so that empty ones are bounded, too.
const perMessage = 32

func newQueue(max int) *queue { return &queue{max: max, ready: make(chan struct{}, 1)} }

// put adds a message, and reports whether there was room. One message alone always has.
func (q *queue) put(m []byte) bool {
	q.mu.Lock()
	if q.mu.bytes > 0 && q.mu.bytes+len(m)+perMessage > q.max {
		q.mu.Unlock()
		return false
	}
	q.mu.bytes += len(m) + perMessage
	q.mu.list = append(q.mu.list, m)
	first := len(q.mu.list) == 1
	q.mu.Unlock()
	if first {
		select {
		case q.ready <- struct{}{}:
		default:
		}
	}
	return true
}

// take returns all messages that were put, and keeps the memory of the list for the next ones but one.
func (q *queue) take() [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.mu.list
	q.mu.list, q.mu.spare = q.mu.spare[:0], list
	return list
}

// release makes room: messages with so many bytes have left.
func (q *queue) release(messages, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mu.bytes -= bytes + messages*perMessage
}

// waiting returns how many bytes wait.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.bytes
}
