package differ_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/spec"
	"github.com/aeon-lang/aeon/spec/batch"
)

// draws prints random(), eventid() and key() of every kind of code whose numbers depend on no order of events.
const draws = `package draws

actorclass Drawer {
	yield Drawer? next = null;
	Hand left;
	Hand right;
	float born;

	Drawer() {
		left = new Hand();
		right = new Hand();
		born = random();
	}

	string draw(string what) { return "{what}: {eventid()} {key()} {random()} {random()}"; }
	string more() { return draw("method") + draw("helper {helper()}") + left.draw() + " {born}"; }
	string branches() {
		float before = random();
		async left.keep();
		async right.keep();
		async left.keep();
		return "{before} {random()}";
	}
	string kept() { return "{left.kept()} {right.kept()}"; }
	void issue(int n) {
		print(draw("sub-event {n}"));
		if (n > 0) {
			event this.issue(n - 1);
			event this.issue(0);
			Drawer d = actor<Drawer>("named {n}");
			event d.issue(0);
		}
	}
	void steps(int n) {
		print(draw("step {n}"));
		if (n > 0) {
			tail this.steps(n - 1);
		}
	}
	void fails() { abort "{eventid()} {random()}"; }
}

actorclass Hand {
	vector<float> had = [];
	string draw() { return "{eventid()} {key()} {random()}"; }
	void keep() {
		had.push(random());
		had.push(helper());
	}
	vector<float> kept() { return had; }
}

float helper() { return random() - random(); }

test "draws" {
	print(random(), helper());
	Drawer named = actor<Drawer>("a\xff");
	Drawer made = new Drawer();
	for (int round = 0; round < 3; round++) {
		for (Drawer d : [named, made]) {
			print(await event d.draw("event"));
			print(await event d.more());
			print(await event d.branches());
			print(await event d.kept());
			await event d.issue(2);
			settle();
			await event d.steps(3);
			try {
				await event d.fails();
			} catch (string why) {
				print(why);
			}
			print(random());
		}
	}
}
`

// sorted brings lines in an order that does not depend on that of the sub-events which print them.
func sorted(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

// What a program draws, and the ids of its events, follow from the seed of a run: the interpreter and the compiled program have the same. Generated
// programs compare these with themselves only, as their outcomes are those of all seeds. Not compared are the numbers of what timers and
// callbacks issue, which depend on when these run (spec/decisions.md).
func TestDrawsAreThoseOfTheSeed(t *testing.T) {
	p, diags := batch.ParseAll("draws", []batch.Source{{Package: "draws", File: "draws.aeon", Text: []byte(draws)}})
	if diag.HasErrors(diags) {
		t.Fatal(diags)
	}
	compiler := batch.Compiler{Once: true}
	x, err := compiler.Compile(t.Context(), []batch.Program{p})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := x.Remove(); err != nil {
			t.Error(err)
		}
	}()
	jobs := x.Jobs(0, 1, 2, 1<<63, 1<<64-1)
	for i := range jobs {
		jobs[i].Simulated = true
	}
	outcomes, err := x.Run(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	interpreted := spec.New(p.Units[0])
	seen := map[string]bool{}
	for _, o := range outcomes {
		got := sorted(batch.Text(&o))
		if want := sorted(interpreted.Run(interpreted.Tests()[0], spec.First{}, spec.Options{Seed: o.Job.Seed}).String()); got != want {
			t.Errorf("seed %d, compiled:\n%s\ninterpreted:\n%s", o.Job.Seed, got, want)
		}
		seen[got] = true
	}
	if len(seen) != len(jobs) {
		t.Errorf("%d seeds have %d outcomes", len(jobs), len(seen))
	}
}
