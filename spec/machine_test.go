package spec_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/spec"
	"github.com/aeon-lang/aeon/spec/generate"
)

// TestStatesAreKept walks at random through runs, keeping states and returning to them. What
// follows a state that was returned to is what follows it in a run from the start.
func TestStatesAreKept(t *testing.T) {
	returns := 0
	for seed := range uint64(25) {
		p := check(t, generate.Program(seed, generate.Concurrent))
		e := entryOf(p)
		o := spec.Options{Observe: seed%2 == 0}
		m := p.Start(e, o)
		rng := rand.New(rand.NewPCG(seed, 3))
		type kept struct {
			state   spec.Snapshot
			choices []int
			digest  [2]uint64
		}
		list := []kept{{m.Save(), nil, m.Digest()}}
		for range 40 {
			k := list[rng.IntN(len(list))]
			m.Restore(k.state)
			if m.Digest() != k.digest {
				t.Fatalf("seed %d: a state has changed while it was kept", seed)
			}
			choices := append([]int(nil), k.choices...)
			for range 1 + rng.IntN(6) {
				options := m.Options()
				if len(options) == 0 {
					break
				}
				i := rng.IntN(len(options))
				choices = append(choices, i)
				m.Do(options[i])
			}
			list = append(list, kept{m.Save(), choices, m.Digest()})
			returns++
		}
		for _, k := range list {
			fresh := p.Start(e, o)
			for _, i := range k.choices {
				fresh.Do(fresh.Options()[i])
			}
			var got, want spec.Outcome
			m.Restore(k.state)
			m.Fill(&got)
			fresh.Fill(&want)
			if fresh.Digest() != k.digest || got.String() != want.String() {
				t.Fatalf("seed %d: the choices %v lead to\n%s\nfrom the start, and by way of kept states to\n%s", seed, k.choices, want.String(), got.String())
			}
			fresh.Close()
		}
		m.Close()
	}
	if returns < 1000 {
		t.Errorf("only %d states were returned to", returns)
	}
}

// In main, time passes only when nothing else can happen, or at any moment with FreeTime.
func TestFreeTime(t *testing.T) {
	p := check(t, `package p
actorclass A {
	int n = 0;
	void start() { event this.tick() after 1ms; }
	void tick() { n = 1; }
	ro int get() { return n; }
}
void main() {
	A a = new A();
	await event a.start();
	print(await event a.get());
	sleep(2ms);
	print(await event a.get());
}
`)
	e, _ := p.Main()
	for free, want := range map[bool]string{false: "0 1", true: "0 0, 0 1, 1 1"} {
		seen := map[string]bool{}
		for seed := range uint64(25) {
			out := p.Run(e, spec.NewRandom(seed), spec.Options{FreeTime: free})
			seen[strings.Join(strings.Fields(out.Output), " ")] = true
		}
		var got []string
		for _, s := range []string{"0 0", "0 1", "1 1"} {
			if seen[s] {
				got = append(got, s)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("free time %t: main prints %v, want %s", free, got, want)
		}
	}
}
