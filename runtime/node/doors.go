package node

import (
	"context"
	"errors"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/audit"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// doors are those of one program.
type doors struct {
	public  *httpdoor.Server // nil: the program does not listen
	control *httpdoor.Server // over a socket in the data directory; nil: there is none
	failed  chan error       // has the first error after which the program must end
}

// GRPC makes what serves the calls of a door by gRPC; nil: the program does not.
type GRPC func(*door.Door) (func(*gate.Gate) httpdoor.Peer, error)

// openDoors serves a program by HTTP: at an address if there is one, and over a socket in its data directory. A program
// that can have no socket runs without: its state is of use all the same.
func (g GRPC) openDoors(c aeonrt.DoorConfig) (aeonrt.Door, error) {
	p, err := door.ProgramOf(c.Classes, c.ClientClasses)
	if err != nil {
		return nil, err
	}
	d := door.Open(door.Config{System: c.System, Program: p})
	opened := &doors{failed: make(chan error, 1)}
	cfg := httpdoor.Config{Config: gate.Config{Door: d, Log: c.Log, Counts: &gate.Counts{}, Fail: opened.fail}, Program: c.Program}
	if c.Audit != "" {
		if cfg.Audit, err = audit.Open(c.Audit); err != nil {
			return nil, err
		}
	}
	if c.Address != "" {
		if opened.public, err = g.listen(c, cfg); err != nil {
			return nil, err
		}
	}
	if c.Dir != "" {
		cfg.Control = true
		if opened.control, err = httpdoor.ListenIn(c.Dir, cfg); err != nil {
			c.Log.Warn("aeond cannot ask this process: there is no socket in its data directory", "error", err.Error())
		}
	}
	return opened, nil
}

// listen serves a program at an address.
func (g GRPC) listen(c aeonrt.DoorConfig, cfg httpdoor.Config) (_ *httpdoor.Server, err error) {
	if g != nil {
		if cfg.GRPC, err = g(cfg.Door); err != nil {
			return nil, err
		}
	}
	if c.Cert != "" {
		if cfg.TLS, err = httpdoor.Certificate(c.Cert, c.CertKey); err != nil {
			return nil, err
		}
	}
	if c.Tokens != "" {
		if cfg.Tokens, err = access.Read(c.Tokens, cfg.Door.Program, c.Log); err != nil {
			return nil, err
		}
	}
	if c.Static != "" {
		if cfg.Pages, err = httpdoor.OpenPages(c.Static); err != nil {
			return nil, err
		}
	}
	return httpdoor.Listen(c.Address, cfg)
}

// Address implements aeonrt.Door.
func (d *doors) Address() string {
	if d.public == nil {
		return ""
	}
	return d.public.Address()
}

// fail keeps the first error.
func (d *doors) fail(err error) {
	select {
	case d.failed <- err:
	default:
	}
}

// Failed implements aeonrt.Door.
func (d *doors) Failed() <-chan error { return d.failed }

// Close implements aeonrt.Door.
func (d *doors) Close(ctx context.Context) error {
	closed := make(chan error, 1)
	go func() { // ends with this call
		if d.control == nil {
			closed <- nil
			return
		}
		closed <- d.control.Close(ctx)
	}()
	var err error
	if d.public != nil {
		err = d.public.Close(ctx)
	}
	return errors.Join(err, <-closed)
}
