package link

import (
	"errors"
	"sync"

	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/event"
)

var errFrame = errors.New("link: a frame cannot be read: the other node is of another version")

// Store is what a Local tells of sessions and messages. It is an *across.Store.
type Store interface {
	Up(store event.StoreID, session uint64)
	Lost(store event.StoreID)
	Receive(from event.StoreID, session uint64, m *across.Message)
}

// inbox has one goroutine tell a store what has arrived, in order. What puts something there does not wait: messages behind it may be for other stores,
// and a store may read its disk.
type inbox struct {
	mu     sync.Mutex
	news   sync.Cond
	list   []arrival
	closed bool
	ended  sync.WaitGroup
}

// arrival is a message that has come, or something else that a store is to be told.
type arrival struct {
	from    event.StoreID
	session uint64
	message across.Message
	tell    func(Store) // nil: it is the message
}

func (b *inbox) open() { b.news.L = &b.mu }

// put adds what is to be told. It is dropped if the inbox is closed.
func (b *inbox) put(f func(Store)) { b.add(&arrival{tell: f}) }

// receive adds a message of a session with a store.
func (b *inbox) receive(from event.StoreID, session uint64, m *across.Message) {
	b.add(&arrival{from: from, session: session, message: *m})
}

func (b *inbox) add(a *arrival) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.list = append(b.list, *a)
		b.news.Signal()
	}
}

// keptMax is for how many arrivals an inbox keeps room that it has needed once.
const keptMax = 1024

// start tells s what is there, and what comes, until close.
func (b *inbox) start(s Store) {
	b.ended.Go(func() {
		var told []arrival
		for {
			b.mu.Lock()
			for len(b.list) == 0 && !b.closed {
				b.news.Wait()
			}
			list := b.list
			b.list = told
			closed := b.closed
			b.mu.Unlock()
			if closed {
				return
			}
			for i := range list {
				if a := &list[i]; a.tell == nil {
					s.Receive(a.from, a.session, &a.message)
				} else {
					a.tell(s)
				}
			}
			clear(list)
			if told = list[:0]; cap(told) > keptMax {
				told = nil
			}
		}
	})
}

// close drops what was not told, and returns when nothing is being told any more.
func (b *inbox) close() {
	b.mu.Lock()
	b.closed = true
	b.news.Broadcast()
	b.mu.Unlock()
	b.ended.Wait()
}
