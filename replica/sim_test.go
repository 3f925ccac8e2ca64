package replica

import (
	"container/heap"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

var (
	seeds     = flag.Int("sim.seeds", 20, "how many clusters are simulated")
	firstSeed = flag.Uint64("sim.seed", 1, "the first one")
)

// The cluster that is simulated.
const (
	simNodes  = 4 // of which each group has three
	simGroups = 3
	tick      = 100 // of simulated time
	faultTime = 60_000
	healTime  = 40_000
)

// step happens at a time; those of one time in the order in which they were made.
type step struct {
	at, seq uint64
	do      func()
}

type steps []step

func (l steps) Len() int { return len(l) }
func (l steps) Less(i, j int) bool {
	return l[i].at < l[j].at || l[i].at == l[j].at && l[i].seq < l[j].seq
}
func (l steps) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *steps) Push(e any)   { *l = append(*l, e.(step)) }
func (l *steps) Pop() any {
	e := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return e
}

// value is what an entry was: its term and data.
type value struct {
	term uint64
	data string
}

// state is the state of a group on a node: all entries up to applied. What begins with a p is a part of something that has not ended.
type state struct {
	list   []value // list[i] is entry i+1
	turned []Members
}

func (s state) applied() uint64 { return uint64(len(s.list)) }

// settled is up to where a process finds the state when it starts again.
func (s state) settled() state {
	n := len(s.list)
	for n > 0 && strings.HasPrefix(s.list[n-1].data, "p") {
		n--
	}
	return state{s.list[:n:n], s.turned[:len(s.turned):len(s.turned)]}
}

// members are those as of the last entry.
func (s state) members() *raftpb.ConfState {
	for _, m := range slices.Backward(s.turned) {
		if m.Index <= s.applied() {
			return m.State
		}
	}
	return &raftpb.ConfState{}
}

// cluster is a simulated cluster.
type cluster struct {
	r     *rand.Rand
	now   uint64
	seq   uint64
	queue steps
	trace uint64 // a digest of all that has happened
	bad   string

	nodes     map[event.NodeID]*node
	cut       map[[2]event.NodeID]bool // messages from the first to the second are lost
	loss      float64
	deaf      map[event.NodeID]bool // these do not take over when they are asked to
	steady    bool                  // no leadership is handed over
	committed map[Group][]value
	acked     map[Group]map[string]bool
	led       map[Group]map[uint64]event.NodeID
	said      map[Group]said
	want      map[Group][]event.NodeID // the members that an operator wants; of a group that is missing, those that it has
	dead      event.NodeID             // a node that never comes back; 0: none
	proposed  int

	saw struct{ acks, reads, crashes, states, stalls, changes, transfers, resigned, cuts, refused, left, joined, stays int }
}

// node is one node, with what survives its crashes.
type node struct {
	id      event.NodeID
	c       *cluster
	life    int  // steps of a former life do nothing
	down    bool // between two lives
	core    *Core
	engine  *memengine.Engine
	log     *NodeLog
	durable map[Group]state      // what the disk has
	wrote   map[groupTerm]uint64 // the newest entry that was written in a term, which a later leader may have taken away since
	state   map[Group]state
	taken   map[Group]state // what a state that is sent, or made durable, has of it
	pending *Append
	behind  []func()         // what the writer does behind pending
	out     map[Group]bool   // groups that it has left, as it and its disk know
	todo    []*Apply         // in order; nil: of a group that was left
	coming  map[coming]state // states that are about to replace those of groups
	hangs   uint64           // until when the disk does nothing
	paused  uint64           // until when the process does nothing
	late    bool             // it has just stood still for longer than an election timeout
	mine    map[Group]map[string]bool
	asked   map[uint64]uint64 // reads: up to where the answer must be at least
	reads   uint64
	// resigned are the terms that this node is not to lead in any more, by when it was told.
	resigned map[groupTerm]uint64
	beats    [2]int // heartbeats, by whether the core had counted an odd number of ticks
}

// groupTerm is a term of a group.
type groupTerm struct {
	group Group
	term  uint64
}

