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
	{"string s, int n, float x, time t", "json(s), json(n), json(x), json(t), json([s: [x]]), json([t: duration(n)]), json([bytes(s): [parseInt(s), n]]), parseJson<string>(json(s))! == s, parseJson<float>(json(x)), parseJson<duration>(json(duration(n)))"},
	{"string s, string t", "parseJson<map<string, int>>(\"\\{{json(s)}: 1, {json(t)}: 2\\}\"), parseJson<set<string>>(json([s, t]))"},
	{"json s", "s, parseJson<int>(s), parseJson<uint8>(s), parseJson<uint64>(s), parseJson<float>(s), parseJson<string>(s), parseJson<time>(s), parseJson<duration>(s), parseJson<bool>(s), parseJson<bytes>(s), parseJson<Hue>(s)"},
	{"json s", "parseJson<vector<float?>>(s), parseJson<set<int>>(s), parseJson<set<string>>(s), parseJson<map<int8, bool?>>(s), parseJson<map<bytes, vector<int>>>(s), parseJson<Tree>(s)"},
	{"json s", "parseJson<Tree>(\"\\{\\\"hue\\\": {s}, \\\"kids\\\": {s}\\}\"), parseJson<map<bool, Tree>>(\"\\{\\\"true\\\": {s}\\}\"), parseJson<map<string, map<Hue, int>>>(s)"},
}

// jsonParts are pieces of JSON, and of what is none.
var jsonParts = []string{"null", "true", "0", "-1", "1.5e2", "127", "18446744073709551615", "1e999", `"a"`, `"RED"`, `"1"`, `" 1"`, `"NaN"`, `"-Infinity"`, `"1m30s"`, `"YQ=="`, `"YR\n=="`, `"2026-11-23T09:00:00Z"`, `"\u00e9\udcff"`, `"\ud83d\ude00"`,
	`"\ud83d\u0041"`, `"\ud83d\udc80"`, "\"\xff\"", "\"\x7f\"", "\"\x01\"", `"\/\q"`, "[]", "{}", `{"hue":"RED","kids":[]}`, `{"kids":[{"hue":"BLUE","kids":[]}],"hue":"RED","note":null}`, "[", "]", "{", "}", ",", ":", " ", "\n", "\v", "01", "-", "nul", `"`, "\x00"}

// drawnJSON returns JSON nested at most depth deep, most of the time.
func drawnJSON(rng *rand.Rand, depth int) string {
	n := rng.IntN(4)
	switch {
	case depth > 0 && n == 0:
		parts := make([]string, rng.IntN(4))
		for i := range parts {
			parts[i] = drawnJSON(rng, depth-1)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case depth > 0 && n == 1:
		parts := make([]string, rng.IntN(4))
		for i := range parts {
			parts[i] = pick(rng, []string{`"hue"`, `"kids"`, `"note"`, `"RED"`, `"1"`, `"1"`, `"-0"`, `"YQ=="`, `"true"`, `"\u0061"`, "a"}) + ":" + drawnJSON(rng, depth-1)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return pick(rng, jsonParts)
}

// asLiteral returns the literal of a text.
func asLiteral(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || strings.IndexByte(`"\{`, c) >= 0 {
			fmt.Fprintf(&b, `\x%02x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
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
	case "json":
		text := drawnJSON(rng, 3)
		if at := rng.IntN(len(text)); rng.IntN(4) == 0 {
			text = text[:at] + pick(rng, jsonParts) + text[at+rng.IntN(2):]
		}
		return asLiteral(text)
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
var kinds = strings.NewReplacer("number ", "string ", "date ", "string ", "json ", "string ", "year ", "int ", "part ", "int ")

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
	return "package generated\n\nenum Hue { RED, BLUE }\n\nclass Tree {\n\tHue hue;\n\tvector<Tree> kids;\n\tstring? note;\n}\n\n" + functions.String() + "test \"generated\" {\n\tfloat zero = 0.0;\n" + calls.String() + "}\n"
}

// TestLibrary compares the functions of strings, numbers, times and JSON on hostile arguments, in as many programs as go into one executable.
func TestLibrary(t *testing.T) {
	var cases []differ.Case
	for seed := *first; seed < *first+uint64(min(max(*programs, 5), chunk)); seed++ {
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
