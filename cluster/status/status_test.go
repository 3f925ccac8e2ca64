package status

import (
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
)

func three(change func(*Status)) *Status {
	all := []event.NodeID{1, 2, 3}
	s := &Status{Program: "bank", Voters: all, WantVoters: 3, Leader: 1, Stores: []Store{{Leader: 1, Want: 3, Wanted: all, Replicas: all, Current: all}}}
	for _, n := range all {
		s.Nodes = append(s.Nodes, Node{ID: n, Name: "n" + string(rune('0'+n)), State: Serving})
	}
	change(s)
	s.Judge()
	return s
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		what             string
		change           func(*Status)
		health           Health
		survives, healed int
		code             int
		why              string
	}{
		{"all is well", func(*Status) {}, Healthy, 1, 1, 0, ""},
		{"one is silent", func(s *Status) { s.Nodes[2].State, s.Nodes[2].Heard = Silent, 14.2 }, Degraded, 0, 1, 1, "n3 is silent for 14s"},
		{"a clock is far off", func(s *Status) {
			s.Nodes[2].State, s.Nodes[2].Refused = Silent, "its clock is 6.5s ahead of that of this node"
		}, Degraded, 0, 1, 1, "n3 is refused: its clock is 6.5s ahead"},
		{"one lacks something", func(s *Status) { s.Stores[0].Current = []event.NodeID{1, 2} }, Healing, 0, 1, 1, "n3 is being brought up to date with store 0"},
		{"two have come", func(s *Status) {
			s.Stores[0].Wanted, s.Stores[0].Replicas, s.Stores[0].Current = []event.NodeID{1}, []event.NodeID{1}, []event.NodeID{1}
		}, Healing, 0, 1, 1, "store 0 has 1 of 3 replicas"},
		{"a third comes", func(s *Status) {
			s.Stores[0].Replicas, s.Stores[0].Current = []event.NodeID{1}, []event.NodeID{1}
		}, Healing, 0, 1, 1, "n2 is being brought up to date"},
		{"the voters have no leader", func(s *Status) { s.Leader = 0 }, Healing, 1, 1, 1, "choose their leader"},
		{"two are silent", func(s *Status) {
			s.Nodes[1].State, s.Nodes[2].State, s.Leader, s.Stores[0].Leader = Silent, Silent, 0, 0
		}, NoQuorum, 0, 1, 2, "1 of 3 nodes that vote are heard"},
		{"one is silent, and no node leads the store", func(s *Status) { s.Nodes[2].State, s.Stores[0].Leader = Silent, 0 }, Stopped, 0, 1, 2, "no node runs the actors of store 0"},
		{"one node alone", func(s *Status) {
			one := []event.NodeID{1}
			s.Nodes, s.Voters, s.WantVoters, s.Stores = s.Nodes[:1], one, 1, []Store{{Leader: 1, Want: 1, Wanted: one, Replicas: one, Current: one}}
		}, Single, 0, 0, 0, ""},
		{"one asks for tokens", func(s *Status) {
			s.Nodes[0].Asks, s.Nodes[1].Asks, s.Nodes[2].Asks = AsksNothing, AsksTokens, AsksNothing
		}, Degraded, 1, 1, 1, "clients need a token at n2, and none at n1, n3: what the former forward to the latter is refused"},
		{"a silent one has asked for tokens", func(s *Status) {
			s.Nodes[0].Asks, s.Nodes[1].Asks, s.Nodes[1].State = AsksNothing, AsksTokens, Silent
		}, Degraded, 0, 1, 1, "n2 is silent"},
		{"one of another version does not say what it asks for", func(s *Status) { s.Nodes[0].Asks = AsksTokens }, Healthy, 1, 1, 0, ""},
		{"one runs another version", func(s *Status) {
			s.Nodes[0].Interface, s.Nodes[1].Interface, s.Nodes[2].Interface = "a", "b", "a"
		}, Healthy, 1, 1, 0, "nodes run different versions of the program: n1, n3; n2: an event"},
		{"a silent one has run another version", func(s *Status) {
			s.Nodes[0].Interface, s.Nodes[1].Interface, s.Nodes[1].State = "a", "b", Silent
		}, Degraded, 0, 1, 1, "n2 is silent"},
		{"one does not say which version it runs", func(s *Status) { s.Nodes[0].Interface = "a" }, Healthy, 1, 1, 0, ""},
		{"one cannot open the store", func(s *Status) { s.Stores[0].Failed = []Failure{{3, "100%s"}} }, Degraded, 1, 1, 1, "n3 cannot open store 0, and so cannot take over there: 100%s"},
		{"two cannot open the store", func(s *Status) { s.Stores[0].Failed = []Failure{{2, "a field"}, {3, "a field"}} }, Degraded, 0, 1, 1, "n2 cannot open store 0"},
		{"one cannot open the store, and another that can is silent", func(s *Status) {
			s.Stores[0].Failed, s.Nodes[1].State = []Failure{{3, "a field"}}, Silent
		}, Degraded, 0, 1, 1, "n3 cannot open store 0"},
		{"one ends", func(s *Status) { s.Nodes[2].State = Ending }, Degraded, 1, 1, 1, "n3 ends"},
		{"a disk hangs", func(s *Status) { s.Nodes[1].State = Stalled }, Degraded, 1, 1, 1, "the disk of n2"},
	} {
		s := three(c.change)
		if s.Health != c.health || s.Survives != c.survives || s.Healed != c.healed || s.ExitCode() != c.code {
			t.Errorf("%s: %s, survives %d, healed %d, code %d", c.what, s.Health, s.Survives, s.Healed, s.ExitCode())
		}
		if c.why == "" && len(s.Why) > 0 || !slices.ContainsFunc(append(s.Why, ""), func(w string) bool { return strings.Contains(w, c.why) }) {
			t.Errorf("%s: why: %q", c.what, s.Why)
		}
		if (s.ExitCode() == 2 || s.Healed == 0) && len(s.Next) == 0 {
			t.Errorf("%s: nothing says what to do", c.what)
		}
	}
}

