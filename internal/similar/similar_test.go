package similar

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	for _, tt := range []struct{ name, candidates, want string }{
		{"chekc", "check clean run", "check"},
		{"grahp", "gen graph", "graph"},
		{"Withdraw", "withdraw deposit", "withdraw"},
		{"tset", "test run", "test"},
		{"tset", "test set", "set"}, // equally near: the first in order
		{"xyz", "check run", ""},
		{"check", "check", ""},
		{"ab", "b a", "a"},
		{strings.Repeat("x", 65), strings.Repeat("x", 64), ""},
	} {
		got := Nearest(tt.name, func(yield func(string)) {
			for c := range strings.FieldsSeq(tt.candidates) {
				yield(c)
			}
		})
		if got != tt.want {
			t.Errorf("%q among %q: %q, want %q", tt.name, tt.candidates, got, tt.want)
		}
	}
}

func TestDistanceIsADistance(t *testing.T) {
	word := rapid.StringMatching("[abc]{0,8}")
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b, 100)
		if d != distance(b, a, 100) || (d == 0) != (a == b) || d > max(len(a), len(b)) {
			t.Fatalf("distance %d from %q to %q, %d back", d, a, b, distance(b, a, 100))
		}
		if limited := distance(a, b, 2); d <= 2 && limited != d || d > 2 && limited <= 2 {
			t.Fatalf("with limit 2 the distance %d from %q to %q is %d", d, a, b, limited)
		}
	})
}
