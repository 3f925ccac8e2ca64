package placement

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/event"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func key(n int) (f Fingerprint) {
	f[0], f[1] = byte(n), byte(n>>8)
	return f
}

func formed(t interface{ Fatal(...any) }, stores, replicas int) *State {
	s := &State{}
	r, err := s.Apply(&Command{At: noon, Form: &Form{"c1", "bank", stores, 4 * stores, replicas, Member{Name: "n1", Address: "127.0.0.1:7001", Key: key(1)}}})
	if err != nil || r.Node != 1 {
		t.Fatal(r, err)
	}
	return s
}

// joined adds a node.
func joined(t interface{ Fatal(...any) }, s *State) event.NodeID {
	n := int(s.LastNode) + 1
	token := key(1000 + n)
	_, err := s.Apply(&Command{At: noon, Token: &Token{token, noon.Add(time.Hour)}})
	r, other := s.Apply(&Command{At: noon, Join: &Join{token, "bank", fmt.Sprintf("n%d", n), fmt.Sprintf("127.0.0.1:%d", 7000+n), key(n)}})
	if err != nil || other != nil {
		t.Fatal(err, other)
	}
	return r.Node
}

func all(event.NodeID) bool        { return true }
func settled(StoreID, uint64) bool { return true }

// The plan of any cluster leads, by commands that are all taken, to one in which each store has as many replicas as it should, on
// nodes that stay, evenly; and then it ends. On the way no store changes by more than one replica, or has none that it had.
func TestPlansLeadThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := formed(t, rapid.IntRange(1, 12).Draw(t, "stores"), 2*rapid.IntRange(0, 2).Draw(t, "replicas")+1)
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			switch rapid.IntRange(0, 3).Draw(t, "change") {
			case 0, 1:
				joined(t, s)
			case 2:
				n := event.NodeID(rapid.Uint64Range(1, uint64(s.LastNode)).Draw(t, "leaves"))
				_, _ = s.Apply(&Command{At: noon, Leave: &Leave{n}}) // the last one may not
			default:
				n := event.NodeID(rapid.Uint64Range(1, uint64(s.LastNode)).Draw(t, "lost"))
				_, _ = s.Apply(&Command{At: noon, Remove: &Remove{Node: n, Lost: true}}) // it may be needed
			}
			v := View{Heard: all, Settled: settled}
			if rapid.Bool().Draw(t, "partly") { // it is interrupted
				v.Settled = func(id StoreID, _ uint64) bool { return id%2 == 0 }
			}
			for range rapid.IntRange(0, 3).Draw(t, "rounds") {
				perform(t, s, v)
			}
		}
		rounds := 0
		for perform(t, s, View{Heard: all, Settled: settled}) {
			if rounds++; rounds > 200 {
				t.Fatalf("the plan does not end: %+v", s.Stores)
			}
		}
		active := s.with(Active)
		want := min(s.Replicas, len(active))
		want -= 1 - want%2
		least, most := 1<<30, 0
		for _, n := range active {
			least, most = min(least, len(s.Of(n))), max(most, len(s.Of(n)))
		}
		few := want == 1 && s.Replicas > 1 // what had several replicas keeps two, and nothing is moved
		for id, st := range s.Stores {
			if n := len(st.Replicas); n != want && !(few && n == 2 && len(active) > 1) {
				t.Fatalf("store %d has the replicas %v, and should have %d", id, st.Replicas, want)
			}
		}
		if most-least > 1 && !few || len(s.with(Leaving)) > 0 {
			t.Fatalf("nodes keep %d to %d stores, and %v still leave", least, most, s.with(Leaving))
		}
	})
}

// perform performs a round of the plan, and reports whether there was anything to do.
func perform(t *rapid.T, s *State, v View) bool {
	list := Plan(s, v)
	for _, c := range list {
		if r := c.Replicate; r != nil {
			old := s.Stores[r.Store].Replicas
			same := 0
			for _, n := range r.Replicas {
				if slices.Contains(old, n) {
					same++
				}
			}
			if same == 0 || len(r.Replicas)-same > 1 || len(old)-same > 1 {
				t.Fatalf("store %d goes from %v to %v", r.Store, old, r.Replicas)
			}
		}
		c.At = noon
		if _, err := s.Apply(&c); err != nil {
			t.Fatalf("%+v is refused: %v", c, err)
		}
	}
	return len(list) > 0
}