func newCluster(seed uint64) *cluster {
	c := &cluster{
		r: rand.New(rand.NewPCG(seed, 0x51a)), nodes: make(map[event.NodeID]*node), cut: make(map[[2]event.NodeID]bool),
		committed: make(map[Group][]value), acked: make(map[Group]map[string]bool), led: make(map[Group]map[uint64]event.NodeID),
		said: make(map[Group]said),
	}
	for id := event.NodeID(1); id <= simNodes; id++ {
		n := &node{id: id, c: c, engine: memengine.New(), durable: make(map[Group]state), out: make(map[Group]bool), wrote: make(map[groupTerm]uint64)}
		c.nodes[id] = n
		log, _, _ := OpenLog(n.engine)
		var a Append
		for g := Group(1); g <= simGroups; g++ {
			if id == event.NodeID(g)%simNodes+1 {
				continue // it has no part in it yet
			}
			voters := &raftpb.ConfState{}
			for v := event.NodeID(1); v <= simNodes; v++ {
				if v != event.NodeID(g)%simNodes+1 {
					voters.Voters = append(voters.Voters, uint64(v))
				}
			}
			n.durable[g] = state{list: []value{{}}, turned: []Members{{1, voters}}}
			a.Records = append(a.Records, Record{Group: g, Term: 1, Commit: 1, State: &raftpb.SnapshotMetadata{Index: new(uint64(1)), Term: new(uint64(1))}})
		}
		c.check(log.Write(&a))
		n.start()
	}
	for g := Group(1); g <= simGroups; g++ {
		c.committed[g] = []value{{}}
		c.acked[g], c.led[g] = make(map[string]bool), make(map[uint64]event.NodeID)
	}
	return c
}

func (c *cluster) fail(format string, args ...any) {
	if c.bad == "" {
		c.bad = fmt.Sprintf("at %d: ", c.now) + fmt.Sprintf(format, args...)
	}
}

func (c *cluster) check(err error) {
	if err != nil {
		c.fail("%v", err)
	}
}

