package nodes

import (
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// Entry returns what has a main package run its program on several stores when it is told to, see aeonrt.MainOf.
//
//go:noinline
func Entry() any { return aeonrt.WithNodes(inMemory) }

// partitionsEach is how many partitions each store of a program has: more than one, so that stores have names of several.
const partitionsEach = 4

// Program opens a program on so many new stores, over which its actors are spread. engine opens what one of them is kept on.
func Program(cfg exec.Config, p *aeonrt.Package, stores int, engine func() (store.Engine, error)) (*Cluster, error) {
	return Open(program(cfg, p, stores, engine))
}

func program(cfg exec.Config, p *aeonrt.Package, stores int, engine func() (store.Engine, error)) Config {
	cfg.Classes, cfg.ClientClasses = aeonrt.AllClasses(p), aeonrt.AllClientClasses(p)
	return Config{System: cfg, Stores: stores, Partitions: partitionsEach * stores, Spread: true,
		Open:  func(event.StoreID) (store.Engine, error) { return engine() },
		Fatal: func(err error) { panic(err) }}
}

// inMemory opens a program on stores that keep nothing.
func inMemory(cfg exec.Config, p *aeonrt.Package, sim aeonrt.Simulation) (*aeonrt.Nodes, error) {
	of := program(cfg, p, sim.Stores, func() (store.Engine, error) { return memengine.New(), nil })
	of.Start, of.Crashed = sim.Start, sim.Crashed
	c, err := Open(of)
	if err != nil {
		return nil, err
	}
	n := &aeonrt.Nodes{Systems: c.Began, Counts: c.Counts, Close: c.Close}
	if sim.Faults > 0 {
		n.Calm = c.Trouble(cfg.Seed, sim.Faults).End
	}
	return n, nil
}
