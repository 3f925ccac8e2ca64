package main

import (
	"fmt"
	"time"

	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/peers"
	"github.com/aeon-lang/aeon/bench/remote"
	"github.com/aeon-lang/aeon/bench/server"
)

// parts are what this program is when it is run again: the other node.
var parts = map[string]server.Part{
	remote.EchoPart:   remote.ServeEcho,
	remote.MemoryPart: remote.ServeMemory,
	remote.DiskPart:   remote.ServeDisk,
	remote.CommitPart: remote.ServeCommit,
	remote.LockPart:   remote.ServeLocks,
	remote.TreePart:   remote.ServeTree,
	peers.GRPCPart:    peers.ServeGRPC,
	peers.ProtoPart:   peers.ServeProto,

	peers.EncryptedProtoPart: peers.ServeEncryptedProto,
}

// remoteActors is how many counters are called.
const remoteActors = 1000

// remoteRows are events over two nodes, which are two processes on one machine.
func remoteRows() []row {
	echo := func(callers int, decides bool) pairing {
		return func(dir string, peer remote.Peer) (load.System, error) {
			return remote.Echo(dir, peer, callers, decides)
		}
	}
	stream := func(_ string, peer remote.Peer) (load.System, error) {
		return peers.GRPCStreams(peer.Address(), remote.MessageLen)
	}
	unary := func(_ string, peer remote.Peer) (load.System, error) {
		return peers.GRPCUnary(peer.Address(), remote.MessageLen)
	}
	ask := func(encrypted bool) pairing {
		return func(_ string, peer remote.Peer) (load.System, error) {
			return peers.ProtoRemoteAsk(peer.Address(), encrypted)
		}
	}
	calls := func(write bool) pairing {
		return func(dir string, peer remote.Peer) (load.System, error) {
			return remote.Calls(dir, peer, remoteActors, write)
		}
	}
	all := []row{
		{title: "remote call, 1 client", goal: "time <= 1.5 x the round trip", callers: 1, timed: true,
			contenders: func(p *place) []contender {
				return []contender{
					{"a message there and back (limit)", p.nodes(remote.EchoPart, echo(1, false))},
					{"the messages of an event that writes (limit)", p.nodes(remote.EchoPart, echo(1, true))},
					{"a stream of grpc-go, not encrypted", p.beside(peers.GRPCPart, stream)},
					{"aeon, an event that reads", p.nodes(remote.MemoryPart, calls(false))},
					{"aeon, an event that writes", p.nodes(remote.MemoryPart, calls(true))},
				}
			}},
		{title: "remote call, 64 clients", goal: "rate >= protoactor-go's asks", callers: 64, timed: true,
			contenders: func(p *place) []contender {
				return []contender{
					{"protoactor-go ask, not encrypted", p.beside(peers.ProtoPart, ask(false))},
					{"protoactor-go ask, encrypted", p.beside(peers.EncryptedProtoPart, ask(true))},
					{"a message there and back (limit)", p.nodes(remote.EchoPart, echo(64, false))},
					{"the messages of an event that writes (limit)", p.nodes(remote.EchoPart, echo(64, true))},
					{"streams of grpc-go, not encrypted", p.beside(peers.GRPCPart, stream)},
					{"unary calls of grpc-go, not encrypted", p.beside(peers.GRPCPart, unary)},
					{"aeon, events that read", p.nodes(remote.MemoryPart, calls(false))},
					{"aeon, events that write", p.nodes(remote.MemoryPart, calls(true))},
				}
			}},
	}
	for _, callers := range []int{1, 64, 256} {
		all = append(all, row{title: "durable transfer between two nodes, " + clients(callers), goal: "rate >= 5 000 a core, so cpu <= 200 us", callers: callers, durable: true,
			contenders: func(p *place) []contender {
				return []contender{
					{"two-phase commit by hand (limit)", p.nodes(remote.CommitPart, func(dir string, peer remote.Peer) (load.System, error) {
						return remote.TwoPhaseCommit(dir, peer, callers)
					})},
					{"aeon, accounts of two nodes", p.nodes(remote.DiskPart, remote.Transfers)},
				}
			}})
	}
	for _, u := range []remote.Update{{Actors: 1}, {Actors: 2}, {Actors: 4}, {Actors: 8}, {Actors: 4, Two: true}, {Actors: 8, Two: true}} {
		for _, callers := range []int{1, 4} {
			all = append(all, updates(u, callers))
		}
	}
	for _, callers := range []int{1, 8, 32} {
		all = append(all, walks(callers))
	}
	for _, cooks := range []int{1, 16} {
		all = append(all, games(cooks))
	}
	return all
}

