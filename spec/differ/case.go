package differ

import (
	"fmt"
	"github.com/aeon-lang/aeon/runtime/across"

	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/spec/batch"
	"github.com/aeon-lang/aeon/spec/generate"
)

// Case is one program to compare the implementations on.
type Case struct {
	Name string // unique among those compared together
	Text string
	// Split, if not 0, distributes the program over packages, as generate.Split does with this seed.
	Split uint64
	// Single: the program is to have one outcome, whatever the order of its events.
	Single bool
	// StatesMax, if not 0, is how many states the interpreter looks at, if that is less than it would.
	StatesMax int
}

// singleStatesMax is for large programs that have one outcome, whatever their order: any part of the orders shows it.
const singleStatesMax = 3000

// Generated returns the case of a generated program. Each third is one of several packages.
func Generated(seed uint64, profile generate.Profile) Case {
	k := Case{Name: fmt.Sprintf("%v-%d", profile, seed), Text: generate.Program(seed, profile), Single: profile == generate.Sequential}
	if seed%3 == 0 {
		k.Split = 1 + seed/3
	}
	return k
}

// Branches returns the case of a generated program that mostly makes async calls.
func Branches(seed uint64) Case {
	return Case{Name: fmt.Sprintf("branches-%d", seed), Text: generate.Branches(seed), Single: true, StatesMax: singleStatesMax}
}

// Hoards returns the case of a generated program that mostly writes large containers.
func Hoards(seed uint64) Case {
	return Case{Name: fmt.Sprintf("hoards-%d", seed), Text: generate.Hoards(seed), Single: true, StatesMax: singleStatesMax}
}

// Packages returns the source of the program.
func (k Case) Packages() []generate.Package {
	if k.Split == 0 {
		return []generate.Package{{Name: "generated", Text: k.Text}}
	}
	return generate.Split(k.Text, k.Split)
}

// parse checks the program.
func (k Case) parse() (batch.Program, []diag.Diagnostic) {
	var list []batch.Source
	for _, p := range k.Packages() {
		list = append(list, batch.Source{Package: p.Name, File: p.Name + ".aeon", Text: []byte(p.Text)})
	}
	return batch.ParseAll(k.Name, list)
}

// Kind is what is wrong with a case.
type Kind string

// The kinds.
const (
	None       Kind = ""
	Rejected   Kind = "the checker rejects the program"
	GoRefuses  Kind = "go refuses the generated code"
	Interprets Kind = "the interpreter finds a bug"
	Crashes    Kind = "the compiled program crashes"
	Hangs      Kind = "the compiled program hangs"
	Differs    Kind = "no order of the events has the outcome of the compiled program"
	Explores   Kind = "the explorer finds something else than a walk through all orders"
	Ambiguous  Kind = "the program has several outcomes"
)

// Result is what came of a case.
type Result struct {
	Case
	Kind   Kind
	Detail string // for developers, where Kind is not None
	Seed   uint64 // of the compiled run
	Runs   int    // of the compiled program
	States int    // that the interpreter has seen
	// Walked: the explorer was compared with a walk through all orders, which have so many
	// different outcomes. Failing: some of them fail, which both have found.
	Walked, Failing bool
	Outcomes        int
	// Undecided counts the compiled outcomes that the interpreter has not had in as many states as it was given.
	Undecided int
	Across    across.Counts // of the runs on several stores
}

func (r *Result) fails(kind Kind, format string, args ...any) {
	r.Kind, r.Detail = kind, fmt.Sprintf(format, args...)
}
