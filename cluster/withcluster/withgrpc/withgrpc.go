// Package withgrpc is what a program is compiled with instead of package withcluster to take calls by gRPC, too, as a node and alone.
package withgrpc

import (
	"github.com/aeon-lang/aeon/cluster"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door/grpcdoor"
	"github.com/aeon-lang/aeon/runtime/node"
	"github.com/aeon-lang/aeon/runtime/node/withgrpc"
)

// Entry returns Keep for a main package, see aeonrt.MainOf.
//
//go:noinline
func Entry() any { return Keep }

// Keep is what main hands to the runtime.
var Keep = func() aeonrt.Option {
	p := node.PartsWith(withgrpc.Serve)
	p.Cluster = cluster.RunWith(cluster.GRPC{Serve: withgrpc.Serve, Fail: grpcdoor.Fail})
	return aeonrt.With(p)
}()
