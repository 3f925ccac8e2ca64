package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/bench/app"
	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/peers"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/grpcdoor"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// doorRows are calls from outside, in memory: what a door costs beyond the server that carries it.
func doorRows() []row {
	return []row{
		{title: "call by HTTP, 64 connections", goal: "rate >= 0.7 x the handler's", callers: 64, timed: true,
			contenders: func(*place) []contender {
				return []contender{
					{"a handler of net/http, the same JSON", peers.BareHTTP},
					{"aeon, by HTTP", aeonHTTP},
				}
			}},
		{title: "call by gRPC, 64 connections", goal: "rate >= 0.8 x grpc-go's", callers: 64, timed: true,
			contenders: func(*place) []contender {
				return []contender{
					{"a service of grpc-go", peers.BareGRPC},
					{"aeon, by gRPC", aeonGRPC},
				}
			}},
	}
}

// doorway is the program with its doors, at an address of this machine.
type doorway struct {
	store  *store.Store
	sys    *exec.System
	server *httpdoor.Server
}

func openDoorway() (_ *doorway, err error) {
	d := &doorway{}
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	log := slog.New(slog.DiscardHandler)
	if d.store, err = store.Open(memengine.NewVolatile(), store.Options{Program: program, Log: log}); err != nil {
		return nil, err
	}
	if d.sys, err = exec.Recover(exec.Config{Store: d.store, Classes: app.AeonPackage.Classes, Log: log, Stdout: io.Discard}); err != nil {
		return nil, err
	}
	p, err := door.ProgramOf(app.AeonPackage.Classes, app.AeonPackage.ClientClasses)
	if err != nil {
		return nil, err
	}
	of := door.Open(door.Config{System: d.sys, Program: p})
	services, err := grpcdoor.Of(of)
	if err != nil {
		return nil, err
	}
	d.server, err = httpdoor.Listen("127.0.0.1:0", httpdoor.Config{
		Config: gate.Config{Door: of, Log: log}, Program: program, GRPC: func(g *gate.Gate) httpdoor.Peer { return services.Serve(g) },
	})
	return d, err
}

func (d *doorway) close() {
	if d.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = d.server.Close(ctx) // what is measured has ended
	}
	if d.sys != nil {
		d.sys.Close()
	}
	if d.store != nil {
		_ = d.store.Close() // in memory
	}
}

// system measures calls that clients of newClient make, each of which adds 1 to the counter "main".
func (d *doorway) system(newClient func(address string) (peers.Caller, error)) (load.System, error) {
	var done atomic.Int64
	var closing []func() error
	return load.System{
		NewClient: func(int, int) load.Client {
			c := must(newClient(d.server.Address()))
			closing = append(closing, c.Close)
			return func(*rand.Rand) error {
				done.Add(1)
				return c.Call()
			}
		},
		Check: func() error {
			n, err := counterOf(d.sys, "main").Read(d.sys.Client())
			if err == nil && n != done.Load() {
				err = fmt.Errorf("the counter is at %d after %d calls", n, done.Load())
			}
			return err
		},
		Close: func() {
			for _, f := range closing {
				_ = f()
			}
			d.close()
		},
	}, nil
}

func aeonHTTP() (load.System, error) {
	d, err := openDoorway()
	if err != nil {
		return load.System{}, err
	}
	return d.system(func(address string) (peers.Caller, error) {
		return peers.HTTPCaller("http://" + address + "/v1/Counter/main/add"), nil
	})
}

func aeonGRPC() (load.System, error) {
	d, err := openDoorway()
	if err != nil {
		return load.System{}, err
	}
	return d.system(func(address string) (peers.Caller, error) {
		// A request has the key of the actor in field 1 and the arguments in those that follow.
		return peers.GRPCCaller(address, "/app.Counter/add", []byte("\x0a\x04main\x10\x01"))
	})
}
