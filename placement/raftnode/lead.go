package raftnode

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hashicorp/raft"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// lead does what the leader does beside raft, while this node is it: it has raft know the members, and performs the plan.
func (n *Node) lead() {
	look := time.NewTicker(n.cfg.LookEvery)
	defer look.Stop()
	for {
		changed := n.machine.watch()
		if n.raft.State() == raft.Leader && n.begin() {
			n.direct()
		}
		select {
		case <-n.ctx.Done():
			return
		case <-n.raft.LeaderCh():
		case <-changed:
		case <-n.look:
		case <-look.C:
		}
	}
}

// begin makes sure that the leader's state has all that was decided before it, and reports whether it still leads.
func (n *Node) begin() bool {
	term := n.raft.CurrentTerm()
	if n.ledTerm.Load() == term {
		return true
	}
	if err := n.raft.Barrier(enqueueMax).Error(); err != nil {
		return false
	}
	if n.raft.State() != raft.Leader || n.raft.CurrentTerm() != term {
		return false
	}
	n.ledTerm.Store(term)
	n.cfg.Logger.Info("this node leads the placement", "term", term)
	return true
}

// announce has the others learn at once which commands are committed. Raft tells them with the entry that follows, so the leader adds one that does
// nothing.
func (n *Node) announce() {
	for {
		_, moved := n.machine.reached()
		if n.raft.State() == raft.Leader && len(n.State().Members) > 1 {
			_ = n.raft.Barrier(enqueueMax).Error() // if it fails they learn it later
		}
		select {
		case <-moved:
		case <-n.ctx.Done():
			return
		}
	}
}

// errNotFormed is for a log that an earlier version has begun, which wrote the command that forms the cluster later. What that was is not known, and
// nothing was kept.
var errNotFormed = errors.New("the first start of this node was by an earlier version, and ended before it had formed the cluster: nothing was kept, and with how many stores is not known; remove the data directory, and begin again with the flags of the first start")

// direct performs what is to be done next.
func (n *Node) direct() {
	s := n.State()
	if s.Cluster == "" {
		n.cfg.Fatal(errNotFormed)
		return
	}
	n.elect(s)
	for _, c := range placement.Plan(s, placement.View{Heard: n.hears, Settled: n.cfg.Settled, Voters: n.Voters()}) {
		if !n.decide(c) {
			return
		}
	}
}

func (n *Node) hears(of event.NodeID) bool { return of == n.cfg.Identity.Node || n.cfg.Heard(of) }

// decide performs a command, and reports whether it was taken. A refusal is no fault: something has changed since.
func (n *Node) decide(c placement.Command) bool {
	c.At = n.cfg.Clock()
	data, err := json.Marshal(c)
	if err != nil {
		n.cfg.Fatal(err)
		return false
	}
	r := n.perform(n.ctx, data)
	if r.Refusal != "" {
		n.cfg.Logger.Warn("a step of the plan was refused", "reason", r.Refusal)
	}
	return r.Refusal == "" && r.Retry == "" && r.Unknown == ""
}

// elect takes the next step towards the voters that the cluster should have.
func (n *Node) elect(s *placement.State) {
	f := n.raft.GetConfiguration()
	if f.Error() != nil {
		return
	}
	do, of := electorate{f.Configuration().Servers, s, n.cfg.Identity.Node, n.hears, n.ready}.next()
	if do == nothing {
		return
	}
	if of == n.cfg.Identity.Node && (do == demote || do == drop) {
		// Another leader does it. Without one that could lead it is not done.
		if err := n.handOver(); err != nil {
			n.cfg.Logger.Info("the placement cannot be handed over", "error", err)
		}
		return
	}
	var done raft.IndexFuture
	id, at := raft.ServerID(serverID(of)), f.Index()
	switch do {
	case add:
		done = n.raft.AddNonvoter(id, raft.ServerAddress(id), at, enqueueMax)
	case promote:
		done = n.raft.AddVoter(id, raft.ServerAddress(id), at, enqueueMax)
	case demote:
		done = n.raft.DemoteVoter(id, at, enqueueMax)
	case drop:
		done = n.raft.RemoveServer(id, at, enqueueMax)
	}
	if err := done.Error(); err != nil {
		n.cfg.Logger.Info("the voters of the placement stay as they are", "node", of, "error", err)
		return
	}
	n.cfg.Logger.Info("the nodes that keep the placement have changed", "node", of, "change", do.String())
	n.Look()
}

// handOver lets another voter lead that is heard and ready. Raft by itself would choose one that has all entries, though it may be dead.
func (n *Node) handOver() error {
	err := errors.New("no other voter is ready to lead")
	for _, of := range n.Voters() {
		if of == n.cfg.Identity.Node || !n.hears(of) || !n.ready(of) {
			continue
		}
		if err = n.raft.LeadershipTransferToServer(raft.ServerID(serverID(of)), raft.ServerAddress(serverID(of))).Error(); err == nil {
			return nil
		}
	}
	return err
}

// String returns what is done.
func (s step) String() string {
	return [...]string{"none", "added", "votes", "does not vote", "removed"}[s]
}

const (
	readyTimeMax = time.Second
	readyLag     = 64 // entries
)

// ready reports whether a node has all entries but the last few. One that has not would hold up all commands as a voter.
func (n *Node) ready(of event.NodeID) bool {
	committed := n.raft.CommitIndex()
	ctx, cancel := context.WithTimeout(n.ctx, readyTimeMax)
	defer cancel()
	r, err := n.ask(ctx, of, &question{Applied: true})
	return err == nil && r.Index+readyLag >= committed
}
