package codegen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/lang/diag"
)

// spoiler is a Go package that keeps all that it gets and all that it returns, and overwrites it with each call and at any time.
const spoiler = `package spoiler

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"
)

var kept struct {
	sync.Mutex
	spoil []func()
}

func keep(spoil func()) {
	kept.Lock()
	defer kept.Unlock()
	kept.spoil = append(kept.spoil, spoil)
	for _, s := range kept.spoil[:len(kept.spoil)-1] {
		s()
	}
}

func Vector(xs []int64) []int64 {
	out := append([]int64{}, xs...)
	keep(func() { clear(xs); clear(out) })
	xs[0] = -1
	return out
}

func Nested(xs [][]byte) [][]byte {
	keep(func() {
		for _, x := range xs {
			clear(x)
		}
		xs[0] = nil
	})
	return xs
}

func Map(m map[string][]int) map[int][]string {
	out := map[int][]string{}
	for k, v := range m {
		out[len(v)] = append(out[len(v)], k)
	}
	keep(func() {
		m["spoilt"] = nil
		out[-1] = nil
		for _, v := range out {
			clear(v)
		}
	})
	return out
}

func Pointer(n *int) *int {
	if n == nil {
		return nil
	}
	keep(func() { *n = -1 })
	half := *n / 2
	if half == 0 {
		return nil
	}
	return &half
}

func Same(p *[]uint8) *[]uint8 {
	if p != nil {
		keep(func() { clear(*p) })
	}
	return p
}

func Bytes(b []byte) []byte {
	keep(func() { clear(b) })
	return b
}

func Sum(first uint, more ...int8) uint {
	for _, n := range more {
		first += uint(n)
	}
	return first
}

func Later(t time.Time, d time.Duration) (*time.Time, error) {
	if d < 0 {
		return nil, errors.New("earlier")
	}
	if d == 0 {
		return nil, nil
	}
	t = t.Add(d).In(time.FixedZone("here", 3600))
	return &t, nil
}

func Null(m map[bool]time.Duration) (float64, error) {
	if len(m) == 0 {
		return 1, errors.New("empty")
	}
	return m[true].Seconds(), nil
}

func NilSlice() []string { return nil }

func NilMap() map[uint16]bool { return nil }

func Crash(kind int) error {
	switch kind {
	case 0:
		var m map[string]int
		m["x"] = 1
	case 1:
		panic(errors.New("an error"))
	case 2:
		panic(nil)
	case 3:
		return (*bad)(nil)
	}
	return nil
}

// Gauge has no text, and cannot be copied.
type Gauge struct {
	mu sync.Mutex
	n  int
}

func NewGauge(n int) *Gauge { return &Gauge{n: n} }

func (g *Gauge) Read(xs ...int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.n + len(xs)
}

type Meter interface{ Read(xs ...int) int }

func MeterOf(g *Gauge) Meter {
	if g == nil {
		return nil
	}
	return g
}

// Degree has a text.
type Degree struct{ of int }

func (d Degree) MarshalText() ([]byte, error) {
	if d.of > 999 {
		return nil, errors.New("too hot")
	}
	return []byte(strconv.Itoa(d.of) + "°"), nil
}

func (d *Degree) UnmarshalText(text []byte) (err error) {
	d.of, err = strconv.Atoi(strings.TrimSuffix(string(text), "°"))
	clear(text)
	return err
}

func DegreeOf(n int) Degree { return Degree{n} }

func Hottest(d *Degree, more ...Degree) *Degree {
	for _, m := range more {
		if d == nil || d.of < m.of {
			d = &m
		}
	}
	return d
}

func (d *Degree) Half() (Degree, error) {
	if d.of%2 != 0 {
		return Degree{}, errors.New("odd")
	}
	return Degree{d.of / 2}, nil
}

func ByDegree(m map[Degree]Degree) map[Degree][]*Degree {
	out := map[Degree][]*Degree{}
	for k, v := range m {
		out[v] = append(out[v], &k)
	}
	return out
}

func Half(n int, odd string) (int, error) {
	if n%2 != 0 {
		return 0, errors.New(odd)
	}
	return n / 2, nil
}

func HalfOrNull(n int, odd string) (int, error) { return Half(n, odd) }

type bad struct{ text string }

func (b *bad) Error() string { return b.text }
`

