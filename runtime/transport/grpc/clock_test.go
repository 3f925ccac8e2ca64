package grpc

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// shifted is the clock of a machine that is off.
type shifted struct{ by atomic.Int64 }

func (c *shifted) Now() time.Time { return time.Now().Add(time.Duration(c.by.Load())) }

// Nodes whose clocks are too far apart have no session and both say why, with figures; they have one as soon as the clock is set. The
// clock of a node that is a little behind follows the other.
func TestClocksThatAreFarOff(t *testing.T) {
	c := newCluster(t)
	var machine [2]shifted
	machine[1].by.Store(-int64(time.Minute))
	var l [2]*listens
	var tr [2]*Transport
	for i := range l {
		l[i] = newListens()
		cfg := c.config(event.NodeID(i+1), l[i])
		cfg.Clock = sched.NewHybrid(&machine[i])
		tr[i] = c.start(cfg, 2)
	}
	refused := func(want [2]string) {
		t.Helper()
		until(t, "both nodes say that the clocks are apart", func() bool {
			for i := range tr {
				h := tr[i].Heard(event.NodeID(2 - i))
				if h.Up || !strings.Contains(h.Refused, want[i]) {
					return false
				}
			}
			return true
		})
	}
	const ahead, behind = " ahead of that of this node ", " behind that of this node "
	refused([2]string{behind, ahead})
	for i := range l {
		if got := l[i].all(); len(got) > 0 {
			t.Fatalf("the handler of node %d was told %q", i+1, got)
		}
	}
	machine[1].by.Store(int64(2 * time.Second))
	l[0].has(t, "up 2", 1)
	l[1].has(t, "up 1", 1)
	until(t, "the clock of node 1 follows", func() bool { return tr[0].cfg.Clock.Now().Sub(time.Now()) > 1900*time.Millisecond })
	for i := range tr {
		if h := tr[i].Heard(event.NodeID(2 - i)); h.Refused != "" {
			t.Errorf("node %d still says %q", i+1, h.Refused)
		}
	}
	machine[1].by.Store(int64(time.Hour)) // while the session lasts
	l[0].has(t, "down 2", 1)
	l[1].has(t, "down 1", 1)
	if off := tr[0].cfg.Clock.Now().Sub(time.Now()); off > 3*time.Second {
		t.Errorf("the clock of node 1 has followed by %v", off)
	}
	refused([2]string{ahead, behind})
}

func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	late, again := time.After(patience), time.NewTicker(10*time.Millisecond)
	defer again.Stop()
	for !cond() {
		select {
		case <-late:
			t.Fatalf("not within %v: %s", patience, what)
		case <-again.C:
		}
	}
}
