package raftnode

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// planInterval is how often the leader looks whether something is to be done, if nothing was agreed on meanwhile.
const planInterval = 200 * time.Millisecond

// barrierTimeout is how long a new leader waits for what earlier ones have had agreed on.
const barrierTimeout = 5 * time.Second

// lead does what the leader does, while this node is it.
func (n *Node) lead() {
	leads := false
	for {
		_, changed := n.State()
		var again <-chan time.Time
		if leads {
			if n.raft.State() == raft.Leader {
				n.improve()
			}
			again = time.After(planInterval)
		}
		select {
		case <-n.stop:
			return
		case leads = <-n.raft.LeaderCh():
			if leads && n.raft.Barrier(barrierTimeout).Error() != nil {
				leads = false
			}
		case <-changed:
		case <-again:
		}
	}
}

// improve takes one step towards the voters and the places that should be.
func (n *Node) improve() {
	s, _ := n.State()
	if s.Cluster == "" {
		return
	}
	n.admit(s)
	for _, c := range placement.Plan(s, placement.View{Heard: n.heard, Settled: n.cfg.Settled}) {
		c.At = time.Now().UTC()
		b, err := json.Marshal(c)
		if err == nil {
			var o outcome
			if o, err = n.apply(b); err == nil && o.Refusal != "" {
				n.cfg.Logger.Debug("a step of the plan is refused", "reason", o.Refusal)
			}
		}
		if err != nil {
			return // it leads no more, or the next look shows what has become of it
		}
	}
}

func (n *Node) heard(id event.NodeID) bool { return id == n.cfg.Node || n.cfg.Heard(id) }

// admit makes the servers of raft what the members are, by one change. A server first learns, and votes when it is to.
func (n *Node) admit(s *placement.State) {
	f := n.raft.GetConfiguration()
	if f.Error() != nil {
		return
	}
	have := make(map[event.NodeID]raft.ServerSuffrage)
	for _, server := range f.Configuration().Servers {
		have[nodeOf(string(server.ID))] = server.Suffrage
	}
	votes := s.Voters()
	for id, m := range s.Members {
		suffrage, is := have[id]
		wanted := slices.Contains(votes, id)
		var change raft.IndexFuture
		switch {
		case m.Membership == placement.Removed && is && id == n.cfg.Node:
			_ = n.raft.LeadershipTransfer() // another one removes it; if that fails, this one tries again
		case m.Membership == placement.Removed && is:
			change = n.raft.RemoveServer(serverOf(id), 0, networkTimeout)
		case m.Membership == placement.Removed:
		case !is:
			change = n.raft.AddNonvoter(serverOf(id), addressOf(id), 0, networkTimeout)
		case wanted && suffrage != raft.Voter && n.heard(id):
			change = n.raft.AddVoter(serverOf(id), addressOf(id), 0, networkTimeout)
		case !wanted && suffrage == raft.Voter && id != n.cfg.Node:
			change = n.raft.DemoteVoter(serverOf(id), 0, networkTimeout)
		}
		if change != nil {
			if err := change.Error(); err != nil {
				n.cfg.Logger.Debug("the voters of the placement have not changed", "node", id, "error", err)
			}
			return
		}
	}
}
