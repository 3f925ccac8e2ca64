// Package withcluster is what a program is compiled with instead of runtime/node to be a node of a cluster when it is told to.
package withcluster

import (
	"github.com/aeon-lang/aeon/cluster"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/node"
)

// Entry returns Keep for a main package, see aeonrt.MainOf.
//
//go:noinline
func Entry() any { return Keep }

// Keep is what main hands to the runtime.
var Keep = func() aeonrt.Option {
	p := node.PartsWith(nil)
	p.Cluster = cluster.Run
	return aeonrt.With(p)
}()
