package generate_test

import (
	"testing"

	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/spec/generate"
)

// rulesMin is how many rules the catalogue has at least.
const rulesMin = 60

// TestWrongProgramsAreRejected breaks each rule in many programs: the checker reports that and nothing else, in its line.
func TestWrongProgramsAreRejected(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(*wrong) {
		text := program(seed, generate.Concurrent)
		for _, w := range generate.Break(text, seed) {
			if seen[w.Rule] >= 25 {
				continue
			}
			seen[w.Rule]++
			var errors []diag.Diagnostic
			for _, d := range check(w.Text) {
				if d.Severity == diag.Error {
					errors = append(errors, d)
				}
			}
			if len(errors) != 1 || errors[0].Code != w.Code || errors[0].Span.Pos().Line() != w.Line {
				t.Errorf("seed %d, %s: got %v, want one error %s in line %d\n%s", seed, w.Rule, errors, w.Code, w.Line, w.Text)
			}
		}
	}
	total := 0
	for _, r := range generate.Rules() {
		if seen[r] < 3 {
			t.Errorf("the rule %q was broken %d times only", r, seen[r])
		}
		total += seen[r]
	}
	if n := len(generate.Rules()); n < rulesMin || len(seen) != n {
		t.Errorf("%d rules of %d were broken, and there should be at least %d", len(seen), n, rulesMin)
	}
	t.Logf("%d wrong programs of %d kinds", total, len(seen))
}
