package replica

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"
	"google.golang.org/protobuf/proto"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Config says how a core works. All times are in ticks.
type Config struct {
	Node event.NodeID
	Log  LogReader
	// Rand draws election timeouts. The core is repeatable if it is.
	Rand *rand.Rand
	// Heartbeat is between two signs of life of a leader. All groups that a node leads give theirs at the same tick, so that they share a frame.
	Heartbeat int
	// Election is how long members of a group wait for a sign of life before they elect another leader; up to twice as
	// long, as they draw. A leader that has heard of no majority for so long steps down.
	Election int
	// Stall is how long an append may take before this node gives up what it leads, and stands for no election. After twice
	// the time it falls silent, so that others elect a leader even if none of them could take over.
	Stall int
	// UncommittedMax bounds the bytes of a leader's entries that are not committed; Propose refuses more.
	UncommittedMax uint64
	// RecentMax is how many bytes of each group's newest entries are kept in memory; older ones are read from the log.
	RecentMax uint64
	Logger    *slog.Logger // nil: it logs nothing
}

// Message is one of the algorithm, under way to another node.
type Message struct {
	Group Group
	Raft  *raftpb.Message
}

// To returns the node that the message is for.
func (m *Message) To() event.NodeID { return event.NodeID(m.Raft.GetTo()) }

// From returns the node that has sent the message.
func (m *Message) From() event.NodeID { return event.NodeID(m.Raft.GetFrom()) }

// Effects are what a core wants done.
type Effects struct {
	// Send are messages to other nodes. Each may be lost, arrive twice, or overtake others. A message of the kind MsgSnap goes
	// together with a state: the driver takes one, has Core.Describe write into the message of what it is, and tells
	// Core.Sent how the sending has ended.
	Send []Message
	// Append is written and, if it says so, synced; then Core.Appended is called. There is no other one before. nil: nothing
	// is to be written.
	Append *Append
	// Apply are entries for the states of groups; those of one group are in order. Core.Applied is called when the state has
	// taken them.
	Apply []Apply
	// Reads have been confirmed: the node has led the group after they were asked for.
	Reads []Read
	// Roles have changed.
	Roles []Role
}

// Apply has committed entries of one group. Those that are no normal ones, or have no data, change nothing but the index.
type Apply struct {
	Group   Group
	Entries []*raftpb.Entry
	Members []Members // the changes of members that the entries make, in order; to be kept with the state

	responses []*raftpb.Message
}

// Last returns the index up to which the state is when it has taken the entries.
func (a *Apply) Last() uint64 { return a.Entries[len(a.Entries)-1].GetIndex() }

// Read is a question that Core.Read has asked.
type Read struct {
	Group Group
	ID    uint64
	Index uint64 // the answer may be given by a state that is up to here
}

// Role says what a node knows of the leader of a group.
type Role struct {
	Group  Group
	Term   uint64
	Leader event.NodeID // 0: it knows of none
}

// Errors of proposals.
var (
	// ErrNotLeading means that this node does not lead the group; nothing was proposed.
	ErrNotLeading = errors.New("this node does not lead the group")
	// ErrFull means that more is proposed and not committed than may be; nothing was proposed.
	ErrFull = errors.New("too much is proposed and not committed")
)

// Core is the raft groups of one node. It belongs to one goroutine.
type Core struct {
	cfg    Config
	groups []*group // in the order in which they were added
	find   map[Group]*group
	out    Effects

	next   Append  // what is to be written when the one under way has ended
	append *Append // under way; nil: none
	hung   int     // ticks since append was begun
	now    uint64  // ticks

	resumed uint64 // from this tick on answers of members count (see Paused)
	retired bool   // this node is to lead nothing any more
}

// group is one group on this node.
type group struct {
	id   Group
	raft *raft.RawNode
	log  *groupLog
	role Role

	removed bool // this node has no part in it any more: what is under way for it is dropped

	quiet, patience int // ticks without a sign of a leader, and how many make this node stand for election
	ticks           int // of raft since this node leads
	// answered is when members last answered this node as their leader, as Core.now. Package raft forgets at the end of each election timeout
	// which did, and takes all for silent until they answer again.
	answered map[uint64]uint64

	// Invariant: term and vote are what the last record that was made has, so that a change of them is never answered for
	// before it is durable.
	term, vote uint64
	commit     uint64 // of the newest record
	begins     uint64 // behind which index the log begins when all records are written

	past Position // see forgot

	// Invariant: settled <= applied <= applying. Entries were handed out up to applying, and the state has taken them up to applied;
	// a state that is opened again, or sent, is as of settled. That index is the log's.
	applying, applied uint64
	applyingTerm      uint64 // of the newest entry that was handed out

	resigned bool // this node leads, and is not to lead any more in the term
	tries    int  // to hand over in the term

	catching map[uint64]*catchUp // members that this node, as their leader, has begun to send a state

	leaving
}

