package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/aeon-lang/aeon/internal/atomicfile"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/placement/raftnode"
)

// membersFile is in the directory of a node.
const membersFile = "members.json"

// members are those as far as this node knows, for finding and checking them. A node that starts knows what is agreed on only when it has talked
// to others; until then it goes by what it noted when it ran last, which may be old: then others do not let it in.
type members struct {
	of    atomic.Pointer[raftnode.Node] // nil: it is starting
	path  string
	noted atomic.Pointer[placement.State]
}

func (m *members) load(path string) error {
	m.path = path
	m.noted.Store(&placement.State{})
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s, err := placement.Decode(b)
	if err != nil {
		return fmt.Errorf("%s: %w\n\tit is no more than a note: remove it, if other members run", path, err)
	}
	m.noted.Store(s)
	return nil
}

// known returns what is known.
func (m *members) known() *placement.State {
	if n := m.of.Load(); n != nil {
		if s, _ := n.State(); s.Cluster != "" {
			return s
		}
	}
	return m.noted.Load()
}

// save notes a state, if it is new.
func (m *members) save(s *placement.State) error {
	if s.Cluster == "" || s.Version == m.noted.Load().Version {
		return nil
	}
	if err := atomicfile.Write(m.path, bytes.NewReader(s.Encode()), 0o600); err != nil {
		return err
	}
	m.noted.Store(s)
	return nil
}
