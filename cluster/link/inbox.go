package link

import (
	"errors"
	"sync"
)

var errFrame = errors.New("link: a frame cannot be read: the other node is of another version")

// inbox has one goroutine tell a store what has arrived, in order. What puts something there does not wait: messages behind it may be for other stores,
// and a store may read its disk.
type inbox struct {
	mu     sync.Mutex
	news   sync.Cond
	list   []func(Store)
	closed bool
	ended  sync.WaitGroup
}

func (b *inbox) open() { b.news.L = &b.mu }

// put adds what is to be told. It is dropped if the inbox is closed.
func (b *inbox) put(f func(Store)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.list = append(b.list, f)
		b.news.Signal()
	}
}

// start tells s what is there, and what comes, until close.
func (b *inbox) start(s Store) {
	b.ended.Go(func() {
		for {
			b.mu.Lock()
			for len(b.list) == 0 && !b.closed {
				b.news.Wait()
			}
			list := b.list
			b.list = nil
			closed := b.closed
			b.mu.Unlock()
			if closed {
				return
			}
			for _, f := range list {
				f(s)
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
