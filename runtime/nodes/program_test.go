package nodes_test

import (
	"bytes"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/aeon-lang/aeon/examples/bank"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// simulated runs transfers of a bank on stores, in an order that a seed chooses, and returns which of them were refused.
func simulated(t *testing.T, stores int, seed uint64) (refused string, counts across.Counts) {
	t.Helper()
	var out bytes.Buffer
	c, err := nodes.Program(aeonrt.Config{Seed: seed, Scheduled: true, Stdout: &out}, &bank.AeonPackage, stores, func() (store.Engine, error) { return memengine.New(), nil })
	if err != nil {
		t.Fatal(err)
	}
	b := opened(t, c)
	cl := c.System(0).Client()
	for i := range 40 {
		if err := b.Transfer(cl, owner(i%5), owner(i*7%accounts), int64(deposit/(1+i%3))); err != nil {
			refused += fmt.Sprintln(i, err)
		}
	}
	if sum, err := b.Total(cl); err != nil || sum != accounts*deposit {
		t.Errorf("seed %d: there are %d (%v)", seed, sum, err)
	}
	counts = c.Counts()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	return refused, counts
}

// A program does on several stores what it does on one, whatever the seed; a seed fixes all that happens between them.
func TestASeedRepeatsASimulation(t *testing.T) {
	defer goleak.VerifyNone(t)
	want, alone := simulated(t, 1, 1)
	if want == "" || alone != (across.Counts{}) {
		t.Errorf("on one store: refused %q, and %+v", want, alone)
	}
	seen := map[across.Counts]bool{}
	const seeds = 10
	for seed := range uint64(seeds) {
		refused, counts := simulated(t, 3, seed)
		if refused != want {
			t.Errorf("seed %d: refused\n%s, and on one store\n%s", seed, refused, want)
		}
		if again, same := simulated(t, 3, seed); again != refused || same != counts {
			t.Errorf("seed %d: at first %+v, then %+v", seed, counts, same)
		}
		if counts.Committed == 0 || counts.Calls == 0 || counts.Prepared == 0 {
			t.Errorf("seed %d: too little has happened over several stores: %+v", seed, counts)
		}
		seen[counts] = true
	}
	if len(seen) < seeds/2 {
		t.Errorf("%d seeds have had only %d courses", seeds, len(seen))
	}
}
