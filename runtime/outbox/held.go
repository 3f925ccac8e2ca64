package outbox

import "sync"

// HeldCalls are the places that events of other stores have among the callbacks of clients, until these stores say what becomes of them. K names the
// callbacks of an event. The zero value has none. Any goroutine may use it.
type HeldCalls[K comparable] struct {
	mu   sync.Mutex
	byID map[K]*HeldCall
}

// HeldCall is what becomes of the callbacks of one event.
type HeldCall struct {
	Known chan struct{} // closed when it is known
	Run   bool          // they do; valid then
}

// Hold holds callbacks.
func (hs *HeldCalls[K]) Hold(id K) *HeldCall {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.byID == nil {
		hs.byID = make(map[K]*HeldCall)
	}
	h := &HeldCall{Known: make(chan struct{})}
	hs.byID[id] = h
	return h
}

// Let says what becomes of callbacks. They may have been dropped.
func (hs *HeldCalls[K]) Let(id K, run bool) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if h := hs.byID[id]; h != nil {
		delete(hs.byID, id)
		h.Run = run
		close(h.Known)
	}
}

// Drop drops the callbacks that which reports.
func (hs *HeldCalls[K]) Drop(which func(K) bool) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	for id, h := range hs.byID {
		if which(id) {
			delete(hs.byID, id)
			close(h.Known)
		}
	}
}