// note adds to the digest.
func (c *cluster) note(list ...uint64) {
	h := fnv.New64a()
	var b []byte
	for _, n := range append(list, c.trace, c.now) {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	h.Write(b)
	c.trace = h.Sum64()
}

func (c *cluster) after(d uint64, f func()) {
	c.seq++
	heap.Push(&c.queue, step{c.now + d, c.seq, f})
}

// after has f done by this life of the node, not while it is paused.
func (n *node) after(d uint64, f func()) {
	life := n.life
	var try func()
	try = func() {
		switch {
		case n.life != life || n.down:
		case n.paused > n.c.now:
			n.late = n.late || n.paused-n.c.now > 10*tick
			n.c.after(n.paused-n.c.now, try)
		default:
			if n.late { // as the driver notes it
				n.late = false
				n.core.Paused()
			}
			f()
		}
	}
	n.c.after(d, try)
}

// start starts the process with what the disk has.
func (n *node) start() {
	n.life++
	n.down = false
	n.pending, n.behind, n.todo, n.state, n.taken, n.coming = nil, nil, nil, make(map[Group]state), make(map[Group]state), make(map[coming]state)
	n.mine, n.asked, n.resigned = make(map[Group]map[string]bool), make(map[uint64]uint64), make(map[groupTerm]uint64)
	log, found, err := OpenLog(n.engine)
	n.c.check(err)
	n.log = log
	n.core = New(Config{
		Node: n.id, Log: log, Rand: rand.New(rand.NewPCG(n.c.r.Uint64(), uint64(n.life))), Heartbeat: 2, Election: 10, Stall: 15,
		UncommittedMax: 300, RecentMax: uint64(n.c.r.IntN(500)),
	})
	for g := Group(1); g <= simGroups; g++ {
		s := n.durable[g]
		n.state[g], n.taken[g], n.mine[g] = s, s, make(map[string]bool)
		if n.out[g] {
			continue
		}
		if err := n.core.Add(g, Start{Applied: s.applied(), Members: s.members(), Log: found[g]}); err != nil {
			n.c.fail("node %d does not start: %v", n.id, err)
		}
	}
	n.after(n.c.r.Uint64N(tick), n.tick)
	n.act()
}

func (n *node) tick() {
	n.core.Tick()
	n.act()
	for g := Group(1); g <= simGroups; g++ {
		list, _ := n.core.Progress(g)
		for i := 1; i < len(list); i++ {
			if list[i].Node == list[i-1].Node {
				n.c.fail("node %d lists a member of group %d twice: %+v", n.id, g, list)
			}
		}
	}
	n.after(tick-5+n.c.r.Uint64N(10), n.tick)
}

// act performs the effects of the core.
func (n *node) act() {
	c := n.c
	e := n.core.Effects()
	for _, r := range e.Roles {
		c.note(1, uint64(n.id), uint64(r.Group), r.Term, uint64(r.Leader))
		if r.Leader == n.id {
			if other, is := c.led[r.Group][r.Term]; is && other != n.id {
				c.fail("nodes %d and %d both lead group %d in term %d", other, n.id, r.Group, r.Term)
			}
			c.led[r.Group][r.Term] = n.id
		} else {
			clear(n.mine[r.Group]) // what it has proposed has an unknown fate
		}
	}
	for _, m := range e.Send {
		n.send(m)
	}
	if e.Append != nil {
		n.write(e.Append)
	}
	for i := range e.Apply {
		if !n.has(e.Apply[i].Group) {
			continue
		}
		n.todo = append(n.todo, &e.Apply[i])
		n.after(c.r.Uint64N(30), n.applyNext)
	}
	for _, r := range e.Reads {
		c.saw.reads++
		if want, asked := n.asked[r.ID]; !asked {
			c.fail("node %d has answered a question that it was not asked", n.id)
		} else if r.Index < want {
			c.fail("node %d reads group %d as of %d, and %d was applied before it was asked", n.id, r.Group, r.Index, want)
		}
	}
}

// write writes an append, after a time that may be long. What is written is read from then on; it is durable, and the core is told, after a time more.
func (n *node) write(a *Append) {
	n.pending = a
	wait := n.c.r.Uint64N(40)
	if n.hangs > n.c.now {
		wait += n.hangs - n.c.now
	}
	n.after(wait, func() {
		n.pending = nil
		n.commit(a, len(a.Records)*2+1)
		for _, do := range n.behind {
			do()
		}
		n.behind = nil
		n.after(n.c.r.Uint64N(40), func() {
			for _, r := range a.Records {
				if s, is := n.coming[comingOf(&r)]; is {
					n.state[r.Group], n.taken[r.Group] = s, s
					n.c.saw.states++
				}
			}
			n.core.Appended(a)
			n.act()
		})
	})
}

// coming names a state that is about to replace that of a group.
type coming struct {
	group Group
	index uint64
}

func comingOf(r *Record) coming {
	if r.State == nil {
		return coming{}
	}
	return coming{r.Group, r.State.GetIndex()}
}

// commit does so many steps of what makes an append durable.
func (n *node) commit(a *Append, steps int) {
	for _, r := range a.Records {
		s, is := n.coming[comingOf(&r)]
		if !is {
			continue // there is none, or it is in place since before this process
		}
		if steps--; steps < 0 {
			return
		}
		n.c.check(n.log.Announce(r.Group, r.StateAt()))
		if steps--; steps < 0 {
			return
		}
		n.durable[r.Group] = s
	}
	if steps--; steps < 0 {
		return
	}
	// As the driver does it: what is of a group that the node has left is not written, nor that a state has come which has not.
	written := slices.DeleteFunc(slices.Clone(a.Records), func(r Record) bool {
		return !n.has(r.Group) || r.State != nil && n.durable[r.Group].applied() < r.State.GetIndex()
	})
	n.c.check(n.log.Write(&Append{Records: written}))
	for _, r := range written {
		n.c.note(2, uint64(n.id), uint64(r.Group), r.Term, r.Vote, uint64(len(r.Entries)))
		if i := len(r.Entries); i > 0 {
			of := groupTerm{r.Group, r.Term}
			n.wrote[of] = max(n.wrote[of], r.Entries[i-1].GetIndex())
		}
	}
}

func (n *node) send(m Message) {
	c := n.c
	if m.Raft.GetType() == raftpb.MsgSnap {
		n.sendState(m)
		return
	}
	n.promised(m)
	if m.Raft.GetType() == raftpb.MsgHeartbeat && len(m.Raft.GetContext()) == 0 { // else it is for a read
		n.beats[n.core.now%2]++
	}
	b, err := proto.Marshal(m.Raft)
	c.check(err)
	times := 1
	switch {
	case c.deaf[m.To()] && m.Raft.GetType() == raftpb.MsgTimeoutNow, c.cut[[2]event.NodeID{n.id, m.To()}] || c.r.Float64() < c.loss:
		times = 0
	case c.r.IntN(50) == 0:
		times = 2
	}
	for range times {
		raw := new(raftpb.Message)
		c.check(proto.Unmarshal(b, raw))
		c.after(1+c.r.Uint64N(60), func() { c.nodes[m.To()].receive(Message{m.Group, raw}) })
	}
}

// promised checks that a vote, and entries that are acknowledged, are on the disk before the answer that says so. What the leader of a later term has
// taken away may have been written in one append with that; the answer to the earlier leader, behind it, is as one that is long under way.
func (n *node) promised(m Message) {
	kind := m.Raft.GetType()
	if m.Raft.GetReject() || kind != raftpb.MsgVoteResp && kind != raftpb.MsgAppResp {
		return
	}
	s, err := n.log.read(m.Group)
	n.c.check(err)
	switch {
	case s.Term < m.Raft.GetTerm():
		n.c.fail("node %d answers in term %d of group %d, and its disk is in term %d", n.id, m.Raft.GetTerm(), m.Group, s.Term)
	case kind == raftpb.MsgVoteResp && s.Term == m.Raft.GetTerm() && s.Vote != m.Raft.GetTo():
		n.c.fail("node %d votes for %d in term %d of group %d, and its disk has %d", n.id, m.To(), s.Term, m.Group, s.Vote)
	case kind == raftpb.MsgAppResp && s.Last.Index < m.Raft.GetIndex() && n.wrote[groupTerm{m.Group, m.Raft.GetTerm()}] < m.Raft.GetIndex():
		n.c.fail("node %d has entry %d of group %d, and its disk ends at %d", n.id, m.Raft.GetIndex(), m.Group, s.Last.Index)
	}
}

// receive hands a message to the node when it is not paused.
func (n *node) receive(m Message) {
	n.after(0, func() {
		n.core.Step(m)
		n.act()
	})
}

// sendState sends a state with the message that announces it.
func (n *node) sendState(m Message) {
	c := n.c
	if !n.core.Describe(m) {
		return
	}
	s := n.taken[m.Group]
	if s.applied() != m.Raft.GetSnapshot().GetMetadata().GetIndex() {
		c.fail("node %d describes a state of group %d at %d, which is at %d", n.id, m.Group, m.Raft.GetSnapshot().GetMetadata().GetIndex(), s.applied())
	}
	list, _ := n.core.Progress(m.Group)
	of := m.Raft.GetSnapshot().GetMetadata().GetConfState()
	if slices.ContainsFunc(list, func(p Progress) bool { return p.Node == m.To() }) && !slices.Contains(slices.Concat(of.GetVoters(), of.GetVotersOutgoing(), of.GetLearners()), uint64(m.To())) {
		c.fail("node %d sends node %d a state of group %d in which that is no member", n.id, m.To(), m.Group)
	}
	b, err := proto.Marshal(m.Raft)
	c.check(err)
	arrives := !c.cut[[2]event.NodeID{n.id, m.To()}] && c.r.Float64() >= c.loss
	to := c.nodes[m.To()]
	n.after(100+c.r.Uint64N(500), func() {
		n.core.Sent(m, arrives)
		n.act()
	})
	if !arrives {
		return
	}
	c.after(50+c.r.Uint64N(300), func() {
		raw := new(raftpb.Message)
		c.check(proto.Unmarshal(b, raw))
		to.after(0, func() {
			if to.core.Step(Message{m.Group, raw}) {
				to.coming[coming{m.Group, s.applied()}] = s
			}
			to.act()
		})
	})
}

// applyNext has the state of a group take the entries that come next.
func (n *node) applyNext() {
	c, a := n.c, n.todo[0]
	n.todo = n.todo[1:]
	if a == nil {
		return
	}
	s := n.state[a.Group]
	for _, e := range a.Entries {
		if e.GetIndex() <= s.applied() {
			continue // a state has come that has them
		}
		v := value{e.GetTerm(), string(e.GetData())}
		all := c.committed[a.Group]
		switch i := e.GetIndex(); {
		case i == uint64(len(all))+1:
			c.committed[a.Group] = append(all, v)
		case i > uint64(len(all)):
			c.fail("node %d applies entry %d of group %d, and %d are committed", n.id, i, a.Group, len(all))
			return
		case all[i-1] != v:
			c.fail("node %d applies %v as entry %d of group %d, which was %v", n.id, v, i, a.Group, all[i-1])
		}
		s.list = append(s.list, v)
		c.note(3, uint64(n.id), uint64(a.Group), e.GetIndex(), e.GetTerm())
		if n.mine[a.Group][v.data] {
			c.acked[a.Group][v.data] = true
			c.saw.acks++
		}
	}
	for _, m := range a.Members {
		if len(s.turned) == 0 || m.Index > s.turned[len(s.turned)-1].Index {
			s.turned = append(s.turned, m)
			c.saw.changes++
		}
	}
	n.state[a.Group] = s
	n.core.Applied(a)
	if n.c.r.IntN(3) == 0 {
		n.take(a.Group)
	}
	n.act()
}

// take has what a state was handed be part of what it is when it is sent, or made durable.
func (n *node) take(g Group) {
	n.taken[g] = n.state[g].settled()
	n.core.Settled(g, n.taken[g].applied())
}

// checkpoint makes a state durable, and has the log cut some way below it.
func (n *node) checkpoint(g Group) {
	if !n.has(g) {
		return
	}
	if n.c.r.IntN(2) == 0 {
		n.take(g)
	}
	s := n.taken[g]
	if s.applied() < n.durable[g].applied() {
		return // a state that replaces it is in place, and the core is not told yet
	}
	n.durable[g] = s
	if keep := n.c.r.Uint64N(8); s.applied() > keep {
		n.c.saw.cuts++
		n.core.Cut(g, s.applied()-keep)
		n.act()
	}
}

// crash ends the process; what was being written may be there or not.
func (n *node) crash() {
	n.c.saw.crashes++
	if n.pending != nil {
		n.commit(n.pending, n.c.r.IntN(4))
	}
	n.down = true
	n.c.after(n.c.r.Uint64N(3000), func() {
		if n.id != n.c.dead {
			n.start()
		}
	})
}

// load proposes, reads, checkpoints, transfers, resigns.
func (c *cluster) load() {
	n := c.nodes[event.NodeID(1+c.r.IntN(simNodes))]
	n.after(0, func() {
		g := Group(1 + c.r.IntN(simGroups))
		switch c.r.IntN(12) {
		case 0, 1, 2, 3, 4, 5, 6:
			c.proposed++
			data := fmt.Sprintf("%s%d.%s", [...]string{"", "", "p"}[c.r.IntN(3)], c.proposed, string(make([]byte, c.r.IntN(80))))
			if err := n.core.Propose(g, []byte(data)); err == nil {
				n.mine[g][data] = true
			} else if err != ErrNotLeading {
				c.saw.refused++
			}
		case 7, 8, 9:
			n.reads++
			id := uint64(n.life)<<32 | n.reads
			n.asked[id] = uint64(len(c.committed[g]))
			_ = n.core.Read(g, id) // it may not lead
		case 10:
			n.checkpoint(g)
		default:
			if to := event.NodeID(1 + c.r.IntN(simNodes)); !c.steady && c.r.IntN(5) == 0 && n.core.Transfer(g, to) == nil {
				c.saw.transfers++
			}
			if role := n.core.Leader(g); !c.steady && role.Leader == n.id && c.r.IntN(5) == 0 {
				n.core.Resign(g, role.Term)
				n.resigned[groupTerm{g, role.Term}] = c.now
				c.saw.resigned++
			}
		}
		n.act()
	})
	c.after(1+c.r.Uint64N(40), c.load)
}

// fault breaks something, and mends it later.
func (c *cluster) fault() {
	if c.now > faultTime {
		return
	}
	n := c.nodes[event.NodeID(1+c.r.IntN(simNodes))]
	switch c.r.IntN(8) {
	case 0, 1:
		n.after(0, n.crash)
	case 2: // a cut, one-way half of the time
		m := event.NodeID(1 + c.r.IntN(simNodes))
		pairs := [][2]event.NodeID{{n.id, m}}
		if c.r.IntN(2) == 0 {
			pairs = append(pairs, [2]event.NodeID{m, n.id})
		}
		c.sever(pairs)
	case 3: // a node is cut off
		var pairs [][2]event.NodeID
		for m := event.NodeID(1); m <= simNodes; m++ {
			pairs = append(pairs, [2]event.NodeID{n.id, m}, [2]event.NodeID{m, n.id})
		}
		c.sever(pairs)
	case 4:
		c.loss = c.r.Float64() * 0.3
		c.after(c.r.Uint64N(5000), func() { c.loss = 0 })
	case 5:
		c.saw.stalls++
		n.hangs = c.now + c.r.Uint64N(8000)
	case 6:
		n.paused = c.now + c.r.Uint64N(5000)
	case 7:
		if c.want == nil {
			c.change(n)
		}
	}
	c.after(c.r.Uint64N(3000), c.fault)
}

func (c *cluster) sever(pairs [][2]event.NodeID) {
	for _, p := range pairs {
		c.cut[p] = true
	}
	c.after(c.r.Uint64N(6000), func() {
		for _, p := range pairs {
			delete(c.cut, p)
		}
	})
}

// change has one member replaced by the node that is none.
func (c *cluster) change(n *node) {
	g := Group(1 + c.r.IntN(simGroups))
	n.after(0, func() {
		members := n.state[g].members()
		if len(members.GetVoters()) != 3 || len(members.GetVotersOutgoing()) > 0 {
			return
		}
		for id := uint64(1); id <= simNodes; id++ {
			if slices.Contains(members.GetVoters(), id) {
				continue
			}
			gone := members.GetVoters()[c.r.IntN(3)]
			_ = n.core.Change(g, &raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{ // it may not lead
				{Type: raftpb.ConfChangeAddNode.Enum(), NodeId: new(id)},
				{Type: raftpb.ConfChangeRemoveNode.Enum(), NodeId: new(gone)},
			}})
			n.act()
			return
		}
	})
}