// New returns a core without groups.
func New(cfg Config) *Core {
	assert.That(cfg.Node != 0 && cfg.Heartbeat > 0 && cfg.Election > cfg.Heartbeat && cfg.Stall > 0, "replica: a core with %+v", cfg)
	return &Core{cfg: cfg, find: make(map[Group]*group)}
}

// Add has the core take part in a group.
func (c *Core) Add(id Group, s Start) error {
	assert.That(c.find[id] == nil, "replica: group %d is added twice", id)
	if err := s.Log.check(s.Applied); err != nil {
		return fmt.Errorf("group %d: %w", id, err)
	}
	replaced := s.Log.replaced(s.Applied)
	if replaced {
		s.Log.Cut, s.Log.Last, s.Log.Commit = s.Log.Coming, s.Log.Coming, s.Applied
	}
	g := &group{
		id: id, log: newGroupLog(id, c.cfg.Log, s, c.cfg.RecentMax), role: Role{Group: id, Term: s.Log.Term},
		term: s.Log.Term, vote: s.Log.Vote, commit: max(s.Log.Commit, s.Applied), begins: s.Log.Cut.Index, past: s.Log.Past,
		applying: s.Applied, applied: s.Applied,
	}
	rn, err := raft.NewRawNode(&raft.Config{
		ID: uint64(c.cfg.Node), ElectionTick: c.cfg.Election, HeartbeatTick: c.cfg.Heartbeat, Storage: g.log, Applied: s.Applied,
		AsyncStorageWrites: true, PreVote: true, CheckQuorum: true, StepDownOnRemoval: true, DisableProposalForwarding: true,
		MaxSizePerMsg: messageMax, MaxCommittedSizePerReady: applyMax, MaxInflightMsgs: inflightMax, MaxInflightBytes: inflightBytesMax,
		MaxUncommittedEntriesSize: c.cfg.UncommittedMax, Logger: logger{c.cfg.Logger, id},
	})
	if err != nil {
		return fmt.Errorf("group %d: %w", id, err)
	}
	g.raft = rn
	g.wait(c)
	c.groups = append(c.groups, g)
	c.find[id] = g
	if replaced {
		state := &raftpb.SnapshotMetadata{Index: new(s.Log.Cut.Index), Term: new(s.Log.Cut.Term), ConfState: s.Members}
		c.enqueue(g, Record{Group: id, State: state, Term: g.term, Vote: g.vote, Commit: g.commit}, true, nil)
	}
	c.write()
	c.work(g)
	return nil
}

const (
	messageMax       = 1 << 20 // bytes of entries in a message; one entry alone may be larger
	applyMax         = 8 << 20 // bytes of entries that are applied at once
	inflightMax      = 256     // messages with entries that a member has not answered
	inflightBytesMax = 16 << 20
)

// wait begins a new time without a sign of a leader.
func (g *group) wait(c *Core) {
	g.quiet, g.patience = 0, c.cfg.Election+c.cfg.Rand.IntN(c.cfg.Election)
}

// Tick says that a tick has passed.
//
// Elections are begun here and not by package raft, whose timeouts come from a source of randomness that cannot be set. It
// is told of time only, by TickQuiesced, since it must know for how long it has heard of a leader: within that time it
// gives no vote.
func (c *Core) Tick() {
	c.now++
	if c.append != nil {
		c.hung++
	}
	for _, g := range c.groups {
		switch {
		case g.leads(c):
			if g.resigned || c.retired || c.hung >= c.cfg.Stall {
				c.giveUp(g)
			}
			if !c.silent() && g.inStep(c) {
				g.raft.Tick()
				g.ticks++
			}
		default:
			g.raft.TickQuiesced()
			if g.quiet++; g.quiet >= g.patience && c.hung < c.cfg.Stall {
				g.wait(c)
				if !g.forgot() && !c.retired {
					_ = g.raft.Campaign() // an error says that it has no vote
				}
			}
		}
		c.work(g)
	}
}

// Paused says that more time has passed than there were ticks: this process stood still for longer than an election timeout, say. What members have
// answered before says nothing of them any more, nor does what has waited for this process meanwhile, which comes within two ticks.
func (c *Core) Paused() {
	c.resumed = c.now + 2
	for _, g := range c.groups {
		clear(g.answered)
	}
}

// Hangs reports whether an append takes longer than it may.
func (c *Core) Hangs() bool { return c.hung >= c.cfg.Stall }

