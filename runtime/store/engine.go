package store

import (
	"errors"
	"fmt"
	"strings"
)

// Engine is an ordered store of keys whose batches are atomic and whose log is the
// journal. All methods may be called from any goroutine. An error of any of them is
// final: what was not synced by then may be lost, so the process has to end.
type Engine interface {
	Reader
	// NewBatch returns an empty batch.
	NewBatch() Batch
	// Apply makes the batch visible to readers, whole, and gives it its place in the log.
	// It does not wait for the disk. The batch is used up.
	Apply(Batch) error
	// Sync returns when everything whose Apply had returned before the call is durable.
	Sync() error
	// Snapshot returns a view of the store as it is now.
	Snapshot() Snapshot
	// Close releases the store. Everything applied is durable then.
	Close() error
}

// Announcing is implemented by engines that keep batches in memory for a while. In other engines
// a batch may survive the process as soon as Apply is called.
type Announcing interface {
	// BeforeWrite makes the engine call f before anything that was applied since the last call
	// may survive the process. f must not call the engine.
	BeforeWrite(f func())
}

// Reader reads keys.
type Reader interface {
	// Get appends the value of key to buf and returns it; ok is false, and the result
	// buf, if there is none.
	Get(key, buf []byte) (value []byte, ok bool, err error)
	// Scan returns an iterator over the keys k with from <= k < to, before the first.
	Scan(from, to []byte) Iterator
}

// Iterator goes over keys in ascending order by Next, or in descending order by Prev, but one way
// only. It must be closed; it sees the store as it was when it was made.
type Iterator interface {
	// Next moves to the next key and reports whether there is one.
	Next() bool
	// Prev moves to the key before, at first to the last one, and reports whether there is one.
	Prev() bool
	// Key and Value are valid until the next call of Next or Prev.
	Key() []byte
	Value() []byte
	// Close releases the iterator and returns the error that ended it early, if any.
	Close() error
}

// Snapshot is a Reader that does not change.
type Snapshot interface {
	Reader
	Close() error
}

// Batch collects changes. It belongs to one goroutine; it copies what it is given. Of
// changes to one key the last one counts.
type Batch interface {
	Set(key, value []byte)
	Delete(key []byte)
	// DeleteRange deletes the keys k with from <= k < to.
	DeleteRange(from, to []byte)
	// Size returns about how many bytes the batch adds to the log.
	Size() int
	// Discard gives back a batch that was not applied.
	Discard()
}

// ErrCorrupt is wrapped by every error which means that the disk does not hold what was
// written to it.
var ErrCorrupt = errors.New("the data is damaged")

// CorruptError names a damaged row.
type CorruptError struct {
	Key    []byte
	Reason string
}

// Error implements error.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("%v: %s: %s", ErrCorrupt, DescribeKey(e.Key), e.Reason)
}

// Unwrap makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

// Placed is implemented by errors that name the place of the store that they are about.
type Placed interface {
	error
	Place() string
}

// In returns err. If err says that data is damaged and names no place, the result names this one.
func In(place string, err error) error {
	if known := Placed(nil); place == "" || !errors.Is(err, ErrCorrupt) || errors.As(err, &known) {
		return err
	}
	return &damagedIn{place, err}
}

// damagedIn is damage in a place.
type damagedIn struct {
	place string
	cause error
}

// Error implements error.
func (e *damagedIn) Error() string {
	what := strings.TrimPrefix(e.cause.Error(), ErrCorrupt.Error()+": ")
	return fmt.Sprintf("the data in %s is damaged: %s; nothing was repaired: restore the directory from a snapshot, or find out what has changed it", e.place, what)
}

// Unwrap returns the error without the place.
func (e *damagedIn) Unwrap() error { return e.cause }

// Place implements Placed.
func (e *damagedIn) Place() string { return e.place }
