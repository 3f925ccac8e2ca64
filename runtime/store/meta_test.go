package store_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

func openMem(t *testing.T, e store.Engine, o store.Options) *store.Store {
	t.Helper()
	if o.Program == "" {
		o.Program = "bank"
	}
	o.Fatal = func(err error) { t.Errorf("the store has failed: %v", err) }
	s, err := store.Open(e, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func none(int) int  { return 0 }
func all(n int) int { return n }

// The node's own rows survive crashes, and a start is counted before anything else.
func TestMetaSurvives(t *testing.T) {
	e := memengine.New()
	s := openMem(t, e, store.Options{Partitions: 8})
	if !s.Fresh() || s.Starts() != 1 || s.Partitions() != 8 || s.FirstID() != 0 || s.SnapshotNumber() != 0 {
		t.Errorf("new: fresh %v, start %d, %d partitions, first id %d, snapshot %d", s.Fresh(), s.Starts(), s.Partitions(), s.FirstID(), s.SnapshotNumber())
	}
	id := s.Identity()
	e = e.Crash(none)
	closeStore(t, s)

	s = openMem(t, e, store.Options{Partitions: 16})
	if s.Fresh() || s.Starts() != 2 || s.Partitions() != 8 || s.Identity() != id {
		t.Errorf("again: fresh %v, start %d, %d partitions, %v, was %v", s.Fresh(), s.Starts(), s.Partitions(), s.Identity(), id)
	}
	b := s.NewBatch()
	s.SetSnapshotNumber(b, 7)
	if err := s.Wait(t.Context(), s.Append(b)); err != nil {
		t.Fatal(err)
	}
	e = e.Crash(none)
	closeStore(t, s)

	s = openMem(t, e, store.Options{})
	defer closeStore(t, s)
	if s.Starts() != 3 || s.SnapshotNumber() != 7 {
		t.Errorf("start %d, snapshot %d", s.Starts(), s.SnapshotNumber())
	}
}

// A serial number that a batch in the log has used is not used by a later run, wherever a
// crash cuts the log off.
func TestIDsAreNotUsedAgain(t *testing.T) {
	used := func(n uint64) []byte { return store.HeaderKey(event.SerialActor(1, n)) }
	e := memengine.New()
	next := uint64(0)
	for run := range 20 {
		s := openMem(t, e, store.Options{})
		if s.FirstID() > next+1<<20 {
			t.Errorf("run %d leaves out all numbers from %d to %d", run, next, s.FirstID())
		}
		next = s.FirstID()
		var crashed *memengine.Engine
		for i := range 10 {
			next += 9999
			if _, ok, _ := s.Get(used(next), nil); ok {
				t.Fatalf("run %d uses %d again", run, next)
			}
			s.ReserveIDs(next)
			b := s.NewBatch()
			b.Set(used(next), nil)
			s.Append(b)
			if i == run%10 {
				crashed = e.Crash([]func(int) int{none, all, func(n int) int { return n / 2 }}[run%3])
			}
		}
		closeStore(t, s)
		e = crashed
	}
}

// badEngine is an engine with rows that no store has written, or that are damaged.
func badEngine(t *testing.T, change func(b store.Batch, get func(key []byte) []byte)) *memengine.Engine {
	t.Helper()
	e := memengine.New()
	s := openMem(t, e, store.Options{})
	b := s.NewBatch()
	change(b, func(key []byte) []byte {
		row, _, err := s.Get(key, nil)
		if err != nil {
			t.Fatal(err)
		}
		return row
	})
	if err := s.Wait(t.Context(), s.Append(b)); err != nil {
		t.Fatal(err)
	}
	e = e.Crash(none)
	closeStore(t, s)
	return e
}

// A store of another program, a newer one and a damaged one are refused, and no start is counted.
func TestOpenRefuses(t *testing.T) {
	row := func(key []byte, payload ...byte) []byte { return store.AppendRow(nil, key, payload) }
	for _, c := range []struct {
		name, program, want string
		change              func(b store.Batch, get func(key []byte) []byte)
		as                  any
	}{
		{"another program", "hotel", `the store holds the data of program "bank", and this is "hotel"; give this program a directory of its own`,
			func(store.Batch, func([]byte) []byte) {}, new(*store.OtherProgramError)},
		{"newer", "bank", "the store was written by a newer version of aeon (format 5, this one knows up to 4); run the program as built by that version or a later one",
			func(b store.Batch, _ func([]byte) []byte) {
				b.Set(store.MetaKey("format"), row(store.MetaKey("format"), store.Format+1))
			}, new(*store.NewerFormatError)},
		{"older", "bank", "the store was written by an older version of aeon (format 3, this one knows 4 only); `aeond upgrade` makes a directory of this version of it",
			func(b store.Batch, _ func([]byte) []byte) {
				b.Set(store.MetaKey("format"), row(store.MetaKey("format"), store.Format-1))
			}, new(*store.OlderFormatError)},
		{"format lost", "bank", `the data is damaged: row "format" of the store itself: it is missing, though there is row "number" of the store itself`,
			func(b store.Batch, _ func([]byte) []byte) {
				b.Delete(store.MetaKey("format"))
				b.Delete(store.MetaKey("ids"))
			}, new(*store.CorruptError)},
		{"starts lost", "bank", `the data is damaged: row "starts" of the store itself: it is missing`,
			func(b store.Batch, _ func([]byte) []byte) { b.Delete(store.MetaKey("starts")) }, new(*store.CorruptError)},
		{"starts flipped", "bank", `the data is damaged: row "starts" of the store itself: its checksum does not match`,
			func(b store.Batch, get func([]byte) []byte) {
				bad := get(store.MetaKey("starts"))
				bad[1] ^= 1
				b.Set(store.MetaKey("starts"), bad)
			}, new(*store.CorruptError)},
		{"starts no number", "bank", `the data is damaged: row "starts" of the store itself: it is no number`,
			func(b store.Batch, _ func([]byte) []byte) {
				b.Set(store.MetaKey("starts"), row(store.MetaKey("starts"), 0x80))
			}, new(*store.CorruptError)},
		{"no partitions", "bank", `the data is damaged: row "partitions" of the store itself: 0 are not from 1 to 65536`,
			func(b store.Batch, _ func([]byte) []byte) {
				b.Set(store.MetaKey("partitions"), row(store.MetaKey("partitions"), 0))
			}, new(*store.CorruptError)},
		{"too many partitions", "bank", `the data is damaged: row "partitions" of the store itself: 4398046511104 are not from 1 to 65536`,
			func(b store.Batch, _ func([]byte) []byte) {
				b.Set(store.MetaKey("partitions"), row(store.MetaKey("partitions"), binary.AppendUvarint(nil, 1<<42)...))
			}, new(*store.CorruptError)},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := badEngine(t, c.change)
			applied := e.Applied()
			_, err := store.Open(e, store.Options{Program: c.program, Fatal: func(err error) { t.Errorf("Fatal: %v", err) }})
			if !errors.As(err, c.as) || err.Error() != c.want {
				t.Errorf("Open: %v\nwant: %s", err, c.want)
			}
			if e.Applied() != applied {
				t.Error("a refused store was written to")
			}
		})
	}
}

