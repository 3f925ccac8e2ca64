package driver_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/engine"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
)

// A member that is sent a state comes to the end of the log while there are steady writes: of one state, though the log would be cut many times while that is
// on its way. A member holds the log no longer when it falls silent, when it takes no entries, or when it is too slow.
func TestAMemberCatchesUp(t *testing.T) {
	for _, what := range []string{"", "falls silent", "takes no entries", "is too slow"} {
		t.Run("a member "+what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var away event.NodeID
				var deaf atomic.Bool
				places := three()
				cfg := quick(places...)
				cfg.Loses = func(m replica.Message) bool {
					return deaf.Load() && m.To() == away && m.Raft.GetType().String() == "MsgApp"
				}
				c := open(t, cfg)
				id, e := lead(t, c)
				away = leftBehind(t, c, id, e)
				takes := 50 * time.Millisecond // one entry is written in each of them, and a state is synced by five
				switch what {
				case "takes no entries": // more than replica.CloseBy are written until the state is there
					takes = 100 * time.Millisecond
				case "is too slow", "falls silent":
					takes = 4 * time.Second
				}
				states := 0
				place := places[away-1].(*replicatest.Memory)
				places[away-1] = &counted{Place: place, before: func(dir string) {
					if strings.HasSuffix(dir, ".new") {
						states++
						<-time.After(takes)
					}
				}}
				if err := c.Start(away); err != nil {
					t.Fatal(err)
				}
				write := func(d time.Duration) (longest uint64) {
					t.Helper()
					for i := range int(d / time.Millisecond) {
						if err := put(e, fmt.Sprint(i), string(make([]byte, 1000))); err != nil {
							t.Fatal(err)
						}
						longest = max(longest, c.Node(id).LogLength(replicatest.Group))
						<-time.After(time.Millisecond)
					}
					return longest
				}
				write(40 * time.Millisecond)
				if n := c.Node(id).LogLength(replicatest.Group); n < 30 {
					t.Errorf("the log has %d entries while a state is on its way", n)
				}
				switch what {
				case "falls silent":
					c.Cut(away, id, true)
					c.Cut(id, away, true)
				case "takes no entries":
					deaf.Store(true)
				}
				write(100 * time.Millisecond)
				longest := write(1500 * time.Millisecond)
				if what == "" && (states != 1 || c.Node(away).Await(t.Context(), replicatest.Group, e.Index()) != nil) {
					t.Errorf("the member has come to the end of the log by %d states", states)
				}
				if most := map[string]uint64{"takes no entries": 200, "is too slow": 1350}; longest > max(30, most[what]) {
					t.Errorf("the log had %d entries", longest)
				}
				if what == "is too slow" && longest < 1250 {
					t.Errorf("the log had %d entries", longest)
				}
			})
		})
	}
}

// A member that takes fewer entries than are written holds the log for some time.
func TestAMemberThatIsSlowHoldsTheLogForSomeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var away event.NodeID
		var first, last atomic.Uint64 // entry since the member takes part again
		places := three()
		cfg := quick(places...)
		cfg.Loses = func(m replica.Message) bool {
			entries := m.Raft.GetEntries()
			return m.To() == away && len(entries) > 0 && 2*entries[len(entries)-1].GetIndex() > first.Load()+last.Load()
		}
		c := open(t, cfg)
		id, e := lead(t, c)
		away = leftBehind(t, c, id, e)
		first.Store(e.Index())
		places[away-1] = &counted{Place: places[away-1], before: func(dir string) {
			if strings.HasSuffix(dir, ".new") { // more than twice replica.CloseBy are written until the state is there
				<-time.After(140 * time.Millisecond)
			}
		}}
		if err := c.Start(away); err != nil {
			t.Fatal(err)
		}
		large := string(make([]byte, 1<<18)) // a message has four
		longest := uint64(0)
		for i := range 400 {
			if err := put(e, fmt.Sprint(i), large); err != nil {
				t.Fatal(err)
			}
			last.Store(e.Index())
			longest = max(longest, c.Node(id).LogLength(replicatest.Group))
			<-time.After(time.Millisecond)
		}
		if longest < 80 || longest > 175 {
			t.Errorf("the log had %d entries", longest)
		}
	})
}

// leftBehind stops a follower, and returns it when the log does not have any more what it lacks.
func leftBehind(t *testing.T, c *replicatest.Cluster, leader event.NodeID, e *engine.Engine) event.NodeID {
	t.Helper()
	away := leader%3 + 1
	if err := c.Stop(away); err != nil {
		t.Fatal(err)
	}
	fill(t, c, leader, e)
	return away
}