// run runs until a time. A panic is a failure of the seed.
func (c *cluster) run(until uint64) {
	defer func() {
		if r := recover(); r != nil {
			c.fail("panic: %v\n%s", r, debug.Stack())
		}
	}()
	for c.bad == "" && len(c.queue) > 0 && c.queue[0].at <= until {
		e := heap.Pop(&c.queue).(step)
		c.now = e.at
		e.do()
	}
}

// healed checks that all members of each group have applied what has been proposed after all was mended, and that no node leads on in a term that
// it has resigned in.
func (c *cluster) healed() {
	for g := Group(1); g <= simGroups; g++ {
		for id, n := range c.nodes {
			role := n.core.Leader(g)
			list, _ := n.core.Progress(g)
			others := slices.ContainsFunc(list, func(p Progress) bool { return p.Node != id && p.Votes && p.Active })
			if at, resigned := n.resigned[groupTerm{g, role.Term}]; resigned && role.Leader == id && id != c.dead && others && c.now-at > 60*tick {
				c.fail("node %d leads group %d in term %d, and has resigned in it at %d", id, g, role.Term, at)
			}
		}
		all := c.committed[g]
		var members *raftpb.ConfState
		for id := event.NodeID(1); id <= simNodes; id++ {
			if s := c.nodes[id].state[g]; s.applied() == uint64(len(all)) {
				members = s.members()
			}
		}
		for _, v := range members.GetVoters() {
			s := c.nodes[event.NodeID(v)].state[g]
			if event.NodeID(v) != c.dead && s.applied()+30 < uint64(len(all)) {
				c.fail("node %d has applied %d of the %d entries of group %d", v, s.applied(), len(all), g)
			}
		}
		for data := range c.acked[g] {
			if !slices.ContainsFunc(all, func(v value) bool { return v.data == data }) {
				c.fail("%q was answered, and group %d does not have it", data, g)
			}
		}
	}
}

