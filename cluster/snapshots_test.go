package cluster

import (
	"slices"
	"testing"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
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
