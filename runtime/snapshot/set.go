package snapshot

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Set says which of the stores of a cluster a snapshot is of, and which others belong to it: those of all stores, as of one moment.
type Set struct {
	Name   string `json:"name"` // of all together
	Store  int    `json:"store"`
	Stores int    `json:"stores"`
}

// NewSet returns the set of a snapshot of several stores; that of each of them is At.
func NewSet(taken time.Time, stores int) Set {
	var id [4]byte
	rand.Read(id[:]) // never fails
	return Set{Name: taken.UTC().Format(stampLayout) + "-" + hex.EncodeToString(id[:]), Stores: stores}
}

// At returns what the snapshot of one of the stores has.
func (s Set) At(store int) Set {
	s.Store = store
	return s
}

// possible reports whether there can be such a set.
func (s *Set) possible() bool {
	return s.Name != "" && s.Store >= 0 && s.Store < s.Stores && s.Stores <= storesMax
}

// storesMax is more than any cluster has.
const storesMax = 1 << 10

func (s *Set) String() string {
	if s == nil {
		return "none"
	}
	return fmt.Sprintf("%s, store %d of %d", s.Name, s.Store, s.Stores)
}

// Found is a snapshot in a place: one, or those of all stores of a cluster, by store.
type Found struct {
	Name  string
	Parts []Part
	// Missing are the stores of a cluster that have no part; what lacks one cannot be restored.
	Missing []int
}

// Part is a snapshot, or that of one of several stores, and where it is.
type Part struct {
	Manifest
	Place Target
}

// Set returns what all parts belong to, nil if there is but one store.
func (f *Found) Set() *Set { return f.Parts[0].Set }

// SameCluster reports whether both are of the stores of a cluster, and of the same one.
func (f *Found) SameCluster(o *Found) bool {
	return f.Set() != nil && o.Set() != nil && slices.ContainsFunc(f.Parts, func(p Part) bool { return o.of(p.Store) != nil })
}

// Of says what the snapshot is of.
func (f *Found) Of() string {
	set := f.Set()
	switch {
	case set == nil:
		return f.Parts[0].Of()
	case len(f.Missing) == 0:
		return fmt.Sprintf("everything, in %d stores", set.Stores)
	}
	list := make([]string, len(f.Missing))
	for i, store := range f.Missing {
		list[i] = fmt.Sprint(store)
	}
	return fmt.Sprintf("%d stores, INCOMPLETE: without store %s", set.Stores, strings.Join(list, ", "))
}

// Size returns how many rows and bytes there are.
func (f *Found) Size() (rows int, bytes int64) {
	for i := range f.Parts {
		r, b := f.Parts[i].Size()
		rows, bytes = rows+r, bytes+b
	}
	return rows, bytes
}

// of returns what the snapshot has of a store, nil if it has nothing.
func (f *Found) of(store string) *Part {
	i := slices.IndexFunc(f.Parts, func(p Part) bool { return p.Store == store })
	if i < 0 {
		return nil
	}
	return &f.Parts[i]
}

