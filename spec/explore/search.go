package explore

import (
	"math/big"
	"time"

	"github.com/aeon-lang/aeon/spec"
)

// search is one search.
type search struct {
	p     *spec.Program
	entry spec.Entry
	cfg   Config
	m     *spec.Machine
	start time.Time

	seen      map[[2]uint64]*node
	stack     []*frame
	resources map[spec.Resource]int
	accesses  map[string]int
	known     []access
	entries   map[entry]int
	tried     []tried // by the number of the entry
	steps     int
	depthMax  int
	failed    bool
	bound     error // that has ended the search
}

// node is what is known of a state whose future was searched.
type node struct {
	orders *big.Int // from here to the end
	below  []int    // numbers of entries, ascending
}

// entry is a step that was tried in the future of some state: its name, what it touched and
// what led to it. There are few, as the same step comes in many orders.
type entry struct {
	key    spec.StepKey
	access int
	cause  [2]uint64
}

// tried is a step and the number of what it touched.
type tried struct {
	step   spec.Step
	access int
}

// frame is a state on the present order.
type frame struct {
	options []spec.Step
	index   map[spec.StepKey]int
	todo    []bool
	done    []bool
	now     int // the option that the present order has taken
	access  int
	barrier bool
}

// access is what a step has touched, as sets of the numbers of resources.
type access struct {
	reads, writes []uint64
	all           bool
}
