package cluster

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/replicatest"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// A node knows the stores that others lead by what these tell: not those that it leads itself, nor what an older version says nothing of.
func TestStoresThatOthersLead(t *testing.T) {
	st, err := store.Open(memengine.New(), store.Options{Program: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	n := &node{brief: make(map[event.NodeID]heard)}
	if list := n.ledElsewhere(); len(list) > 0 {
		t.Errorf("before others have told: %q", list)
	}
	mine := newHolder(1, 0, nil, nil, nil, nil)
	mine.system = &system{Led: &aeonrt.Led{Store: st}}
	n.holders.list = map[event.StoreID]*holder{0: mine}
	n.brief[2] = heard{brief{Stores: []storeBrief{{ID: 0, Identity: st.Identity().Store}, {ID: 1, Identity: "b"}}}, time.Now().Add(-time.Hour)} // before this node has led
	n.brief[3] = heard{brief{Stores: []storeBrief{{ID: 1}, {ID: 2, Identity: "a"}}}, time.Now()}
	if list := n.ledElsewhere(); !slices.Equal(list, []string{"a", "b"}) {
		t.Errorf("others lead %q", list)
	}
}

// A store may get another leader while a snapshot is taken: the node that has halted it has the part, and is asked to save it and to drop it.
func TestAPartStaysWhereItsStoreWasHalted(t *testing.T) {
	n := &node{id: &identity.Identity{Node: 1}}
	h := newHolder(1, replicatest.Group, nil, sched.NewHybrid(sched.RealClock{}), nil, slog.New(slog.DiscardHandler))
	n.holders.list = map[event.StoreID]*holder{0: h}
	k := &taking{n: n, set: snapshot.NewSet(time.Unix(1, 0), 1), at: make([]event.NodeID, 1)}
	asked := func(do string, want event.NodeID) {
		t.Helper()
		if at := k.node(0, do); at != want {
			t.Errorf("node %d is asked to %s, and not %d", at, do, want)
		}
	}
	asked(doHalt, 0)
	h.turn(replica.Role{Group: replicatest.Group, Term: 1, Leader: 2})
	asked(doDrop, 0)
	asked(doHalt, 2)
	h.turn(replica.Role{Group: replicatest.Group, Term: 2, Leader: 3})
	for _, do := range []string{doResume, doSave, doPrune, doDrop} {
		asked(do, 2)
	}
	asked(doHalt, 3)
}
