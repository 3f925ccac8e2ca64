package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/fault"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// saveStores makes a snapshot of some of the several stores of a cluster, each in the place of a node, and returns its name. Clusters of as many stores
// are the same one.
func saveStores(t *testing.T, place string, second int64, stores int, nodes map[int]string) string {
	t.Helper()
	set := snapshot.NewSet(time.Unix(second, 0), stores)
	for i, node := range nodes {
		e := memengine.New()
		s, err := store.Open(e, store.Options{Program: "bank", Number: event.StoreID(i)})
		if err != nil {
			t.Fatal(err)
		}
		part := set.At(i)
		m := snapshot.Manifest{Kind: snapshot.Store, Set: &part, Store: fmt.Sprintf("%d-of-%d", i, stores), Program: "bank", Number: uint64(second), Taken: time.Unix(second, 0)}
		owner, child := event.SerialActor(0, 100), event.SerialActor(1, 101) // which are of store 0 and of store 1
		b, h := e.NewBatch(), row.Header{Layout: 1}
		if i == 0 {
			key := row.AppendEdgeKey(nil, owner, child)
			b.Set(h.Encode(owner))
			b.Set(key, store.AppendRow(nil, key, row.AppendEdge(nil, 1)))
		} else {
			h.Parent.Birth = child.Birth
			b.Set(h.Encode(child))
		}
		if err := e.Apply(b); err != nil {
			t.Fatal(err)
		}
		_, err = snapshot.Save(context.Background(), snapshot.Dir(filepath.Join(place, node)), m, func(emit func(key, row []byte) error) error { return archive.NodeRows(e, nil, emit) })
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return set.Name
}

// A snapshot of several stores is listed as one, and restored to a directory with one for each, which a cluster begins with, and nothing else does. Each of them is whole, though its actors own some
// of another one.
func TestStoresAreRestored(t *testing.T) {
	root := t.TempDir()
	place, dir := filepath.Join(root, "place"), filepath.Join(root, "dir")
	whole := saveStores(t, place, 1, 2, map[int]string{0: "node1", 1: "node2"})
	part := saveStores(t, place, 2, 2, map[int]string{1: "node1"})
	var out bytes.Buffer
	env := &cli.Env{Tool: "aeond", Stdout: cli.NewOutput(&out), Stderr: &out}
	if err := listSnapshots(env, place, true); err != nil {
		t.Fatal(err)
	}
	want := "(?s)^" + whole + `  bank  \d+ rows  \d+ bytes  everything, in 2 stores  whole\n` + part + `  bank  \d+ rows  \d+ bytes  2 stores, INCOMPLETE: without store 0\n$`
	if !regexp.MustCompile(want).MatchString(out.String()) {
		t.Errorf("they are listed as\n%s", out.String())
	}
	lock, err := pebbledb.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = pebbledb.Make(archive.StoreDir(dir, 0), store.EngineOptions{Program: "bank", Part: true}, func(*pebbledb.DB) error { return nil })
	unfinished := filepath.Join(dir, "AEON.new") // the file that says that all stores are there
	if err := errors.Join(err, os.Mkdir(archive.StoreDir(dir, 1), 0o700), os.WriteFile(unfinished, []byte("sto"), 0o600)); err != nil {
		t.Fatal(err)
	}
	inUse := new(pebbledb.InUseError)
	if err := restore(env, place, dir, snapshot.Wanted{}); !errors.As(err, &inUse) {
		t.Errorf("while another one goes on: %v", err)
	}
	if err := lock.Close(); err != nil { // as if it was killed
		t.Fatal(err)
	}
	out.Reset()
	if err := restore(env, place, dir, snapshot.Wanted{}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "of "+whole+", in 2 stores: a new cluster begins with them by --adopt "+dir) || !strings.Contains(text, "removed what a restore or an upgrade that was killed has left") {
		t.Errorf("it says\n%s", text)
	}
	if n, err := archive.Stores(dir); n != 2 || err != nil {
		t.Errorf("%d stores, %v", n, err)
	}
	if _, err := os.Stat(unfinished); !os.IsNotExist(err) {
		t.Errorf("what was to become the file is left: %v", err)
	}
	stores := new(archive.StoresError)
	if _, err := openToLook(dir); !errors.As(err, &stores) {
		t.Errorf("as a directory of one store: %v", err)
	}
	for i := range 2 {
		one, part := archive.StoreDir(dir, i), new(pebbledb.PartError)
		if text, err := checked(t, one); err != nil || !strings.Contains(text, "actors     1 ") {
			t.Errorf("store %d: %v\n%s", i, err, text)
		}
		if _, err := pebbledb.Open(one, store.EngineOptions{Program: "bank"}); !errors.As(err, &part) || !strings.Contains(err.Error(), "aeond start --adopt "+dir) {
			t.Errorf("store %d, as that of a program: %v", i, err)
		}
		if err := takeSnapshot(env, one, filepath.Join(root, "another"), "", ""); !errors.As(err, &part) {
			t.Errorf("a snapshot of store %d alone: %v", i, err)
		}
		e, err := pebbledb.Open(one, store.EngineOptions{Program: "bank", Part: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := restore(env, place, dir, snapshot.Wanted{Name: whole}); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("to the same again: %v", err)
	}
	if err := restore(env, place, filepath.Join(root, "other"), snapshot.Wanted{Name: part}); err == nil || !strings.Contains(err.Error(), "INCOMPLETE") {
		t.Errorf("of a part: %v", err)
	}
}

// A place of which nothing can be restored is no good one, though nothing in it is damaged. What is INCOMPLETE beside a whole snapshot of the same cluster
// is in the way of nothing.
func TestIncompleteSnapshotsAlone(t *testing.T) {
	place := t.TempDir()
	list := func() (string, error) {
		var out bytes.Buffer
		err := listSnapshots(&cli.Env{Tool: "aeond", Stdout: cli.NewOutput(&out), Stderr: &out}, place, true)
		return out.String(), err
	}
	none := func(name string) string {
		return "\nno snapshot of the cluster of " + name + " is whole, and none can be restored: the logs of its nodes say why the parts are missing\n"
	}
	saveStores(t, place, 1, 2, map[int]string{0: "node1"})
	newest := saveStores(t, place, 2, 2, map[int]string{0: "node2"})
	if text, err := list(); !errors.Is(err, cli.Code(cli.ExitProblem)) || !strings.HasSuffix(text, none(newest)) || strings.Count(text, "no snapshot") != 1 {
		t.Errorf("of two that are not whole: %v\n%s", err, text)
	}
	saveStores(t, place, 3, 2, map[int]string{0: "node1", 1: "node2"})
	newest = saveStores(t, place, 4, 2, map[int]string{1: "node2"})
	if text, err := list(); err != nil || strings.Contains(text, "no snapshot") {
		t.Errorf("beside a whole one: %v\n%s", err, text)
	}
	other := saveStores(t, place, 5, 3, map[int]string{0: "node1"})
	if text, err := list(); !errors.Is(err, cli.Code(cli.ExitProblem)) || !strings.HasSuffix(text, none(other)) || strings.Contains(text, none(newest)) {
		t.Errorf("beside a whole one of another cluster: %v\n%s", err, text)
	}
}

// A directory above those of programs is not taken for what a restore has left: it is refused, and nothing in it goes, whether a program runs or not,
// and though a restore of stores was killed there before.
func TestRestoreLeavesStoresOfPrograms(t *testing.T) {
	root := t.TempDir()
	place, dir := filepath.Join(root, "place"), filepath.Join(root, "shops")
	saveStores(t, place, 1, 2, map[int]string{0: "node1", 1: "node2"})
	var ids []store.Identity
	for i := range 2 {
		e, err := pebbledb.Open(archive.StoreDir(dir, i+1), store.EngineOptions{Program: "bank"})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.(store.Identified).Identity())
		if i == 0 {
			defer e.Close()
		} else if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	env := &cli.Env{Tool: "aeond", Stdout: cli.NewOutput(&out), Stderr: &out}
	refused := func(left int) {
		t.Helper()
		if err := restore(env, place, dir, snapshot.Wanted{}); err == nil || !strings.Contains(err.Error(), "is not empty") {
			t.Errorf("it is restored: %v\n%s", err, out.String())
		}
		for i, id := range ids {
			if now, err := pebbledb.Identify(archive.StoreDir(dir, i+1)); now != id || err != nil {
				t.Errorf("%v is %v, %v", id, now, err)
			}
		}
		if list, err := os.ReadDir(dir); len(list) != left || err != nil {
			t.Errorf("%v are there, %v", list, err)
		}
	}
	refused(2)
	lock, err := pebbledb.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = pebbledb.Make(archive.StoreDir(dir, 0), store.EngineOptions{Program: "bank", Part: true}, func(*pebbledb.DB) error { return nil })
	if err := errors.Join(err, lock.Close()); err != nil {
		t.Fatal(err)
	}
	refused(4)
}

// A snapshot of several stores that is damaged is named as a whole, with the place as the user has named it: a part alone, and the place of its node, tell
// nothing that could be restored.
func TestDamageIsToldOfTheSnapshotThatWasNamed(t *testing.T) {
	root := t.TempDir()
	place := filepath.Join(root, "all nodes")
	name := saveStores(t, place, 1, 2, map[int]string{0: "node1", 1: "node2"})
	chunks, err := filepath.Glob(filepath.Join(place, "node2", "*", "chunks", "*"))
	if err != nil || len(chunks) == 0 {
		t.Fatal(chunks, err)
	}
	if err := os.WriteFile(chunks[0], []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	env := &cli.Env{Tool: "aeond", Stdout: cli.NewOutput(&out), Stderr: &out}
	err = restore(env, place, filepath.Join(root, "dir"), snapshot.Wanted{})
	if err == nil || !strings.HasPrefix(err.Error(), name+" is not restored: ") || !strings.Contains(err.Error(), "--from '"+place+"' --verify`") || strings.Contains(err.Error(), "--from "+filepath.Join(place, "node2")) {
		t.Errorf("it says: %v", err)
	}
}

// brokenPlace has contents that cannot be read.
type brokenPlace struct {
	snapshot.Target
	err error
}

func (p brokenPlace) Get(context.Context, string) (io.ReadCloser, error) { return nil, p.err }

// A snapshot whose content cannot be read, or that is deleted while it is read, does not end the check of those behind it. The latter is no damage.
func TestVerifyGoesOn(t *testing.T) {
	for _, c := range []struct {
		err  error
		is   condition
		says string
	}{
		{&snapshot.DirError{Dir: "d", Kind: fault.Disk, Cause: syscall.EIO}, isDamaged, "  DAMAGED input/output error"},
		{&snapshot.DirError{Dir: "d", Kind: fault.Access, Cause: syscall.EACCES}, isDamaged, "  UNREAD permission denied"},
		{fs.ErrNotExist, wasDeleted, "  was deleted meanwhile"},
	} {
		var out bytes.Buffer
		env := &cli.Env{Tool: "aeond", Stdout: cli.NewOutput(&out), Stderr: &out}
		m := snapshot.Manifest{Kind: snapshot.Node, Store: "a", Name: "n", Chunks: []snapshot.Chunk{{Rows: 1, Bytes: 1}}}
		is, err := verifySnapshot(env, &snapshot.Found{Name: "n", Parts: []snapshot.Part{{Manifest: m, Place: brokenPlace{snapshot.Dir("d"), c.err}}}})
		if is != c.is || err != nil || out.String() != c.says {
			t.Errorf("%v: %v, %v, %q", c.err, is, err, out.String())
		}
	}
	other := errors.New("the connection is lost")
	env := &cli.Env{Tool: "aeond", Stdout: cli.NewOutput(io.Discard), Stderr: io.Discard}
	m := snapshot.Manifest{Kind: snapshot.Node, Store: "a", Name: "n", Chunks: []snapshot.Chunk{{Rows: 1, Bytes: 1}}}
	if _, err := verifySnapshot(env, &snapshot.Found{Name: "n", Parts: []snapshot.Part{{Manifest: m, Place: brokenPlace{snapshot.Dir("d"), other}}}}); !errors.Is(err, other) {
		t.Errorf("what concerns the whole place: %v", err)
	}
}
