package cluster

import (
	"net/http"
	"strings"

	"github.com/aeon-lang/aeon/placement"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
)

// callPath is how the paths of calls begin: behind it are the class, the key of the actor, and the method.
const callPath = "/v1/"

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
