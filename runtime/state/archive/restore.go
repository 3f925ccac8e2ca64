package archive

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// RowSource calls f for the rows of a snapshot, in the order of their keys.
type RowSource func(f func(key, row []byte) error) error

// RowsOf returns all rows of an engine. counted is called for each, with the number of those so far.
func RowsOf(r store.Reader, counted func(rows int)) RowSource {
	return func(f func(key, row []byte) error) error {
		n := 0
		return row.Each(r, []byte{}, row.EndOfKeys, func(key, value, _ []byte) error {
			n++
			counted(n)
			return f(key, value)
		})
	}
}

// formed calls f for all rows and fails unless the format row is among them. Without it the form of the rows is unknown,
// and a snapshot without any rows would make a store that has lost everything.
func (rows RowSource) formed(f func(key, row []byte) error) error {
	format, said := store.FormatKey(), false
	err := rows(func(key, row []byte) error {
		said = said || bytes.Equal(key, format)
		return f(key, row)
	})
	if err == nil && !said {
		err = &store.CorruptError{Key: format, Reason: "the snapshot does not have it"}
	}
	return err
}

// restoreBatchBytes is the size of a batch of a store that is not in use yet.
const restoreBatchBytes = 4 << 20

// Restore fills an empty engine with the rows of a snapshot, for a store with this identity, and this number in its cluster; 0: it is in none.
// The caller closes the engine; if Restore fails its contents are of no use.
func Restore(e store.Engine, id store.Identity, number event.StoreID, rows RowSource) error {
	b := e.NewBatch()
	err := rows.formed(func(key, row []byte) error {
		if err := store.Copy(b, id, number, key, row); err != nil {
			return err
		}
		if b.Size() < restoreBatchBytes {
			return nil
		}
		err := e.Apply(b)
		b = e.NewBatch()
		return err
	})
	if err != nil {
		b.Discard()
		return err
	}
	if err := e.Apply(b); err != nil {
		return err
	}
	return e.Sync()
}

// OwnedElsewhereError says that an actor cannot be restored because an actor that it reaches,
// or reached in the snapshot, is owned by an actor outside.
type OwnedElsewhereError struct {
	Actor event.ActorID
	Was   bool // it is among the actors of the snapshot, and is not reached any more
}

// Error implements error.
func (e *OwnedElsewhereError) Error() string {
	if e.Was {
		return fmt.Sprintf("actor %v, which belongs to the snapshot, is elsewhere now; restore the whole node, or to a new directory", e.Actor)
	}
	return fmt.Sprintf("actor %v, which would be replaced, is owned from outside, too; restore the whole node, or to a new directory", e.Actor)
}

// RestoreActor brings an actor and everything that it reaches back to a snapshot of it, in the
// store that the snapshot was taken of and that no system uses. All that the actor reaches now is
// replaced; its owners stay. It returns how many actors there are now below it, itself included. All
// happens in one batch, or, with an error, nothing. The caller makes the batch durable.
//
// A store whose own rows have another format is refused: the actor would not be found under its former keys, and would be put beside itself.
// One that is older than the snapshot, as it was brought back from a copy, counts on from the ids and starts that the snapshot knows, and is refused with
// an *OtherSchemaError if its schema does not have what the rows need.
func RestoreActor(e store.Engine, root event.ActorID, rows RowSource) (actors int, err error) {
	r := actorRestore{e: e, b: e.NewBatch(), members: make(map[event.ActorID]bool), schema: store.NewSchema(), layouts: make(map[uint32]int), signatures: make(map[uint32]bool)}
	if err := r.run(root, rows); err != nil {
		r.b.Discard()
		return 0, err
	}
	return len(r.members), e.Apply(r.b)
}

// actorBytesMax bounds the batch of a restore of an actor. Pebble panics at 4 GiB.
var actorBytesMax int64 = 3 << 30

// TooLargeError says that a restore of an actor, with all below it, has too much for one batch.
type TooLargeError struct{ Actor event.ActorID }

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("actor %v, with all that it owns, takes more than %d MiB of changes, too many to be made at once; restore it to a new directory", e.Actor, actorBytesMax>>20)
}

