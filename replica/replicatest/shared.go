package replicatest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/runtime/store"
)

// On keeps an engine on three replicas whose disks are all parts of that engine: what crashes, stalls or fails it does so to the disks of all
// nodes at once. So a test that has made an engine of its own goes on with it.
func On(e store.Engine, cfg Config) (*Engine, error) {
	for id := range 3 {
		cfg.Places = append(cfg.Places, &part{e, fmt.Sprintf("%d/", id+1)})
	}
	return OpenEngine(cfg)
}

// part is a driver.Place in an engine: the rows of directory D have the keys PREFIX D 0 KEY.
type part struct {
	of     store.Engine
	prefix string
}

var _ driver.Place = (*part)(nil)

func (p *part) rows(dir string) (from, to []byte) {
	from = append([]byte(p.prefix+dir), 0)
	return from, append([]byte(p.prefix+dir), 1)
}

// Open implements driver.Place. What is in no directory has a row, so that it is listed.
func (p *part) Open(dir string) (store.Engine, error) {
	from, _ := p.rows(dir)
	b := p.of.NewBatch()
	b.Set(from, nil)
	if err := p.of.Apply(b); err != nil {
		return nil, err
	}
	return &below{p.of, from}, p.of.Sync()
}

// List implements driver.Place.
func (p *part) List(dir string) (names []string, err error) {
	it := p.of.Scan([]byte(p.prefix+dir+"/"), []byte(p.prefix+dir+"0"))
	for it.Next() {
		name, _, _ := strings.Cut(string(it.Key()[len(p.prefix+dir)+1:]), "\x00")
		name, _, _ = strings.Cut(name, "/")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, it.Close()
}

// Rename implements driver.Place.
func (p *part) Rename(old, new string) error {
	from, to := p.rows(old)
	into, _ := p.rows(new)
	b := p.of.NewBatch()
	it := p.of.Scan(from, to)
	for it.Next() {
		b.Set(slices.Concat(into, it.Key()[len(from):]), it.Value())
	}
	if err := it.Close(); err != nil {
		return err
	}
	b.DeleteRange(from, to)
	if err := p.of.Apply(b); err != nil {
		return err
	}
	return p.of.Sync()
}

// Remove implements driver.Place.
func (p *part) Remove(dir string) error {
	from, to := p.rows(dir)
	b := p.of.NewBatch()
	b.DeleteRange(from, to)
	return p.of.Apply(b)
}

// below is the rows of an engine below a prefix, without that. Close leaves the engine open.
type below struct {
	of     store.Engine
	prefix []byte
}

func (b *below) key(k []byte) []byte { return slices.Concat(b.prefix, k) }

// NewBatch implements store.Engine.
func (b *below) NewBatch() store.Batch { return &belowBatch{b.of.NewBatch(), b} }

// Apply implements store.Engine.
func (b *below) Apply(batch store.Batch) error { return b.of.Apply(batch.(*belowBatch).Batch) }

// Sync implements store.Engine.
func (b *below) Sync() error { return b.of.Sync() }

// Close implements store.Engine.
func (b *below) Close() error { return b.of.Sync() }

// Get implements store.Reader.
func (b *below) Get(key, buf []byte) ([]byte, bool, error) { return b.of.Get(b.key(key), buf) }

// Scan implements store.Reader.
func (b *below) Scan(from, to []byte) store.Iterator { return scanBelow(b.of, b.prefix, from, to) }

// Snapshot implements store.Engine.
func (b *below) Snapshot() store.Snapshot { return &belowView{b.of.Snapshot(), b.prefix} }

type belowBatch struct {
	store.Batch
	of *below
}

// Set implements store.Batch.
func (b *belowBatch) Set(key, value []byte) { b.Batch.Set(b.of.key(key), value) }

// Delete implements store.Batch.
func (b *belowBatch) Delete(key []byte) { b.Batch.Delete(b.of.key(key)) }

// DeleteRange implements store.Batch.
func (b *belowBatch) DeleteRange(from, to []byte) { b.Batch.DeleteRange(b.of.key(from), b.of.key(to)) }

type belowView struct {
	store.Snapshot
	prefix []byte
}

// Get implements store.Reader.
func (v *belowView) Get(key, buf []byte) ([]byte, bool, error) {
	return v.Snapshot.Get(slices.Concat(v.prefix, key), buf)
}

// Scan implements store.Reader.
func (v *belowView) Scan(from, to []byte) store.Iterator {
	return scanBelow(v.Snapshot, v.prefix, from, to)
}

type belowScan struct {
	store.Iterator
	prefix int
}

// scanBelow leaves out the row that says that the directory is there.
func scanBelow(r store.Reader, prefix, from, to []byte) store.Iterator {
	if len(from) == 0 {
		from = []byte{0}
	}
	if bytes.Compare(to, from) < 0 {
		to = from
	}
	return &belowScan{r.Scan(slices.Concat(prefix, from), slices.Concat(prefix, to)), len(prefix)}
}

// Key implements store.Iterator.
func (s *belowScan) Key() []byte { return s.Iterator.Key()[s.prefix:] }