// silent reports whether the disk has hung for so long that this node says nothing more.
func (c *Core) silent() bool { return c.hung >= 2*c.cfg.Stall }

func (g *group) leads(c *Core) bool { return g.role.Leader == c.cfg.Node }

// inStep reports whether raft is to be told of this tick by a leader. It counts the ticks of a heartbeat from the moment in which it leads; the first
// ones are left out, so that all groups come to their heartbeats at once.
func (g *group) inStep(c *Core) bool {
	return g.ticks%c.cfg.Heartbeat == int((c.now-1)%uint64(c.cfg.Heartbeat))
}

// led returns a group that this node leads, nil if it leads none of this id.
func (c *Core) led(id Group) *group {
	if g := c.find[id]; g != nil && g.leads(c) {
		return g
	}
	return nil
}

// answers reports whether a member of a group that this node leads has answered within an election timeout.
func (c *Core) answers(g *group, node uint64) bool {
	last, ever := g.answered[node]
	return node == uint64(c.cfg.Node) || ever && c.now-last <= uint64(c.cfg.Election)
}

// giveUp hands leadership to the member that has most of the log, or if package raft has ended that without success to the next one.
func (c *Core) giveUp(g *group) {
	if g.raft.Status().LeadTransferee != 0 {
		return
	}
	type member struct{ id, match uint64 }
	var list []member
	g.raft.WithProgress(func(id uint64, kind raft.ProgressType, p tracker.Progress) {
		if id != uint64(c.cfg.Node) && kind == raft.ProgressTypePeer && c.answers(g, id) {
			list = append(list, member{id, p.Match})
		}
	})
	if len(list) == 0 {
		return
	}
	slices.SortFunc(list, func(a, b member) int { return cmp.Or(cmp.Compare(b.match, a.match), cmp.Compare(a.id, b.id)) })
	g.raft.TransferLeader(list[g.tries%len(list)].id)
	g.tries++
}

// Step takes a message that has arrived from another node. A message with a state is given to it when the state has arrived
// whole; it reports whether the state is wanted, so that a record with it comes. A message of a group that this node has no part in is
// dropped.
func (c *Core) Step(m Message) (wantsState bool) {
	g := c.find[m.Group]
	if g == nil || m.To() != c.cfg.Node {
		return false
	}
	if g.forgot() && !g.mayTake(m.Raft) {
		return false
	}
	begins := g.begins
	_ = g.raft.Step(m.Raft) // an error says that it is of no use here, from a member that was removed, say
	c.takeHint(g, m.Raft)
	s := g.raft.BasicStatus()
	switch m.Raft.GetType() {
	case raftpb.MsgApp, raftpb.MsgHeartbeat, raftpb.MsgSnap:
		if s.Lead == m.Raft.GetFrom() && s.GetTerm() == m.Raft.GetTerm() {
			g.quiet = 0
		}
	case raftpb.MsgVote:
		if s.GetVote() == m.Raft.GetFrom() && s.GetTerm() == m.Raft.GetTerm() {
			g.quiet = 0
		}
	case raftpb.MsgAppResp, raftpb.MsgHeartbeatResp:
		if g.leads(c) && s.GetTerm() == m.Raft.GetTerm() && c.now >= c.resumed {
			if g.answered == nil {
				g.answered = make(map[uint64]uint64)
			}
			g.answered[m.Raft.GetFrom()] = c.now
		}
	}
	c.work(g)
	return g.begins > begins
}

// Propose has the leader append data to the log of a group. It is committed if it comes back by Apply, on this node or another
// one; until then its fate is unknown.
func (c *Core) Propose(id Group, data []byte) error {
	assert.That(len(data) > 0, "replica: an empty proposal, which could not be told from the entry of a new leader")
	g := c.led(id)
	if g == nil {
		return ErrNotLeading
	}
	err := g.raft.Propose(data)
	c.work(g)
	if errors.Is(err, raft.ErrProposalDropped) {
		if g.raft.BasicStatus().RaftState != raft.StateLeader || g.raft.Status().LeadTransferee != 0 {
			return ErrNotLeading
		}
		return ErrFull
	}
	return err
}

// Change proposes other members of a group.
func (c *Core) Change(id Group, change *raftpb.ConfChangeV2) error {
	g := c.led(id)
	if g == nil {
		return ErrNotLeading
	}
	err := g.raft.ProposeConfChange(change)
	c.work(g)
	if errors.Is(err, raft.ErrProposalDropped) {
		return ErrNotLeading
	}
	return err
}

