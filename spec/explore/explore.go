package explore

import (
	"fmt"
	"math/big"
	"time"

	"github.com/aeon-lang/aeon/spec"
)

// Config bounds a search.
type Config struct {
	// StatesMax bounds the states; 0 is 200 000.
	StatesMax int
	// TimeMax bounds the time; 0 is none.
	TimeMax time.Duration
	// Options are those of the runs; StopAtFailure is set unless KeepGoing is.
	Options spec.Options
	// Progress, if set, is called after every progressEvery steps, and when the search for the shortest order begins.
	Progress func(Progress)
	// OnEnd, if set, is called with the outcome of each order that was run to its end. The
	// orders that it is not called for have the outcome of one for which it was, if
	// Options.Observe is set.
	OnEnd func(*spec.Outcome)
	// KeepGoing: a failure of main or of the test is an outcome like others, and what it has
	// issued runs to its end.
	KeepGoing bool
	// Plain turns the reduction off: every step is tried in every state. For tests.
	Plain bool
}

// Progress is how far a search is.
type Progress struct {
	States, Steps, Depth int
	Failed               bool // an order that fails is found, and now the shortest one is looked for
}

// Result is what a search has found.
type Result struct {
	// Complete: every order was covered, and none failed.
	Complete bool
	// Incomplete says why not, if there is no failure: a bound, and where it was reached. Endless: an order
	// does not end.
	Incomplete string
	Endless    bool
	// States counts different states, Steps the steps that were tried between them, Orders
	// the orders that were run. Each of these stands for all that differ from it by
	// exchanging steps that do not conflict.
	States, Steps int
	Orders        *big.Int
	// DepthMax is the number of steps of the longest order.
	DepthMax int
	// Failing is the run that fails, nil if none does. Shortest: there is none with fewer steps.
	Failing  *spec.Outcome
	Shortest bool
	// Code makes the failing run again, by way of Decode and spec.Replay.
	Code string
	Took time.Duration
}

const (
	statesMaxDefault = 200_000
	statementsMax    = 5_000_000 // of one order: more is an endless loop of a client
)

// Run searches the orders of an entry of a program.
func Run(p *spec.Program, e spec.Entry, cfg Config) *Result {
	if cfg.StatesMax <= 0 {
		cfg.StatesMax = statesMaxDefault
	}
	cfg.Options.StopAtFailure = !cfg.KeepGoing
	if cfg.Options.StepsMax == 0 {
		cfg.Options.StepsMax = statementsMax
	}
	s := &search{p: p, entry: e, cfg: cfg, start: time.Now(), seen: map[[2]uint64]*node{}, entries: map[entry]int{},
		resources: map[spec.Resource]int{}, accesses: map[string]int{}}
	out := s.run()
	out.States, out.Steps, out.DepthMax = len(s.seen), s.steps, s.depthMax
	if out.Failing == nil {
		out.Complete = out.Incomplete == ""
	}
	out.Took = time.Since(s.start)
	return out
}

// run searches, and then looks for the shortest order that fails if one does.
func (s *search) run() *Result {
	out := &Result{Orders: new(big.Int)}
	var root *node
	ended := spec.Guard(func() {
		s.m = s.p.Start(s.entry, s.cfg.Options)
		root = s.visit()
	})
	if s.m != nil {
		defer s.m.Close()
	}
	switch {
	case ended.Bug != "" || s.failed:
		s.report(out, ended)
	case ended.Exhausted != "":
		out.Incomplete, out.Endless = "an order does not end: "+ended.Exhausted, true
	case s.bound != nil:
		out.Incomplete, out.Endless = s.bound.Error(), len(s.stack) > depthMax
	}
	if root != nil && root.orders != nil {
		out.Orders = root.orders
	}
	return out
}

// report fills in the failing run.
func (s *search) report(out *Result, ended spec.Ended) {
	choices := s.choices()
	if ended.Bug == "" {
		s.progress(true)
		if shorter, ok := s.shortest(len(s.stack)); ok {
			choices, out.Shortest = shorter, true
		}
	}
	out.Code = Encode(choices)
	out.Failing = s.p.Run(s.entry, &spec.Replay{Choices: choices}, s.cfg.Options)
}

// choices are those of the order on the stack.
func (s *search) choices() []int {
	var list []int
	for _, f := range s.stack {
		if len(f.options) > 1 {
			list = append(list, f.now)
		}
	}
	return list
}

