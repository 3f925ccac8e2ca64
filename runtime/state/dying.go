package state

import (
	"slices"
	"sync"

	"github.com/aeon-lang/aeon/runtime/order"
)

// Dying are the actors that are deleted by what is prepared for events of other stores: an event that asks for them waits until it is known whether they are. The
// zero Dying has none. Any goroutine may use it.
type Dying struct {
	mu   sync.Mutex
	over map[*order.Handle]chan struct{} // closed when it is known
}

// Add adds actors; what it returns says that it is known.
func (d *Dying) Add(list []*order.Handle) (known func()) {
	list, over := slices.Clone(list), make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over == nil {
		d.over = make(map[*order.Handle]chan struct{})
	}
	for _, h := range list {
		d.over[h] = over
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, h := range list {
			if d.over[h] == over { // else another event deletes it by now: this one had given back its locks
				delete(d.over, h)
			}
		}
		close(over)
	}
}

// Over returns what is closed when it is known whether an actor is deleted, nil if it is known.
func (d *Dying) Over(h *order.Handle) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if over, ok := d.over[h]; ok {
		return over
	}
	return nil
}