// Read asks whether this node still leads a group. If it does, Effects.Reads has the answer, under id; if it does not, there
// may be none, and the role changes. There may be none either if Effects.Apply has other members before: then it is to be asked again. A leader is
// asked when Effects.Apply has had an entry of its term: before, it does not know what former leaders have committed, and package raft has a sole voter
// answer nevertheless.
func (c *Core) Read(id Group, question uint64) error {
	g := c.led(id)
	if g == nil || g.applyingTerm != g.role.Term {
		return ErrNotLeading
	}
	g.raft.ReadIndex(binary.BigEndian.AppendUint64(nil, question))
	c.work(g)
	return nil
}

// Transfer hands the leadership of a group to a member.
func (c *Core) Transfer(id Group, to event.NodeID) error {
	g := c.led(id)
	if g == nil {
		return ErrNotLeading
	}
	g.raft.TransferLeader(uint64(to))
	c.work(g)
	return nil
}

// Resign has another member lead a group that this node leads in a term, as soon as one can. Package raft gives up handing over after a while, and leads
// on: then the next member is asked.
func (c *Core) Resign(id Group, term uint64) {
	if g := c.led(id); g != nil && g.role.Term == term {
		g.resigned = true
		c.giveUp(g)
		c.work(g)
	}
}

// Retire has this node lead no group any more, until it is closed: it hands over what it leads, as soon as a member can take over, and stands for no
// election. One that does not know of that may make it lead, by Transfer: then it hands over again. That is faster than to ignore the other one, which would
// refuse proposals until package raft gives up.
func (c *Core) Retire() {
	c.retired = true
	for _, g := range c.groups {
		if g.leads(c) {
			c.giveUp(g)
			c.work(g)
		}
	}
}

// Applied says that the state of a group was handed what was to be applied.
func (c *Core) Applied(a *Apply) {
	g := c.find[a.Group]
	if g == nil {
		return
	}
	if a.Last() > g.applied { // else a state has come that has them
		assert.That(a.Entries[0].GetIndex() == g.applied+1 && a.Last() <= g.applying,
			"replica: group %d is applied from %d, and was at %d", g.id, a.Entries[0].GetIndex(), g.applied)
		g.applied = a.Last()
	}
	g.respond(c, a.responses)
	c.work(g)
}

// Settled says that a state which is opened again, or sent, has the entries of a group up to index. Those behind it that were applied would be applied
// again.
func (c *Core) Settled(id Group, index uint64) {
	g := c.find[id]
	if g == nil || index <= g.log.settled { // a state has come that has more
		return
	}
	assert.That(index <= g.applied, "replica: group %d is settled up to %d, and is applied up to %d", id, index, g.applied)
	g.log.settle(index)
}

// Describe writes into a message of the kind MsgSnap that it goes with the state of its group as it is applied now. It reports false if this node has no
// part in the group any more: then nothing is sent.
func (c *Core) Describe(m Message) bool {
	g := c.find[m.Group]
	if g == nil {
		return false
	}
	s, err := g.log.describe()
	assert.That(err == nil && s.GetMetadata().GetIndex() >= m.Raft.GetSnapshot().GetMetadata().GetIndex(),
		"replica: the state of group %d has gone back to %d (%v)", g.id, s.GetMetadata().GetIndex(), err)
	m.Raft.Snapshot = s
	return true
}

// Sent says whether a message of the kind MsgSnap has arrived with its state.
func (c *Core) Sent(m Message, ok bool) {
	if g := c.find[m.Group]; g != nil {
		status := raft.SnapshotFinish
		if !ok {
			status = raft.SnapshotFailure
		}
		g.raft.ReportSnapshot(m.Raft.GetTo(), status)
		c.work(g)
	}
}

// Unreachable says that messages to a node are lost: the connection to it has broken.
func (c *Core) Unreachable(n event.NodeID) {
	for _, g := range c.groups {
		g.raft.ReportUnreachable(uint64(n))
		c.work(g)
	}
}

// Cut has the log of a group begin behind index, or earlier while members need that (see held). The state of the group has synced up to index.
func (c *Core) Cut(id Group, index uint64) {
	g := c.find[id]
	if g == nil {
		return
	}
	assert.That(index <= g.log.settled, "replica: the log of group %d is cut at %d, and its state is at %d", id, index, g.log.settled)
	if index = c.held(g, index); index <= g.begins {
		return
	}
	g.begins = index
	r := Record{Group: id, Term: g.term, Vote: g.vote, Commit: g.commit, Cut: g.at(index)}
	g.log.cutAt(r.Cut) // nothing reads them from now on: the rows go away some time before Appended says so
	c.enqueue(g, r, true, nil)
	c.write()
}

