package snapshot_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/snapshot"
)

// twoStores are stores that take snapshots together, each in the place of a node.
type twoStores struct {
	t    *testing.T
	root string
	sets []snapshot.Set
	at   map[int]string // the nodes of stores that others lead now than at first
}

func (w *twoStores) place(store int) snapshot.Target {
	return w.node(cmp.Or(w.at[store], fmt.Sprint("node", store)))
}

// node returns the place of a node, beside those of the others.
func (w *twoStores) node(name string) snapshot.Target {
	return snapshot.Below(snapshot.Dir(w.root), name, func() []string {
		return slices.DeleteFunc([]string{"node0", "node1", "node2"}, func(other string) bool { return other == name })
	})
}

// save makes parts of the next snapshot, of some stores, and returns them by store.
func (w *twoStores) save(stores ...int) map[int]*snapshot.Saved {
	w.t.Helper()
	n := int64(len(w.sets) + 1)
	set := snapshot.NewSet(time.Unix(n, 0), 2)
	w.sets = append(w.sets, set)
	parts := map[int]*snapshot.Saved{}
	for _, store := range stores {
		part := set.At(store)
		m := snapshot.Manifest{Kind: snapshot.Store, Store: fmt.Sprint("store", store), Program: "shop", Number: uint64(n), Taken: time.Unix(n, 0), Set: &part}
		s, err := snapshot.Save(context.Background(), w.place(store), m, func(emit func(key, value []byte) error) error { return emit([]byte("k"), fmt.Append(nil, n)) })
		if err != nil {
			w.t.Fatal(err)
		}
		parts[store] = s
	}
	return parts
}

// prune tells some stores that a snapshot is there with all its parts.
func (w *twoStores) prune(parts map[int]*snapshot.Saved, keep int, stores ...int) {
	w.t.Helper()
	for _, store := range stores {
		if _, err := snapshot.Prune(context.Background(), w.place(store), &parts[store].Manifest, keep); err != nil {
			w.t.Fatal(err)
		}
	}
}

// have fails unless these snapshots are there with all their parts, which can be read, and these in part; both counted from 1.
func (w *twoStores) have(whole, partly []int) {
	w.t.Helper()
	list, bad, err := snapshot.All(context.Background(), snapshot.Dir(w.root))
	if err != nil || len(bad) > 0 {
		w.t.Fatal(bad, err)
	}
	var is, some []int
	for _, f := range list {
		n := 1 + slices.IndexFunc(w.sets, func(s snapshot.Set) bool { return s.Name == f.Name })
		for i := range f.Parts {
			if err := snapshot.Verify(context.Background(), f.Parts[i].Place, &f.Parts[i].Manifest); err != nil {
				w.t.Error(err)
			}
		}
		if len(f.Missing) == 0 {
			is = append(is, n)
		} else {
			some = append(some, n)
		}
	}
	if !slices.Equal(is, whole) || !slices.Equal(some, partly) {
		w.t.Errorf("the snapshots %d are whole, and %d in part; want %d and %d", is, some, whole, partly)
	}
}

