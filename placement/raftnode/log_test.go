package raftnode

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

func identityOf(t *testing.T) *identity.Identity {
	t.Helper()
	id, err := identity.Form(filepath.Join(t.TempDir(), "data"), "n1")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func open(t *testing.T, e store.Engine, id *identity.Identity) *log {
	t.Helper()
	l, err := openLog(e, id, deadline{time.Minute, func(err error) { t.Error(err) }}, func() uint64 { return 2 }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func entries(from, to, term uint64) (list []*raft.Log) {
	for i := from; i <= to; i++ {
		list = append(list, &raft.Log{Index: i, Term: term, Type: raft.LogCommand, Data: []byte{byte(i)}, Extensions: []byte("x"), AppendedAt: time.Unix(int64(i), 5)})
	}
	return list
}

// What a log has been given is there after a crash, whole; cuts at both ends, too.
func TestLogsSurviveCrashes(t *testing.T) {
	id, e := identityOf(t), memengine.New()
	l := open(t, e, id)
	if first, last := bounds(t, l); first != 0 || last != 0 {
		t.Error("an empty log has entries", first, last)
	}
	crash := func() {
		e = e.Crash(func(int) int { return 0 })
		l = open(t, e, id)
	}
	must(t, l.StoreLogs(entries(1, 5, 1)), l.SetUint64([]byte("CurrentTerm"), 7), l.Set([]byte("LastVoteCand"), []byte("3")))
	crash()
	if first, last := bounds(t, l); first != 1 || last != 5 {
		t.Error(first, last)
	}
	for _, want := range entries(1, 5, 1) {
		var got raft.Log
		if err := l.GetLog(want.Index, &got); err != nil || got.Index != want.Index || got.Term != 1 || got.Type != want.Type ||
			!bytes.Equal(got.Data, want.Data) || !bytes.Equal(got.Extensions, want.Extensions) || !got.AppendedAt.Equal(want.AppendedAt) {
			t.Errorf("%+v is %+v, error %v", want, got, err)
		}
	}
	if term, err := l.GetUint64([]byte("CurrentTerm")); term != 7 || err != nil {
		t.Error(term, err)
	}
	if vote, err := l.Get([]byte("LastVoteCand")); string(vote) != "3" || err != nil {
		t.Error(vote, err)
	}
	if none, err := l.GetUint64([]byte("LastVoteTerm")); none != 0 || err != nil {
		t.Error(none, err)
	}
	if committed, err := l.committed(); committed != 2 || err != nil {
		t.Error(committed, err)
	}
	must(t, l.DeleteRange(4, 5), l.StoreLogs(entries(4, 9, 2)), l.DeleteRange(1, 3))
	crash()
	var got raft.Log
	if first, last := bounds(t, l); first != 4 || last != 9 {
		t.Error(first, last)
	}
	if err := l.GetLog(4, &got); err != nil || got.Term != 2 {
		t.Error(got, err)
	}
	if err := l.GetLog(3, &got); !errors.Is(err, raft.ErrLogNotFound) {
		t.Error(err)
	}
	if err := l.StoreLogs(entries(11, 11, 2)); err == nil {
		t.Error("a log has a gap")
	}
	must(t, l.DeleteRange(4, 9), l.StoreLogs(entries(100, 101, 3))) // as after a snapshot that came
	crash()
	if first, last := bounds(t, l); first != 100 || last != 101 {
		t.Error(first, last)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func bounds(t *testing.T, l *log) (first, last uint64) {
	t.Helper()
	first, err := l.FirstIndex()
	last, err2 := l.LastIndex()
	must(t, err, err2)
	return first, last
}

// The log of another node, one that was lost, and one that is damaged, are refused.
func TestForeignLogs(t *testing.T) {
	id, e := identityOf(t), memengine.New()
	open(t, e, id)
	refuse := func(what string, e store.Engine, id *identity.Identity, part string) {
		t.Helper()
		_, err := openLog(e, id, deadline{time.Minute, func(error) {}}, func() uint64 { return 0 }, nil)
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refuse("another cluster", e, identityOf(t), "is that of node 1 of cluster "+id.Cluster)
	refuse("a log that was lost", memengine.New(), id, "it was lost, with the votes")
	other := memengine.New()
	b := other.NewBatch()
	b.Set(entryKey(1), encodeEntry(entries(1, 1, 1)[0]))
	must(t, other.Apply(b))
	refuse("a log without an owner", other, identityOf(t), "it is missing, and other rows are there")
	fresh := identityOf(t)
	_, err := openLog(memengine.New(), fresh, deadline{time.Minute, func(error) {}}, func() uint64 { return 0 }, func() ([]*raft.Log, error) { return nil, errors.New("no form") })
	if err == nil {
		t.Error("a log begins without its first entry")
	}
	if still, _, err := fresh.Fresh(); !still || err != nil {
		t.Error("a log that has not begun counts as begun", err)
	}
}

// Each way in which a row may be cut is an error that names it.
func TestDamagedEntries(t *testing.T) {
	whole := encodeEntry(&raft.Log{Index: 3, Term: 300, Data: []byte("data"), AppendedAt: time.Unix(1, 0)})
	for n := range whole {
		_, err := decodeEntry(entryKey(3), whole[:n], 3)
		if !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%d bytes are taken for an entry", n)
		}
	}
	whole[0]++
	if _, err := decodeEntry(entryKey(3), whole, 3); !errors.Is(err, store.ErrCorrupt) {
		t.Error("another format is read", err)
	}
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add(encodeEntry(entries(1, 1, 1)[0]))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := decodeEntry(entryKey(3), b, 3)
		if err != nil {
			return
		}
		if again, err := decodeEntry(entryKey(3), encodeEntry(&l), 3); err != nil || again.Term != l.Term || !bytes.Equal(again.Data, l.Data) {
			t.Error(again, err)
		}
	})
}

// hanging is a disk whose syncs end when it is told so.
type hanging struct {
	store.Engine
	hang, entered chan struct{}
}

func (h *hanging) Sync() error {
	select {
	case h.entered <- struct{}{}:
	default:
	}
	<-h.hang
	return h.Engine.Sync()
}

// A disk that does not answer in time ends the process, and so does one that fails.
func TestDiskDeadline(t *testing.T) {
	h := &hanging{memengine.New(), make(chan struct{}), make(chan struct{}, 1)}
	id := identityOf(t)
	close(h.hang)
	told := make(chan error, 10)
	l, err := openLog(h, id, deadline{20 * time.Millisecond, func(err error) { told <- err }}, func() uint64 { return 0 }, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-h.entered
	if err := l.StoreLog(entries(1, 1, 1)[0]); err != nil {
		t.Fatal(err)
	}
	h.hang = make(chan struct{})
	stored := make(chan error)
	go func() { stored <- l.StoreLog(entries(2, 2, 1)[0]) }()
	if err := <-told; !strings.Contains(err.Error(), "the disk has not answered for 20ms") {
		t.Error(err)
	}
	close(h.hang)
	if err := <-stored; err != nil {
		t.Error(err)
	}
	h.Engine.(*memengine.Engine).Fail(errors.New("disk gone"))
	if err := l.Set([]byte("x"), nil); err == nil {
		t.Error("a disk that fails is not told")
	}
	if err := <-told; !strings.Contains(err.Error(), "disk gone") {
		t.Error(err)
	}
}