// A node is given up only if its stores have leaders without it.
func TestWhatIsToBeDoneAboutASilentNode(t *testing.T) {
	for leader, want := range map[event.NodeID]string{
		1: "restart n3, or give its place to a new node: aeond replace n3 --data DIR",
		0: "restart n3: without it store 0 has no leader",
	} {
		s := three(func(s *Status) { s.Nodes[2].State, s.Stores[0].Leader = Silent, leader })
		if s.Next[0] != want || strings.Contains(strings.Join(s.Next[1:], ""), "replace") {
			t.Errorf("node %d leads: %q", leader, s.Next)
		}
	}
}

// A version of the program that cannot go on with the data is taken back where it runs, and not brought to the other nodes, which would end all.
func TestWhatIsToBeDoneAboutAVersionThatOpensNoStore(t *testing.T) {
	refused := func(s *Status, failed ...event.NodeID) {
		s.Nodes[0].Interface, s.Nodes[1].Interface, s.Nodes[2].Interface = "a", "b", "b"
		s.Stores = append(s.Stores, s.Stores[0])
		s.Stores[1].ID = 1
		for i := range s.Stores {
			for _, n := range failed {
				s.Stores[i].Failed = append(s.Stores[i].Failed, Failure{n, "class bank.Account, field rang"})
			}
		}
	}
	s := three(func(s *Status) { refused(s, 2, 3) })
	why := []string{"n2 cannot open stores 0, 1, and so cannot take over there: class bank.Account, field rang", "n3 cannot open stores 0, 1, and so cannot take over there: class bank.Account, field rang"}
	next := []string{`start n2, n3 with the version of the program from before the update, if there was one ("aeonc compat" tells beforehand which versions go on with the data); else mend what is wrong there, and restart`}
	if s.Health != Degraded || !slices.Equal(s.Why[:2], why) || len(s.Why) != 3 || !strings.HasPrefix(s.Why[2], "nodes run different versions") || !slices.Equal(s.Next, next) {
		t.Errorf("%s: why %q, next %q", s.Health, s.Why, s.Next)
	}
	if s := three(func(s *Status) { refused(s) }); s.Health != Healthy || len(s.Next) != 1 || !strings.HasPrefix(s.Next[0], "restart the nodes that have the old version") {
		t.Errorf("%s while each version opens the stores: next %q", s.Health, s.Next)
	}
	s = three(func(s *Status) {
		refused(s, 1, 2, 3)
		s.Stores[0].Leader, s.Stores[1].Leader = 0, 0
	})
	if s.Health != Stopped || !slices.Contains(s.Why, "no node runs the actors of stores 0, 1, as none that answers can open what is stored") || len(s.Next) != 1 || !strings.HasPrefix(s.Next[0], "start n1, n2, n3 with") {
		t.Errorf("%s without a leader: why %q, next %q", s.Health, s.Why, s.Next)
	}
	s = three(func(s *Status) {
		refused(s, 2, 3)
		s.Stores[0].Leader, s.Stores[1].Leader = 0, 0
	})
	if len(s.Next) != 2 || !strings.HasPrefix(s.Next[1], "wait: ") {
		t.Errorf("while the one that can open the store is not elected yet: next %q", s.Next)
	}
}

