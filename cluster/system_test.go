package cluster

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// stopped serves no call, and tells whether those of its door were performed when it was stopped.
type stopped struct {
	http.Handler
	door *door.Door
	as   chan error
}

func (stopped) Serve(net.Listener) error { return net.ErrClosed }

func (s stopped) Close(context.Context) { s.as <- s.door.Ready() }

// What serves calls by gRPC cuts off those under way when it is stopped, so it is stopped behind the system: that ends them, and says that they have not happened.
func TestCallsByGRPCEndWithTheirSystem(t *testing.T) {
	c := &aeonrt.ClusterConfig{Package: &aeonrt.Package{Name: "bank"}, Clock: sched.NewHybrid(sched.RealClock{}), Log: slog.New(slog.DiscardHandler)}
	led, err := c.Recover(1, memengine.New(), 0, nil, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	program, err := door.ProgramOf(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	peer := stopped{http.NotFoundHandler(), door.Open(door.Config{System: led.System, Program: program}), make(chan error, 1)}
	cfg := httpdoor.Config{Config: gate.Config{Door: peer.door, Log: c.Log}, Program: "bank"}
	s := &system{Led: led, control: httpdoor.New(cfg)}
	cfg.GRPC = func(*gate.Gate) httpdoor.Peer { return peer }
	s.public = httpdoor.New(cfg)
	if err := s.close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-peer.as; err == nil {
		t.Error("it is stopped while the system performs calls")
	}
}
