package replica

import (
	"maps"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"

	"github.com/aeon-lang/aeon/runtime/event"
)

// CloseBy is how many entries a member may lack and count as up to date.
const CloseBy = 64

// Follow brings the members of a group that this node leads nearer to those that are wanted, by one step: a new member first learns without
// a vote, and votes when it has what the others have; only then one that is not wanted is removed, silent ones first. A voter is removed only when a
// majority of the others is up to date and answers, even if it is silent: it may come back, and be the one that commits its removal, though the group
// needs it. A leader that is not wanted hands the group over before. Follow is called again after a while, until it reports that the members are those
// wanted and all are up to date.
func (c *Core) Follow(id Group, want []event.NodeID) (settled bool, err error) {
	g := c.led(id)
	if g == nil {
		return false, ErrNotLeading
	}
	s := g.raft.Status()
	if len(s.Config.Voters[1]) > 0 {
		return false, nil // it is between two sets of members
	}
	current := func(n uint64) bool {
		p, ok := s.Progress[n]
		return ok && (n == uint64(c.cfg.Node) || p.State == tracker.StateReplicate && c.answers(g, n) && p.Match+CloseBy >= s.GetCommit())
	}
	if len(g.leaving.nodes) > 0 {
		return false, c.confirmLeft(g)
	}
	kind, node := raftpb.ConfChangeType(-1), uint64(0)
	for _, n := range want {
		n := uint64(n)
		_, votes := s.Config.Voters[0][n]
		_, learns := s.Config.Learners[n]
		switch {
		case votes:
		case !learns:
			kind, node = raftpb.ConfChangeAddLearnerNode, n
		case current(n):
			kind, node = raftpb.ConfChangeAddNode, n
		default:
			return false, nil // it learns
		}
		if node != 0 {
			break
		}
	}
	if node == 0 {
		for _, n := range slices.Sorted(maps.Keys(s.Progress)) {
			if slices.Contains(want, event.NodeID(n)) {
				continue
			}
			if _, votes := s.Config.Voters[0][n]; votes && !c.majorityWithout(g, s, n, current) {
				continue
			}
			silent := !c.answers(g, n)
			if silent || node == 0 {
				kind, node = raftpb.ConfChangeRemoveNode, n
			}
			if silent {
				break
			}
		}
	}
	switch {
	case node == 0:
		for n := range s.Progress {
			if !current(n) || !slices.Contains(want, event.NodeID(n)) {
				return false, nil
			}
		}
		return true, nil
	case kind == raftpb.ConfChangeRemoveNode && node == uint64(c.cfg.Node):
		c.giveUp(g)
		return false, nil
	}
	return false, c.Change(id, &raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{{Type: kind.Enum(), NodeId: new(node)}}})
}

// majorityWithout reports whether a majority of the voters but one is up to date, and has answered just now: one that has answered within an election
// timeout may have died since.
func (c *Core) majorityWithout(g *group, s raft.Status, n uint64, current func(uint64) bool) bool {
	have := 0
	for v := range s.Config.Voters[0] {
		if v != n && current(v) && (v == uint64(c.cfg.Node) || c.now-g.answered[v] <= 2*uint64(c.cfg.Heartbeat)) {
			have++
		}
	}
	return 2*have > len(s.Config.Voters[0])-1
}

// Progress is what the leader of a group knows of a member.
type Progress struct {
	Node   event.NodeID
	Votes  bool
	Match  uint64 // it has the entries up to here
	Active bool   // it has answered within an election timeout
}

// Progress returns what is known of the members of a group that this node leads, as of the last entry that is committed and was handed to the state.
// A node that was removed is among them until the others can do without it: see leaving.
func (c *Core) Progress(id Group) (list []Progress, asOf Position) {
	g := c.led(id)
	if g == nil {
		return nil, Position{}
	}
	g.raft.WithProgress(func(n uint64, kind raft.ProgressType, p tracker.Progress) {
		list = append(list, Progress{event.NodeID(n), kind == raft.ProgressTypePeer, p.Match, c.answers(g, n)})
	})
	for _, n := range g.leaving.nodes { // some of them may still vote until the change of members is over
		if !slices.ContainsFunc(list, func(p Progress) bool { return p.Node == event.NodeID(n) }) {
			list = append(list, Progress{Node: event.NodeID(n)})
		}
	}
	slices.SortFunc(list, func(a, b Progress) int { return int(a.Node) - int(b.Node) })
	return list, g.at(g.applying)
}

// Remove ends the part that this node has in a group of which a leader has said, as of an entry (see Progress), that this node is no member. It reports
// false, and changes nothing, if this node has entries behind that one or is in a later term: it may be a member again, and leaders count on what it
// has. The log and the state are then removed by the driver. What is under way for the group is dropped.
//
// Invariant: no append that is handed out from now on has a record of the group. The driver removes the log of the group behind the appends that it
// was handed before; what came behind that would be the middle of a log.
func (c *Core) Remove(id Group, asOf Position) bool {
	g := c.find[id]
	if g == nil {
		return true
	}
	if g.term > asOf.Term || asOf.behind(g.log.last) {
		return false
	}
	g.removed = true
	delete(c.find, id)
	c.groups = slices.DeleteFunc(c.groups, func(o *group) bool { return o == g })
	c.next.drop(g)
	if a := c.out.Append; a != nil {
		if a.drop(g); len(a.Records) == 0 {
			c.out.Append, c.append, c.hung = nil, nil, 0
			c.write()
		}
	}
	return true
}
