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

// openDoors reads what doors need: the files of --tls-cert, --tokens and --static. What it returns serves a program by HTTP: at an address if there is one, and
// over a socket in its data directory. A program that can have no socket runs without: its state is of use all the same.
func (g GRPC) openDoors(c aeonrt.DoorConfig) (func(*aeonrt.System) (aeonrt.Door, error), error) {
	p, err := door.ProgramOf(c.Classes, c.ClientClasses)
	if err != nil {
		return nil, err
	}
	inside := httpdoor.Config{Config: gate.Config{Log: c.Log, Counts: &gate.Counts{}}, Program: c.Program}
	public := inside
	if c.Cert != "" {
		if public.TLS, err = httpdoor.Certificate(c.Cert, c.CertKey); err != nil {
			return nil, err
		}
	}
	if c.Tokens != "" {
		if public.Tokens, err = access.Read(c.Tokens, p, c.Log); err != nil {
			return nil, err
		}
	}
	if c.Static != "" {
		if public.Pages, err = httpdoor.OpenPages(c.Static); err != nil {
			return nil, err
		}
	}
	return func(s *aeonrt.System) (_ aeonrt.Door, err error) {
		opened := &doors{failed: make(chan error, 1)}
		public, inside := public, inside
		public.Door, public.Fail = door.Open(door.Config{System: s, Program: p}), opened.fail
		if c.Audit != "" {
			if public.Audit, err = audit.Open(c.Audit); err != nil {
				return nil, err
			}
		}
		inside.Door, inside.Fail, inside.Audit, inside.Control = public.Door, public.Fail, public.Audit, true
		if c.Address != "" {
			if g != nil {
				if public.GRPC, err = g(public.Door); err != nil {
					return nil, err
				}
			}
			if opened.public, err = httpdoor.Listen(c.Address, public); err != nil {
				return nil, err
			}
		}
		if c.Dir != "" {
			if opened.control, err = httpdoor.ListenIn(c.Dir, inside); err != nil {
				c.Log.Warn("aeond cannot ask this process: there is no socket in its data directory", "error", err.Error())
			}
		}
		return opened, nil
	}, nil
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
