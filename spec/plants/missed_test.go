package plants

import (
	"slices"
	"testing"
)

// A bug that a suite shows is caught, in the program of all bugs and alone. What changes nothing is missed in both, and so is a bug whose suite runs no test.
func TestWhatNoSuiteShowsIsMissed(t *testing.T) {
	const file, suite, noTest = "internal/smallset/smallset.go", "./internal/smallset", "./internal/smallset -run TestNone"
	set := bug("an element is not found", file, "s.list[i] == x", "s.list[i] == x && i > 0", suite, noTest)
	harmless := bug("the operands change places", file, "s.list[i] == x", "x == s.list[i]", suite)
	all, err := newSchema([]plant{set, harmless})
	if err != nil {
		t.Fatal(err)
	}
	all.write(t, t.TempDir())
	for _, c := range []struct {
		plant
		caught, left []string
	}{
		{set, []string{suite + ": TestSet"}, []string{noTest}},
		{harmless, nil, []string{suite}},
	} {
		if _, ok := all.numbers[c.name]; !ok {
			t.Errorf("%s: not in the program of all bugs", c.name)
		}
		for where, run := range map[string]tester{"one of all": all.tester(c.name), "alone": c.tester(t)} {
			if by, left := c.caughtWith(t, c.by, run); !slices.Equal(by, c.caught) || !slices.Equal(left, c.left) {
				t.Errorf("%s, %s: caught by %q, missed by %q, want %q and %q", c.name, where, by, left, c.caught, c.left)
			}
		}
	}
}
