package history

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
)

// actor is what the history keeps of an actor.
type actor struct {
	label   string
	version atomic.Uint64 // guarded by the actor's lock; atomic, so that a bug of the locks shows in the history
}

// actors are what the history keeps of all actors.
type actors struct {
	earlier func(event.ActorID) row.Version // what the runs before have left of an actor; nil without a store
	shards  shard.Set[actorShard]
}

type actorShard struct {
	mu struct {
		sync.Mutex
		// byHandle has the actors whose handles are there. An actor whose handle is made anew is in the store, which has the
		// rest of it.
		byHandle map[weak.Pointer[order.Handle]]*actor
	}
}

// get returns the history of h. Numbers tell apart actors of one name; all of these
// but the last were deleted.
func (as *actors) get(h *order.Handle) *actor {
	if h.Is(order.Detached) {
		_ = h.Host.Attach(h) // if it fails the process is ending
	}
	key := weak.Make(h)
	sh := &as.shards.Of(h.ID.Serial).mu
	sh.Lock()
	defer sh.Unlock()
	if a := sh.byHandle[key]; a != nil {
		return a
	}
	if sh.byHandle == nil {
		sh.byHandle = make(map[weak.Pointer[order.Handle]]*actor)
	}
	a := &actor{}
	if as.earlier != nil {
		v := as.earlier(h.ID)
		a.label = v.Label
		a.version.Store(v.Version)
	}
	class := "?"
	if h.Shape != nil {
		class = h.Shape.Path()
	}
	switch {
	case a.label != "":
	case h.Named == nil:
		a.label = class + ":" + h.ID.String()
	default:
		if n := h.Named.Incarnation; n > 0 {
			class += "@" + strconv.FormatUint(uint64(n)+1, 10)
		}
		a.label = class + "/" + h.Named.Name
	}
	sh.byHandle[key] = a
	runtime.AddCleanup(h, forget, collected{weak.Make(as), key, h.ID.Serial})
	return a
}

// collected is what is left of an actor whose handle the collector has taken. It may take all of the history as well.
type collected struct {
	of     weak.Pointer[actors]
	key    weak.Pointer[order.Handle]
	serial uint64 // of the actor
}

func forget(c collected) {
	if as := c.of.Value(); as != nil {
		sh := &as.shards.Of(c.serial).mu
		sh.Lock()
		defer sh.Unlock()
		delete(sh.byHandle, c.key)
	}
}
