package codegen_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// heavy are the parts of the runtime that no function of generated code is compiled from.
var heavy = regexp.MustCompile(`^github.com/aeon-lang/aeon/(dominator|internal/shard|runtime/(history|lock|order|outbox|sched|state|store))[.]`)

// Go compiles generic code once more in each package that sees a type which uses it. Generated code sees nothing of the locks,
// the outbox and the store behind references, contexts and clients: a small package took five times as long.
func TestGeneratedCodeIsLight(t *testing.T) {
	list, err := exec.Command("go", "list", "-export", "-f", "{{.Export}}", "../sim/kill/ledger", "../sim/door/shop", "../sim/door/depot").Output()
	if err != nil {
		t.Fatal(err)
	}
	for archive := range strings.FieldsSeq(string(list)) {
		symbols, err := exec.Command("go", "tool", "nm", archive).Output()
		if err != nil {
			t.Fatal(err)
		}
		own := 0
		for line := range strings.Lines(string(symbols)) {
			f := strings.Fields(line) // offset, kind, name; an undefined one has no offset
			if len(f) < 3 || !strings.EqualFold(f[1], "t") {
				continue
			}
			name := strings.Join(f[2:], " ")
			at, _, _ := strings.Cut(name, "[")
			if strings.Contains(at, "aeon/sim/") {
				own++
			}
			if heavy.MatchString(at) {
				t.Errorf("%s is compiled again", name)
			}
		}
		if own == 0 {
			t.Errorf("%s has no functions", archive)
		}
	}
}
