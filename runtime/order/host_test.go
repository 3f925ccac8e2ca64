package order

import (
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// newHost returns a host with one store, and nothing in it.
func newHost(t *testing.T) *Host {
	s, workers := &Host{}, &sched.Workers{}
	workers.Open(2, nil)
	s.Init(HostConfig{Partitions: 2, Workers: workers, DepthMax: 1 << 20, MoveID: func() event.EventID { return event.EventID{} }})
	t.Cleanup(func() {
		s.StopMoves()
		workers.Close()
	})
	return s
}

// root makes an actor that nothing owns.
func (s *Host) root(partition int, n uint64) *Handle {
	h := s.NewHandle(treeShape, event.ActorID{Birth: event.PartitionID(partition), Serial: n}, Created)
	s.Graph.NewRoot(&h.Node, &s.Partitions[partition].Node)
	return h
}

// child makes an actor that only p owns.
func (s *Host) child(p *Handle, n uint64) *Handle {
	h := s.NewHandle(treeShape, event.ActorID{Birth: p.ID.Birth, Serial: n}, Created)
	s.Graph.NewChild(&p.Node, &h.Node)
	return h
}

// attempt returns an attempt at an event that writes target and nothing below it.
func (s *Host) attempt(target *Handle) *Attempt {
	a := &Attempt{}
	a.Open(s)
	a.Host, a.Target, a.Effects, a.Work, a.Reroutes = s, target, &Effects{Self: Write}, event.EventID{}, new(atomic.Uint64)
	a.Start()
	return a
}
