package cluster

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/cluster/front"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
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

// A node that has just joined and has not heard of the placement has no request performed: it would take each to store 0, which does not know the outcomes that
// the other stores have. The node that forms the cluster waits until it has done that.
func TestANodeThatDoesNotKnowTheStores(t *testing.T) {
	t.Parallel() // it waits for an election
	dirs := [2]string{filepath.Join(t.TempDir(), "1"), filepath.Join(t.TempDir(), "2")}
	first, err := identity.Form(dirs[0], "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := identity.Prepare(dirs[1])
	if err != nil {
		t.Fatal(err)
	}
	a, err := first.Admit(2, "joins", c.Public())
	if err == nil {
		_, err = c.Complete(a)
	}
	if err != nil {
		t.Fatal(err)
	}
	var nodes [2]*node
	var opened chan error // at the node that has joined
	for i, dir := range dirs {
		const free = "127.0.0.1:0"
		n, l, err := begin(t.Context(), &aeonrt.ClusterConfig{
			Package: &aeonrt.Package{Name: "bank"}, Cluster: settings.Cluster{Listen: free, Stores: 4}, State: settings.State{Dir: dir}, Listen: settings.Listen{Address: free},
			OpenEngine: pebbledb.Open, Log: slog.New(slog.DiscardHandler),
		}, nil, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			closeSoon(n.close)
			_ = l.Close()
			if n == nodes[1] {
				if err := <-opened; !errors.Is(err, driver.ErrClosed) {
					t.Errorf("a store is opened, and no stores are known: %v", err)
				}
			}
		}()
		nodes[i] = n
	}
	const path = "/v1/clients/XXX-3/events"
	joined := nodes[1]
	joined.turn(replica.Role{Leader: 1, Term: 1}) // another node tells of store 0 before the placement does
	h := joined.holders.of(joined, firstStore)
	h.mu.Lock()
	h.move(front.Place{Node: 2, Term: 1, Here: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("store 0 serves a request for store 3") })})
	h.mu.Unlock()
	opened = make(chan error, 1)
	go func() { // the node leads a replica, and waits for the placement until it ends
		_, err := joined.opener(firstStore, nil, nil)(nil, 1, nil)
		opened <- err
	}()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header.Set("Prefer", "wait=0")
	w := httptest.NewRecorder()
	joined.front.ServeHTTP(w, r)
	if text := w.Body.String(); w.Header().Get(httpdoor.CodeHeader) != door.Closing || w.Header().Get(httpdoor.HappenedHeader) != string(door.No) || !strings.Contains(text, errNoStores.Error()) {
		t.Errorf("%d %s", w.Code, text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := nodes[0].knowStores(ctx); err != nil {
		t.Fatal(err)
	}
	if of := nodes[0].route(httptest.NewRequest(http.MethodGet, path, nil)); of != 3 {
		t.Errorf("the stream goes to store %d, expected 3", of)
	}
}
