package spec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Chooser picks the next of the steps that the rules allow. There are at least two.
type Chooser interface {
	Choose(options []Step) int
}

// First is the Chooser that takes the first step.
type First struct{}

// Choose implements Chooser.
func (First) Choose([]Step) int { return 0 }

// Random is a Chooser that draws, the same for the same seed.
type Random struct{ rng *rand.Rand }

// NewRandom returns a Random.
func NewRandom(seed uint64) *Random { return &Random{rand.New(rand.NewPCG(seed, 0x5eed))} }

// Choose implements Chooser.
func (r *Random) Choose(options []Step) int { return r.rng.IntN(len(options)) }

// Replay is a Chooser that makes the choices of an Outcome again, and then takes the first step.
type Replay struct {
	Choices []int
	// Wrong is set once a choice is not among the options: the program is not the one
	// that the choices were made in.
	Wrong bool
	next  int
}

// Choose implements Chooser.
func (r *Replay) Choose(options []Step) int {
	if r.next >= len(r.Choices) {
		return 0
	}
	n := r.Choices[r.next]
	r.next++
	if n < 0 || n >= len(options) {
		r.Wrong = true
		return 0
	}
	return n
}

// Outcome is how a run has ended.
type Outcome struct {
	// Output is what the program printed.
	Output string
	// Failure is what left main or the test, or what else fails it if Options.StopAtFailure is
	// set; nil if there is none.
	Failure *Failure
	// DeadLetters are the failures of events that were not awaited, as they came; last
	// those of events that could have been awaited.
	DeadLetters []Letter
	// CallbackFailures are the failures of callbacks, as they came.
	CallbackFailures []*Failure
	// Events counts the events that have run, failed ones included.
	Events int
	// Choices are what the Chooser chose; Replay makes them again.
	Choices []int
	// Steps are the steps of the run, for users.
	Steps []string
	// Printed has the lines that the program printed with each step.
	Printed [][]string
	// Undone has why the event of each step has failed, and so left no trace; empty if it has not.
	Undone []string
	// Stuck: client code waits for something that never comes.
	Stuck bool
	// Exhausted says which bound the run has exceeded, if it has; it is not over then.
	Exhausted string
	// Bug says what is wrong with the checker or the interpreter, if the run has shown it.
	Bug string
}

// Run runs an entry of the program, one event at a time, in the order that c picks.
func (p *Program) Run(e Entry, c Chooser, o Options) *Outcome {
	out := &Outcome{}
	var m *Machine
	ended := Guard(func() {
		m = p.Start(e, o)
		for {
			options := m.Options()
			if len(options) == 0 {
				out.Stuck = !m.Over()
				return
			}
			i := 0
			if len(options) > 1 {
				i = c.Choose(options)
				out.Choices = append(out.Choices, i)
			}
			out.Steps = append(out.Steps, options[i].String())
			before := m.st.output
			m.Do(options[i])
			out.Printed = append(out.Printed, m.st.output.since(before))
			why := ""
			if m.undone != nil {
				why = m.undone.Msg
			}
			out.Undone = append(out.Undone, why)
		}
	})
	if m != nil {
		m.Fill(out)
		m.Close()
	}
	out.Exhausted, out.Bug = ended.Exhausted, ended.Bug
	return out
}

// Ended says why a machine could not go on.
type Ended struct{ Exhausted, Bug string }

// Guard runs f, which uses machines, and returns what kept it from its end, if anything has.
func Guard(f func()) (ended Ended) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case bug:
			ended.Bug = p.msg
		case exhausted:
			ended.Exhausted = p.msg
		default:
			panic(p)
		}
	}()
	f()
	return ended
}

// Fill sets what the run has led to so far.
func (m *Machine) Fill(out *Outcome) {
	st := m.st
	var b strings.Builder
	for _, l := range st.output.since(nil) {
		b.WriteString(l + "\n")
	}
	out.Output = b.String()
	out.Failure = m.Failure()
	out.DeadLetters = append(out.DeadLetters, st.letters...)
	if m.mainEnded() {
		for _, r := range m.unclaimed() {
			out.DeadLetters = append(out.DeadLetters, r)
		}
	}
	out.CallbackFailures = st.failures
	out.Events = st.events
}

// since returns the lines that came after another one.
func (l *line) since(before *line) []string {
	var list []string
	for ; l != before; l = l.before {
		list = append(list, l.text)
	}
	slices.Reverse(list)
	return list
}

// Failure returns what has left main or the test, or else failed it, or nil.
func (m *Machine) Failure() *Failure {
	if m.stop != nil {
		return m.stop
	}
	return m.st.threads[0].failure
}

// unclaimed returns the failures that a client could have awaited.
func (m *Machine) unclaimed() []Letter {
	var list []Letter
	for _, id := range sortedIDs(m.st.results) {
		if r := m.st.results[id]; r.failure != nil && !r.awaited {
			method := "new"
			if r.method != nil {
				method = r.method.Name()
			}
			list = append(list, newLetter(r.target, method, r.failure))
		}
	}
	return list
}

// String writes the outcome as the tests compare it: output, failure, failed callbacks, dead letters.
func (o *Outcome) String() string {
	var b strings.Builder
	b.WriteString(o.Output)
	if o.Failure != nil {
		fmt.Fprintf(&b, "failed: %s at %s\n", o.Failure.Msg, o.Failure.Trace())
	}
	for _, f := range o.CallbackFailures {
		fmt.Fprintf(&b, "callback failed: %s at %s\n", f.Msg, f.Trace())
	}
	for _, l := range o.DeadLetters {
		fmt.Fprintf(&b, "dead letter: %s\n", l)
	}
	if o.Exhausted != "" {
		fmt.Fprintf(&b, "exhausted: %s\n", o.Exhausted)
	}
	if o.Bug != "" {
		fmt.Fprintf(&b, "bug: %s\n", o.Bug)
	}
	return b.String()
}

// Snapshot is a state that a Machine can return to.
type Snapshot struct {
	st    *state
	stop  *Failure
	steps int
}

// Save returns the present state. Later steps do not change it.
func (m *Machine) Save() Snapshot {
	return Snapshot{m.st, m.stop, m.steps}
}

// Restore returns to a state of this machine, or of another of the same entry.
func (m *Machine) Restore(s Snapshot) { m.st, m.stop, m.steps = s.st, s.stop, s.steps }