func simulate(seed uint64) *cluster {
	c := newCluster(seed)
	c.after(1, c.load)
	c.after(1500, c.part)
	c.after(2000, c.fault)
	c.run(faultTime + 9000)
	before := make(map[Group]int)
	for g := range c.committed {
		before[g] = len(c.committed[g])
	}
	c.run(faultTime + 9000 + healTime)
	for g, n := range before {
		if c.bad == "" && len(c.committed[g]) == n {
			c.fail("group %d commits nothing after all was mended", g)
		}
	}
	if c.bad == "" {
		c.healed()
	}
	return c
}

// Under crashes, lost and repeated messages, cuts in one direction and in both, pauses and disks that hang, with members that
// change, no node applies another entry than the others, nothing that was answered is lost, a read sees what was applied
// before it was asked, and all goes on when all is mended. A seed repeats all of it.
func TestSimulatedClusters(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n = min(n, 30)
	}
	var sum cluster
	for seed := *firstSeed; seed < *firstSeed+uint64(n); seed++ {
		c := simulate(seed)
		if c.bad != "" {
			t.Fatalf("-sim.seed=%d -sim.seeds=1: %s", seed, c.bad)
		}
		if seed%50 == 0 {
			if again := simulate(seed); again.trace != c.trace {
				t.Fatalf("seed %d does not repeat", seed)
			}
		}
		sum.saw.acks += c.saw.acks
		sum.saw.reads += c.saw.reads
		sum.saw.crashes += c.saw.crashes
		sum.saw.states += c.saw.states
		sum.saw.stalls += c.saw.stalls
		sum.saw.changes += c.saw.changes
		sum.saw.transfers += c.saw.transfers
		sum.saw.resigned += c.saw.resigned
		sum.saw.cuts += c.saw.cuts
		sum.saw.refused += c.saw.refused
		sum.saw.left += c.saw.left
		sum.saw.joined += c.saw.joined
		sum.saw.stays += c.saw.stays
	}
	t.Logf("%+v", sum.saw)
}

