package cluster

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/aeon-lang/aeon/cluster/front"
	"github.com/aeon-lang/aeon/placement"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/protocodec"
)

// callPath is how the paths of calls begin: behind it are the class, the key of the actor, and the method.
const callPath = "/v1/"

// knowStores waits until the stores are known; it implements front.Config.Known. A node that has just joined, or begun, knows none until the placement arrives, which
// is not the same as one store.
func (n *node) knowStores(ctx context.Context) error {
	for {
		changed := n.placement.Watch()
		if len(n.placement.State().Stores) > 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return errNoStores
		}
	}
}

// route returns the store that performs a request by HTTP: that of the actor which it calls, or of the client that it is about. One that names neither is
// about the program, and any store will do. From each any actor can be called, too, so a route saves messages and decides nothing but where the outcome of
// a request with a key is kept. The stores are known.
func (n *node) route(r *http.Request) placement.StoreID {
	if r.URL.Path == httpdoor.ClientsPath {
		return n.nearest()
	}
	path, is := strings.CutPrefix(r.URL.EscapedPath(), callPath)
	class, rest, named := strings.Cut(path, "/")
	key, _, _ := strings.Cut(rest, "/")
	key, err := url.PathUnescape(key) // it may have a slash
	if !is || !named || err != nil {
		return n.nearest()
	}
	if callPath+class == httpdoor.ClientsPath {
		return n.storeOfClient(key)
	}
	return n.storeOf(class, key)
}

// routeGRPC is route for a request by gRPC.
func (n *node) routeGRPC(path string, message []byte) placement.StoreID {
	service, method, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	key := protocodec.KeyOf(message)
	switch {
	case len(n.placement.State().Stores) <= 1:
		return firstStore
	case n.class(service) != nil:
		return n.storeOf(service, key)
	case method == protocodec.BeginName, front.IsOwn(path):
		return n.nearest()
	}
	return n.storeOfClient(key)
}

// nearest returns the store where a client begins, and which answers what any can: one that this node leads, if there is one, so that a stream does not pass
// another node; else one that has a leader.
func (n *node) nearest() (id placement.StoreID) {
	led := false
	for _, h := range n.holders.all() {
		switch _, at, _ := h.known(); {
		case at.Here != nil:
			return placement.StoreID(h.group)
		case at.Node != 0 && !led:
			id, led = placement.StoreID(h.group), true
		}
	}
	return id // the first store if none has a leader
}

// storeOfClient returns the store where a client has begun.
func (n *node) storeOfClient(id string) placement.StoreID {
	if of := door.StoreOf(id); int(of) < len(n.placement.State().Stores) {
		return of
	}
	return firstStore
}

// storeOf returns the store of the actor of a class that has a key, as calls have it: its name, or a colon and its id.
func (n *node) storeOf(class, key string) placement.StoreID {
	p := n.placement.State()
	if len(p.Stores) <= 1 {
		return firstStore
	}
	var id event.ActorID
	if text, is := strings.CutPrefix(key, ":"); is {
		id, _ = event.ParseActorID(text)
	} else if c := n.class(class); c != nil {
		id = event.NamedActor(c.Path(), key, 0, len(p.Partitions))
	}
	if id.IsNull() || int(id.Birth) >= len(p.Partitions) {
		return firstStore
	}
	return p.Partitions[id.Birth].Store
}

// class returns the class of actors that calls name so, nil if there is none.
func (n *node) class(name string) *aeonrt.Class {
	for _, c := range aeonrt.AllClasses(n.c.Package) {
		if c.Name == name || c.Path() == name {
			return c
		}
	}
	return nil
}
