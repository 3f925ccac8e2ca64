package differ_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/spec/differ"
	"github.com/aeon-lang/aeon/spec/generate"
)

var (
	programs = flag.Int("programs", 2, "how many programs of each profile are compared")
	first    = flag.Uint64("first", 0, "the seed of the first program")
	stored   = flag.Int("stored", 1, "how many programs of each profile, and of those with large containers, are compared that run on a store")
	stores   = flag.Int("stores", 1, "how many programs of each profile are compared that run on three stores")
	seeds    = flag.Int("seeds", 4, "how often each compiled program runs")
	steps    = flag.Int("steps", 3000, "how many steps a walk through all orders of a program may have")
	limit    = flag.Duration("limit", 5*time.Second, "how long a compiled run may take: longer where others have the processors first")
	only     = flag.String("profile", "", "compare programs of some profiles only, with commas: sequential, concurrent, hoards, branches")
	shrink   = flag.Bool("shrink", true, "make programs that show a difference smaller, the first three of a run")
	keep     = flag.String("keep", "", "write the programs that show a difference into this `directory`")
)

// chunk is how many programs are compiled into one executable.
const chunk = 250

func newComparer() *differ.Comparer {
	c := &differ.Comparer{StatesMax: 30_000, StepsMax: *steps, LimitMS: limit.Milliseconds()}
	for s := range *seeds {
		c.Seeds = append(c.Seeds, uint64(s))
	}
	return c
}

// profile is a kind of generated program.
type profile struct {
	name    string
	program func(seed uint64) differ.Case
}

var (
	sequential = profile{generate.Sequential.String(), func(seed uint64) differ.Case { return differ.Generated(seed, generate.Sequential) }}
	concurrent = profile{generate.Concurrent.String(), func(seed uint64) differ.Case { return differ.Generated(seed, generate.Concurrent) }}
	hoards     = profile{"hoards", differ.Hoards}
	branches   = profile{"branches", differ.Branches}
)

// TestGeneratedPrograms compares the compiled runtime with the reference interpreter.
func TestGeneratedPrograms(t *testing.T) {
	compare(t, *programs, newComparer, sequential, concurrent)
}

// Programs on a store do the same: their actors' states are dropped while they run, and read again, and are
// what they were when the store is opened once more at the end.
func TestGeneratedProgramsOnAStore(t *testing.T) {
	compare(t, *stored, func() *differ.Comparer {
		c := newComparer()
		c.Stored, c.Compiler.Replicated = true, replicatest.Asked()
		return c
	}, sequential, concurrent, hoards, branches)
}

// Programs on three stores do the same, though any actor of theirs may be in any of these.
func TestGeneratedProgramsOnThreeStores(t *testing.T) {
	compare(t, *stores, func() *differ.Comparer {
		c := newComparer()
		c.Stores = 3
		return c
	}, sequential, concurrent, branches)
}

// compare compares so many programs of each profile. Those of all profiles are compiled into one executable: its link takes longer than they do.
func compare(t *testing.T, programs int, comparer func() *differ.Comparer, profiles ...profile) {
	if *only != "" {
		list := strings.Split(*only, ",")
		for _, name := range list {
			if !slices.ContainsFunc([]profile{sequential, concurrent, hoards, branches}, func(p profile) bool { return p.name == name }) {
				t.Fatalf("-profile: there is no profile %q", name)
			}
		}
		profiles = slices.DeleteFunc(profiles, func(p profile) bool { return !slices.Contains(list, p.name) })
	}
	start := time.Now()
	var sum totals
	each := chunk / max(1, len(profiles))
	for n := 0; n < programs && len(profiles) > 0; n += each {
		var cases []differ.Case
		for _, p := range profiles {
			for i := n; i < min(n+each, programs); i++ {
				cases = append(cases, p.program(*first+uint64(i)))
			}
		}
		results, err := comparer().Compare(t.Context(), cases)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			sum.add(r)
			if r.Kind == differ.None {
				continue
			}
			if sum.failed++; *shrink && sum.failed <= 3 {
				if r, err = comparer().Shrink(t.Context(), r); err != nil {
					t.Error(err)
				}
			}
			report(t, r)
		}
		if sum.open > openMax(sum.programs) {
			t.Errorf("%d outcomes of %d programs, of %d, are undecided: the interpreter gave up before it had seen them", sum.undecided, sum.open, sum.programs)
		}
		t.Logf("seeds %d to %d: %s; %.1f programs/s", *first, *first+uint64(min(n+each, programs))-1, &sum, float64(sum.programs)/time.Since(start).Seconds())
	}
}

// openMax is how many of so many programs may have an outcome that is not decided, as the interpreter has given up before it had it. Such an
// outcome tells nothing, be it right or wrong. None of 1 000 concurrent programs has one; the bound leaves room for what the generator makes
// when it changes, and for few programs, of which one weighs much.
func openMax(programs int) int { return 1 + programs/100 }

// totals add up results.
type totals struct {
	programs, packages, runs, states, undecided, open, walked, several, failing, failed int

	across across.Counts
}

func (s *totals) add(r differ.Result) {
	s.programs++
	s.runs += r.Runs
	s.states += r.States
	s.across.Add(r.Across)
	s.undecided += r.Undecided
	count := func(n *int, ok bool) {
		if ok {
			*n++
		}
	}
	count(&s.open, r.Undecided > 0)
	count(&s.packages, len(r.Packages()) > 1)
	count(&s.walked, r.Walked)
	count(&s.several, r.Outcomes > 1)
	count(&s.failing, r.Failing)
}

func (s *totals) String() string {
	return fmt.Sprintf("%d programs, %d of several packages, %d compiled runs, %d states interpreted, %d outcomes of %d programs undecided; %d programs in all orders, %d of them with several outcomes, %d with failing orders; %d programs differ; over several stores: %+v",
		s.programs, s.packages, s.runs, s.states, s.undecided, s.open, s.walked, s.several, s.failing, s.failed, s.across)
}

func report(t *testing.T, r differ.Result) {
	var text strings.Builder
	for _, p := range r.Packages() {
		fmt.Fprintf(&text, "-- %s.aeon --\n%s", p.Name, p.Text)
	}
	t.Errorf("%s: %s\n%s\nthe program:\n%s", r.Name, r.Kind, r.Detail, &text)
	if *keep == "" {
		return
	}
	packages := r.Packages()
	for i, p := range packages {
		dir := filepath.Join(*keep, r.Name)
		if i < len(packages)-1 {
			dir = filepath.Join(dir, p.Name) // as the others import it
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, p.Name+".aeon"), []byte(p.Text), 0o644); err != nil {
			t.Error(err)
		}
	}
}
