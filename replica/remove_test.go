package replica

import (
	"math/rand/v2"
	"testing"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// Nothing is handed out for the log of a group behind its removal, neither what was about to be handed out nor what waits for an append that is under
// way. Other groups lose nothing by it.
func TestARemovedGroupWritesNothing(t *testing.T) {
	for _, gone := range []Group{1, 2} {
		for _, under := range []bool{false, true} { // an append is under way
			log, _, err := OpenLog(memengine.New())
			if err != nil {
				t.Fatal(err)
			}
			begun := Position{1, 1}
			c := New(Config{Node: 1, Log: log, Rand: rand.New(rand.NewPCG(1, 1)), Heartbeat: 2, Election: 10, Stall: 100, UncommittedMax: 300})
			for g := Group(1); g <= 2; g++ {
				r := Record{Group: g, Term: 1, Commit: 1, State: &raftpb.SnapshotMetadata{Index: new(begun.Index), Term: new(begun.Term)}}
				if err := log.Write(&Append{Records: []Record{r}}); err != nil {
					t.Fatal(err)
				}
				if err := c.Add(g, Start{Applied: 1, Members: Voters(1), Log: LogState{Term: 1, Commit: 1, Cut: begun, Last: begun}}); err != nil {
					t.Fatal(err)
				}
			}
			var a *Append
			for range 20 { // both groups stand for election, one of them first
				c.Tick()
				if under && a == nil {
					a = c.Effects().Append
				}
			}
			if under == (a == nil) {
				t.Fatalf("%v is under way, expected %v", a, under)
			}
			c.Remove(gone, Position{Term: 9})
			for under := under; ; under = false {
				if !under {
					e := c.Effects()
					for i := range e.Apply {
						c.Applied(&e.Apply[i])
					}
					if a = e.Append; a == nil {
						break
					}
					for _, r := range a.Records {
						if r.Group == gone {
							t.Errorf("a record of group %d is handed out", gone)
						}
					}
				}
				if err := log.Write(a); err != nil {
					t.Fatal(err)
				}
				c.Appended(a)
			}
			if other := c.Leader(3 - gone); other.Leader != 1 {
				t.Errorf("group %d was removed, and of the other one the node knows %+v", gone, other)
			}
		}
	}
}
