package spec_test

import (
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/spec"
)

// Steps are shown on one line each, whatever the arguments hold.
func TestStepsReadWell(t *testing.T) {
	p := check(t, `package p
class Note { string text; int n; }
actorclass A {
	void take(Note n, string s, A? a, vector<string> v, float f) { print(n.n, s.size(), a == null, v.size(), f); }
}
test "t" {
	A a = actor<A>("x");
	A b = new A();
	await event a.take(new Note("two\nlines \"q\"", 1), "a\tb", b, ["ä"], 0.5);
	await event b.take(new Note("üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü", 2), "", null, [], 1e21);
	delete b;
}
`)
	out := p.Run(p.Tests()[0], spec.First{}, spec.Options{})
	want := []string{
		`new A()`,
		`A("x").take(Note{text: two\nlines "q", n: 1}, "a\tb", A#1, [ä], 0.5)`,
		`A#1.take(Note{text: ` + strings.Repeat("ü", 29) + `…, "", null, [], 1e+21)`,
		`delete A#1`,
	}
	if got := strings.Join(out.Steps, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("steps\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
