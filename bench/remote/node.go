package remote

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/aeon-lang/aeon/bench/app"
	"github.com/aeon-lang/aeon/cluster/link"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// The parts that are a node with a store, in memory and on a disk, where what is answered is synced.
const (
	MemoryPart = "node in memory"
	DiskPart   = "node on a disk"
)

// ServeMemory is the server.Part of MemoryPart.
func ServeMemory(dir string) (address string, close func() error, err error) {
	return serve(dir, false)
}

// ServeDisk is the server.Part of DiskPart.
func ServeDisk(dir string) (address string, close func() error, err error) { return serve(dir, true) }

func serve(dir string, onDisk bool) (address string, close func() error, err error) {
	n, err := openNode(dir, "", onDisk)
	if err != nil {
		return "", nil, err
	}
	return n.line.port.Addr().String(), n.close, nil
}

// stores is how many there are: node n leads store n-1, so that what orders events over both stores is near.
const stores = 2

func storeOf(p event.PartitionID) event.StoreID { return event.StoreID(p % stores) }

// node is a node that leads a store with one replica. Its parts are those of a node of package cluster, without what agrees on a placement.
type node struct {
	line  *line
	links *link.Links
	local *link.Local
	*aeonrt.Led
}

// linked is a listener that has sessions between stores.
type linked struct{ *link.Links }

func (l linked) Message(from event.NodeID, m []byte) {
	if err := l.Links.Message(from, m); err != nil {
		panic(err) // both nodes are this program
	}
}

// term is that of each leader: there are no others.
const term = 1

// openNode opens the node whose identity is in dir, as open does.
func openNode(dir, peer string, onDisk bool) (_ *node, err error) {
	n := &node{}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	id := near
	if peer == "" {
		id = far
	}
	n.line, err = open(dir, peer, func(l *line) listener {
		n.links = link.New(link.Config{Node: id, Send: func(to event.NodeID, m []byte) { l.SendReliable(to, m) }})
		return linked{n.links}
	})
	if err != nil {
		return n, err
	}
	c := aeonrt.ClusterConfig{Package: &app.AeonPackage, State: settings.State{Durability: store.Sync()}, Clock: n.line.clock, Log: slog.New(slog.DiscardHandler), Stdout: io.Discard}
	var engine store.Engine = memengine.NewVolatile()
	if onDisk {
		if engine, err = pebbledb.Open(filepath.Join(dir, "store"), c.StateOptions()); err != nil {
			return n, err
		}
	}
	number := event.StoreID(id - 1)
	n.local = n.links.Open(number, term)
	among := &aeonrt.Across{Store: number, Of: storeOf, Network: n.local}
	if n.Led, err = c.Recover(id, engine, number, among, func(error) {}); err != nil {
		return n, err
	}
	n.local.Ready(n.System.Across())
	return n, nil
}

// await waits until the stores have a session.
func (n *node) await() error {
	if err := n.line.await(); err != nil {
		return err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(openMax)
	for len(n.links.Sessions(n.System.Across().ID())) == 0 {
		select {
		case <-tick.C:
		case <-late:
			return fmt.Errorf("the stores have no session within %v", openMax)
		}
	}
	return nil
}

func (n *node) close() error {
	if n.local != nil {
		n.local.Close()
	}
	var err error
	if n.Led != nil {
		err = n.Led.Close()
	}
	if n.line != nil {
		err = errors.Join(err, n.line.close())
	}
	return err
}
