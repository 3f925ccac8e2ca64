package settings

import (
	"flag"
	"fmt"
	"slices"
	"strings"
)

// Nodes says on how many nodes, simulated in one process, a program runs. The zero value is one, which is no simulation.
type Nodes struct {
	Number int
	Faults int
}

// More of them cost time and find nothing further.
const (
	nodesMax  = 64
	faultsMax = 10_000
)

// Flags declares the flag.
func (n *Nodes) Flags(fs *flag.FlagSet) {
	fs.IntVar(&n.Number, "nodes", 1, "run on a cluster of this `number` of nodes, simulated in one process: each new actor on a node that the seed draws")
}

// FaultFlag declares the flag for faults.
func (n *Nodes) FaultFlag(fs *flag.FlagSet) {
	fs.IntVar(&n.Faults, "faults", 0, "with --nodes, how many `times` at most a node crashes and starts again, or the connection between two breaks")
}

// Several reports whether there is more than one node.
func (n *Nodes) Several() bool { return n.Number > 1 }

// Check returns what is wrong with the flag that was parsed, and with args, further arguments of the program, which have no place in a
// simulation. Its error is one of usage.
func (n *Nodes) Check(args []string) error {
	if n.Number < 1 || n.Number > nodesMax {
		return fmt.Errorf("--nodes: a simulated cluster has 1 to %d nodes, not %d", nodesMax, n.Number)
	}
	if n.Faults < 0 || n.Faults > faultsMax {
		return fmt.Errorf("--faults: there can be 0 to %d faults, not %d", faultsMax, n.Faults)
	}
	if !n.Several() {
		if n.Faults > 0 {
			return fmt.Errorf("--faults goes with --nodes: faults happen in a simulated cluster; add \"--nodes 3\"")
		}
		return nil
	}
	for _, a := range args {
		name, isFlag := strings.CutPrefix(a, "-")
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "-"), "=")
		if !isFlag {
			continue
		}
		switch {
		case slices.Contains(flagNames, name):
			return fmt.Errorf("--%s does not go with --nodes: a simulated cluster keeps its state in memory; leave out one of them, or run a real cluster by \"aeond dev --nodes %d --data DIR\"", name, n.Number)
		case slices.Contains(listenNames, name), name == "grpc", name == "serve":
			return fmt.Errorf("--%s does not go with --nodes: a simulated cluster has a time of its own, and takes no calls; leave out one of them, or run a real cluster by \"aeond dev --nodes %d --listen ADDRESS\"", name, n.Number)
		case slices.Contains(clusterNames, name):
			return fmt.Errorf("--%s is about a node of a real cluster, and --nodes simulates one: leave out one of them", name)
		case slices.Contains(spanNames, name):
			return fmt.Errorf("--%s does not go with --nodes: a simulated cluster has a time of its own; leave out one of them, or trace events with --trace DIR", name)
		}
	}
	return nil
}

// Arguments returns the flag as it is to be passed on.
func (n *Nodes) Arguments() []string {
	if !n.Several() {
		return nil
	}
	list := []string{"--nodes", fmt.Sprint(n.Number)}
	if n.Faults > 0 {
		list = append(list, "--faults", fmt.Sprint(n.Faults))
	}
	return list
}