// The other nodes may serve everything while the network of one fails: that one does not claim that nothing is served, and has no healthy node restarted
// before these are asked.
func TestWhatANodeInAMinoritySays(t *testing.T) {
	s := three(func(s *Status) {
		s.Nodes[1].State, s.Nodes[2].State, s.Leader, s.Stores[0].Leader = Silent, Silent, 0, 0
		s.Stores = append(s.Stores, s.Stores[0])
		s.Stores[1].ID = 1
	})
	why := []string{"1 of 3 nodes that vote are heard: members and places cannot change", "n2 is silent for 0s", "n3 is silent for 0s", "this node knows no leader of stores 0, 1"}
	if s.Health != NoQuorum || !slices.Equal(s.Why, why) {
		t.Errorf("%s: %q", s.Health, s.Why)
	}
	if len(s.Next) != 3 || !strings.HasPrefix(s.Next[0], "ask the other nodes") || s.Next[1] != "restart n2 if it does not run" || s.Next[2] != "restart n3 if it does not run" {
		t.Errorf("next: %q", s.Next)
	}
}

// A node that hears most voters may be cut off from the nodes that keep a store: it does not claim that these do not serve it. If so few are silent that they could not, it does.
func TestWhatANodeSaysOfAStoreWhoseNodesAreSilent(t *testing.T) {
	of := func(silent ...event.NodeID) *Status {
		return three(func(s *Status) {
			s.Voters, s.WantVoters = []event.NodeID{1, 2, 3, 4, 5}, 5
			for _, n := range s.Voters[3:] {
				s.Nodes = append(s.Nodes, Node{ID: n, Name: "n" + string(rune('0'+n)), State: Serving})
			}
			for _, n := range silent {
				s.Nodes[n-1].State = Silent
			}
			s.Stores = append(s.Stores, Store{ID: 1, Want: 3, Wanted: []event.NodeID{3, 4, 5}})
		})
	}
	s := of(4, 5)
	why := []string{"too few of the nodes that keep store 1 are heard", "n4 is silent for 0s", "n5 is silent for 0s", "this node knows no leader of store 1"}
	if s.Health != NoQuorum || !slices.Equal(s.Why, why) {
		t.Errorf("%s: %q", s.Health, s.Why)
	}
	if len(s.Next) != 3 || !strings.HasPrefix(s.Next[0], "ask the other nodes") || s.Next[1] != "restart n4 if it does not run" || s.Next[2] != "restart n5 if it does not run" {
		t.Errorf("next: %q", s.Next)
	}
	if s := of(5); s.Health != Stopped || !slices.Contains(s.Why, "no node runs the actors of store 1") {
		t.Errorf("%s: %q", s.Health, s.Why)
	}
}

// What several stores lack is said once.
func TestWhatStoresLack(t *testing.T) {
	s := three(func(s *Status) {
		st := s.Stores[0]
		s.Stores = nil
		for id := range uint32(8) {
			st.ID = id
			switch st.Current, st.Leader = []event.NodeID{1, 2, 3}, 1; id {
			case 0, 1, 2, 5, 6:
				st.Current = []event.NodeID{1, 2}
			case 4:
				st.Leader = 0
			}
			s.Stores = append(s.Stores, st)
		}
	})
	want := []string{"n3 is being brought up to date with stores 0 to 2, 5, 6", "no node runs the actors of store 4"}
	if !slices.Equal(s.Why, want) || s.Health != Stopped || len(s.Next) != 1 || !strings.HasPrefix(s.Next[0], "wait: ") {
		t.Errorf("%s: %q, %q", s.Health, s.Why, s.Next)
	}
}

