package peers

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/aeon-lang/aeon/bench/load"
)

// Raft is three replicas in one process and on one disk that agree on the operations of clients: the library alone, a file for the log of each node,
// synced as the library asks, and no state. Each operation is an entry of the log, and as many bytes as a transfer is for aeon.
func Raft(dir string) (load.System, error) { return openRaft(dir, false) }

// RaftGrouped is Raft where all operations that wait become one entry: a limit for what three replicas agree on.
func RaftGrouped(dir string) (load.System, error) { return openRaft(dir, true) }

func openRaft(dir string, grouped bool) (load.System, error) {
	c := &raftCluster{proposals: make(chan raftProposal, 4096), grouped: grouped}
	c.ctx, c.end = context.WithCancel(context.Background())
	for id := uint64(1); id <= raftNodes; id++ {
		n, err := newRaftNode(dir, id, keptEntries(grouped))
		if err != nil {
			return load.System{}, err
		}
		c.nodes = append(c.nodes, n)
	}
	if err := c.nodes[0].raft.Campaign(); err != nil {
		return load.System{}, err
	}
	led := make(chan struct{})
	for i, n := range c.nodes {
		c.tasks.Go(func() { c.run(n, i == 0, led) })
	}
	<-led
	return load.System{
		NewClient: func(int, int) load.Client {
			data := make([]byte, raftBytes)
			done := make(chan error, 1)
			return func(r *rand.Rand) error {
				binary.BigEndian.PutUint64(data, r.Uint64())
				c.proposals <- raftProposal{data, done}
				return <-done
			}
		},
		Close: func() {
			c.end()
			c.tasks.Wait()
			for _, n := range c.nodes {
				n.file.Close()
			}
		},
	}, nil
}

const (
	raftNodes = 3
	// raftBytes is what aeon proposes for a transfer between two accounts: two rows.
	raftBytes = 110
)

type raftCluster struct {
	grouped   bool // all that waits is one entry
	ctx       context.Context
	end       context.CancelFunc
	nodes     []*raftNode
	proposals chan raftProposal
	tasks     sync.WaitGroup
}

type raftProposal struct {
	data []byte
	done chan<- error
}

type raftNode struct {
	raft    *raft.RawNode
	storage *raft.MemoryStorage
	kept    uint64 // how many entries it keeps
	file    *os.File
	inbox   chan *raftpb.Message
	groups  [][]raftProposal // proposed and not committed, the oldest first
	buf     []byte
}

func newRaftNode(dir string, id, kept uint64) (*raftNode, error) {
	f, err := os.Create(filepath.Join(dir, fmt.Sprint("raft", id)))
	if err != nil {
		return nil, err
	}
	s := raft.NewMemoryStorage()
	first := &raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{Index: new(uint64(1)), Term: new(uint64(1)), ConfState: &raftpb.ConfState{Voters: []uint64{1, 2, 3}}}}
	if err := s.ApplySnapshot(first); err != nil {
		return nil, err
	}
	silent := &raft.DefaultLogger{Logger: log.New(io.Discard, "", 0)}
	n, err := raft.NewRawNode(&raft.Config{ID: id, ElectionTick: 10, HeartbeatTick: 1, Storage: s, Applied: 1, MaxSizePerMsg: 1 << 20, MaxInflightMsgs: 256, Logger: silent})
	return &raftNode{raft: n, storage: s, kept: kept, file: f, inbox: make(chan *raftpb.Message, 4096)}, err
}

// run is the loop of a node, as the library's documentation has it. Nothing fails, so there are no ticks.
func (c *raftCluster) run(n *raftNode, leads bool, led chan<- struct{}) {
	var proposals chan raftProposal // nil until it leads
	for {
		for n.raft.HasReady() {
			rd := n.raft.Ready()
			send := func() {
				for _, m := range rd.Messages {
					c.nodes[m.GetTo()-1].inbox <- m
				}
			}
			if leads { // its disk may write beside those of the others (Ongaro's thesis, 10.2.1)
				send()
				n.save(rd)
			} else {
				n.save(rd)
				send()
			}
			for _, e := range rd.CommittedEntries {
				if len(e.GetData()) > 0 && leads {
					for _, p := range n.groups[0] {
						p.done <- nil
					}
					n.groups = n.groups[1:]
				}
			}
			n.raft.Advance(rd)
			if leads && proposals == nil && n.raft.BasicStatus().RaftState == raft.StateLeader {
				proposals = c.proposals
				close(led)
			}
		}
		select {
		case <-c.ctx.Done():
			return
		case m := <-n.inbox:
			must(n.raft.Step(m))
			for range len(n.inbox) {
				must(n.raft.Step(<-n.inbox))
			}
		case p := <-proposals:
			group := []raftProposal{p}
			for range len(proposals) {
				group = append(group, <-proposals)
			}
			if !c.grouped {
				for _, p := range group {
					n.groups = append(n.groups, []raftProposal{p})
					must(n.raft.Propose(slices.Clone(p.data)))
				}
				continue
			}
			data := make([]byte, 0, len(group)*raftBytes)
			for _, p := range group {
				data = append(data, p.data...)
			}
			n.groups = append(n.groups, group)
			must(n.raft.Propose(data))
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// save makes entries and votes durable.
func (n *raftNode) save(rd raft.Ready) {
	n.buf = n.buf[:0]
	add := func(m proto.Message) {
		at := len(n.buf)
		b, err := proto.MarshalOptions{}.MarshalAppend(append(n.buf, 0, 0, 0, 0), m)
		must(err)
		binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
		n.buf = b
	}
	if rd.HardState != nil {
		add(rd.HardState)
		must(n.storage.SetHardState(rd.HardState))
	}
	for _, e := range rd.Entries {
		add(e)
	}
	must(n.storage.Append(rd.Entries))
	if len(n.buf) > 0 {
		_, err := n.file.Write(n.buf)
		must(err)
	}
	if rd.MustSync {
		must(fdatasync(n.file))
	}
	if len(rd.Entries) > 0 { // what is old is on the disk
		if last := rd.Entries[len(rd.Entries)-1].GetIndex(); last > n.kept {
			_ = n.storage.Compact(last - n.kept) // it was compacted, or follows
		}
	}
}

// keptEntries is how many entries stay in memory, for followers that lag: more than there are clients, as long as each is of one.
func keptEntries(grouped bool) uint64 {
	if grouped {
		return 1000
	}
	return 20_000
}
