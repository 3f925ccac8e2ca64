package spec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/gocall/serve"
	"github.com/aeon-lang/aeon/lang"
	aeon "github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/spec"
	"github.com/aeon-lang/aeon/typecheck"
)

// inProcess are Go functions of the test itself.
type inProcess map[string]any

// Call implements spec.GoFunctions.
func (f inProcess) Call(req serve.Request) ([]byte, error) {
	if f[req.Func] == nil {
		return nil, errors.New("there is no " + req.Func)
	}
	return json.Marshal(serve.NewServer(f).Call(req))
}

func same[T any](v T) T { return v }

// echoes are types with a Go function that returns its argument, and values of theirs.
var echoes = []struct {
	aeon, goType string
	fn           any
	values       []string
}{
	{"int", "int", same[int], []string{"0", "-1", "9223372036854775807", "-9223372036854775807 - 1"}},
	{"int", "int64", same[int64], []string{"5", "-9223372036854775807 - 1"}},
	{"int8", "int8", same[int8], []string{"-128", "127"}},
	{"uint8", "byte", same[byte], []string{"255"}},
	{"uint64", "uint64", same[uint64], []string{"18446744073709551615", "0"}},
	{"uint64", "uint", same[uint], []string{"18446744073709551615"}},
	{"float", "float64", same[float64], []string{"0.1", "1.7976931348623157e308", "-zero", "0.0 / zero", "-1.0 / zero", "5e-324"}},
	{"bool", "bool", same[bool], []string{"true", "false"}},
	{"string", "string", same[string], []string{`""`, `"a\xff\x00é\n\"<"`}},
	{"bytes", "[]byte", same[[]byte], []string{`bytes("")`, `bytes("\xff\x00")`}},
	{"time", "time.Time", same[time.Time], []string{"time(0)", "time(-9223372036854775807 - 1)", "time(9223372036854775807)", "time(-1)"}},
	{"duration", "time.Duration", same[time.Duration], []string{"-1ns", "3h"}},
	{"int?", "*int", same[*int], []string{"null", "7"}},
	{"bytes?", "*[]byte", same[*[]byte], []string{"null", `bytes("")`, `bytes("x")`}},
	{"time?", "*time.Time", same[*time.Time], []string{"null", "time(5)"}},
	{"vector<int>", "[]int64", same[[]int64], []string{"[]", "[1, -2]"}},
	{"vector<uint8>", "[]uint8", same[[]uint8], []string{"[]", "[0, 255]"}},
	{"vector<string?>", "[]*string", same[[]*string], []string{`[null, "a", null]`}},
	{"vector<vector<float>>", "[][]float64", same[[][]float64], []string{"[[], [0.5, 1.0 / zero]]"}},
	{"map<string, int>", "map[string]int", same[map[string]int], []string{"counts()", "new map<string, int>()"}},
	{"map<bool, vector<bytes>>", "map[bool][][]byte", same[map[bool][][]byte], []string{"parts()"}},
	{"map<duration, map<uint16, float?>>?", "*map[time.Duration]map[uint16]*float64", same[*map[time.Duration]map[uint16]*float64], []string{"null", "deep()"}},
	{"Addr", "netip.Addr", same[netip.Addr], []string{`parseJson<Addr>("\"::1\"")!`, `parseJson<Addr>("\"\"")!`}},
	{"Int", "*big.Int", same[*big.Int], []string{`parseJson<Int>("\"-123456789012345678901234567890\"")!`}},
	{"Int?", "*big.Int", same[*big.Int], []string{"null", `parseJson<Int>("\"0\"")`}},
	{"vector<Int>", "[]big.Int", same[[]big.Int], []string{"[]", `[parseJson<Int>("\"7\"")!, parseJson<Int>("\"-8\"")!]`}},
	{"map<Addr, vector<Addr?>>", "map[netip.Addr][]*netip.Addr", same[map[netip.Addr][]*netip.Addr], []string{"hosts()"}},
	{"vector<Hue>", "[]Color", same[[]color], []string{"[]", "[GREEN, RED, GREEN]"}},
	{"vector<Level>", "[]Level", same[[]level], []string{"[]", `[parseJson<Level>("\"3\"")!, parseJson<Level>("\"255\"")!]`}},
	{"Pair", "Pair", same[pair], []string{`new Pair(parseJson<Addr>("\"10.0.0.1\"")!, null)`, `new Pair(parseJson<Addr>("\"::\"")!, parseJson<Int>("\"5\"")!)`}},
}

type pair struct {
	At netip.Addr
	N  *big.Int
}