// leader returns the node that leads group 1 by its own account, in the newest term.
func (c *cluster) leader() *node {
	var best *node
	for id := event.NodeID(1); id <= simNodes; id++ {
		n := c.nodes[id]
		if r := n.core.Leader(1); r.Leader == id && (best == nil || r.Term > best.core.Leader(1).Term) {
			best = n
		}
	}
	return best
}

// A leader whose disk hangs hands the group over, although the others hear of it. If it finds no member that takes over, since
// these are just starting, say, it falls silent, and they elect one.
func TestADiskHangs(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		for _, deaf := range []bool{false, true} {
			c := newCluster(seed)
			c.steady = true
			c.after(1, c.load)
			c.run(5000)
			old := c.leader()
			if old == nil {
				t.Fatalf("seed %d: group 1 has no leader", seed)
			}
			old.hangs = 100_000
			c.deaf = map[event.NodeID]bool{1: deaf, 2: deaf, 3: deaf, 4: deaf}
			for c.now < 20_000 && c.bad == "" && c.leader() == old {
				c.run(c.now + tick)
			}
			// an append begins, 15 ticks until it gives up, 15 more until it is silent, and an election of at most 20 and a few
			limit := uint64(5000 + 25*tick)
			if deaf {
				limit = 5000 + 65*tick
			}
			if c.bad != "" || c.leader() == old || c.now > limit {
				t.Errorf("seed %d, deaf %v: node %d leads group 1 at %d, and node %d did; %s", seed, deaf, c.leader().id, c.now, old.id, c.bad)
			}
		}
	}
}

