// Package store is where committed events go.
//
// A Journal orders batches: Append gives a batch its position, after which the
// event's locks may be released, and Durable tells whether the journal is safe
// up to a position, before which no answer may leave the node. This package
// holds the interface and the journal of the memory mode.
package store

import (
	"context"

	"github.com/aeon-lang/aeon/runtime/event"
)

// Position is a place in a journal. Positions of one journal are comparable;
// the zero position is durable from the start.
type Position uint64

// FieldWrite names one field of one actor that a batch changes. Its new value
// is read from Object by the journal while the event still holds its locks:
// the undo log that lists the fields serves as the redo log, too.
type FieldWrite struct {
	Actor  event.ActorID
	Object any
	Field  uint16
}

// Batch is what one committed event leaves behind; it becomes one atomic
// record. The slices belong to the event and are valid during Append only.
type Batch struct {
	Event   event.EventID
	Attempt event.Attempt
	// Failed is set for an abort, which is an outcome too; then nothing else is.
	Failed  error
	Writes  []FieldWrite
	Created []event.ActorID
	Deleted []event.ActorID
}

// Journal gives batches their order and makes them durable.
//
// All methods may be called from any goroutine. A durable journal keeps these
// promises: Append is called while the event holds its locks, so conflicting
// batches are appended in commit order; Append does not wait for the disk
// (callers hold locks) except through a credit that admission took earlier; a
// failed sync ends the process, because outcomes are then unknown.
type Journal interface {
	// Records reports whether Append wants the batch's content. When it is
	// false the batch is passed empty, apart from its event.
	Records() bool
	// Append gives the batch its position.
	Append(*Batch) Position
	// Durable reports whether everything up to p is safe; it never blocks.
	Durable(p Position) bool
	// Wait returns when everything up to p is safe, or ctx is done.
	Wait(ctx context.Context, p Position) error
}

// Memory is the journal of the memory mode: it records nothing, and
// everything is durable at once. The zero value is ready to use. It keeps no
// count of its own, so that commits on different cores share no cache line.
type Memory struct{}

// Records implements Journal: memory wants no content.
func (Memory) Records() bool { return false }

// Append implements Journal.
func (Memory) Append(*Batch) Position { return 0 }

// Durable implements Journal.
func (Memory) Durable(Position) bool { return true }

// Wait implements Journal.
func (Memory) Wait(context.Context, Position) error { return nil }
