package differ_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/spec/differ"
)

// hostileStrings are pieces of strings: text, letters whose case has another length, and bytes that are no text.
var hostileStrings = []string{`a`, `B`, ` `, `\t`, `-`, `12`, `é`, `É`, `ß`, `\u0130`, `\u01c5`, `\u2003`, `\u0085`, `\xc3`, `\xa9`, `\x85`, `\xff`, `\xed\xa0\x80`, `\ufffd`, `Ⱥ`, `\x00`}

// numberParts are pieces of numbers, and of what other languages take for one.
var numberParts = []string{"1", "23", "004", ".", "-", "+", "e", "E5", "e-3", "e308", "e999999999999", ".5", "1e", "_", "0x", "x1p", "inf", "Inf", "NaN", "9007199254740993", "9223372036854775807", "9223372036854775808", " ", "\\x00", "٣"}

func pick(rng *rand.Rand, list []string) string { return list[rng.IntN(len(list))] }

// libraryCalls are functions that print what a method makes of their arguments, or how it fails.
var libraryCalls = []struct{ params, prints string }{
	{"string s", "s.trim(), s.lower(), s.upper(), s.parseInt(), s.split(\"\").size()"},
	{"string s, string t", "s.find(t), s.startsWith(t), s.endsWith(t), s.contains(t), s.split(t), s.replace(t, \"-\"), s.replace(\"\", t), [s, t, s].join(t)"},
	{"string s, int n", "s.repeat(n % 50)"},
	{"string s, int n", "len(s.repeat(n))"},
	{"string s, string t, int n", "s.split(t).reversed(), s.split(\"\").limit(n & 3), s.split(\"\").reversed().limit(n).join(t), [s: n, t: 1, \"\": 2]"},
	{"number s", "parseInt(s), parseFloat(s), s.parseFloat()"},
	{"date s", "s, parseTime(s), s.parseTime()"},
	{"time t", "t, parseTime(str(t)) == t, t.year(), t.month(), t.day(), t.hour(), t.minute(), t.second(), t.weekday(), timeOf(t.year(), t.month(), t.day(), t.hour(), t.minute(), t.second())"},
	{"year y, part m, part d, part h, part n, part s", "y, m, d, h, n, s, timeOf(y, m, d, h, n, s)"},
	{"float x, int n", "x, parseFloat(str(x)), x.format(n & 63), x.format(n)"},
	{"int x, int n, int m", "x.format(2 + (n & 31), m & 63), uint8(x & 255).format(10, 3), (uint64(x & 9223372036854775807) * 2 + 1).format(16, 0), int8(x & 127).format(n, m)"},
}

// drawn returns a random literal of a type of the language.
func drawn(rng *rand.Rand, of string) string {
	switch of {
	case "string":
		var b strings.Builder
		for range rng.IntN(7) {
			b.WriteString(pick(rng, hostileStrings))
		}
		return `"` + b.String() + `"`
	case "number":
		var b strings.Builder
		for range 1 + rng.IntN(4) {
			b.WriteString(pick(rng, numberParts))
		}
		return `"` + b.String() + `"`
	case "date":
		date := time.Unix(0, int64(rng.Uint64())).UTC().Format(time.RFC3339Nano)
		if rng.IntN(2) == 0 {
			date = fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d", 1676+rng.IntN(588), rng.IntN(14), rng.IntN(33), rng.IntN(25), rng.IntN(61), rng.IntN(61)) +
				pick(rng, []string{"", ".", ".1", ",1", ".999999999999"}) + pick(rng, []string{"Z", "z", "", "+00:00", "-23:59", "+24:00", "+05:60", "-5:00"})
		}
		if at := rng.IntN(len(date)); rng.IntN(3) == 0 {
			date = date[:at] + pick(rng, []string{"", "0", "9", " ", "-", `\xff`}) + date[at+rng.IntN(2):]
		}
		return `"` + date + `"`
	case "time":
		return fmt.Sprintf("time(%d)", int64(rng.Uint64())>>rng.IntN(40))
	case "year":
		return fmt.Sprint(1675 + rng.IntN(590))
	case "part":
		return pick(rng, []string{"1", "2", "12", "23", "28", "29", "30", "31", "59", "0", "13", "60", "-1", "9223372036854775807"}[:4+rng.IntN(11)])
	case "float":
		if rng.IntN(4) == 0 {
			return pick(rng, []string{"0.0 / zero", "1.0 / zero", "-1.0 / zero", "-zero", "5e-324", "0.5", "2.5", "1.005", "-0.004", "1.7976931348623157e308"})
		}
		return strconv.FormatFloat(math.Float64frombits(uint64(rng.IntN(2))<<63|uint64(rng.IntN(2047))<<52|rng.Uint64()>>12), 'g', -1, 64)
	case "int":
		return fmt.Sprint(int64(rng.Uint64()) >> rng.IntN(64))
	}
	panic("no literals of " + of)
}

// kinds gives the types of what drawn has other names for.
var kinds = strings.NewReplacer("number ", "string ", "date ", "string ", "year ", "int ", "part ", "int ")

// libraryProgram calls each of libraryCalls with many arguments.
func libraryProgram(seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 0))
	var functions, calls strings.Builder
	for i, c := range libraryCalls {
		fmt.Fprintf(&functions, "void call%d(%s) {\n\ttry {\n\t\tprint(%s);\n\t} catch (string why) {\n\t\tprint(why);\n\t}\n}\n\n", i, kinds.Replace(c.params), c.prints)
		for range 60 {
			var args []string
			for p := range strings.SplitSeq(c.params, ", ") {
				args = append(args, drawn(rng, strings.Fields(p)[0]))
			}
			fmt.Fprintf(&calls, "\tcall%d(%s);\n", i, strings.Join(args, ", "))
		}
	}
	return "package generated\n\n" + functions.String() + "test \"generated\" {\n\tfloat zero = 0.0;\n" + calls.String() + "}\n"
}

// TestLibrary compares the methods of strings, numbers and times on hostile arguments, in as many programs as go into one executable.
func TestLibrary(t *testing.T) {
	var cases []differ.Case
	for seed := *first; seed < *first+uint64(min(*programs, chunk)); seed++ {
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