// at returns the entry of the log with an index.
func (g *group) at(index uint64) Position {
	term, err := g.log.Term(index)
	assert.That(err == nil, "replica: entry %d of group %d has no term: %v", index, g.id, err)
	return Position{index, term}
}

// Leader returns what this node knows of the leader of a group; it knows of none if it has no part in the group.
func (c *Core) Leader(id Group) Role {
	if g := c.find[id]; g != nil {
		return g.role
	}
	return Role{Group: id}
}

// LogLength returns how many entries the log of a group has on this node; 0 if it has no part in the group.
func (c *Core) LogLength(id Group) uint64 {
	if g := c.find[id]; g != nil {
		return g.log.last.Index - g.log.cut.Index
	}
	return 0
}

// Effects returns what is to be done since the last call.
func (c *Core) Effects() Effects {
	e := c.out
	c.out = Effects{}
	return e
}

// work moves what a group has ready into the effects.
func (c *Core) work(g *group) {
	for !g.removed && g.raft.HasReady() {
		rd := g.raft.Ready()
		if rd.SoftState != nil || rd.HardState != nil {
			c.noteRole(g)
		}
		for _, m := range rd.Messages {
			switch m.GetTo() {
			case raft.LocalAppendThread:
				c.record(g, m)
			case raft.LocalApplyThread:
				c.out.Apply = append(c.out.Apply, g.applyOf(m))
			default:
				c.send(g, m)
			}
		}
		for _, r := range rd.ReadStates {
			c.out.Reads = append(c.out.Reads, Read{g.id, binary.BigEndian.Uint64(r.RequestCtx), r.Index})
		}
		c.write()
	}
}

// noteRole notes the leader of g, and begins to wait anew if that has changed.
func (c *Core) noteRole(g *group) {
	s := g.raft.BasicStatus()
	now := Role{g.id, s.GetTerm(), event.NodeID(s.Lead)}
	if now == g.role {
		return
	}
	assert.That(now.Term >= g.role.Term, "replica: group %d goes back from term %d to %d", g.id, g.role.Term, now.Term)
	g.role = now
	g.leaving.asked, g.leaving.index = false, 0 // what was proposed may be lost
	g.ticks = 0
	g.resigned, g.tries, g.catching = false, 0, nil
	g.wait(c)
	c.out.Roles = append(c.out.Roles, now)
}

func (c *Core) send(g *group, m *raftpb.Message) {
	if c.silent() {
		if m.GetType() == raftpb.MsgSnap {
			g.raft.ReportSnapshot(m.GetTo(), raft.SnapshotFailure)
		}
		return
	}
	if m.GetTo() == 0 { // to no leader, of whom takeHint has a message
		return
	}
	c.hint(g, m)
	if m.GetType() == raftpb.MsgSnap && g.leads(c) {
		g.begin(m.GetTo(), m.GetSnapshot().GetMetadata().GetIndex())
	}
	c.out.Send = append(c.out.Send, Message{g.id, m})
}

// applyOf returns the entries that m hands to the state. A change of members holds from here on.
func (g *group) applyOf(m *raftpb.Message) Apply {
	a := Apply{Group: g.id, Entries: m.GetEntries(), responses: m.GetResponses()}
	for _, e := range a.Entries {
		assert.That(e.GetIndex() == g.applying+1, "replica: group %d is to apply entry %d behind %d", g.id, e.GetIndex(), g.applying)
		g.applying, g.applyingTerm = g.applying+1, e.GetTerm()
		g.leaving.committed(e.GetIndex())
		var change raftpb.ConfChangeI
		switch e.GetType() {
		case raftpb.EntryConfChange:
			change = unmarshal(e, &raftpb.ConfChange{})
		case raftpb.EntryConfChangeV2:
			change = unmarshal(e, &raftpb.ConfChangeV2{})
		default:
			continue
		}
		members := Members{e.GetIndex(), g.raft.ApplyConfChange(change)}
		a.Members, g.log.coming = append(a.Members, members), append(g.log.coming, members)
		g.left(change)
	}
	return a
}

func unmarshal[M proto.Message](e *raftpb.Entry, m M) M {
	err := proto.Unmarshal(e.GetData(), m)
	assert.That(err == nil, "replica: entry %d is no change of members: %v", e.GetIndex(), err)
	return m
}

// respond delivers what waited for the disk or the state.
func (g *group) respond(c *Core, list []*raftpb.Message) {
	if g.removed {
		return
	}
	for _, m := range list {
		if m.GetTo() != uint64(c.cfg.Node) {
			c.send(g, m)
			continue
		}
		_ = g.raft.Step(m) // of a former term
	}
}