// spoilt is the program that uses it. Its names are as awkward as can be.
const spoilt = `package p

extern go "generated/spoiler" {
	pure vector<int> Vector(vector<int> xs);
	pure vector<bytes> Nested(vector<bytes> xs);
	pure map<int, vector<string>> Map(map<string, vector<int>> m);
	pure int? Pointer(int? n);
	pure bytes? Same(bytes? p);
	pure bytes Bytes(bytes b);
	pure uint64 Sum(uint64 err, vector<int8> ret);
	pure time? Later(time spoiler, duration aeonrt) error;
	// Null has a comment.
	pure float? Null(map<bool, duration> v);
	pure vector<string> NilSlice();
	pure map<uint16, bool> NilMap();
	ro string? Crash(int func);
	type Gauge;
	// Meter is an interface.
	type Meter;
	type Degree;
	pure Gauge NewGauge(int aeonrt);
	pure int Gauge.Read(vector<int> spoiler);
	pure Meter? MeterOf(Gauge? self);
	pure int Meter.Read(vector<int> xs);
	pure Degree DegreeOf(int n);
	pure Degree Hottest(Degree? d, vector<Degree> more);
	pure Degree? Degree.Half();
	pure map<Degree, vector<Degree>> ByDegree(map<Degree, Degree> m);
	pure int Half(int ret, string err) error;
	pure int? HalfOrNull(int err, string ret);
}

class GaugeRead { int n; }
int read(Gauge g, Meter? m) { return g.Read([1, 2]) * 10 + (m?.Read([]) ?? 7); }

extern go "unicode/utf8" { pure bool ValidString(string s); }
extern go "html" { pure string EscapeString(string s); }
extern go "html/template" { pure string HTMLEscapeString(string s); }
extern go "text/template" { pure string JSEscapeString(string s); }

class html { int n; }

actorclass A {
	vector<int> xs = [1, 2, 3];
	vector<int> ys;
	vector<bytes> nested = [bytes("ab"), bytes("cd")];
	map<string, vector<int>> m;
	map<int, vector<string>> back;
	int? n = 5;
	int? half;
	bytes? some = bytes("some");
	bytes? same;
	bytes plain = bytes("plain");

	A() { m["one"] = [7]; m["two"] = [8, 9]; }

	void touch() {
		ys = Vector(xs);
		vector<bytes> again = Nested(nested);
		again[0].push(33);
		back = Map(m);
		half = Pointer(n);
		same = Same(some);
		Bytes(plain);
	}
	ro string show() { return "{xs} {ys} {nested} {m} {back} {n} {half} {some} {same} {plain}"; }
	int crash(int kind) {
		n = 99;
		string? text = Crash(kind);
		return len(text ?? "");
	}
}

void main() {
	A a = new A();
	await event a.touch();
	print(await event a.show());
	await event a.touch();
	print(await event a.show());
	for (int i = 0 upto 5) {
		try { print(await event a.crash(i)); } catch (string why) { print(why); }
		print(await event a.show());
	}
	print(Sum(1, [2, 3]), Sum(4, []), Later(timeOf(2026, 1, 2, 3, 4, 5)!, 1s), Later(time(0), 0s));
	try { Later(time(0), -1s); } catch (string why) { print(why); }
	map<bool, duration> none = new map<bool, duration>();
	print(Null(none), NilSlice(), NilMap(), ValidString("a"), EscapeString("<"), HTMLEscapeString(">"), JSEscapeString("'"));
	none[true] = 1500ms;
	print(Null(none));
	Gauge g = NewGauge(3);
	Meter? m = MeterOf(g);
	print(read(g, m), read(g, MeterOf(null)), read(NewGauge(1), null), m!.Read([5]), new GaugeRead(1));
	Degree d = DegreeOf(8);
	print(d, d.Half(), d.Half()?.Half()?.Half()?.Half(), Hottest(null, [d, DegreeOf(9)]), Hottest(d, []), ByDegree([d: d]), d == DegreeOf(8));
	try { print(Hottest(null, [])); } catch (string why) { print(why); }
	try { print(DegreeOf(1000)); } catch (string why) { print(why); }
	try { print(parseJson<Degree>("\"x\"")!.Half()); } catch (string why) { print(why); }
	map<Degree, Degree> twice = [parseJson<Degree>("\"8\"")!: d, d: d];
	try { print(len(ByDegree(twice))); } catch (string why) { print(len(twice), why); }
	print(Half(10, "odd"), HalfOrNull(10, "odd"), HalfOrNull(11, "odd"));
	try { print(Half(11, "odd")); } catch (string why) { print(why); }
}
`