// All returns the snapshots in a place, and in those below it that the nodes of a cluster have sent theirs to, the oldest first; and the manifests that
// are damaged, or cannot be read, which do not hide the others.
func All(ctx context.Context, t Target) (list []*Found, damaged []*DamageError, err error) {
	places, err := places(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	sets := make(map[string]*Found)
	for i, place := range places {
		manifests, bad, err := List(ctx, place, "")
		if err != nil {
			return nil, nil, err
		}
		if i > 0 { // the first one has the directories of all
			bad = slices.DeleteFunc(bad, (*DamageError).isDir)
		}
		damaged = append(damaged, bad...)
		for _, m := range manifests {
			f := &Found{Name: m.Name}
			if m.Set != nil {
				if f.Name = m.Set.Name; sets[f.Name] != nil {
					f = sets[f.Name]
				}
				sets[f.Name] = f
			}
			if f.Parts = append(f.Parts, Part{m, place}); len(f.Parts) == 1 {
				list = append(list, f)
			}
		}
	}
	for _, f := range sets {
		f.complete()
	}
	slices.SortStableFunc(list, func(a, b *Found) int { return a.Parts[0].Taken.Compare(b.Parts[0].Taken) })
	return list, damaged, nil
}

// complete orders the parts by store, and finds what is missing. Of one that was sent twice either will do.
func (f *Found) complete() {
	slices.SortStableFunc(f.Parts, func(a, b Part) int { return a.Set.Store - b.Set.Store })
	f.Parts = slices.CompactFunc(f.Parts, func(a, b Part) bool { return a.Set.Store == b.Set.Store })
	for store := range f.Set().Stores {
		if !slices.ContainsFunc(f.Parts, func(p Part) bool { return p.Set.Store == store }) {
			f.Missing = append(f.Missing, store)
		}
	}
}

// places returns a place, and those below it that have snapshots.
func places(ctx context.Context, t Target) (list []Target, err error) {
	entries, _, err := listAllowed(ctx, t, "")
	if err != nil {
		return nil, err
	}
	list = []Target{t}
	last := ""
	for _, e := range entries {
		store, _, is := strings.Cut(e.Name, snapshotsDir)
		if i := strings.LastIndexByte(store, '/'); is && i >= 0 && store[:i+1] != last {
			last = store[:i+1]
			list = append(list, Below(t, store[:i], nil))
		}
	}
	return list, nil
}

// Below returns the place that a name has below another one. others returns the names of further places there that have snapshots of the same stores,
// from nodes that have led these; nil: there are none. What these have counts in this one, and nothing is written there: one process at a time may.
func Below(t Target, name string, others func() []string) Target {
	return &below{t, name + "/", others}
}

// below is a place below another one.
type below struct {
	Target
	dir    string // with a slash at the end
	others func() []string
}

// beside returns the further places whose snapshots count in one.
func beside(t Target) (list []Target) {
	if b, ok := t.(*below); ok && b.others != nil {
		for _, name := range b.others() {
			list = append(list, Below(b.Target, name, nil))
		}
	}
	return list
}

// settle implements settler.
func (b *below) settle(ctx context.Context, store string) error {
	return settle(ctx, b.Target, b.dir+store)
}

// listAllowed implements lenient.
func (b *below) listAllowed(ctx context.Context, prefix string) (list []Entry, refused []*DamageError, err error) {
	list, refused, err = listAllowed(ctx, b.Target, b.dir+prefix)
	b.trim(list)
	for _, bad := range refused {
		bad.Target, bad.Name = b.String(), strings.TrimPrefix(bad.Name, b.dir)
	}
	return list, refused, err
}

// trim takes the name of the place out of those of what is there.
func (b *below) trim(list []Entry) {
	for i := range list {
		list[i].Name = strings.TrimPrefix(list[i].Name, b.dir)
	}
}

// Put implements Target.
func (b *below) Put(ctx context.Context, name string, r io.Reader, size int64) error {
	return b.Target.Put(ctx, b.dir+name, r, size)
}

// Get implements Target.
func (b *below) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	return b.Target.Get(ctx, b.dir+name)
}

// List implements Target.
func (b *below) List(ctx context.Context, prefix string) ([]Entry, error) {
	list, err := b.Target.List(ctx, b.dir+prefix)
	b.trim(list)
	return list, err
}

// Delete implements Target.
func (b *below) Delete(ctx context.Context, names ...string) error {
	full := make([]string, len(names))
	for i, name := range names {
		full[i] = b.dir + name
	}
	return b.Target.Delete(ctx, full...)
}

// String implements Target. The parameters of an address stay at its end.
func (b *below) String() string {
	path, parameters := b.Target.String(), ""
	if i := strings.IndexByte(path, '?'); i >= 0 && strings.Contains(path, "://") {
		path, parameters = path[:i], path[i:]
	}
	return strings.TrimSuffix(path, "/") + "/" + strings.TrimSuffix(b.dir, "/") + parameters
}