// identified is an engine whose place belongs to another store.
type identified struct{ *memengine.Engine }

func (identified) Identity() store.Identity {
	return store.Identity{Store: "0123", Program: "bank", Place: "/data"}
}

func TestRowsOfAnotherStoreAreRefused(t *testing.T) {
	e := badEngine(t, func(store.Batch, func([]byte) []byte) {})
	const want = `the data in /data is damaged: row "store" of the store itself: it is that of store `
	if _, err := store.Open(identified{e}, store.Options{Program: "bank"}); !errors.Is(err, store.ErrCorrupt) || !strings.HasPrefix(err.Error(), want) ||
		!strings.HasSuffix(err.Error(), "; nothing was repaired: restore the directory from a snapshot, or find out what has changed it") {
		t.Errorf("Open: %v", err)
	}
}

// The code that finds a damaged row does not know the place of the store; the error of the failure names it.
func TestFailureNamesThePlace(t *testing.T) {
	told := make(chan error, 1)
	s, err := store.Open(identified{memengine.New()}, store.Options{Program: "bank", Fatal: func(err error) { told <- err }})
	if err != nil {
		t.Fatal(err)
	}
	s.Fail(&store.CorruptError{Key: store.MetaKey("starts"), Reason: "its checksum does not match"})
	const want = `the store has failed, what was not answered yet is unknown: the data in /data is damaged: row "starts" of the store itself: ` +
		"its checksum does not match; nothing was repaired: restore the directory from a snapshot, or find out what has changed it"
	if err := <-told; !errors.Is(err, store.ErrCorrupt) || err.Error() != want {
		t.Errorf("told %v\nwant %s", err, want)
	}
	if err := s.Close(); err == nil || err.Error() != want {
		t.Errorf("Close: %v", err)
	}
}

func TestDurabilityIsWrittenAndRead(t *testing.T) {
	for _, d := range []store.Durability{store.Sync(), store.InMemory(), store.Relaxed(10 * time.Millisecond)} {
		if got, err := store.ParseDurability(d.String()); err != nil || got != d {
			t.Errorf("%v is read as %v, %v", d, got, err)
		}
	}
	for text, want := range map[string]string{
		"":              `"" is none of sync, relaxed=10ms and memory`,
		"fsync":         `"fsync" is none of sync, relaxed=10ms and memory`,
		"relaxed":       `"relaxed" is none of sync, relaxed=10ms and memory`,
		"relaxed=10":    `"relaxed=10": relaxed takes a time above 0s and up to 1m0s, as in relaxed=10ms`,
		"relaxed=0s":    `"relaxed=0s": relaxed takes a time above 0s and up to 1m0s, as in relaxed=10ms`,
		"relaxed=10h":   `"relaxed=10h": relaxed takes a time above 0s and up to 1m0s, as in relaxed=10ms`,
		"sync=relaxed":  `"sync=relaxed" is none of sync, relaxed=10ms and memory`,
		"memory=always": `"memory=always" is none of sync, relaxed=10ms and memory`,
	} {
		if _, err := store.ParseDurability(text); err == nil || err.Error() != want {
			t.Errorf("ParseDurability(%q): %v\nwant: %s", text, err, want)
		}
	}
	if store.Relaxed(time.Second).AnswersWait() || !store.Sync().AnswersWait() || !store.InMemory().Memory() {
		t.Error("the modes do not say what they do")
	}
}
