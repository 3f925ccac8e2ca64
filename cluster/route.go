package cluster

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/placement"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
)

// callPath is how the paths of calls begin: behind it are the class, the key of the actor, and the method.
const callPath = "/v1/"

// storeQuery names the store that an operator asks.
const storeQuery = "store"

// route returns the store that performs a request: that of the actor which it calls. A request that names none is for the first store; from there any
// actor can be called, too, so a route saves messages and decides nothing but where the outcome of a request with a key is kept.
func (n *node) route(r *http.Request) placement.StoreID {
	p := n.placement.State()
	if len(p.Stores) <= 1 {
		return firstStore
	}
	class, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, callPath), "/")
	key, _, called := strings.Cut(rest, "/")
	if !called || !strings.HasPrefix(r.URL.Path, callPath) {
		return firstStore
	}
	birth, ok := birthOf(n.c.Package, class, key, len(p.Partitions))
	if !ok {
		return firstStore
	}
	return p.Partitions[birth].Store
}

// operated is route for a request of an operator, which may name the store that answers.
func (n *node) operated(r *http.Request) placement.StoreID {
	if id, err := n.storeNamed(r); err == nil {
		return id
	}
	return n.route(r)
}

// storeNamed returns the store that a request of an operator names.
func (n *node) storeNamed(r *http.Request) (placement.StoreID, error) {
	text, stores := r.URL.Query().Get(storeQuery), len(n.placement.State().Stores)
	id, err := strconv.ParseUint(text, 10, 32)
	if err != nil || id >= uint64(stores) {
		return 0, &placement.Refusal{Reason: fmt.Sprintf("there is no store %q; there are %d, from 0 on", text, stores)}
	}
	return placement.StoreID(id), nil
}

// serveOperator serves what the system of a store answers.
func (n *node) serveOperator(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Has(storeQuery) {
		if _, err := n.storeNamed(r); err != nil {
			answer(w, "", err)
			return
		}
	}
	n.operator.ServeHTTP(w, r)
}

// birthOf returns the partition of the actor with a key, as calls have it: its name, or a colon and its id.
func birthOf(p *aeonrt.Package, class, key string, partitions int) (event.PartitionID, bool) {
	if text, is := strings.CutPrefix(key, ":"); is {
		id, err := event.ParseActorID(text)
		return id.Birth, err == nil && int(id.Birth) < partitions
	}
	for _, c := range aeonrt.AllClasses(p) {
		if c.Name == class || c.Path() == class {
			return event.NamedActor(c.Path(), key, 0, partitions).Birth, true
		}
	}
	return 0, false
}
