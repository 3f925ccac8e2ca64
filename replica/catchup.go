package replica

import (
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/tracker"
)

// catchUp is a member on its way from a state that this node sends it, or has sent, to the end of the log.
type catchUp struct {
	from    uint64 // the state has at least the entries up to here
	match   uint64 // up to where the member had the log at the cut before
	sending int    // how many cuts it has held while the state was sent
	cuts    int    // and behind that
	stands  int    // the last ones in which it has taken nothing
}

// How many cuts of a log a member on its way can hold. So the log has at most so many times what the driver hands a state between two syncs, and a member
// that is too slow for what is written cannot fill the disk.
const (
	cutsSending = 256
	cutsHeld    = 64
	cutsStand   = 8
)

// begin notes that a state as of index, or of later, goes to a member.
func (g *group) begin(member, index uint64) {
	if g.catching == nil {
		g.catching = make(map[uint64]*catchUp)
	}
	g.catching[member] = &catchUp{from: index}
}

// held returns where the log of g, which is to be cut at index, is cut: the entries stay that members on their way need. Else a member gets another state
// instead of the entries behind the first one, and never comes to the end of the log while there are steady writes. A member holds nothing while it does
// not answer, and is given up when it takes nothing any more, or takes too long.
func (c *Core) held(g *group, index uint64) uint64 {
	if len(g.catching) == 0 {
		return index
	}
	at, end := index, g.raft.BasicStatus().GetCommit()
	g.raft.WithProgress(func(n uint64, _ raft.ProgressType, p tracker.Progress) {
		m := g.catching[n]
		switch {
		case m == nil:
			return
		case p.State == tracker.StateReplicate && p.Match+CloseBy >= end:
			delete(g.catching, n)
			return
		case p.State == tracker.StateSnapshot:
			m.sending++
		default:
			m.cuts++
			if m.stands++; p.Match > m.match {
				m.stands = 0
			}
		}
		m.match = p.Match
		if m.sending > cutsSending || m.cuts > cutsHeld || m.stands > cutsStand {
			if l := c.cfg.Logger; l != nil {
				l.Warn("the log is not held any longer for a member that was sent a state: it may need another one", "group", g.id, "member", n, "behind", end-p.Match)
			}
			delete(g.catching, n)
			return
		}
		if c.answers(g, n) {
			at = min(at, max(m.from, p.Match))
		}
	})
	return at
}
