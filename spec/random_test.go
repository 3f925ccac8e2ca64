package spec_test

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/spec"
	"github.com/aeon-lang/aeon/spec/generate"
	"github.com/aeon-lang/aeon/typecheck"
)

var randomPrograms = flag.Uint64("spec.programs", 50, "how many random programs of each profile are run")

// TestRandomPrograms runs random programs in several orders. Footprints hold for every event,
// there is a rule for everything, and where a program has one outcome all orders have it.
func TestRandomPrograms(t *testing.T) {
	events, choices := 0, 0
	for _, profile := range []generate.Profile{generate.Sequential, generate.Concurrent} {
		for seed := range *randomPrograms {
			text := generate.Program(seed, profile)
			p := check(t, text)
			e := entryOf(p)
			first := ""
			for run := range uint64(3) {
				out := p.Run(e, spec.NewRandom(run), spec.Options{StepsMax: 2_000_000})
				if out.Bug != "" || out.Exhausted != "" || out.Stuck {
					t.Fatalf("%v program of seed %d, run %d: %s\n%s", profile, seed, run, out, text)
				}
				again := p.Run(e, &spec.Replay{Choices: out.Choices}, spec.Options{})
				if again.String() != out.String() || strings.Join(again.Steps, "\n") != strings.Join(out.Steps, "\n") {
					t.Fatalf("%v program of seed %d, run %d: its choices give another run\n%s\n%s\n%s", profile, seed, run, out, again, text)
				}
				events, choices = events+out.Events, choices+len(out.Choices)
				if run == 0 {
					first = out.String()
				} else if profile == generate.Sequential && out.String() != first {
					t.Fatalf("the sequential program of seed %d has two outcomes\n%s--\n%s\n%s", seed, first, out, text)
				}
			}
		}
	}
	t.Logf("%d events, %d choices", events, choices)
}

// Footprints from which something was taken away are noticed.
func TestSmallFootprintsAreFound(t *testing.T) {
	for name, tamper := range map[string]func(*typecheck.Effects){
		"no reach": func(e *typecheck.Effects) {
			for i := range e.Footprint {
				e.Footprint[i].Reach = false
			}
		},
		"writes as reads": func(e *typecheck.Effects) {
			for i := range e.Footprint {
				e.Footprint[i].Mode = min(e.Footprint[i].Mode, typecheck.Read)
			}
		},
		"no elements": func(e *typecheck.Effects) {
			e.Footprint = slices.DeleteFunc(e.Footprint, func(a typecheck.Access) bool { return a.Path.Elem != typecheck.NoElem })
		},
		"no parameters": func(e *typecheck.Effects) {
			e.Footprint = slices.DeleteFunc(e.Footprint, func(a typecheck.Access) bool { return a.Path.Param != nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(200) {
				info := checked(t, generate.Program(seed, generate.Sequential))
				info.Package.AllFuncs(func(f *typecheck.Func) {
					if f.Effects != nil {
						tamper(f.Effects)
					}
				})
				p := spec.New(info)
				e := entryOf(p)
				if out := p.Run(e, spec.First{}, spec.Options{}); strings.HasPrefix(out.Bug, "footprint: ") {
					return
				}
			}
			t.Error("no run has noticed it")
		})
	}
}

func check(t testing.TB, text string) *spec.Program {
	t.Helper()
	return spec.New(checked(t, text))
}

func checked(t testing.TB, text string) *typecheck.Info {
	t.Helper()
	file, diags := lang.Parse("p.aeon", []byte(text))
	if !diag.HasErrors(diags) {
		var info *typecheck.Info
		if info, diags = typecheck.Check([]*ast.File{file}, typecheck.Options{}); !diag.HasErrors(diags) {
			return info
		}
	}
	t.Fatalf("%v\n%s", diags, text)
	return nil
}

// entryOf returns main, or the one test, of a generated program.
func entryOf(p *spec.Program) spec.Entry {
	if e, ok := p.Main(); ok {
		return e
	}
	return p.Tests()[0]
}