// actorRestore is one RestoreActor.
type actorRestore struct {
	e       store.Engine
	b       store.Batch
	present *Cut       // nil if the root is not there now
	above   row.Header // of the root as it is now
	members map[event.ActorID]bool
	root    event.ActorID

	schema     *store.Schema   // of the snapshot
	layouts    map[uint32]int  // how many of its actors have each
	signatures map[uint32]bool // that its rows name
}

func (r *actorRestore) run(root event.ActorID, rows RowSource) error {
	r.root = root
	var place store.Identity
	if e, ok := r.e.(store.Identified); ok {
		place = e.Identity()
	}
	if err := store.RequireFormat(r.e, place.Place); err != nil {
		return err
	}
	present, err := CutAt(r.e, root)
	switch err.(type) {
	case nil:
		if len(present.outside) > 0 {
			return &OwnedElsewhereError{Actor: present.outside[0]}
		}
		if r.above, err = present.readHeader(root); err != nil {
			return err
		}
		r.present = present
		if err := r.remove(); err != nil {
			return err
		}
	case *NoActorError:
	default:
		return err
	}
	if err := rows.formed(r.put); err != nil {
		return err
	}
	if !r.members[root] {
		return &NoActorError{ID: root}
	}
	if err := r.known(); err != nil {
		return err
	}
	return r.release()
}

// room returns an error if the batch has no room for so many bytes more.
func (r *actorRestore) room(bytes int) error {
	if int64(r.b.Size())+int64(bytes) > actorBytesMax {
		return &TooLargeError{r.root}
	}
	return nil
}

// release takes away from actors that come back the actors that they owned when they were deleted
// and that are not part of the snapshot: the headers of those still name them as owners.
func (r *actorRestore) release() error {
	partitions, err := store.PartitionsOf(r.e)
	for p := 0; p < partitions && err == nil; p++ {
		from, to := store.SectionRange(event.PartitionID(p), store.Headers)
		err = row.Each(r.e, from, to, func(key, _, payload []byte) error {
			var h row.Header
			if err := h.Read(payload); err != nil {
				return row.Damage(key, err)
			}
			_, _, id, ok := row.SplitKey(key)
			if !ok || h.Units == 0 || !r.members[h.Parent] || r.members[id] || r.present != nil && r.present.members[id] {
				return nil
			}
			h.Parent, h.Units = event.ActorID{Birth: id.Birth}, 0
			r.b.Set(h.Encode(id))
			return r.room(0)
		})
	}
	return err
}

