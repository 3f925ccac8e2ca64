package replica

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// A follower whose log has entries of a former leader, which are not committed, takes a state that ends before, at or behind the end of them. After a
// crash between any two steps of that it takes what the leader has, and its log has nothing of the former one from the state's end on.
func TestACrashWhileAStateReplacesALogOfAFormerLeader(t *testing.T) {
	for last := uint64(3); last <= 7; last++ { // the log's last entry
		for _, replaced := range []bool{false, true} { // the crash comes behind the replacement of the state
			t.Run(fmt.Sprintf("last=%d,replaced=%v", last, replaced), func(t *testing.T) {
				engine := memengine.New()
				log, _, err := OpenLog(engine)
				if err != nil {
					t.Fatal(err)
				}
				begin := Record{Group: 1, Term: 2, Commit: 2, State: &raftpb.SnapshotMetadata{Index: new(uint64(1)), Term: new(uint64(1))}}
				for i := uint64(2); i <= last; i++ {
					begin.Entries = append(begin.Entries, entryOf(i, 2, "former"))
				}
				if err := log.Write(&Append{Records: []Record{begin}}); err != nil {
					t.Fatal(err)
				}
				applied, state := uint64(2), Position{5, 3}
				if err := log.Announce(1, state); err != nil {
					t.Fatal(err)
				}
				if replaced {
					applied = state.Index
				}

				log, found, err := OpenLog(engine)
				if err != nil {
					t.Fatal(err)
				}
				c := New(Config{Node: 1, Log: log, Rand: rand.New(rand.NewPCG(1, 1)), Heartbeat: 2, Election: 10, Stall: 100, UncommittedMax: 300})
				if err := c.Add(1, Start{Applied: applied, Members: Voters(1, 2, 3), Log: found[1]}); err != nil {
					t.Fatal(err)
				}
				var accepted uint64
				perform := func() {
					for e := c.Effects(); e.Append != nil || len(e.Send) > 0 || len(e.Apply) > 0; e = c.Effects() {
						for _, m := range e.Send {
							if m.Raft.GetType() == raftpb.MsgAppResp && !m.Raft.GetReject() {
								accepted = max(accepted, m.Raft.GetIndex())
							}
						}
						for i := range e.Apply {
							c.Applied(&e.Apply[i])
						}
						if a := e.Append; a != nil {
							if err := log.Write(a); err != nil {
								t.Fatal(err)
							}
							c.Appended(a)
						}
					}
				}
				perform()
				from := Position{applied, 2} // what leader and follower have in common
				if replaced {
					from = state
				}
				app := &raftpb.Message{
					Type: raftpb.MsgApp.Enum(), From: new(uint64(2)), To: new(uint64(1)), Term: new(uint64(3)), Index: new(from.Index), LogTerm: new(from.Term), Commit: new(uint64(6)),
				}
				for i := from.Index + 1; i <= 6; i++ {
					app.Entries = append(app.Entries, entryOf(i, 3, "new"))
				}
				c.Step(Message{1, app})
				perform()
				s, err := log.State(1)
				if err != nil {
					t.Fatal(err)
				}
				if want := (Position{6, 3}); accepted != 6 || s.Last != want || replaced && s.Cut != state {
					t.Errorf("entries up to %d are accepted, and the log is %+v", accepted, s)
				}
			})
		}
	}
}