// What the removal of a node waits for is said store by store, and for all that wait for the same once.
func TestWhatARemovalWaitsFor(t *testing.T) {
	all, others := []event.NodeID{1, 2, 3}, []event.NodeID{1, 2, 4}
	moved := Store{Leader: 1, Want: 3, Wanted: others, Replicas: others, Current: others, Followed: true}
	for _, c := range []struct {
		what   string
		change func(s *Status, st *Store)
		why    []string
	}{
		{"one is to take its place", func(s *Status, st *Store) { st.Wanted, st.Replicas, st.Current = all, all, all }, []string{"n3 leaves, and keeps store 0 still: another node takes its place next"}},
		{"there is none", func(s *Status, st *Store) {
			st.Wanted, st.Replicas, st.Current, s.Nodes = all, all, all, s.Nodes[:3]
		}, []string{"n3 leaves, and keeps store 0 still: there is no other node that answers and can take its place"}},
		{"it votes still", func(s *Status, st *Store) { st.Followed, st.Replicas = false, append(others, 3) }, []string{"n3 leaves, and keeps store 0 still: the leader is changing the members"}},
		{"one is behind", func(s *Status, st *Store) { st.Followed, st.Current = false, all }, []string{"n4 is being brought up to date with store 0", "n3 leaves when nothing of store 0 counts on it any more: not up to date yet: n4"}},
		{"one is silent", func(s *Status, st *Store) { st.Followed, s.Nodes[1].State = false, Silent }, []string{"n2 is silent for 0s", "n3 leaves when nothing of store 0 counts on it any more: silent: n2"}},
		{"a store has no leader", func(s *Status, st *Store) { st.Followed, st.Leader = false, 0 }, []string{"no node runs the actors of store 0", "n3 leaves when nothing of store 0 counts on it any more: no leader is known there"}},
		{"it is silent itself", func(s *Status, st *Store) { s.Nodes[2].State = Silent }, []string{"n3 is silent for 0s", "n3 leaves: it keeps nothing any more, and is removed next"}},
		{"nothing", func(s *Status, st *Store) {}, []string{"n3 leaves: it keeps nothing any more, and is removed next"}},
		{"another node is to vote instead", func(s *Status, st *Store) { s.Voters = all }, []string{"n3 leaves, and votes on members and places still: the leader is changing the nodes that vote"}},
		{"a voter is silent", func(s *Status, st *Store) {
			s.Voters, s.Nodes[1].State = append(all, 4), Silent
		}, []string{"n2 is silent for 0s", "n3 leaves, and votes on members and places still: the leader is changing the nodes that vote"}},
		{"its vote is needed", func(s *Status, st *Store) {
			s.Voters, s.Nodes[1].State = all, Silent
		}, []string{"n2 is silent for 0s", "n3 leaves, and votes on members and places still: without it no majority is heard, silent: n2"}},
	} {
		s := three(func(s *Status) {
			s.Nodes = append(s.Nodes, Node{ID: 4, Name: "n4", State: Serving})
			s.Nodes[2].State, s.Nodes[2].Leaves, s.Voters = Leaving, true, others
			first := moved
			c.change(s, &first)
			s.Stores = []Store{first, moved, moved}
			s.Stores[1].ID, s.Stores[2].ID = 1, 2
		})
		if !slices.Equal(s.Why, c.why) {
			t.Errorf("%s: %q", c.what, s.Why)
		}
		remedy := "bring back n2, or take out what is lost: aeond remove NODE --lost --data DIR"
		if needed := c.what == "its vote is needed"; slices.Contains(s.Next, remedy) != needed {
			t.Errorf("%s: next: %q", c.what, s.Next)
		}
	}
}

func TestString(t *testing.T) {
	s := three(func(s *Status) {
		s.Nodes[0].PID, s.Nodes[0].Listen, s.Nodes[0].Leads = 71, "127.0.0.1:8080", []uint32{0}
		s.Nodes[0].Actors, s.Nodes[0].Events, s.Nodes[0].P99, s.Nodes[0].Sync = 120431, 4210.3, 0.00312, 0.00114
		s.Nodes[1].Sync = 0.0009
		s.Nodes[2].State, s.Nodes[2].Heard, s.Nodes[2].Actors, s.Nodes[2].About = Silent, 14, 119000, true
		s.Snapshots = &Snapshots{Every: 3600, Age: new(725.0)}
	})
	want := `cluster bank  DEGRADED  survives: 0 more failures (1 when healed)
why   n3 is silent for 14s
next  restart n3, or give its place to a new node: aeond replace n3 --data DIR
saved the last snapshot was taken 12m5s ago, and one is to be each 1h0m0s
NODE  STATE    LEADS  FOLLOWS  ACTORS   EV/S  P99    SYNC   PID  LISTEN          HEARD
n1    serving  1      0        120431   4210  3.1ms  1.1ms  71   127.0.0.1:8080  now
n2    serving  0      0        -        -     -      0.9ms  -    -               now
n3    silent   0      0        ~119000  -     -      -      -    -               14s
`
	if got := s.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
