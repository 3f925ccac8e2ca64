package snapshot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/snapshot"
)

func rowsOf(content map[string]string) snapshot.Rows {
	return func(emit func(key, value []byte) error) error {
		for _, k := range slices.Sorted(maps.Keys(content)) {
			if err := emit([]byte(k), []byte(content[k])); err != nil {
				return err
			}
		}
		return nil
	}
}

func read(t *testing.T, from snapshot.Target, m *snapshot.Manifest) map[string]string {
	t.Helper()
	content := map[string]string{}
	err := snapshot.Read(context.Background(), from, m, func(key, value []byte) error {
		content[string(key)] = string(value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func take(t *testing.T, to snapshot.Target, number uint64, content map[string]string) *snapshot.Saved {
	t.Helper()
	m := snapshot.Manifest{Kind: snapshot.Node, Store: "ab12", Program: "bank", Number: number, Taken: time.Unix(int64(number), 0)}
	s, err := snapshot.Save(context.Background(), to, m, rowsOf(content))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// many returns n rows of about 1 kB.
func many(n int) map[string]string {
	content := map[string]string{}
	for i := range n {
		content[fmt.Sprintf("key %06d", i)] = strings.Repeat(fmt.Sprint(i), 1000/len(fmt.Sprint(i)))
	}
	return content
}

// What has not changed is not sent again, each snapshot has what it was taken of, and pruning
// the old ones leaves the new ones whole.
func TestSnapshotsAreIncremental(t *testing.T) {
	ctx, to := context.Background(), snapshot.Dir(filepath.Join(t.TempDir(), "made/by/put"))
	first := many(20_000)
	s := take(t, to, 1, first)
	rows, size := s.Size()
	if rows != len(first) || s.New != len(s.Chunks) || s.NewBytes != size || len(s.Chunks) < 8 {
		t.Errorf("the first snapshot has %d rows and %d bytes in %d chunks, %d of them new, of %d bytes", rows, size, len(s.Chunks), s.New, s.NewBytes)
	}
	second := maps.Clone(first)
	second["key 000077"] = "changed"
	second["key 000078a"] = "inserted"
	delete(second, "key 015000")
	s = take(t, to, 2, second)
	if s.New > 2 || s.New == 0 || s.NewBytes > size/4 {
		t.Errorf("after changes in two places %d of %d chunks are new, %d of %d bytes", s.New, len(s.Chunks), s.NewBytes, size)
	}
	if s = take(t, to, 3, second); s.New != 0 {
		t.Errorf("without a change %d chunks are new", s.New)
	}
	list, _, err := snapshot.List(ctx, to, "ab12")
	if err != nil || len(list) != 3 {
		t.Fatalf("List: %d snapshots, %v", len(list), err)
	}
	for i, want := range []map[string]string{first, second, second} {
		if got := read(t, to, &list[i]); !maps.Equal(got, want) {
			t.Errorf("snapshot %d does not have what it was taken of", i+1)
		}
	}
	if n, err := snapshot.Prune(ctx, to, &snapshot.Manifest{Store: "ab12", Kind: snapshot.Node}, 1); n != 2 || err != nil {
		t.Fatalf("Prune: %d, %v", n, err)
	}
	found, err := snapshot.Find(ctx, to, snapshot.Wanted{})
	if err != nil || found.Parts[0].Number != 3 {
		t.Fatalf("Find: %v, %v", found, err)
	}
	newest := &found.Parts[0].Manifest
	if err := snapshot.Verify(ctx, to, newest); err != nil {
		t.Error(err)
	}
	chunks, err := to.List(ctx, "ab12/chunks/")
	if err != nil || len(chunks) != len(newest.Chunks)+len(newest.Packs) {
		t.Errorf("after pruning there are %d files, the snapshot has %d chunks and %d packs: %v", len(chunks), len(newest.Chunks), len(newest.Packs), err)
	}
	var missing *snapshot.NotFoundError
	if _, err := snapshot.Find(ctx, to, snapshot.Wanted{Name: list[0].Name}); !errors.As(err, &missing) || !strings.Contains(err.Error(), newest.Name) {
		t.Errorf("Find of a pruned snapshot: %v", err)
	}
}

// Snapshots of everything, of one actor and of another are kept apart, and those of another store.
func TestPruneCountsWhatIsOfTheSame(t *testing.T) {
	ctx, to := context.Background(), snapshot.Dir(t.TempDir())
	var list []*snapshot.Saved
	for i := range 12 {
		m := snapshot.Manifest{Kind: snapshot.Node, Store: "a", Program: "shop", Number: uint64(i), Taken: time.Unix(int64(i), 0)}
		switch i % 4 {
		case 1:
			m.Kind, m.Actor, m.Root = snapshot.Actor, "Shop/main", "3:8000000000000001"
		case 2:
			m.Kind, m.Actor, m.Root = snapshot.Actor, "Shop/other", "3:8000000000000002"
		case 3:
			m.Store = "b"
		}
		s, err := snapshot.Save(ctx, to, m, func(emit func(key, value []byte) error) error { return emit([]byte{byte(i)}, []byte{1}) })
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	gone := make(map[string]bool)
	for _, at := range []int{9, 8, 10} { // the newest of each kind in store a
		if n, err := snapshot.Prune(ctx, to, &list[at].Manifest, 1); n != 2 || err != nil {
			t.Fatalf("Prune like %s: %d, %v", list[at].Of(), n, err)
		}
		gone[list[at-8].Name], gone[list[at-4].Name] = true, true
		for _, s := range list {
			err := snapshot.Verify(ctx, to, &s.Manifest)
			if (err != nil) != gone[s.Name] {
				t.Errorf("after pruning like %s: %s of %s in store %s: %v", list[at].Of(), s.Name, s.Of(), s.Store, err)
			}
		}
	}
	if left, _, err := snapshot.List(ctx, to, ""); len(left) != 6 || err != nil {
		t.Errorf("%d snapshots are left, %v", len(left), err)
	}
}

// What a process that was killed had sent by half does not stay for ever.
func TestSaveSweepsWhatWasLeftBehind(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	to := snapshot.Dir(root)
	saved := take(t, to, 1, map[string]string{"a": "one"})
	left, others := filepath.Join(root, "ab12", "chunks", ".part-123"), filepath.Join(root, "cd34", "chunks", ".part-123")
	if err := os.MkdirAll(filepath.Dir(others), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{left, others} {
		if err := os.WriteFile(file, []byte("half"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	take(t, to, 2, map[string]string{"a": "two"})
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := os.Stat(others); err != nil {
		t.Errorf("that of another store, which another process may be sending: %v", err)
	}
	if err := snapshot.Verify(ctx, to, &saved.Manifest); err != nil {
		t.Error(err)
	}
}

// The names of actors are bytes: those that differ in bytes that are not UTF-8 have snapshots of their own.
func TestSnapshotsOfActorsNamedByBytes(t *testing.T) {
	ctx, to := context.Background(), snapshot.Dir(t.TempDir())
	saved := map[string]string{}
	for i, actor := range []string{"Shop/\xff", "Shop/\xfe", "Shop/\ufffd"} {
		m := snapshot.Manifest{Kind: snapshot.Actor, Store: "a", Program: "shop", Number: uint64(i + 1), Taken: time.Unix(int64(i), 0), Actor: bytejson.Text(actor), Root: fmt.Sprint("3:", i)}
		s, err := snapshot.Save(ctx, to, m, func(func(key, value []byte) error) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		saved[actor] = s.Name
	}
	for actor, want := range saved {
		if m, err := snapshot.Find(ctx, to, snapshot.Wanted{Actor: actor}); err != nil || m.Name != want || m.Of() != actor {
			t.Errorf("%q: %v, %v, want %s", actor, m, err, want)
		}
	}
}

// What is wanted is found by what it is of, not by being the newest of something else.
func TestTheWantedSnapshotIsFound(t *testing.T) {
	ctx, to := context.Background(), snapshot.Dir(t.TempDir())
	number := uint64(0)
	save := func(kind snapshot.Kind, store, actor, root string) string {
		number++
		m := snapshot.Manifest{Kind: kind, Store: store, Program: "shop", Number: number, Taken: time.Unix(int64(number), 0), Actor: bytejson.Text(actor), Root: root}
		s, err := snapshot.Save(ctx, to, m, func(func(key, value []byte) error) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return s.Name
	}
	old := save(snapshot.Node, "a", "", "")
	node := save(snapshot.Node, "a", "", "")
	shop := save(snapshot.Actor, "a", "Shop/main", "3:8000000000000001")
	item := save(snapshot.Actor, "a", "Item:9:1", "9:1")
	for w, want := range map[snapshot.Wanted]string{
		{}:                              node,
		{Name: old}:                     old,
		{Name: item}:                    item,
		{Actor: "Shop/main"}:            shop,
		{Actor: "shop.Shop/main"}:       shop,
		{Actor: "3:8000000000000001"}:   shop,
		{Actor: "Item:9:1"}:             item,
		{Actor: "9:1", Name: item}:      item,
		{Actor: "9:1", Store: "nobody"}: item,
	} {
		if m, err := snapshot.Find(ctx, to, w); err != nil || m.Name != want {
			t.Errorf("%+v: %v, %v, want %s", w, m, err, want)
		}
	}
	for w, want := range map[snapshot.Wanted]string{
		{Actor: "Shop/none"}:             " has no snapshot of Shop/none; it has " + item + " of Item:9:1, " + shop + " of Shop/main, " + node + " of everything, " + old + " of everything",
		{Actor: "bank.Shop/main"}:        "no snapshot of bank.Shop/main",
		{Name: "none"}:                   "has no snapshot none; it has ",
		{Name: node, Actor: "Shop/main"}: "has no snapshot " + node + " of Shop/main; it has ",
	} {
		if m, err := snapshot.Find(ctx, to, w); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, %v, want %s", w, m, err, want)
		}
	}
	other := save(snapshot.Node, "b", "", "")
	var several *snapshot.AmbiguousError
	if m, err := snapshot.Find(ctx, to, snapshot.Wanted{}); !errors.As(err, &several) || len(several.Have) != 2 || strings.Contains(err.Error(), old) {
		t.Errorf("of two stores: %v, %v", m, err)
	}
	for w, want := range map[snapshot.Wanted]string{{Store: "a"}: node, {Store: "b"}: other, {Actor: "Shop/main"}: shop} {
		if m, err := snapshot.Find(ctx, to, w); err != nil || m.Name != want {
			t.Errorf("of two stores, %+v: %v, %v, want %s", w, m, err, want)
		}
	}
	if _, err := snapshot.Find(ctx, snapshot.Dir(t.TempDir()), snapshot.Wanted{}); err == nil || !strings.HasPrefix(err.Error(), "there are no snapshots in ") {
		t.Errorf("of none: %v", err)
	}
}

func TestEmptySnapshot(t *testing.T) {
	to := snapshot.Dir(t.TempDir())
	s := take(t, to, 1, nil)
	if got := read(t, to, &s.Manifest); len(got) != 0 || len(s.Chunks) != 0 {
		t.Errorf("%d rows in %d chunks", len(got), len(s.Chunks))
	}
}

// Damage anywhere is found and named.
func TestDamagedSnapshotIsRefused(t *testing.T) {
	ctx := context.Background()
	root := t.TempDir()
	to := snapshot.Dir(root)
	take(t, to, 1, map[string]string{"a": "one", "b": "", "c": "three"})
	entries, err := to.List(ctx, "")
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d parts, %v", len(entries), err)
	}
	for _, e := range entries {
		file := filepath.Join(root, e.Name)
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for what, bad := range map[string][]byte{
			"flipped": append([]byte{whole[0] ^ 1}, whole[1:]...), "shorter": whole[:len(whole)-3], "longer": append(whole[:len(whole):len(whole)], '}'),
			"empty": {}, "missing": nil,
		} {
			if strings.HasSuffix(e.Name, ".json") && what == "missing" {
				continue // then there is no snapshot
			}
			if bad == nil {
				err = os.Remove(file)
			} else {
				err = os.WriteFile(file, bad, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
			var damage *snapshot.DamageError
			m, err := snapshot.Find(ctx, to, snapshot.Wanted{})
			if err == nil {
				err = snapshot.Read(ctx, to, &m.Parts[0].Manifest, func(key, _ []byte) error { return fmt.Errorf("row %q was passed on", key) })
			}
			if !errors.As(err, &damage) || !strings.Contains(err.Error(), e.Name) {
				t.Errorf("%s %s: %v", e.Name, what, err)
			}
		}
		if err := os.WriteFile(file, whole, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// A manifest of which one bit has changed is damaged, or says the same: above all, it is not that of an empty snapshot.
func TestFlippedManifest(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	to := snapshot.Dir(root)
	saved := take(t, to, 1, map[string]string{"a": "one", "b": "", "c": "three"})
	file := filepath.Join(root, "ab12", "snapshots", saved.Name+".json")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		for _, bit := range []int{0, 1, 5} {
			bad := bytes.Clone(whole)
			bad[i] ^= 1 << bit
			if err := os.WriteFile(file, bad, 0o666); err != nil {
				t.Fatal(err)
			}
			list, damaged, err := snapshot.List(ctx, to, "ab12")
			switch {
			case err == nil && len(damaged) == 1 && len(list) == 0:
			case err != nil || len(list) != 1:
				t.Fatalf("byte %d, bit %d: %d snapshots, %v", i, bit, len(list), err)
			case !reflect.DeepEqual(list[0], saved.Manifest):
				t.Errorf("byte %d, bit %d, as %q: silently wrong: %+v", i, bit, bad[max(0, i-8):min(len(bad), i+8)], list[0])
			}
		}
	}
}

// Manifests that were written before they had a checksum are read.
func TestManifestsWithoutAChecksumAreRead(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	to := snapshot.Dir(root)
	saved := take(t, to, 1, map[string]string{"a": "one"})
	file := filepath.Join(root, "ab12", "snapshots", saved.Name+".json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.MarshalIndent(&saved.Manifest, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	write(string(text) + "\n")
	if list, _, err := snapshot.List(ctx, to, ""); err != nil || len(list) != 1 || !reflect.DeepEqual(list[0], saved.Manifest) {
		t.Errorf("%+v, %v", list, err)
	}
	write(strings.Replace(string(text), "chunks", "chunkt", 1) + "\n")
	if list, damaged, err := snapshot.List(ctx, to, ""); err != nil || len(list) > 0 || len(damaged) != 1 {
		t.Errorf("without a list of chunks: %+v, %v, %v", list, damaged, err)
	}
}

// The same rows in another order, or twice, are a mistake of the caller.
func TestRowsMustAscend(t *testing.T) {
	m := snapshot.Manifest{Kind: snapshot.Node, Store: "ab12"}
	for _, keys := range [][]string{{"b", "a"}, {"a", "a"}} {
		_, err := snapshot.Save(context.Background(), snapshot.Dir(t.TempDir()), m, func(emit func(key, value []byte) error) error {
			for _, k := range keys {
				if err := emit([]byte(k), nil); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "does not come after") {
			t.Errorf("%q: %v", keys, err)
		}
	}
}

// Names lead nowhere else.
func TestNamesCannotEscape(t *testing.T) {
	ctx, to := context.Background(), snapshot.Dir(t.TempDir())
	evil := `{"version":1,"kind":"node","name":"n","store":"s","chunks":[{"rows":0,"bytes":0,"sha256":"../../../../etc/passwd"}]}`
	if err := to.Put(ctx, "s/snapshots/n.json", strings.NewReader(evil), int64(len(evil))); err != nil {
		t.Fatal(err)
	}
	if list, damaged, err := snapshot.List(ctx, to, ""); err != nil || len(list) > 0 || len(damaged) != 1 {
		t.Errorf("a manifest that names a chunk elsewhere: %v, %v, %v", list, damaged, err)
	}
	if err := to.Put(ctx, "../out", strings.NewReader(""), 0); err == nil {
		t.Error("a name that leads out of the directory is accepted")
	}
}

func TestPutIsWholeOrNotAtAll(t *testing.T) {
	ctx, to := context.Background(), snapshot.Dir(t.TempDir())
	if err := to.Put(ctx, "a/b", strings.NewReader("short"), 6); err == nil {
		t.Error("too few bytes are accepted")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := to.Put(cancelled, "a/b", bytes.NewReader(make([]byte, 1<<20)), 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("Put with a context that is done: %v", err)
	}
	if list, err := to.List(ctx, ""); len(list) > 0 || err != nil {
		t.Errorf("parts are left: %v, %v", list, err)
	}
	if _, err := to.Get(ctx, "a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get of nothing: %v", err)
	}
	if err := errors.Join(to.Put(ctx, "a/b", strings.NewReader("one"), 3), to.Put(ctx, "a/b", strings.NewReader("two"), 3)); err != nil {
		t.Fatal(err)
	}
	r, err := to.Get(ctx, "a/b")
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil || string(data) != "two" {
		t.Errorf("Get = %q, %v", data, err)
	}
	if err := errors.Join(to.Delete(ctx, "a/b"), to.Delete(ctx, "a/b")); err != nil {
		t.Errorf("deleting twice: %v", err)
	}
}

// A snapshot of several stores is found when the parts of all are there, wherever the nodes have sent them; what lacks one is in the way of none.
func TestSnapshotsOfSeveralStores(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	at := func(node int) snapshot.Target { return snapshot.Dir(filepath.Join(root, fmt.Sprint("node", node))) }
	number := uint64(0)
	save := func(set snapshot.Set, second int64, parts map[int]int) { // the node of each store
		for store, node := range parts {
			number++
			part := set.At(store)
			m := snapshot.Manifest{Kind: snapshot.Store, Store: fmt.Sprint("store", store), Program: "shop", Number: number, Taken: time.Unix(second, 0), Set: &part}
			_, err := snapshot.Save(ctx, at(node), m, func(emit func(key, value []byte) error) error {
				return emit([]byte("k"), fmt.Append(nil, store, second))
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	sets := make([]snapshot.Set, 3)
	for i := range sets {
		sets[i] = snapshot.NewSet(time.Unix(int64(i+1), 0), 2)
	}
	save(sets[0], 1, map[int]int{0: 1, 1: 2})
	save(sets[1], 2, map[int]int{0: 2, 1: 2})
	save(sets[2], 3, map[int]int{0: 2})
	all := snapshot.Dir(root)
	found := func(w snapshot.Wanted, want snapshot.Set, rows ...string) {
		t.Helper()
		f, err := snapshot.Find(ctx, all, w)
		if err != nil || f.Name != want.Name || len(f.Parts) != 2 || f.Of() != "everything, in 2 stores" {
			t.Fatalf("%+v: %v, %v", w, f, err)
		}
		for i := range f.Parts {
			if got := read(t, f.Parts[i].Place, &f.Parts[i].Manifest)["k"]; got != rows[i] {
				t.Errorf("%+v: store %d has %q, not %q", w, i, got, rows[i])
			}
		}
	}
	found(snapshot.Wanted{}, sets[1], "0 2", "1 2")
	found(snapshot.Wanted{Name: sets[0].Name}, sets[0], "0 1", "1 1")
	none := new(snapshot.NotFoundError)
	if _, err := snapshot.Find(ctx, all, snapshot.Wanted{Name: sets[2].Name}); !errors.As(err, &none) || !strings.Contains(err.Error(), sets[2].Name+" of 2 stores, INCOMPLETE: without store 1") {
		t.Errorf("of one that lacks a store: %v", err)
	}
	if _, err := snapshot.Find(ctx, at(1), snapshot.Wanted{}); !errors.As(err, &none) {
		t.Errorf("in the place of one node: %v", err)
	}
	f, err := snapshot.Find(ctx, all, snapshot.Wanted{})
	if err == nil {
		err = snapshot.Remove(ctx, f.Parts[0].Place, &f.Parts[0].Manifest)
	}
	if err != nil {
		t.Fatal(err)
	}
	found(snapshot.Wanted{}, sets[0], "0 1", "1 1")

	// A part whose manifest is damaged may be that of a newer one.
	save(sets[2], 3, map[int]int{1: 1})
	found(snapshot.Wanted{}, sets[2], "0 3", "1 3")
	entries, err := at(1).List(ctx, "store1/snapshots/")
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v, %v", entries, err)
	}
	if err := os.WriteFile(filepath.Join(root, "node1", entries[0].Name), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	bad := new(snapshot.DamageError)
	if f, err := snapshot.Find(ctx, all, snapshot.Wanted{}); !errors.As(err, &bad) {
		t.Errorf("beside a damaged part: %v, %v", f, err)
	}
	if f, err := snapshot.Find(ctx, all, snapshot.Wanted{Name: sets[2].Name}); !errors.As(err, &bad) {
		t.Errorf("of one with a damaged part: %v, %v", f, err)
	}
	found(snapshot.Wanted{Name: sets[0].Name}, sets[0], "0 1", "1 1")
}