// color and level are bytes in Go, of which no vector is bytes: one is an enum, one has a text.
type (
	color uint8
	level uint8
)

func (l level) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(l), 10), nil }

func (l *level) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 8)
	*l = level(n)
	return err
}

// echoTypes are the types of echoes in the Go package of the program.
const echoTypes = `
type Pair struct {
	At netip.Addr
	N *big.Int
}

type Color uint8

const (
	RED Color = iota
	GREEN
)

type Level uint8

func (l Level) MarshalText() ([]byte, error) { return nil, nil }
func (l *Level) UnmarshalText(text []byte) error { return nil }

`

const makers = `
extern go "net/netip" { type Addr; }
extern go "math/big" { type Int; }
extern go "example.com/echo" { type Level; }
enum Hue { RED, GREEN }
class Pair { Addr at; Int? n; }
map<Addr, vector<Addr?>> hosts() {
	map<Addr, vector<Addr?>> m = new map<Addr, vector<Addr?>>();
	Addr a = parseJson<Addr>("\"fe80::1%eth0\"")!;
	m[a] = [null, a];
	m[parseJson<Addr>("\"1.2.3.4\"")!] = [];
	return m;
}
map<string, int> counts() { map<string, int> m = new map<string, int>(); m["b\xff"] = 1; m["a"] = -2; m[""] = 0; return m; }
map<bool, vector<bytes>> parts() { map<bool, vector<bytes>> m = new map<bool, vector<bytes>>(); m[true] = [bytes("x"), bytes("")]; m[false] = []; return m; }
map<duration, map<uint16, float?>> deep() {
	map<uint16, float?> m = new map<uint16, float?>();
	m[65535] = null;
	m[0] = 0.5;
	map<duration, map<uint16, float?>> d = new map<duration, map<uint16, float?>>();
	d[1ns] = m;
	d[-1s] = new map<uint16, float?>();
	return d;
}
`

// A value of each type that passes is the same when it comes back.
func TestValuesPassToGoAndBack(t *testing.T) {
	code, funcs := "package echo\n\nimport (\n\"math/big\"\n\"net/netip\"\n\"time\"\n)\n\nvar _ time.Time\n"+echoTypes, inProcess{}
	var blocks, calls strings.Builder
	printed := 0
	for i, e := range echoes {
		name := fmt.Sprintf("Same%d", i)
		funcs["example.com/echo."+name] = e.fn
		code += fmt.Sprintf("func %s(v %s) %s { return v }\n", name, e.goType, e.goType)
		fmt.Fprintf(&blocks, "\tpure %s %s(%s v);\n", e.aeon, name, e.aeon)
		for j, v := range e.values {
			fmt.Fprintf(&calls, "\t%s v%d_%d = %s;\n\tprint(\"%d {v%d_%d}\" == \"%d {%s(v%d_%d)}\", \"{v%d_%d}\");\n", e.aeon, i, j, v, i, i, j, i, name, i, j, i, j)
			printed++
		}
	}
	text := "package p\n\nextern go \"example.com/echo\" {\n" + blocks.String() + "}\n" + makers + "void main() {\n\tfloat zero = 0;\n" + calls.String() + "}\n"
	info := checkedWith(t, text, goTypes(t, code))
	p := spec.New(info)
	p.BindGo(funcs)
	e, _ := p.Main()
	out := p.Run(e, spec.First{}, spec.Options{})
	if out.Failure != nil || out.Bug != "" {
		t.Fatal(out.Failure, out.Bug)
	}
	if n := strings.Count(out.String(), "true "); n != printed {
		t.Errorf("%d of %d values are the same when they come back:\n%s", n, printed, out)
	}
}

// Two keys that are one in Go are a fault. One of the values would be lost, and chance would say which.
func TestKeysAreOneInGo(t *testing.T) {
	text := `package p

extern go "net/netip" { type Addr; }
extern go "example.com/echo" { pure int Count(map<Addr, int> m); }

map<Addr, int> hosts(vector<string> list) {
	map<Addr, int> m = new map<Addr, int>();
	for (string s : list) { m[parseJson<Addr>(json(s))!] = 1; }
	return m;
}

void main() {
	print(Count(hosts(["::1", "::2"])));
	try { print(Count(hosts(["::1", "0:0:0:0:0:0:0:1"]))); } catch (string why) { print(why); }
}
`
	info := checkedWith(t, text, goTypes(t, "package echo\n\nimport \"net/netip\"\n\nfunc Count(m map[netip.Addr]int) int { return len(m) }\n"))
	p := spec.New(info)
	p.BindGo(inProcess{"example.com/echo.Count": func(m map[netip.Addr]int) int { return len(m) }})
	e, _ := p.Main()
	out := p.Run(e, spec.First{}, spec.Options{})
	if out.Failure != nil || out.Bug != "" {
		t.Fatal(out.Failure, out.Bug)
	}
	if want := "2\ntwo keys of a map are one in Go\n"; out.String() != want {
		t.Errorf("it prints\n%s\nand not\n%s", out, want)
	}
}