// A leader that resigns hands over to a member that can take over, though it may ask another one first, and package raft leads on when that has not.
func TestALeaderResigns(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		for deaf := event.NodeID(1); deaf <= simNodes; deaf++ {
			c := newCluster(seed)
			c.steady = true
			c.run(5000)
			old := c.leader()
			if old == nil {
				t.Fatalf("seed %d: group 1 has no leader", seed)
			}
			c.deaf = map[event.NodeID]bool{deaf: true}
			old.after(0, func() {
				old.core.Resign(1, old.core.Leader(1).Term)
				old.act()
			})
			c.run(5000 + 20*tick) // it gives up the first member after 10 ticks
			if c.bad != "" || c.leader() == old {
				t.Errorf("seed %d: node %d leads group 1 on, and node %d does not take over; %s", seed, old.id, deaf, c.bad)
			}
		}
	}
}

// A node that retires hands over what it leads, and again if it is made to lead by one that does not know of that. When there is no leader any more another
// one is elected, with its vote, although it has waited the longest.
func TestANodeThatRetiresLeadsNoMore(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		c := newCluster(seed)
		c.steady = true
		c.run(5000)
		old := c.leader()
		retired := func(what string, ticks uint64) *node {
			t.Helper()
			c.run(c.now + ticks*tick)
			next := c.leader()
			if c.bad != "" || next == old {
				t.Fatalf("seed %d, %s: node %d leads group 1 and has retired; %s", seed, what, old.id, c.bad)
			}
			return next
		}
		old.after(0, func() {
			old.core.Retire()
			old.act()
		})
		next := retired("at once", 4)
		term := next.core.Leader(1).Term
		next.after(0, func() {
			if err := next.core.Transfer(1, old.id); err != nil {
				t.Error(err)
			}
			next.act()
		})
		next = retired("asked to lead", 6)
		if now := next.core.Leader(1).Term; now != term+2 {
			t.Errorf("seed %d: node %d leads in term %d, behind the one that has retired, and term %d before that", seed, next.id, now, term)
		}
		for id := range event.NodeID(simNodes) {
			c.cut[[2]event.NodeID{next.id, id + 1}], c.cut[[2]event.NodeID{id + 1, next.id}] = true, true
		}
		g := old.core.find[1]
		g.patience = 12 // ticks: behind the time in which it gives no vote, and before others stand for election
		stood := false
		from := c.now
		for quarters := range uint64(4 * 60) {
			c.run(from + quarters*tick/4)
			stood = stood || old.core.Leader(1).Leader == old.id
		}
		if third := c.leader(); c.bad != "" || stood || third == old || third == next {
			t.Errorf("seed %d: node %d leads without node %d, and node %d has retired, but was elected: %v; %s", seed, third.id, next.id, old.id, stood, c.bad)
		}
	}
}

