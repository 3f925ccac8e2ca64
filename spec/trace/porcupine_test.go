package trace

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// registers is what an event does, as a sequential object: it reads the versions that
// are there, and writes the next ones.
var registers = porcupine.Model{
	Init: func() any { return map[string]uint64{} },
	Step: func(state, input, _ any) (bool, any) {
		versions, e := state.(map[string]uint64), input.(*ended)
		for _, r := range e.Reads {
			if versions[r.Actor] != r.Version {
				return false, state
			}
		}
		if len(e.Writes) == 0 {
			return true, state
		}
		next := maps.Clone(versions)
		for _, w := range e.Writes {
			if next[w.Actor]++; next[w.Actor] != w.Version {
				return false, state
			}
		}
		return true, next
	},
	Equal: func(a, b any) bool { return maps.Equal(a.(map[string]uint64), b.(map[string]uint64)) },
}

// searched lets porcupine search for an order.
func searched(t *testing.T, h []ended) bool {
	t.Helper()
	var ops []porcupine.Operation
	for i := range h {
		ops = append(ops, porcupine.Operation{ClientId: h[i].Client, Input: &h[i], Call: h[i].Start, Return: h[i].End})
	}
	switch porcupine.CheckOperationsTimeout(registers, ops, 30*time.Second) {
	case porcupine.Ok:
		return true
	case porcupine.Illegal:
		return false
	}
	t.Fatal("porcupine gave up")
	return false
}

// TestAgreesWithOracles spoils histories at random and compares three answers. The checker
// judges the order of the records, and must agree with the naive reading of the same rules
// on all of them. Porcupine searches for any order: it must find one wherever the checker
// accepts, and exactly where the checker accepts the order that follows from the versions
// and real time, if one does. The two part where records stand in an order that explains
// nothing though another would, and at duplicated events, whose ids porcupine does not know.
func TestAgreesWithOracles(t *testing.T) {
	rounds := 60
	if *long {
		rounds = 3000
	}
	names := slices.Sorted(maps.Keys(mutations))
	spoilt, parted := map[string]int{}, 0
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		good := generate(rng, 1+rng.IntN(8), 1+rng.IntN(4), 8+rng.IntN(40))
		for _, name := range names {
			h, did := mutations[name](rng, clone(good))
			if !did {
				continue
			}
			s, want := verdict(h), naive(h)
			if (s.Violated == 0) != (want == "") {
				t.Fatalf("seed %d, %s: the checker finds %v, the naive one %q", seed, name, s.First, want)
			}
			if want != "" {
				spoilt[name]++
			}
			if name == "a duplicated event" || slices.ContainsFunc(h, func(e ended) bool { return e.Start >= e.End }) {
				continue
			}
			found := searched(t, h)
			if s.Violated == 0 && !found {
				t.Fatalf("seed %d, %s: the checker accepts what porcupine refuses", seed, name)
			}
			o := sorted(h)
			if explained := o != nil && verdict(o).Violated == 0; explained != found {
				t.Fatalf("seed %d, %s: the sorted order is accepted: %v; porcupine finds one: %v", seed, name, explained, found)
			}
			if s.Violated > 0 && found {
				parted++
			}
		}
	}
	if spoilt["nothing"] > 0 {
		t.Errorf("%d good histories are refused", spoilt["nothing"])
	}
	for _, name := range names {
		if name != "nothing" && spoilt[name] == 0 {
			t.Errorf("%q has spoilt nothing", name)
		}
	}
	t.Logf("spoilt %v; %d times another order explains what the given one does not", spoilt, parted)
	if parted == 0 {
		t.Error("no history was spoilt by its order alone")
	}
}

func BenchmarkChecker(b *testing.B) {
	h := generate(rand.New(rand.NewPCG(1, 1)), 64, 8, 50_000)
	n := 0
	for b.Loop() {
		if s := verdict(h); s.Violated > 0 {
			b.Fatal(s.First)
		}
		n += len(h)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
}
