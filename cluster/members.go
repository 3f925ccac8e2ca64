package cluster

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/aeon-lang/aeon/membership/gossip"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/membership/join"
	"github.com/aeon-lang/aeon/placement"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
)

// joinMax is how long a node asks members to let it join.
const joinMax = 30 * time.Second

// joinCluster makes this node a member, and writes what it is known by into its directory. It returns the members that there are. If it has no
// answer, it can be tried again with the same token and directory.
func joinCluster(ctx context.Context, c *aeonrt.ClusterConfig) (*identity.Identity, map[event.NodeID]placement.Member, error) {
	token, addresses, err := c.JoinBy()
	if err != nil {
		return nil, nil, fmt.Errorf("--join: %w", err)
	}
	asks, cancel := context.WithTimeout(ctx, joinMax)
	defer cancel()
	id, members, err := join.Join(asks, join.Config{
		Dir: c.State.Dir, Token: token, Members: addresses, Name: c.Name, Address: c.Address(), Program: c.Package.Name, Logger: c.Log,
	})
	if told := context.Cause(ctx); told != nil {
		return nil, nil, fmt.Errorf("--join: %w; to go on, join again with the same token and directory", told)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--join: %w", err)
	}
	return id, members, nil
}

// startGossip takes part in the gossip, which knows where nodes are that have another address than the placement says, or none.
func (n *node) startGossip(udp *net.UDPConn) (err error) {
	n.gossip, err = gossip.Start(gossip.Config{Port: n.port, UDP: udp, Address: n.c.Address(), Seeds: n.seeds, Member: n.roll.Removed, Logger: n.log})
	return err
}

// seeds returns the addresses at which members may be.
func (n *node) seeds() (list []string) {
	for _, m := range n.roll.All() {
		list = append(list, m.Address)
	}
	slices.Sort(list)
	return list
}

// addresses returns where a node is, as the gossip has it.
func (n *node) addresses(id event.NodeID) []string {
	if !n.isReady() {
		return nil
	}
	return n.gossip.Addresses(id)
}

// moveInterval is how long a node waits before it asks again that its address is noted.
const moveInterval = time.Second

// tellAddress has the placement note where this node is reached, if that is elsewhere than before.
func (n *node) tellAddress() {
	for {
		changed := n.placement.Watch()
		m, is := n.placement.State().Members[n.id.Node]
		var again <-chan time.Time
		if is && m.Membership != placement.Removed && m.Address != n.c.Address() {
			if err := n.propose(placement.Command{Move: &placement.Move{Node: n.id.Node, Address: n.c.Address()}}); err != nil {
				n.log.Warn("the cluster has not noted the new address of this node", "address", n.c.Address(), "error", err)
			}
			again = time.After(moveInterval)
		}
		select {
		case <-n.stop:
			return
		case <-changed:
		case <-again:
		}
	}
}

// removedError ends a node that was removed.
type removedError struct {
	node event.NodeID
	by   string // where the member is that has said so
}

// Error implements error.
func (e *removedError) Error() string {
	return fmt.Sprintf("node %d was removed from the cluster, as the member at %s says; to have this machine in it again, join with an empty directory and a token", e.node, e.by)
}
