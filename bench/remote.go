package main

import (
	"fmt"

	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/peers"
	"github.com/aeon-lang/aeon/bench/remote"
	"github.com/aeon-lang/aeon/bench/server"
)

// parts are what this program is when it is run again: the other node.
var parts = map[string]server.Part{
	remote.EchoPart: remote.ServeEcho, remote.MemoryPart: remote.ServeMemory, remote.DiskPart: remote.ServeDisk,
	peers.GRPCPart: peers.ServeGRPC, peers.ProtoPart: peers.ServeProto,
}

// callBytes is about as much as one message of an event with one remote call has.
const callBytes = 60

// remoteRows are events over two nodes, which are two processes on one machine.
func remoteRows() []row {
	return []row{
		{title: "remote call, 1 client", goal: "time <= 1.5 x the round trip", callers: 1, timed: true,
			contenders: func(p *place) []contender {
				return []contender{
					{"a message there and back (limit)", p.nodes(remote.EchoPart, func(dir, peer string) (load.System, error) { return remote.Echo(dir, peer, 1, callBytes) })},
					{"a stream of grpc-go, not encrypted", p.beside(peers.GRPCPart, func(peer string) (load.System, error) { return peers.GRPCStreams(peer, callBytes) })},
					{"aeon, an event that reads", p.nodes(remote.MemoryPart, func(dir, peer string) (load.System, error) { return remote.Calls(dir, peer, 1000, false) })},
					{"aeon, an event that writes", p.nodes(remote.MemoryPart, func(dir, peer string) (load.System, error) { return remote.Calls(dir, peer, 1000, true) })},
				}
			}},
		{title: "remote call, 64 clients", goal: "rate >= protoactor-go's asks", callers: 64, timed: true,
			contenders: func(p *place) []contender {
				return []contender{
					{"protoactor-go ask", p.beside(peers.ProtoPart, peers.ProtoRemoteAsk)},
					{"a message there and back (limit)", p.nodes(remote.EchoPart, func(dir, peer string) (load.System, error) { return remote.Echo(dir, peer, 64, callBytes) })},
					{"streams of grpc-go, not encrypted", p.beside(peers.GRPCPart, func(peer string) (load.System, error) { return peers.GRPCStreams(peer, callBytes) })},
					{"unary calls of grpc-go, not encrypted", p.beside(peers.GRPCPart, func(peer string) (load.System, error) { return peers.GRPCUnary(peer, callBytes) })},
					{"aeon, events that read", p.nodes(remote.MemoryPart, func(dir, peer string) (load.System, error) { return remote.Calls(dir, peer, 1000, false) })},
					{"aeon, events that write", p.nodes(remote.MemoryPart, func(dir, peer string) (load.System, error) { return remote.Calls(dir, peer, 1000, true) })},
				}
			}},
	}
}

// beside opens a system that needs another process, which is a part of this program.
func (p *place) beside(part string, open func(peer string) (load.System, error)) func() (load.System, error) {
	return p.inFolder(func(dir string) (load.System, error) { return p.with(part, dir, open) })
}

// nodes opens a system of two nodes, of which the far one is a part of this program.
func (p *place) nodes(part string, open func(dir, peer string) (load.System, error)) func() (load.System, error) {
	return p.inFolder(func(dir string) (load.System, error) {
		if err := remote.Form(dir); err != nil {
			return load.System{}, err
		}
		return p.with(part, remote.FarDir(dir), func(peer string) (load.System, error) { return open(dir, peer) })
	})
}

// with opens a system beside a part of this program, which it ends with the system.
func (p *place) with(part, dir string, open func(peer string) (load.System, error)) (load.System, error) {
	other, err := p.startPart(part, dir)
	if err != nil {
		return load.System{}, fmt.Errorf("%s: %w", part, err)
	}
	s, err := open(other.Socket)
	if err != nil {
		other.Stop()
		return load.System{}, err
	}
	s.CPU = other.CPU
	end := s.Close
	s.Close = func() {
		end()
		other.Stop()
	}
	return s, nil
}

// startPart starts a part of this program.
func (p *place) startPart(part, dir string) (*server.Server, error) {
	profile := ""
	if p.profile != "" {
		p.made++
		profile = fmt.Sprintf("%s.%s.%d", p.profile, part, p.made)
	}
	return server.Again(part, dir, profile)
}