// When the third of three nodes has gone, for good or because it was told to, each store keeps the two replicas that are left.
func TestTwoReplicasStay(t *testing.T) {
	for _, lost := range []bool{false, true} {
		s := formed(t, 3, 3)
		joined(t, s)
		third := joined(t, s)
		rounds := func() {
			for range 20 {
				for _, c := range Plan(s, View{Heard: all, Settled: settled}) {
					c.At = noon
					if _, err := s.Apply(&c); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		rounds()
		c := Command{At: noon, Leave: &Leave{third}}
		if lost {
			c = Command{At: noon, Remove: &Remove{Node: third, Lost: true}}
		}
		if _, err := s.Apply(&c); err != nil {
			t.Fatal(err)
		}
		rounds()
		for id, st := range s.Stores {
			if len(st.Replicas) != 2 || slices.Contains(st.Replicas, third) {
				t.Errorf("store %d has the replicas %v", id, st.Replicas)
			}
		}
	}
}

// A store that one node alone keeps stays there until another node is heard of; a node that is silent gets nothing, and keeps what
// it has.
func TestSilentNodes(t *testing.T) {
	s := formed(t, 2, 3)
	joined(t, s)
	joined(t, s)
	v := View{Heard: func(n event.NodeID) bool { return n == 1 }, Settled: settled}
	if list := Plan(s, v); len(list) > 0 {
		t.Errorf("two silent nodes get stores: %+v", list)
	}
	v.Heard = all
	rapid.Check(t, func(t *rapid.T) {
		s := s.Clone()
		for perform(t, s, v) {
		}
		if list := Plan(s, View{Heard: func(n event.NodeID) bool { return n != 2 }, Settled: settled}); len(list) > 0 {
			t.Fatalf("a silent node loses stores: %+v", list)
		}
	})
}

// group is the raft group of a store: it follows the list of the store some time after that has changed.
type group struct {
	version uint64
	members []event.NodeID
}

// A node that leaves is a member of the cluster as long as it is one of a group: whichever group is late, none that has lost a node counts on the vote
// of one that is gone. A list does not change again before the group has followed it.
func TestNodesStayUntilTheirGroupsDoWithoutThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := formed(t, rapid.IntRange(1, 4).Draw(t, "stores"), 2*rapid.IntRange(0, 2).Draw(t, "replicas")+1)
		for range rapid.IntRange(1, 5).Draw(t, "nodes") {
			joined(t, s)
		}
		groups := make([]group, len(s.Stores))
		follow := func(id int) { groups[id] = group{s.Stores[id].Version, slices.Clone(s.Stores[id].Replicas)} }
		for id := range groups {
			follow(id)
		}
		v := View{Heard: all, Settled: func(id StoreID, version uint64) bool { return groups[id].version == version }}
		check := func() {
			for id, g := range groups {
				if v := s.Stores[id].Version; v > g.version+1 {
					t.Fatalf("the list of store %d has version %d, and its group has followed version %d", id, v, g.version)
				}
				for _, n := range g.members {
					if s.Members[n].Membership == Removed {
						t.Fatalf("node %d is removed, and the group of store %d has the members %v", n, id, g.members)
					}
				}
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			if rapid.IntRange(0, 2).Draw(t, "one leaves") == 0 {
				_, _ = s.Apply(&Command{At: noon, Leave: &Leave{event.NodeID(rapid.Uint64Range(1, uint64(s.LastNode)).Draw(t, "which"))}}) // the last one may not
			}
			perform(t, s, v)
			check()
			late := rapid.Uint64().Draw(t, "late")
			for id := range groups {
				if late>>id&1 == 0 {
					follow(id)
				}
			}
		}
		for range 200 {
			perform(t, s, v)
			check()
			for id := range groups {
				follow(id)
			}
		}
		if list := s.with(Leaving); len(list) > 0 {
			t.Fatalf("%v still leave", list)
		}
	})
}

// A node that leaves is a member of the cluster as long as it votes on the placement.
func TestNodesStayWhileTheyVote(t *testing.T) {
	s := formed(t, 2, 3)
	two := joined(t, s)
	if _, err := s.Apply(&Command{At: noon, Leave: &Leave{two}}); err != nil {
		t.Fatal(err)
	}
	v := View{Heard: all, Settled: settled, Voters: []event.NodeID{1, two}}
	if list := Plan(s, v); len(list) > 0 {
		t.Errorf("node %d votes, and the plan is %+v", two, list)
	}
	v.Voters = []event.NodeID{1}
	if list := Plan(s, v); len(list) != 1 || list[0].Remove == nil || list[0].Remove.Node != two {
		t.Errorf("node %d votes no more, and the plan is %+v", two, list)
	}
}

// Whichever nodes are silent, no change leaves a store to replicas of which no majority is heard, gives a silent node a store, or
// moves one away from a silent node that stays, but where there are too many.
func TestPlansKeepAMajority(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := formed(t, rapid.IntRange(1, 8).Draw(t, "stores"), 3)
		for range rapid.IntRange(0, 5).Draw(t, "nodes") {
			joined(t, s)
		}
		for range rapid.IntRange(1, 8).Draw(t, "rounds") {
			if rapid.IntRange(0, 2).Draw(t, "one leaves") == 0 {
				_, _ = s.Apply(&Command{At: noon, Leave: &Leave{event.NodeID(rapid.Uint64Range(1, uint64(s.LastNode)).Draw(t, "which"))}}) // the last one may not
			}
			silent := rapid.Uint64().Draw(t, "silent")
			heard := func(n event.NodeID) bool { return silent>>n&1 == 0 }
			for _, c := range Plan(s, View{Heard: heard, Settled: settled}) {
				if r := c.Replicate; r != nil {
					old, majority := s.Stores[r.Store].Replicas, 0
					for _, n := range r.Replicas {
						if heard(n) {
							majority++
						} else if !slices.Contains(old, n) {
							t.Fatalf("store %d goes from %v to %v, and node %d is silent", r.Store, old, r.Replicas, n)
						}
					}
					for _, n := range old {
						if !slices.Contains(r.Replicas, n) && !heard(n) && s.Members[n].Membership == Active && len(r.Replicas) >= len(old) {
							t.Fatalf("store %d goes from %v to %v, and node %d is silent", r.Store, old, r.Replicas, n)
						}
					}
					if majority*2 <= len(r.Replicas) {
						t.Fatalf("store %d goes from %v to %v, of which %d are heard", r.Store, old, r.Replicas, majority)
					}
				}
				c.At = noon
				if _, err := s.Apply(&c); err != nil {
					t.Fatalf("%+v is refused: %v", c, err)
				}
			}
		}
	})
}

