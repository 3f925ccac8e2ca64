// Package withgrpc is what a program is compiled with instead of package node to take calls by gRPC, too. The modules of gRPC make
// an executable a third larger, so only those programs have them that ask for it.
package withgrpc

import (
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/grpcdoor"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/node"
)

// Entry returns Keep for a main package, see aeonrt.MainOf.
//
//go:noinline
func Entry() any { return Keep }

// Keep is what main hands to the runtime.
var Keep = node.KeepWith(Serve)

// Serve makes what serves the calls of a door by gRPC.
func Serve(d *door.Door) (func(*gate.Gate) httpdoor.Peer, error) {
	s, err := grpcdoor.Of(d)
	if err != nil {
		return nil, err
	}
	return func(g *gate.Gate) httpdoor.Peer { return s.Serve(g) }, nil
}
