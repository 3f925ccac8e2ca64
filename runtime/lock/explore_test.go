package lock_test

import (
	"flag"
	"testing"

	"github.com/aeon-lang/aeon/runtime/lock/locktest"
)

var explored = locktest.Default

func init() {
	flag.IntVar(&explored.Sets, "explore.sets", explored.Sets, "event sets per ownership graph; CI takes 12")
	flag.IntVar(&explored.States, "explore.states", explored.States, "states per configuration")
	flag.IntVar(&explored.Further, "explore.further", explored.Further, "states per configuration with crashes, or calls of what another event creates")
	flag.IntVar(&explored.Stores, "explore.stores", explored.Stores, "states per configuration over several stores")
	flag.IntVar(&explored.Faults, "explore.faults", explored.Faults, "states per configuration over several stores that crash, and whose sessions end")
	flag.Uint64Var(&explored.Seed, "explore.seed", explored.Seed, "first seed")
	flag.BoolVar(&explored.Moves, "explore.moves", explored.Moves, "half of the events move nodes in T")
	flag.Uint64Var(&explored.Only, "explore.only", explored.Only, "run this one seed, and show the trace if it fails")
}

// A run longer than CI's, of other configurations:
//
//	go test ./runtime/lock -run TestExplore -v -timeout 4h -explore.seed 100000 -explore.sets 1000 -explore.states 1000000
func TestExplore(t *testing.T) { locktest.Explore(t, explored) }

func TestExploreChains(t *testing.T) { locktest.ExploreChains(t) }

func TestExploreStreams(t *testing.T) { locktest.ExploreStreams(t) }