const afterSpoiling = `[1, 2, 3] [1, 2, 3] [ab, cd] {one: [7], two: [8, 9]} {1: [one], 2: [two]} 5 2 some some plain
[1, 2, 3] [1, 2, 3] [ab, cd] {one: [7], two: [8, 9]} {1: [one], 2: [two]} 5 2 some some plain
`

// Whatever a Go function does with its arguments and results, then or later, no actor changes. The package is one of the user's
// module, for which aeonc writes code that is read, and is vetted.
func TestGoFunctionsChangeNoActor(t *testing.T) {
	m := newModule(t)
	m.write(t, "spoiler/spoiler.go", spoiler)
	source := filepath.Join(m.dir, "p.aeon")
	if err := os.WriteFile(source, []byte(spoilt), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := gobuild.NewLoader().Load(load.Unit{Dir: m.dir, Files: []string{source}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range p.Diagnostics {
		if d.Severity == diag.Error {
			t.Fatal(d, d.Help)
		}
	}
	m.addProgram(t, "plain", p, false)
	m.addProgram(t, "mapped", p, true)
	m.write(t, "run/main.go", `package main

import (
	"os"

	"generated/mapped"
	plain "generated/plain"
	aeonrt "github.com/aeon-lang/aeon/runtime"
)

func main() {
	if os.Args[0] == "plain" {
		aeonrt.Main(&plain.AeonPackage)
	}
	aeonrt.Main(&p.AeonPackage)
}
`)
	m.run(t, "vet", "./plain", "./mapped")
	m.run(t, "build", "-o", "both", "./run")
	var printed [2]string
	for i, name := range []string{"plain", "mapped"} {
		out, err := (&exec.Cmd{Path: filepath.Join(m.dir, "both"), Args: []string{name}}).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		printed[i] = string(out)
	}
	want := printed[0]
	if got := printed[1]; got != want {
		t.Errorf("with positions of the source the program prints\n%s\nwithout\n%s", got, want)
	}
	const crashes = "panic in the Go function spoiler.Crash: "
	for i, text := range []string{afterSpoiling, crashes + "assignment to entry in nil map\n", crashes + "an error\n", crashes + "panic called with nil argument\n",
		crashes + "runtime error: invalid memory address or nil pointer dereference\n", " 99 2 some some plain\n6 4 2026-01-02T03:04:06Z null\nearlier\nnull [] {} true &lt; &gt; \\'\n1.5\n" +
			"53 57 37 4 GaugeRead{n: 1}\n8° 4° null 9° 8° {8°: [8°]} true\na spoiler.Degree from Go is nil\na spoiler.Degree from Go has no text: too hot\n" +
			"\"x\" is no spoiler.Degree: strconv.Atoi: parsing \"x\": invalid syntax\n2 two keys of a map are one in Go\n5 5 null\nodd\n"} {
		if !strings.Contains(want, text) {
			t.Errorf("text %d is missing, %q, in\n%s", i, text, want)
		}
	}
	if n := strings.Count(want, afterSpoiling[:strings.IndexByte(afterSpoiling, '\n')]); n != 6 {
		t.Errorf("the state is right %d times, not 6:\n%s", n, want)
	}
}
