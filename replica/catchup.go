package replica

import (
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/tracker"
)

// catchUp is a member on its way from a state that this node sends it, or has sent, to the end of the log.
type catchUp struct {
	from  uint64 // the state has at least the entries up to here
	match uint64 // up to where the member had the log at the cut before
	cuts  int    // how many the member has held
}

// cutsHeld is how many cuts of a log a member on its way can hold. So the log has at most so many times what the driver hands a state between two syncs,
// and a member that is too slow for what is written cannot fill the disk.
const cutsHeld = 64

// begin notes that a state as of index, or of later, goes to a member.
func (g *group) begin(member, index uint64) {
	if g.catching == nil {
		g.catching = make(map[uint64]*catchUp)
	}
	g.catching[member] = &catchUp{from: index}
}

// held returns where the log of g, which is to be cut at index, is cut: the entries stay that members on their way need. Else a member gets another state
// instead of the entries behind the first one, and never comes to the end of the log while there are steady writes. A member holds nothing that does not
// answer, or that has its state and has taken no entry since the cut before.
func (c *Core) held(g *group, index uint64) uint64 {
	if len(g.catching) == 0 {
		return index
	}
	at := index
	g.raft.WithProgress(func(n uint64, _ raft.ProgressType, p tracker.Progress) {
		m := g.catching[n]
		if m == nil {
			return
		}
		advances := p.State == tracker.StateSnapshot || p.Match > m.match
		m.match = p.Match
		if m.cuts++; p.Match >= index || m.cuts > cutsHeld || !advances || !c.answers(g, n) {
			delete(g.catching, n)
			return
		}
		at = min(at, max(m.from, p.Match))
	})
	return at
}
