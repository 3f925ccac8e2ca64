package differ_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/spec/differ"
	"github.com/aeon-lang/aeon/spec/generate"
)

var (
	programs = flag.Int("programs", 24, "how many programs of each profile are compared")
	first    = flag.Uint64("first", 0, "the seed of the first program")
	stored   = flag.Int("stored", 12, "how many programs of each profile are compared that run on a store")
	seeds    = flag.Int("seeds", 6, "how often each compiled program runs")
	only     = flag.String("profile", "", "compare programs of one profile only: sequential or concurrent")
	shrink   = flag.Bool("shrink", true, "make programs that show a difference smaller, the first three of a run")
	keep     = flag.String("keep", "", "write the programs that show a difference into this `directory`")
)

// chunk is how many programs are compiled into one executable.
const chunk = 250

func newComparer() *differ.Comparer {
	c := &differ.Comparer{StatesMax: 30_000, LimitMS: 5000}
	for s := range *seeds {
		c.Seeds = append(c.Seeds, uint64(s))
	}
	return c
}

// TestGeneratedPrograms compares the compiled runtime with the reference interpreter.
func TestGeneratedPrograms(t *testing.T) {
	compare(t, *programs, newComparer)
}

// Programs on a store do the same: their actors' states are dropped while they run, and read again, and are
// what they were when the store is opened once more at the end.
func TestGeneratedProgramsOnAStore(t *testing.T) {
	compare(t, *stored, func() *differ.Comparer {
		c := newComparer()
		c.Stored = true
		return c
	})
}

// compare compares so many programs of each profile.
func compare(t *testing.T, programs int, comparer func() *differ.Comparer) {
	for _, profile := range []generate.Profile{generate.Sequential, generate.Concurrent} {
		if *only != "" && *only != profile.String() {
			continue
		}
		t.Run(profile.String(), func(t *testing.T) {
			start := time.Now()
			var sum totals
			for n := 0; n < programs; n += chunk {
				var cases []differ.Case
				for i := n; i < min(n+chunk, programs); i++ {
					cases = append(cases, differ.Generated(*first+uint64(i), profile))
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
			}
			t.Logf("%s; seeds %d to %d; %.1f programs/s", &sum, *first, *first+uint64(programs)-1, float64(sum.programs)/time.Since(start).Seconds())
		})
	}
}

// totals add up results.
type totals struct{ programs, runs, states, undecided, failed int }

func (s *totals) add(r differ.Result) {
	s.programs++
	s.runs += r.Runs
	s.states += r.States
	s.undecided += r.Undecided
}

func (s *totals) String() string {
	return fmt.Sprintf("%d programs, %d compiled runs, %d states interpreted, %d outcomes undecided", s.programs, s.runs, s.states, s.undecided)
}

func report(t *testing.T, r differ.Result) {
	t.Errorf("%s: %s\n%s\nthe program:\n%s", r.Name, r.Kind, r.Detail, r.Text)
	if *keep != "" {
		if err := os.WriteFile(filepath.Join(*keep, r.Name+".aeon"), []byte(r.Text), 0o644); err != nil {
			t.Error(err)
		}
	}
}
