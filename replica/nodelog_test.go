package replica

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

func entryOf(index, term uint64, data string) *raftpb.Entry {
	return &raftpb.Entry{Index: new(index), Term: new(term), Data: []byte(data)}
}

// What is read of the log, by a new process, too, is what was written: entries replaced by others, cut off at the front, and
// replaced by states, for several groups in one append.
func TestLogIsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		engine := memengine.New()
		log, _, err := OpenLog(engine)
		if err != nil {
			t.Fatal(err)
		}
		want, entries := make(map[Group]LogState), make(map[Group][]*raftpb.Entry)
		for range rapid.IntRange(1, 12).Draw(t, "appends") {
			var a Append
			for range rapid.IntRange(1, 4).Draw(t, "records") {
				g := Group(rapid.IntRange(0, 2).Draw(t, "group"))
				s, list := want[g], entries[g]
				s.Term += uint64(rapid.IntRange(0, 1).Draw(t, "term"))
				r := Record{Group: g}
				if rapid.IntRange(0, 5).Draw(t, "state") == 0 {
					at := s.Last.Index + uint64(rapid.IntRange(0, 9).Draw(t, "beyond"))
					r.State = &raftpb.SnapshotMetadata{Index: new(at), Term: new(s.Term)}
					s.Coming, s.Cut, s.Last, list = Position{at, s.Term}, Position{at, s.Term}, Position{at, s.Term}, nil
					if err := log.Announce(g, r.StateAt()); err != nil {
						t.Fatal(err)
					}
				}
				from := s.Cut.Index + 1 + uint64(rapid.IntRange(0, len(list)).Draw(t, "from"))
				for i := range rapid.IntRange(0, 3).Draw(t, "entries") {
					e := entryOf(from+uint64(i), s.Term, rapid.StringN(0, 5, 5).Draw(t, "data"))
					r.Entries = append(r.Entries, e)
					list = append(list[:from-s.Cut.Index-1+uint64(i)], e)
				}
				if n := len(list); n > 0 && rapid.IntRange(0, 2).Draw(t, "cut") == 0 {
					k := rapid.IntRange(1, n).Draw(t, "off")
					r.Cut = Position{list[k-1].GetIndex(), list[k-1].GetTerm()}
					s.Cut, list = r.Cut, list[k:]
				}
				s.Last = s.Cut
				if n := len(list); n > 0 {
					s.Last = Position{list[n-1].GetIndex(), list[n-1].GetTerm()}
				}
				s.Vote = uint64(rapid.IntRange(0, 3).Draw(t, "vote"))
				s.Commit = s.Cut.Index
				r.Term, r.Vote, r.Commit = s.Term, s.Vote, s.Commit
				want[g], entries[g] = s, list
				a.Records = append(a.Records, r)
			}
			if err := log.Write(&a); err != nil {
				t.Fatal(err)
			}
		}
		again, got, err := OpenLog(engine)
		if err != nil || !maps.Equal(got, want) {
			t.Fatalf("read %v (%v), expected %v", got, err, want)
		}
		for g, list := range entries {
			if len(list) == 0 {
				continue
			}
			from := rapid.IntRange(0, len(list)-1).Draw(t, "read from")
			to := rapid.IntRange(from+1, len(list)).Draw(t, "to")
			bytes := uint64(rapid.IntRange(0, 60).Draw(t, "bytes"))
			read, err := again.Entries(g, list[from].GetIndex(), list[to-1].GetIndex()+1, bytes)
			if want := limited(list[from:to], bytes); err != nil || !slices.EqualFunc(read, want, func(a, b *raftpb.Entry) bool { return proto.Equal(a, b) }) {
				t.Fatalf("%v (%v), expected %v", read, err, want)
			}
		}
	})
}

// A log that has lost, or changed, a part is refused, with its place.
func TestDamagedLogIsRefused(t *testing.T) {
	written := func() store.Engine {
		engine := memengine.New()
		log, _, _ := OpenLog(engine)
		a := Append{Records: []Record{{Group: 3, Term: 2, Vote: 1, Commit: 2, Entries: []*raftpb.Entry{entryOf(1, 1, ""), entryOf(2, 1, "x"), entryOf(3, 2, "y")}}}}
		if err := log.Write(&a); err != nil {
			t.Fatal(err)
		}
		return engine
	}
	for what, c := range map[string]struct {
		damage func(store.Batch)
		want   string
	}{
		"an entry is gone":      {func(b store.Batch) { b.Delete(entryKey(3, 2)) }, "entry 3 of term 2 follows entry 1 of term 1"},
		"an entry is another":   {func(b store.Batch) { v, _ := proto.Marshal(entryOf(1, 1, "")); b.Set(entryKey(3, 2), v) }, "it has entry 1"},
		"an entry is none":      {func(b store.Batch) { b.Set(entryKey(3, 2), []byte{255}) }, "it is no entry"},
		"a term goes back":      {func(b store.Batch) { v, _ := proto.Marshal(entryOf(3, 0, "")); b.Set(entryKey(3, 3), v) }, "entry 3 of term 0 follows"},
		"the vote is gone":      {func(b store.Batch) { b.Delete(groupKey(3, kindHard)) }, "the group is in term 0"},
		"a number is missing":   {func(b store.Batch) { b.Set(groupKey(3, kindHard), numbers(1)) }, "a number is missing"},
		"there is more":         {func(b store.Batch) { b.Set(groupKey(3, kindCut), numbers(0, 0, 0)) }, "more than its numbers"},
		"a row of nothing else": {func(b store.Batch) { b.Set([]byte{1, 2}, nil) }, "no row of a log"},
	} {
		engine := written()
		b := engine.NewBatch()
		c.damage(b)
		if err := engine.Apply(b); err != nil {
			t.Fatal(err)
		}
		if _, _, err := OpenLog(engine); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v, expected %q", what, err, c.want)
		}
	}
}

// A state and a log that do not fit are refused: one of them was lost, or is of another node.
func TestStateMustFitTheLog(t *testing.T) {
	log := LogState{Term: 3, Commit: 12, Cut: Position{10, 2}, Last: Position{15, 3}, Coming: Position{20, 3}}
	for applied, want := range map[uint64]string{
		9:  "the state is at 9, and the log begins behind 10: entries between them are lost",
		10: "", 12: "", 15: "",
		16: "the state is at 16, and the log ends at 15: the log has lost what was committed",
		20: "",
	} {
		got := ""
		if err := log.check(applied); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("state at %d: %q, expected %q", applied, got, want)
		}
	}
}
