package differ_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/spec/differ"
)

// libraryPrograms is how many programs TestLibrary compares.
const libraryPrograms = 6

// hostileStrings are pieces of strings: text, letters whose case has another length, and bytes that are no text.
var hostileStrings = []string{`a`, `B`, ` `, `\t`, `-`, `12`, `é`, `É`, `ß`, `\u0130`, `\u01c5`, `\u2003`, `\u0085`, `\xc3`, `\xa9`, `\x85`, `\xff`, `\xed\xa0\x80`, `\ufffd`, `Ⱥ`, `\x00`}

// libraryCalls are functions that print what a method makes of their arguments, or how it fails.
var libraryCalls = []struct{ params, prints string }{
	{"string s", "s.trim(), s.lower(), s.upper(), s.parseInt(), s.split(\"\").size()"},
	{"string s, string t", "s.find(t), s.startsWith(t), s.endsWith(t), s.contains(t), s.split(t), s.replace(t, \"-\"), s.replace(\"\", t), [s, t, s].join(t)"},
	{"string s, int n", "s.repeat(n % 50)"},
	{"string s, int n", "len(s.repeat(n))"},
}

// drawn returns a random literal of a type of the language.
func drawn(rng *rand.Rand, of string) string {
	switch of {
	case "string":
		var b strings.Builder
		for range rng.IntN(7) {
			b.WriteString(hostileStrings[rng.IntN(len(hostileStrings))])
		}
		return `"` + b.String() + `"`
	case "int":
		return fmt.Sprint(int64(rng.Uint64()) >> rng.IntN(64))
	}
	panic("no literals of " + of)
}

// libraryProgram calls each of libraryCalls with many arguments.
func libraryProgram(seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 0))
	var functions, calls strings.Builder
	for i, c := range libraryCalls {
		fmt.Fprintf(&functions, "void call%d(%s) {\n\ttry {\n\t\tprint(%s);\n\t} catch (string why) {\n\t\tprint(why);\n\t}\n}\n\n", i, c.params, c.prints)
		for range 60 {
			var args []string
			for p := range strings.SplitSeq(c.params, ", ") {
				args = append(args, drawn(rng, strings.Fields(p)[0]))
			}
			fmt.Fprintf(&calls, "\tcall%d(%s);\n", i, strings.Join(args, ", "))
		}
	}
	return "package generated\n\n" + functions.String() + "test \"generated\" {\n" + calls.String() + "}\n"
}

// TestLibrary compares the methods of strings, numbers and times on hostile arguments.
func TestLibrary(t *testing.T) {
	var cases []differ.Case
	for seed := range uint64(libraryPrograms) {
		cases = append(cases, differ.Case{Name: fmt.Sprintf("library-%d", seed), Text: libraryProgram(seed), Single: true})
	}
	c := newComparer()
	c.Seeds = c.Seeds[:1]
	results, err := c.Compare(t.Context(), cases)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Kind != differ.None || r.Runs == 0 || r.Undecided > 0 {
			t.Errorf("%s: %s: %s\n%d runs, %d undecided", r.Name, r.Kind, r.Detail, r.Runs, r.Undecided)
		}
	}
}
