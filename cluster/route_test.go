package cluster

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aeon-lang/aeon/cluster/front"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/replica"
)

// What is asked of the program, and of no actor, goes to a store of this node, else to one that has a leader; so it is answered while store 0 has none.
func TestWhatAnyStoreAnswers(t *testing.T) {
	n := &node{holders: holders{list: make(map[placement.StoreID]*holder)}}
	for id := range placement.StoreID(4) {
		n.holders.list[id] = newHolder(2, replica.Group(id), nil, nil, nil, slog.New(slog.DiscardHandler))
	}
	asked := func(want placement.StoreID) {
		t.Helper()
		for _, path := range []string{"/openapi.json", "/v1/", "/"} {
			if got := n.route(httptest.NewRequest(http.MethodGet, path, nil)); got != want {
				t.Errorf("%s goes to store %d, not %d", path, got, want)
			}
		}
	}
	asked(0)
	n.holders.list[2].turn(replica.Role{Group: 2, Leader: 3, Term: 1})
	asked(2)
	n.holders.list[1].turn(replica.Role{Group: 1, Leader: 1, Term: 1})
	asked(1)
	h := n.holders.list[3]
	h.mu.Lock()
	h.move(front.Place{Here: http.NotFoundHandler(), Node: 2, Term: 1})
	h.mu.Unlock()
	asked(3)
}
