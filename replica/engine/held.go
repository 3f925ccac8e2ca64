package engine

import (
	"errors"
	"sync"

	"github.com/aeon-lang/aeon/runtime/store"
)

// held is an engine that is closed when its last snapshot is: the system of a deposed leader may still read one.
type held struct {
	store.Engine

	mu    sync.Mutex
	views int  // snapshots that are open, and what else holds it
	over  bool // the engine is to be closed

	gone func() // called when it is closed; may be nil
}

// Snapshot implements store.Engine. The engine was not closed.
func (h *held) Snapshot() store.Snapshot {
	h.hold()
	return &heldView{h.Engine.Snapshot(), h}
}

// hold keeps the engine open until release is called. The engine was not closed.
func (h *held) hold() (release func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.views++
	return h.release
}

func (h *held) release() error {
	h.mu.Lock()
	h.views--
	last := h.views == 0 && h.over
	h.mu.Unlock()
	if last {
		return h.end()
	}
	return nil
}

// Close implements store.Engine. If snapshots are open the engine is closed with the last of them, and an error is that one's.
func (h *held) Close() error {
	h.mu.Lock()
	h.over = true
	now := h.views == 0
	h.mu.Unlock()
	if now {
		return h.end()
	}
	return nil
}

func (h *held) end() error {
	err := h.Engine.Close()
	if h.gone != nil {
		h.gone()
	}
	return err
}

// heldView is a snapshot of a held engine.
type heldView struct {
	store.Snapshot
	of *held
}

// Close implements store.Snapshot.
func (v *heldView) Close() error {
	return errors.Join(v.Snapshot.Close(), v.of.release())
}
