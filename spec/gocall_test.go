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
func (f inProcess) Call(name string, args []json.RawMessage) ([]byte, error) {
	fn := f[name]
	if fn == nil {
		return nil, errors.New("there is no " + name)
	}
	return json.Marshal(serve.Call(fn, args))
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
}

const makers = `
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
	code, funcs := "package echo\n\nimport \"time\"\n\nvar _ time.Time\n", inProcess{}
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
	info, more := typecheck.Check([]*aeon.File{file}, typecheck.Options{Go: func(string) (*typecheck.GoPackage, error) {
		return &typecheck.GoPackage{Types: pkg}, nil
	}})
	if diags = append(diags, more...); diag.HasErrors(diags) {
		t.Fatalf("%v\n%s", diags, text)
	}
	return info
}