// While members answer each heartbeat none of them is told to be silent, at no time.
func TestMembersThatAnswerAreActive(t *testing.T) {
	c := newCluster(1)
	c.steady = true
	c.run(5000)
	n := c.leader()
	if n == nil {
		t.Fatal("group 1 has no leader")
	}
	for at := uint64(5000); at < 5000+200*tick && c.bad == ""; at++ {
		c.run(at)
		list, _ := n.core.Progress(1)
		for _, p := range list {
			if !p.Active {
				t.Fatalf("node %d, which answers, is told to be silent at %d", p.Node, c.now)
			}
		}
		if len(list) < 3 || c.leader() != n {
			t.Fatalf("node %d leads %v; node %d did", c.leader().id, list, n.id)
		}
	}
	if c.bad != "" {
		t.Error(c.bad)
	}
}

// All groups that a node leads give their signs of life at the same ticks, whenever it has begun to lead them.
func TestHeartbeatsOfGroupsGoTogether(t *testing.T) {
	c := simulate(1)
	if c.bad != "" {
		t.Fatal(c.bad)
	}
	for _, n := range c.nodes {
		if n.beats[0] == 0 || n.beats[1] > 0 {
			t.Errorf("node %d gives signs of life at even and odd ticks: %v", n.id, n.beats)
		}
	}
}