// files returns how many files of the places have names with a text.
func (w *twoStores) files(text string) (n int) {
	w.t.Helper()
	err := filepath.WalkDir(w.root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, text) {
			n++
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// Snapshots of which a part failed take no place among those that are kept, and nothing of them stays.
func TestFailedSnapshotsDoNotCount(t *testing.T) {
	w := &twoStores{t: t, root: t.TempDir()}
	for range 3 {
		w.prune(w.save(0, 1), 3, 0, 1)
	}
	for range 3 {
		if err := snapshot.Remove(context.Background(), w.place(0), &w.save(0)[0].Manifest); err != nil {
			t.Fatal(err)
		}
	}
	w.have([]int{1, 2, 3}, nil)
	w.prune(w.save(0, 1), 3, 0, 1)
	w.have([]int{2, 3, 7}, nil)
	if chunks, marks := w.files("/chunks/"), w.files(".pending"); chunks != 6 || marks != 0 {
		t.Errorf("%d files and %d marks are left of 3 snapshots of 2 stores", chunks, marks)
	}
}

// The node that has all stores take part may be lost at any point: parts stay that no other one belongs to, or that were not told that all others are
// there. The newest whole snapshots stay all the same, in all stores, and the rest goes in time.
func TestPartsAreLeftPending(t *testing.T) {
	w := &twoStores{t: t, root: t.TempDir()}
	for range 3 {
		w.prune(w.save(0, 1), 3, 0, 1)
	}
	for range 3 {
		w.save(0)
	}
	w.have([]int{1, 2, 3}, []int{4, 5, 6})
	w.prune(w.save(0, 1), 3, 0, 1)
	w.have([]int{2, 3, 7}, []int{4, 5, 6})
	w.prune(w.save(0, 1), 3, 0) // 8, of which store 1 does not hear
	w.prune(w.save(0, 1), 3, 1) // 9, of which store 0 does not
	w.have([]int{3, 7, 8, 9}, []int{4, 5, 6})
	w.prune(w.save(0, 1), 3, 0, 1)
	w.have([]int{7, 8, 9, 10}, nil)
	for range 2 {
		w.prune(w.save(0, 1), 3, 0, 1)
	}
	w.have([]int{10, 11, 12}, nil)
	if chunks, marks := w.files("/chunks/"), w.files(".pending"); chunks != 6 || marks != 0 {
		t.Errorf("%d files and %d marks are left of 3 snapshots of 2 stores", chunks, marks)
	}
}

// Parts that were made before there were marks count.
func TestPartsWithoutAMarkCount(t *testing.T) {
	w := &twoStores{t: t, root: t.TempDir()}
	for range 3 {
		w.save(0, 1)
	}
	for store := range 2 {
		marks, err := filepath.Glob(filepath.Join(w.root, fmt.Sprint("node", store), "*/snapshots/*.pending"))
		if err != nil || len(marks) != 3 {
			t.Fatalf("the marks %q, %v", marks, err)
		}
		for _, mark := range marks {
			if err := os.Remove(mark); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.prune(w.save(0, 1), 3, 0, 1)
	w.have([]int{2, 3, 4}, nil)
}

// A store that is led by one node after another has its parts in several places. Those of a snapshot stay as long as it is among the newest, in each place,
// and then go in each, also in that of a node that sends nothing any more.
func TestPartsAreInPlacesOfFormerLeaders(t *testing.T) {
	w := &twoStores{t: t, root: t.TempDir(), at: map[int]string{}}
	clean := func() {
		for _, name := range []string{"node0", "node1", "node2"} {
			if _, err := snapshot.PruneAll(context.Background(), w.node(name), []string{"store0", "store1"}, 3); err != nil {
				t.Fatal(err)
			}
		}
	}
	next := func(leader string) {
		w.at[0] = leader
		parts := w.save(0, 1)
		clean() // it tells nothing of what is being made
		w.prune(parts, 3, 0, 1)
	}
	for range 3 {
		next("node0")
	}
	next("node2")
	w.have([]int{2, 3, 4}, []int{1})
	clean()
	w.have([]int{2, 3, 4}, nil)
	w.at[0] = "node0"
	w.save(0) // the snapshot that this is of does not come about
	next("node1")
	clean()
	w.have([]int{3, 4, 6}, []int{5})
	for range 3 {
		next("node2")
	}
	clean()
	w.have([]int{7, 8, 9}, nil)
	if chunks, marks := w.files("/chunks/"), w.files(".pending"); chunks != 6 || marks != 0 {
		t.Errorf("%d files and %d marks are left of 3 snapshots of 2 stores", chunks, marks)
	}
}

// Another cluster may send to the same place, from a node of the same number: what it keeps, and what it is sending, is its own.
func TestOtherClustersSendToThePlace(t *testing.T) {
	w := &twoStores{t: t, root: t.TempDir(), at: map[int]string{1: "node0"}} // store 1 is that of the other cluster
	ctx := context.Background()
	for range 4 {
		w.prune(w.save(0, 1), 4, 0, 1)
	}
	sending := w.save(1)[1]
	if err := os.Remove(filepath.Join(w.root, "node0", "store1", "snapshots", sending.Name+".json")); err != nil {
		t.Fatal(err)
	}
	for _, own := range [][]string{nil, {"store0"}} {
		if n, err := snapshot.PruneAll(ctx, w.node("node0"), own, 2); n != 2*len(own) || err != nil {
			t.Errorf("of the stores %q it has deleted %d, %v", own, n, err)
		}
	}
	if parts, chunks, marks := w.files("/store1/snapshots/"), w.files("/store1/chunks/"), w.files(".pending"); parts != 5 || chunks != 5 || marks != 1 {
		t.Errorf("of the other cluster there are %d files of snapshots, %d of content and %d marks", parts, chunks, marks)
	}
}

// What was interrupted goes from the place of a node that sends nothing of the store any more, though no manifest is there that is whole: a snapshot that was
// being sent, one whose deletion was cut off, and one whose manifest is damaged, as soon as enough newer ones count.
func TestWhatWasInterruptedGoes(t *testing.T) {
	w := &twoStores{t: t, root: t.TempDir(), at: map[int]string{}}
	ctx, dir := context.Background(), filepath.Join(w.root, "node0", "store0")
	manifest := func(part *snapshot.Saved) string { return filepath.Join(dir, "snapshots", part.Name+".json") }
	clean := func() error {
		_, err := snapshot.PruneAll(ctx, w.node("node0"), []string{"store0"}, 2)
		return err
	}
	left := func(want int) {
		t.Helper()
		if n := w.files("/node0/"); n != want {
			t.Errorf("%d files are left, and not %d", n, want)
		}
	}
	killed := w.save(0)[0]
	if err := os.Remove(manifest(killed)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "chunks", ".part-1"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	left(3) // with the mark
	if err := clean(); err != nil {
		t.Error(err)
	}
	left(0)
	bad := w.save(0)
	w.prune(bad, 2, 0)
	if err := os.Truncate(manifest(bad[0]), 100); err != nil {
		t.Fatal(err)
	}
	w.at[0] = "node1"
	for n, files := range []int{2, 2, 0} {
		if err := clean(); errors.As(err, new(*snapshot.DamageError)) != (files > 0) {
			t.Errorf("beside %d newer ones: %v", n, err)
		}
		left(files)
		w.prune(w.save(0), 2, 0)
	}
}

// A part that could not be saved whole may have left its mark, and its manifest. What Save returns with the error is enough to delete them.
func TestAPartThatCouldNotBeSavedIsRemoved(t *testing.T) {
	refused := errors.New("it is refused")
	for _, suffix := range []string{".pending", ".json"} {
		w := &twoStores{t: t, root: t.TempDir()}
		target := &refusingTarget{w.place(0), suffix, refused}
		set := snapshot.NewSet(time.Unix(1, 0), 2).At(0)
		m := snapshot.Manifest{Kind: snapshot.Store, Store: "store0", Program: "shop", Number: 1, Taken: time.Unix(1, 0), Set: &set}
		s, err := snapshot.Save(context.Background(), target, m, func(emit func(key, value []byte) error) error { return emit([]byte("k"), nil) })
		if !errors.Is(err, refused) || w.files(".pending") != 1 {
			t.Fatalf("%s: %d marks are there, %v", suffix, w.files(".pending"), err)
		}
		if err := snapshot.Remove(context.Background(), target, &s.Manifest); err != nil {
			t.Error(err)
		}
		if n := w.files("/snapshots/"); n != 0 {
			t.Errorf("%s: %d files are left", suffix, n)
		}
	}
}

// refusingTarget stores what has a name that ends so, and says that it has not.
type refusingTarget struct {
	snapshot.Target
	suffix  string
	refused error
}

// Put implements snapshot.Target.
func (r *refusingTarget) Put(ctx context.Context, name string, content io.Reader, size int64) error {
	if err := r.Target.Put(ctx, name, content, size); err != nil || !strings.HasSuffix(name, r.suffix) {
		return err
	}
	return r.refused
}

// hookedTarget is one whose calls may find, or do, something else.
type hookedTarget struct {
	snapshot.Target
	list func(prefix string) error
	get  func(name string)
}

// List implements snapshot.Target.
func (h *hookedTarget) List(ctx context.Context, prefix string) ([]snapshot.Entry, error) {
	if err := h.list(prefix); err != nil {
		return nil, err
	}
	return h.Target.List(ctx, prefix)
}

// Get implements snapshot.Target.
func (h *hookedTarget) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	h.get(name)
	return h.Target.Get(ctx, name)
}

// A place beside that cannot be read does not count, so more stays: what is old by the others goes, and the error is told. What another node deletes
// meanwhile is no error.
func TestOtherPlacesFail(t *testing.T) {
	w := &twoStores{t: t, root: t.TempDir(), at: map[int]string{}}
	ctx, fails, refused := context.Background(), "", errors.New("it is refused")
	root := &hookedTarget{Target: snapshot.Dir(w.root), get: func(string) {}}
	root.list = func(prefix string) error {
		if fails != "" && strings.HasPrefix(prefix, fails) {
			return refused
		}
		return nil
	}
	own := snapshot.Below(root, "node0", func() []string { return []string{"node1", "node2"} })
	for _, leader := range []string{"node0", "node0", "node2", "node1"} {
		w.at[0] = leader
		w.prune(w.save(0), 9, 0)
	}
	fails = "node1/"
	if _, err := snapshot.PruneAll(ctx, own, []string{"store0"}, 2); !errors.Is(err, refused) || !strings.Contains(err.Error(), "node1") {
		t.Errorf("a place that cannot be read: %v", err)
	}
	w.have(nil, []int{2, 3, 4})
	fails = ""
	root.get = func(name string) {
		if strings.HasPrefix(name, "node1/") {
			w.at[0] = "node1"
			list, _, err := snapshot.List(ctx, w.place(0), "")
			for i := range list {
				err = errors.Join(err, snapshot.Remove(ctx, w.place(0), &list[i]))
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := snapshot.PruneAll(ctx, own, []string{"store0"}, 2); err != nil {
		t.Errorf("a snapshot is deleted while those of its place are read: %v", err)
	}
	w.have(nil, []int{2, 3})
}
