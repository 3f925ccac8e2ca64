package differ

import (
	"maps"
	"slices"
	"testing"

	"github.com/aeon-lang/aeon/spec"
	"github.com/aeon-lang/aeon/spec/explore"
)

const racing = `package generated

actorclass A {
	int n = 0;

	void once() {
		require(n == 0, "not first");
	}

	void bump() {
		n = 1;
	}
}

actorclass B {
	void poke(yield A a) {
		event a.bump();
	}
}

test "generated" {
	A a = new A();
	B b = new B();
	event b.poke(a);
	await event a.once();
}
`

// The walk through all orders catches an explorer that loses an outcome, one that finds a failure where none is, and
// one that says that no order fails.
func TestTheWalkCatchesTheExplorer(t *testing.T) {
	judge := func(text string, change func(outcomes map[string]*spec.Outcome), search func(*spec.Program, spec.Entry, explore.Config) *explore.Result) Result {
		k := Case{Name: "racing", Text: text}
		p, diags := k.parse()
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		program := spec.New(p.Units[0])
		entry := program.Tests()[0]
		outcomes, _ := explore.Outcomes(program, entry, explore.Config{})
		change(outcomes)
		c, r := &Comparer{StatesMax: 1000, StepsMax: 1000, search: search}, Result{Case: k}
		c.naive(&r, program, entry, outcomes)
		return r
	}
	nothing := func(map[string]*spec.Outcome) {}
	complete := func(*spec.Program, spec.Entry, explore.Config) *explore.Result {
		return &explore.Result{Complete: true}
	}
	failing := func(p *spec.Program, e spec.Entry, _ explore.Config) *explore.Result {
		return &explore.Result{Failing: p.Run(e, spec.First{}, spec.Options{})}
	}
	sound := judge(racing, nothing, nil)
	if sound.Kind != None || !sound.Walked {
		t.Errorf("the explorer is sound, and the walk says %+v", sound)
	}
	for name, r := range map[string]Result{
		"an outcome is lost": judge(racing, func(outcomes map[string]*spec.Outcome) {
			delete(outcomes, slices.Sorted(maps.Keys(outcomes))[0])
		}, nil),
		"a failing order is not found": judge(racing, nothing, complete),
		"an order fails that does not": judge("package generated\n\ntest \"generated\" {\n\tprint(1);\n}\n", nothing, failing),
	} {
		if r.Kind != Explores {
			t.Errorf("%s: the walk says %q", name, r.Kind)
		}
	}
}