// What is refused says why, and changes nothing.
func TestRefusals(t *testing.T) {
	s := formed(t, 2, 3)
	two := joined(t, s)
	token := key(99)
	if _, err := s.Apply(&Command{At: noon, Token: &Token{token, noon.Add(time.Minute)}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command Command
		want    string
	}{
		{Command{}, "the command is empty"},
		{Command{Form: &Form{}}, "has been formed already"},
		{Command{Token: &Token{key(5), noon}}, "the token expires at 2026-11-24T12:00:00Z, and it is 2026-11-24T12:00:00Z"},
		{Command{Join: &Join{Token: key(5), Program: "bank", Name: "n9", Address: "a", Key: key(9)}}, "the token is unknown, used or expired"},
		{Command{Join: &Join{Token: token, Program: "shop", Name: "n9", Address: "a", Key: key(9)}}, "runs the program bank, and this node has shop"},
		{Command{Join: &Join{Token: token, Program: "bank", Name: "n2", Address: "a", Key: key(9)}}, "n2 is the name of node 2"},
		{Command{Join: &Join{Token: token, Program: "bank", Name: "n9", Address: "a", Key: key(1)}}, "has the same certificate"},
		{Command{Join: &Join{Token: token, Program: "bank", Name: "N 9", Address: "a", Key: key(9)}}, `"N 9" is no name of a node`},
		{Command{Join: &Join{Token: token, Program: "bank", Name: "n9", Key: key(9)}}, "has no address"},
		{Command{Move: &Move{7, "a"}}, "there is no node 7"},
		{Command{Remove: &Remove{Node: 1}}, "still keeps 2 stores"},
		{Command{Remove: &Remove{Node: 1, Lost: true}}, "n1 alone keeps store 0, which would be lost with it"},
		{Command{Replicate: &Replicate{5, 1, []event.NodeID{1}}}, "there is no store 5"},
		{Command{Replicate: &Replicate{0, 9, []event.NodeID{1}}}, "have changed meanwhile"},
		{Command{Replicate: &Replicate{0, 1, []event.NodeID{two}}}, "would keep 0 of its 1 replicas"},
		{Command{Replicate: &Replicate{0, 1, []event.NodeID{2, 1}}}, "no ascending list"},
		{Command{Replicate: &Replicate{0, 1, []event.NodeID{1, 8}}}, "there is no node 8"},
		{Command{Replicate: &Replicate{0, 1, nil}}, "would have 0 replicas"},
		{Command{Assign: &Assign{0, 9, 1}}, "is in epoch 1, and was to be moved in epoch 9"},
		{Command{Assign: &Assign{0, 1, 0}}, "has partition 0 already"},
		{Command{Assign: &Assign{99, 1, 0}}, "there is no partition 99"},
		{Command{Register: &Register{9, nil}}, "no kind of a number"},
		{Command{Register: &Register{Class, []string{"a", ""}}}, "a text of 0 bytes"},
		{Command{Policy: &Policy{strings.Repeat("x", textMax+1)}}, "the policy has 1048577 bytes"},
	} {
		before := s.Encode()
		c.command.At = noon
		_, err := s.Apply(&c.command)
		if refused := new(Refusal); !errors.As(err, &refused) || !strings.Contains(refused.Reason, c.want) {
			t.Errorf("%+v: %v, expected %q", c.command, err, c.want)
		}
		if !bytes.Equal(s.Encode(), before) {
			t.Errorf("%+v has changed the state", c.command)
		}
	}
	empty := &State{}
	if _, err := empty.Apply(&Command{Policy: &Policy{}}); err == nil || !strings.Contains(err.Error(), "has not been formed") {
		t.Error(err)
	}
	for _, f := range []Form{{}, {Cluster: "c", Program: "p"}, {"c", "p", 1, 0, 1, Member{}}, {"c", "p", 1, 1, 2, Member{}}, {"c", "p", 1, 1, 1, Member{}}} {
		if _, err := empty.Apply(&Command{Form: &f}); err == nil || empty.Version != 0 {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

// A token is good once, and until it expires; an id is never given again; and numbers stay.
func TestOnce(t *testing.T) {
	s := formed(t, 1, 1)
	join := func(at time.Time, token, name int) (event.NodeID, error) {
		r, err := s.Apply(&Command{At: at, Join: &Join{key(token), "bank", fmt.Sprintf("n%d", name), "a", key(name)}})
		return r.Node, err
	}
	for _, n := range []int{50, 51, 52} {
		if _, err := s.Apply(&Command{At: noon, Token: &Token{key(n), noon.Add(time.Hour)}}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := join(noon, 50, 2); err != nil || n != 2 {
		t.Error(n, err)
	}
	if _, err := join(noon, 50, 3); err == nil {
		t.Error("a token is good twice")
	}
	if _, err := join(noon.Add(time.Hour), 51, 3); err == nil {
		t.Error("a token is good after it has expired")
	}
	if _, err := s.Apply(&Command{At: noon, Remove: &Remove{Node: 2}}); err != nil {
		t.Error(err)
	}
	if n, err := join(noon, 52, 2); err == nil {
		t.Error("a removed node is back as", n)
	}
	if n, err := join(noon, 52, 3); err != nil || n != 3 {
		t.Error(n, err)
	}
	if len(s.Tokens) != 1 {
		t.Error(s.Tokens)
	}
	first, err := s.Apply(&Command{At: noon, Register: &Register{Layout, []string{"x", "y", "x"}}})
	version := s.Version
	again, err2 := s.Apply(&Command{At: noon, Register: &Register{Layout, []string{"y"}}})
	if err != nil || err2 != nil || !slices.Equal(first.Numbers, []uint32{1, 2, 1}) || !slices.Equal(again.Numbers, []uint32{2}) || s.Version != version {
		t.Error(first, again, err, err2)
	}
	if s.Number(Layout, "y") != 2 || s.Number(Class, "y") != 0 {
		t.Error(s.Numbers)
	}
}

// A state that was read is the state that was written, and goes on as that does; what is damaged is refused.
func TestSnapshots(t *testing.T) {
	s := formed(t, 3, 3)
	joined(t, s)
	for _, c := range []Command{{Register: &Register{Signature, []string{"f(int)"}}}, {Policy: &Policy{"x => y;"}}, {Assign: &Assign{1, 1, 0}}, {Token: &Token{key(9), noon.Add(time.Hour)}}} {
		c.At = noon
		if _, err := s.Apply(&c); err != nil {
			t.Fatal(err)
		}
	}
	b := s.Encode()
	again, err := Decode(b)
	if err != nil || !bytes.Equal(again.Encode(), b) || !bytes.Equal(s.Clone().Encode(), b) {
		t.Fatal(err)
	}
	if joined(t, s) != joined(t, again) || !bytes.Equal(s.Encode(), again.Encode()) {
		t.Error("the state that was read goes on in another way")
	}
	for i := range b {
		broken := bytes.Clone(b)
		broken[i] ^= 1
		if _, err := Decode(broken); err == nil {
			t.Errorf("byte %d is not missed", i)
		}
		if _, err := Decode(b[:i]); err == nil {
			t.Errorf("%d bytes are taken for all", i)
		}
	}
}

// Whatever commands come, and whatever is read, a state holds together, and a state that was read goes on.
func FuzzDecode(f *testing.F) {
	s := formed(f, 2, 3)
	f.Add(s.Encode())
	f.Add((&State{}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Decode(b)
		if err != nil {
			return
		}
		if again, err := Decode(s.Encode()); err != nil || !bytes.Equal(again.Encode(), s.Encode()) {
			t.Error(err)
		}
		_ = Plan(s, View{Heard: all, Settled: settled})
		_, _ = s.Apply(&Command{At: noon, Register: &Register{Class, []string{"x"}}})
	})
}
