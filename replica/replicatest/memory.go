package replicatest

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// Memory is a driver.Place in memory. It outlives the process that writes to it: what is opened again has what was synced.
type Memory struct {
	mu   sync.RWMutex // held while engines are written to, too: a crash is one moment for all of them
	dirs map[string]*memengine.Engine
}

// inMemory is an engine of a Memory.
type inMemory struct {
	*memengine.Engine
	of *Memory
}

// Apply implements store.Engine.
func (e inMemory) Apply(b store.Batch) error {
	e.of.mu.RLock()
	defer e.of.mu.RUnlock()
	return e.Engine.Apply(b)
}

// Sync implements store.Engine.
func (e inMemory) Sync() error {
	e.of.mu.RLock()
	defer e.of.mu.RUnlock()
	return e.Engine.Sync()
}

// Close implements store.Engine.
func (e inMemory) Close() error {
	e.of.mu.RLock()
	defer e.of.mu.RUnlock()
	return e.Engine.Close()
}

// Open implements driver.Place.
func (m *Memory) Open(dir string) (store.Engine, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dirs == nil {
		m.dirs = make(map[string]*memengine.Engine)
	}
	e := m.dirs[dir]
	if e == nil {
		e = memengine.New()
	} else {
		e = e.Reopen()
	}
	m.dirs[dir] = e
	return inMemory{e, m}, nil
}

// List implements driver.Place.
func (m *Memory) List(dir string) (names []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range slices.Sorted(maps.Keys(m.dirs)) {
		if rest, ok := strings.CutPrefix(d, dir+"/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			if len(names) == 0 || names[len(names)-1] != name {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// Rename implements driver.Place.
func (m *Memory) Rename(old, new string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dirs[old] == nil || m.dirs[new] != nil {
		return fmt.Errorf("%s cannot become %s", old, new)
	}
	m.dirs[new] = m.dirs[old]
	delete(m.dirs, old)
	return nil
}

// Remove implements driver.Place.
func (m *Memory) Remove(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.dirs, func(d string, _ *memengine.Engine) bool { return d == dir || strings.HasPrefix(d, path.Clean(dir)+"/") })
	return nil
}

// Crash returns what a crash at this moment leaves: of each engine what was synced, and so many of the batches since as kept says.
func (m *Memory) Crash(kept func(unsynced int) int) *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &Memory{dirs: make(map[string]*memengine.Engine)}
	for _, d := range slices.Sorted(maps.Keys(m.dirs)) {
		c.dirs[d] = m.dirs[d].Crash(kept)
	}
	return c
}

// States returns the engines of all states that count.
func (m *Memory) States() map[string]*memengine.Engine {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := make(map[string]*memengine.Engine)
	for d, e := range m.dirs {
		if strings.HasPrefix(d, "states/") && !strings.HasSuffix(d, ".new") {
			found[d] = e
		}
	}
	return found
}