// remove deletes the rows of the present actors. The edges and the header by which other actors own the root stay.
func (r *actorRestore) remove() error {
	c := r.present
	for _, id := range c.sorted {
		from, to := store.FieldsRange(id)
		r.b.DeleteRange(from, to)
		r.b.Delete(store.HeaderKey(id))
		prefix := row.AppendEdgesKey(nil, id)
		if id != r.root {
			r.b.DeleteRange(prefix, store.After(prefix))
		}
		prefix = store.AppendOf(nil, store.Continuations, id)
		r.b.DeleteRange(prefix, store.After(prefix))
		prefix = store.AppendOf(nil, store.Outbox, id)
		r.b.DeleteRange(prefix, store.After(prefix))
		if err := r.room(0); err != nil {
			return err
		}
	}
	for p := range c.partitions {
		err := c.section(event.PartitionID(p), store.Timers, row.TimerKeyMin, func(key, rest, _, _ []byte) error {
			if _, issuer, _ := row.ReadTimerKey(rest); c.members[issuer] {
				r.b.Delete(key)
			}
			return r.room(0)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// put takes a row of the snapshot. Headers come before the other rows of the actors, but behind
// the edges; both ends of an edge are in the snapshot.
func (r *actorRestore) put(key, value []byte) error {
	payload, err := store.Payload(key, value)
	if err != nil {
		return err
	}
	section, _, id, ok := row.SplitKey(key)
	if !ok {
		return r.own(key, payload)
	}
	if n, has, _ := store.SignatureOf(section, payload); has {
		r.signatures[n] = true
	}
	if section == store.Headers {
		var h row.Header
		if err := h.Read(payload); err != nil {
			return row.Damage(key, err)
		}
		r.layouts[h.Layout]++
		r.members[id] = true
		if r.present == nil || !r.present.members[id] {
			if there, err := r.payload(key); err != nil {
				return err
			} else if there != nil {
				return &OwnedElsewhereError{Actor: id, Was: true}
			}
		}
		if id == r.root && r.present != nil {
			h.Parent, h.Top, h.Units = r.above.Parent, r.above.Top, r.above.Units
			key, value = h.Encode(id)
		}
	}
	if section == store.Names {
		if err := r.sameName(key, payload); err != nil {
			return err
		}
	}
	if err := r.room(len(key) + len(value)); err != nil {
		return err
	}
	r.b.Set(key, value)
	return nil
}

// own takes a row of the node itself, or of the schema. The store keeps its own, and counts on from where the snapshot has counted to.
func (r *actorRestore) own(key, payload []byte) error {
	if store.IsSchemaKey(key) {
		return r.schema.Add(key, payload)
	}
	if err := store.CheckFormat(key, payload); err != nil {
		return err
	}
	return store.CountOn(r.b, r.e, key, payload)
}

// OtherSchemaError says that an actor cannot be restored because the store does not know of a class what the rows of the snapshot need.
type OtherSchemaError struct {
	Class, Lacks string
	FromStart    bool // the program that the snapshot was taken of makes it known
}

// Error implements error.
func (e *OtherSchemaError) Error() string {
	remedy := "restore to a new directory"
	if e.FromStart {
		remedy = "start the program that the snapshot was taken of there once, and try again, or " + remedy
	}
	return fmt.Sprintf("the snapshot needs class %s as it was then, and the store does not know %s, as it was brought back from an older copy; %s", e.Class, e.Lacks, remedy)
}

// LaterSchemaError says that an actor cannot be restored because a class has changed since as it may not while there are actors of it.
type LaterSchemaError struct{ Cause error }

// Error implements error.
func (e *LaterSchemaError) Error() string {
	return fmt.Sprintf("the program has changed since as it could with no such actors alone, and would not start with those of the snapshot: %v; or restore to a new directory, for the program that the snapshot was taken of", e.Cause)
}

// Unwrap returns why.
func (e *LaterSchemaError) Unwrap() error { return e.Cause }

// known returns an error unless the store reads the rows of the snapshot as they were written.
func (r *actorRestore) known() error {
	now, err := store.ReadSchema(r.e)
	if err != nil {
		return err
	}
	classes := make(map[string]bool)
	for n := range r.layouts {
		_, class := r.schema.ByNumber(n)
		classes[class] = true
	}
	for n := range r.signatures {
		classes[r.schema.ClassOf(n)] = true
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if lacks, fromStart := now.Lacking(r.schema, class); lacks != "" {
			return &OtherSchemaError{class, lacks, fromStart}
		}
	}
	now.Count(r.layouts)
	if err := now.Check(now.Classes()); err != nil {
		return &LaterSchemaError{err}
	}
	return nil
}

// payload returns the payload of the row under a key of the store, nil if there is none.
func (r *actorRestore) payload(key []byte) ([]byte, error) {
	value, ok, err := r.e.Get(key, nil)
	if err != nil || !ok {
		return nil, err
	}
	return store.Payload(key, value)
}

// NameTakenError says that an actor cannot be restored because another actor has its name, or
// has had it since the snapshot.
type NameTakenError struct{ Name string }

// Error implements error.
func (e *NameTakenError) Error() string {
	return fmt.Sprintf("the name of %s has been given to another actor since; restore the whole node, or to a new directory", e.Name)
}

// sameName returns an error unless the last actor of a name is that of the snapshot.
func (r *actorRestore) sameName(key, snapshot []byte) error {
	payload, err := r.payload(key)
	if err != nil || payload == nil {
		return err
	}
	now, then := row.Read(payload), row.Read(snapshot)
	if now.Uint() != then.Uint() {
		_, rest, _, _ := row.SplitKey(key)
		class, name, _ := strings.Cut(string(rest), "\x00")
		return &NameTakenError{fmt.Sprintf("%s(%q)", class, name)}
	}
	return nil
}
