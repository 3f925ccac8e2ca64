package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/history"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// simTrace records what happens in a simulated cluster, as the nodes of a real one do: into a directory, with a file for each start of a store.
type simTrace struct {
	NodeTrace
	header trace.Header // of all starts, but for the store
	prefix string       // of the names of the files

	mu     sync.Mutex
	ticks  time.Duration // times that were asked for
	starts map[event.StoreID]*tracing
}

// openSimulated makes sure that the nodes of a simulated cluster can write into the directory of its traces, which has none: those of two runs must not look like
// one.
func (n NodeTrace) openSimulated() error {
	if n.Dir == "" {
		return nil
	}
	if err := n.openDir(); err != nil {
		return err
	}
	if old, _ := fs.Glob(os.DirFS(n.Dir), "*.jsonl"); len(old) > 0 { // an error is of a bad pattern, which the name of the directory may be
		return fmt.Errorf("%s has the traces of another run; name another directory, or delete them", n.Dir)
	}
	return nil
}

// start opens the trace of a start of a store, whose configuration is cfg.
func (s *simTrace) start(id event.StoreID, cfg *Config) error {
	if s.Dir == "" {
		return nil
	}
	h, err := history.Header(s.header, cfg.Store)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.Store = s.storeID(id) // that of the engine is drawn
	h.Cluster, h.Number, h.Node = s.storeID(0), id, event.NodeID(id)+1
	t := &tracing{}
	if err := t.openStart(s.NodeTrace, fmt.Sprintf("%sstore%d", s.prefix, id), h.Run, nil); err != nil {
		return err
	}
	t.writer.Simulate()
	clock := cfg.Clock
	h.Started = clock.Now()
	*cfg = t.begin(*cfg, h)
	cfg.Trace = trace.Timed{Writer: t.writer, Clock: func() time.Time { return clock.Now().Add(s.tick()) }}
	s.starts[id] = t
	return nil
}

// storeID returns the id of a store. A run that is repeated has the same ones, and leaves the same files.
func (s *simTrace) storeID(id event.StoreID) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %d", s.header.Program, s.prefix, s.header.Seed, id))
	return hex.EncodeToString(sum[:16])
}

// tick tells apart times that are asked for while the simulated time stands still.
func (s *simTrace) tick() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ticks++
	return s.ticks
}

// crashed ends the trace of a start as that of a process that is killed.
func (s *simTrace) crashed(id event.StoreID) error {
	s.mu.Lock()
	t := s.starts[id]
	delete(s.starts, id)
	s.mu.Unlock()
	if t == nil {
		return nil
	}
	t.writer.Crash()
	return t.close()
}

// close ends the traces of the starts that have not crashed. The systems, of all starts in their order, have been closed; failed is the error of that.
func (s *simTrace) close(systems []*System, failed error) (err error) {
	if len(s.starts) == 0 {
		return nil
	}
	last := make(map[event.StoreID]*System)
	for _, sys := range systems {
		last[sys.Across().ID()] = sys
	}
	for id, t := range s.starts {
		t.end(last[id], failed)
		err = errors.Join(err, t.close())
	}
	return err
}
