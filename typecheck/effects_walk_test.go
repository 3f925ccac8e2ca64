package typecheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang/diag"
)

// A reference reaches a local also after more rounds than the walk makes: here it comes nearer by one local a round.
func TestReferencesHandedOnFar(t *testing.T) {
	for _, handed := range []int{3, roundsMax - 1, roundsMax, 3 * roundsMax} {
		var b strings.Builder
		b.WriteString("package p\nactorclass Leaf { int n = 0; void add() { n++; } }\nactorclass A { void m(Leaf x, Leaf y, int n) {\n")
		for i := range handed + 1 {
			fmt.Fprintf(&b, "Leaf v%d = x;\n", i)
		}
		b.WriteString("for (int i = 0 upto n) {\nv0.add();\n")
		for i := range handed {
			fmt.Fprintf(&b, "v%d = v%d;\n", i, i+1)
		}
		fmt.Fprintf(&b, "v%d = y;\n} } }\n", handed)
		info, diags := checkProgram(t, b.String())
		if diag.HasErrors(diags) {
			t.Fatal(show(diags))
		}
		m := info.Package.Lookup("A").(*Class).Methods[0]
		writes := func(x Access) bool { return x.Path.Param == m.Params[1] && x.Mode == Write && !x.Reach }
		if !slices.ContainsFunc(m.Effects.Footprint, writes) {
			t.Errorf("%d locals: the footprint has no y:W:\n%s", handed, m.Effects.text(m))
		}
	}
}