// visit searches the future of the machine's state.
func (s *search) visit() *node {
	// Invariant: no state that fails is looked up or kept. A failure of which no client learns is no part
	// of a state, and leaves that of an order which has not failed.
	if s.m.Failure() != nil && !s.cfg.KeepGoing {
		s.failed = true
		return &node{}
	}
	digest := s.m.Digest()
	if n := s.seen[digest]; n != nil && n.orders != nil {
		for _, e := range n.below {
			s.compare(s.tried[e].step, s.tried[e].access, len(s.stack)-1)
		}
		return n
	}
	n := &node{}
	s.seen[digest] = n
	s.depthMax = max(s.depthMax, len(s.stack))
	options := s.m.Options()
	if !s.m.Over() && len(options) == 0 { // client code waits for something that never comes
		s.failed = true
		return n
	}
	if len(options) == 0 {
		n.orders = big.NewInt(1)
		if s.cfg.OnEnd != nil {
			out := &spec.Outcome{Choices: s.choices()}
			s.m.Fill(out)
			s.cfg.OnEnd(out)
		}
		return n
	}
	s.branch(n, options)
	return n
}

// branch tries the options of a state that need to be tried.
func (s *search) branch(n *node, options []spec.Step) {
	f := &frame{options: options, index: map[spec.StepKey]int{}, todo: make([]bool, len(options)), done: make([]bool, len(options))}
	for i, o := range options {
		f.index[o.Key] = i
		f.todo[i] = s.cfg.Plain
	}
	f.todo[0] = true
	s.stack = append(s.stack, f)
	saved := s.m.Save()
	orders := new(big.Int)
	for i := 0; i < len(options); i++ {
		if !f.todo[i] || f.done[i] {
			continue
		}
		if s.bound = s.exceeded(); s.bound != nil {
			return
		}
		f.done[i], f.now = true, i
		for j, o := range options { // how a try ends is no matter of order
			f.todo[j] = f.todo[j] || o.Alternative(options[i])
		}
		s.m.Restore(saved)
		acc := s.m.Do(options[i])
		if s.steps++; s.steps%progressEvery == 0 {
			s.progress(false)
		}
		f.access, f.barrier = s.intern(acc), acc.Barrier
		s.compare(options[i], f.access, len(s.stack)-2)
		child := s.visit()
		if s.failed || s.bound != nil {
			return
		}
		orders.Add(orders, child.orders)
		n.below = merge(n.below, []int{s.enter(options[i], f.access)})
		if !f.barrier {
			n.below = merge(n.below, child.below)
		}
		i = -1 // an earlier one may have been added
	}
	s.stack = s.stack[:len(s.stack)-1]
	n.orders = orders
}

// compare looks for steps of the present order, up to frame last, before which a step that
// comes later may have to be tried.
func (s *search) compare(step spec.Step, access, last int) {
	for i := last; i >= 0; i-- {
		f := s.stack[i]
		if f.barrier {
			return
		}
		if !s.conflict(f.access, access) || step.Key == f.options[f.now].Key || step.After(f.options[f.now].Key) {
			continue
		}
		f.try(step)
	}
}

// try has a step, or what leads to it, tried in the state of the frame.
func (f *frame) try(step spec.Step) {
	if i, ok := f.index[step.Key]; ok {
		f.todo[i] = true
		return
	}
	for i, o := range f.options {
		if i != f.now && step.After(o.Key) {
			f.todo[i] = true
			return
		}
	}
	for i := range f.todo {
		f.todo[i] = true
	}
}

// exceeded returns the bound that the search has reached, if it has.
func (s *search) exceeded() error {
	switch {
	case len(s.seen) >= s.cfg.StatesMax:
		return fmt.Errorf("stopped after %d states, %s", s.cfg.StatesMax, s.where())
	case s.cfg.TimeMax > 0 && time.Since(s.start) > s.cfg.TimeMax:
		return fmt.Errorf("stopped after %v, %s", s.cfg.TimeMax, s.where())
	case len(s.stack) > depthMax:
		return fmt.Errorf("an order does not end: it is %s", s.where())
	}
	return nil
}

// progress tells how far the search is.
func (s *search) progress(failed bool) {
	if s.cfg.Progress != nil {
		s.cfg.Progress(Progress{len(s.seen), s.steps, len(s.stack), failed})
	}
}

// where says how far the present order is.
func (s *search) where() string {
	n := len(s.stack) - 1 // the last frame has taken no step yet
	if n <= 0 {
		return "at the beginning of an order"
	}
	f := s.stack[n-1]
	return fmt.Sprintf("%d steps into an order, behind %s", n, f.options[f.now])
}

// progressEvery is how many steps there are from one report of progress to the next.
const progressEvery = 256

// depthMax bounds the steps of one order: beyond it, events issue events for ever.
const depthMax = 20_000