// kept is a Go value that has no text.
type kept struct{ n int }

type nilable interface{ Is() int }

func (k *kept) Is() int { return k.n }

// Values that Go alone knows are the ones that the calls have made, whatever passes them on: as values, pointers and interfaces. Equal
// calls make the same ones, and a nil one is null, or a fault.
func TestGoKeepsItsValues(t *testing.T) {
	const code = `package echo

type Kept struct{ n int }
type Nilable interface{ Is() int }
func (k *Kept) Is() int { return k.n }
func Make(n int) Kept { return Kept{n} }
func Point(n int) *Kept { return nil }
func Of(k *Kept) Nilable { return k }
func Plus(k Kept, l Nilable) *Kept { return nil }
func Count(k *Kept) int { return 0 }
`
	made := 0
	funcs := inProcess{
		"example.com/echo.Make": func(n int) kept { made++; return kept{n} },
		"example.com/echo.Point": func(n int) *kept {
			if n < 0 {
				return nil
			}
			return &kept{n}
		},
		"example.com/echo.Of": func(k *kept) nilable {
			if k == nil || k.n == 0 {
				return nil
			}
			return k
		},
		"example.com/echo.Plus": func(k kept, l nilable) *kept {
			if l != nil {
				k.n += l.Is()
			}
			return &k
		},
		"example.com/echo.Count":      func(k *kept) int { return k.n },
		"example.com/echo.Kept.Is":    (*kept).Is,
		"example.com/echo.Nilable.Is": nilable.Is,
	}
	text := `package p

extern go "example.com/echo" {
	type Kept;
	type Nilable;
	pure Kept Make(int n);
	pure Kept? Point(int n);
	pure Nilable Of(Kept k);
	pure Kept Plus(Kept k, Nilable? l);
	pure int Count(Kept k);
	pure int Kept.Is();
	pure int Nilable.Is();
}

int all(Kept k, Kept? l) { return Plus(Plus(k, Of(k)), null).Is() + (l?.Is() ?? 100); }

void main() {
	Kept k = Make(3);
	Kept other = Make(4);
	print(k.Is(), Count(k), Of(k).Is(), Plus(k, Of(Point(4)!)).Is(), all(k, Point(5)), all(k, Point(-1)), Point(-1) == null, other.Is());
	try { print(Of(Make(0)).Is()); } catch (string why) { print(why); }
}
`
	info := checkedWith(t, text, goTypes(t, code))
	p := spec.New(info)
	p.BindGo(served{serve.NewServer(funcs)})
	e, _ := p.Main()
	out := p.Run(e, spec.First{}, spec.Options{})
	if out.Failure != nil || out.Bug != "" {
		t.Fatal(out.Failure, out.Bug)
	}
	if want := "3 3 3 7 11 106 true 4\na echo.Nilable from Go is nil\n"; out.String() != want {
		t.Errorf("it prints\n%s\nand not\n%s", out, want)
	}
	if made != 3 {
		t.Errorf("%d calls for three values", made)
	}
}

// served is a server of Go functions.
type served struct{ *serve.Server }

// Call implements spec.GoFunctions.
func (s served) Call(req serve.Request) ([]byte, error) { return json.Marshal(s.Server.Call(req)) }

// goTypes returns the types of a Go package that is given as source.
func goTypes(t *testing.T, code string) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "echo.go", code, 0)
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", nil)}
	pkg, err := conf.Check("example.com/echo", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

// checkedWith checks a program that binds functions of one Go package.
func checkedWith(t *testing.T, text string, pkg *types.Package) *typecheck.Info {
	t.Helper()
	file, diags := lang.Parse("p.aeon", []byte(text))
	info, more := typecheck.Check([]*aeon.File{file}, typecheck.Options{Go: func(path string) (*typecheck.GoPackage, error) {
		for _, other := range pkg.Imports() {
			if other.Path() == path {
				return &typecheck.GoPackage{Types: other, Standard: true}, nil
			}
		}
		return &typecheck.GoPackage{Types: pkg}, nil
	}})
	if diags = append(diags, more...); diag.HasErrors(diags) {
		t.Fatalf("%v\n%s", diags, text)
	}
	return info
}