// walks is a part of figure 4.7 of the dissertation.
func walks(callers int) row {
	return row{title: "figure 4.7: paths of a binary tree on two nodes, " + clients(callers), goal: "rate >= that of one request at a time, with several clients", callers: callers, timed: true, short: true,
		contenders: func(p *place) []contender {
			depth := 10
			if p.quick {
				depth = 4
			}
			tree := func(write bool) pairing {
				return func(dir string, peer remote.Peer) (load.System, error) { return remote.Tree(dir, peer, depth, write) }
			}
			return []contender{
				{"one request at a time, by hand", p.nodes(remote.TreePart, func(dir string, peer remote.Peer) (load.System, error) {
					return remote.SerialTree(dir, peer, callers, depth)
				})},
				{"aeon, events that write each node", p.nodes(remote.MemoryPart, tree(true))},
				{"aeon, events that read each node", p.nodes(remote.MemoryPart, tree(false))},
			}
		}}
}

// games is a part of figures 4.10 and 4.11 of the dissertation.
func games(cooks int) row {
	return row{title: fmt.Sprintf("figure 4.10: the game on two nodes, cooks: %d", cooks), goal: "the rate does not fall with the share, as it did there", callers: cooks, timed: true, short: true,
		contenders: func(p *place) (all []contender) {
			for _, share := range []int{0, 20, 50, 100} {
				all = append(all, contender{fmt.Sprintf("aeon, %d %% ownership events", share), p.nodes(remote.MemoryPart, func(dir string, peer remote.Peer) (load.System, error) {
					return remote.Game(dir, peer, cooks, share)
				})})
			}
			return all
		}}
}

// updates is a part of figure 4.8 of the dissertation.
func updates(u remote.Update, callers int) row {
	what := "all"
	if u.Two {
		what = "two"
	}
	return row{title: fmt.Sprintf("figure 4.8: %s updated of %d on two nodes, %s", what, u.Actors, clients(callers)), goal: "rate >= that of two-phase locking", callers: callers, timed: true, short: true,
		contenders: func(p *place) []contender {
			return []contender{
				{"two-phase locking by hand", p.nodes(remote.LockPart, func(dir string, peer remote.Peer) (load.System, error) {
					return remote.TwoPhaseLocking(dir, peer, callers, u)
				})},
				{"aeon, events", p.nodes(remote.MemoryPart, func(dir string, peer remote.Peer) (load.System, error) { return remote.Updates(dir, peer, u) })},
			}
		}}
}

// clients says how many there are.
func clients(n int) string {
	if n == 1 {
		return "1 client"
	}
	return fmt.Sprintf("%d clients", n)
}

// pairing opens a system beside another process. dir is for both.
type pairing func(dir string, peer remote.Peer) (load.System, error)

// beside opens a system beside a part of this program.
func (p *place) beside(part string, open pairing) func() (load.System, error) {
	return p.inFolder(func(dir string) (load.System, error) { return p.with(part, dir, dir, open) })
}

// nodes opens a system of two nodes, of which the far one is a part of this program.
func (p *place) nodes(part string, open pairing) func() (load.System, error) {
	return p.inFolder(func(dir string) (load.System, error) {
		if err := remote.Form(dir); err != nil {
			return load.System{}, err
		}
		return p.with(part, remote.FarDir(dir), dir, open)
	})
}

// other is a part of this program in another process. It implements remote.Peer.
type other struct {
	p         *place
	part, dir string
	server    *server.Server
	past      time.Duration // that processes before have used
}

func (o *other) Address() string    { return o.server.Socket }
func (o *other) CPU() time.Duration { return o.past + o.server.CPU() }

// start starts a process.
func (o *other) start() (err error) {
	profile := ""
	if o.p.profile != "" {
		o.p.made++
		profile = fmt.Sprintf("%s.%s.%d", o.p.profile, o.part, o.p.made)
	}
	o.server, err = server.Again(o.part, o.dir, profile)
	return err
}

func (o *other) Restart() error {
	o.past = o.CPU()
	o.server.Stop()
	return o.start()
}

// with opens a system beside a part of this program that serves in dir, which ends with the system.
func (p *place) with(part, dir, of string, open pairing) (load.System, error) {
	o := &other{p: p, part: part, dir: dir}
	if err := o.start(); err != nil {
		return load.System{}, fmt.Errorf("%s: %w", part, err)
	}
	s, err := open(of, o)
	if err != nil {
		o.server.Stop()
		return load.System{}, err
	}
	s.CPU = o.CPU
	end := s.Close
	s.Close = func() {
		end()
		o.server.Stop()
	}
	return s, nil
}
