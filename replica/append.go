package replica

import (
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/aeon-lang/aeon/internal/assert"
)

// Append is what is to be written to the log of the node: all that its groups wanted written while the append before was under
// way.
type Append struct {
	Records []Record
	Sync    bool // it must be durable before Core.Appended is called

	waiting []waiting
}

// waiting is what waits for a record.
type waiting struct {
	group     *group
	responses []*raftpb.Message
}

// drop takes out what is to be written for a group. The append was not handed out.
func (a *Append) drop(g *group) {
	kept := Append{Sync: a.Sync}
	for i, w := range a.waiting {
		if w.group != g {
			kept.Records, kept.waiting = append(kept.Records, a.Records[i]), append(kept.waiting, w)
		}
	}
	kept.Sync = kept.Sync && len(kept.Records) > 0
	*a = kept
}

// record has the log of g changed as m says.
func (c *Core) record(g *group, m *raftpb.Message) {
	r := Record{Group: g.id, Entries: m.GetEntries()}
	g.leaving.proposed(r.Entries)
	sync := len(r.Entries) > 0
	if !raft.IsEmptySnap(m.GetSnapshot()) {
		r.State, sync = m.GetSnapshot().GetMetadata(), true
		g.begins = max(g.begins, r.State.GetIndex())
	}
	if term := m.GetTerm(); term != 0 {
		assert.That(term >= g.term && (term > g.term || g.vote == 0 || m.GetVote() == g.vote),
			"replica: group %d voted for %d in term %d, and would for %d in %d", g.id, g.vote, g.term, m.GetVote(), term)
		assert.That(m.GetCommit() >= g.commit, "replica: group %d was committed up to %d, and would be up to %d", g.id, g.commit, m.GetCommit())
		sync = sync || term != g.term || m.GetVote() != g.vote
		g.term, g.vote, g.commit = term, m.GetVote(), m.GetCommit()
	}
	r.Term, r.Vote, r.Commit = g.term, g.vote, g.commit
	c.enqueue(g, r, sync, m.GetResponses())
}

// enqueue adds a record to the append that comes next.
func (c *Core) enqueue(g *group, r Record, sync bool, responses []*raftpb.Message) {
	assert.That(!g.removed, "replica: group %d, which was removed, has something to write", g.id)
	c.next.Records = append(c.next.Records, r)
	c.next.Sync = c.next.Sync || sync
	c.next.waiting = append(c.next.waiting, waiting{g, responses})
}

// write begins the next append if none is under way. If nothing of it must be durable, nothing is written: up to where entries
// are committed is written with what comes later.
func (c *Core) write() {
	for c.append == nil && len(c.next.Records) > 0 {
		a := c.next
		c.next = Append{}
		if a.Sync {
			c.append, c.hung = &a, 0
			c.out.Append = &a
			return
		}
		c.written(&a)
	}
}

// Appended says that what Effects.Append has asked for is written, and durable if it must be.
func (c *Core) Appended(a *Append) {
	assert.That(c.append == a, "replica: an append has ended that is not under way")
	c.append, c.hung = nil, 0
	c.written(a)
	c.write()
}

// written delivers what waited for an append: all of it, in order, before anything follows from it. Each record is noted before the
// first answer, as raft may read the log meanwhile, in which all of them are.
func (c *Core) written(a *Append) {
	for i, w := range a.waiting {
		w.group.note(&a.Records[i])
	}
	for _, w := range a.waiting {
		w.group.respond(c, w.responses)
	}
	for _, w := range a.waiting {
		c.work(w.group)
	}
}

// note notes what is in the log of g now.
func (g *group) note(r *Record) {
	if r.State != nil {
		g.log.restore(r.State)
		g.applying = max(g.applying, r.State.GetIndex())
		g.applied = max(g.applied, r.State.GetIndex())
	}
	g.log.append(r.Entries)
}
