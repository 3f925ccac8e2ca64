package codegen_test

import (
	"bytes"
	"fmt"
	goast "go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/internal/race"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// apiChecker checks the types of generated packages that import each other.
type apiChecker struct {
	fset  *token.FileSet
	below types.Importer
	made  map[string]*types.Package
}

func newAPIChecker() *apiChecker {
	const root = "github.com/aeon-lang/aeon"
	return &apiChecker{fset: token.NewFileSet(), below: compiled(root, root+"/runtime/store/pebbledb", "runtime/trace", "image"), made: map[string]*types.Package{}}
}

// Import implements types.Importer.
func (c *apiChecker) Import(path string) (*types.Package, error) {
	if p := c.made[path]; p != nil {
		return p, nil
	}
	return c.below.Import(path)
}

// check checks a package, and adds it to those that others can import.
func (c *apiChecker) check(path string, files []codegen.File) (*types.Package, error) {
	var parsed []*goast.File
	for _, f := range files {
		file, err := parser.ParseFile(c.fset, f.Name, f.Content, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	conf := types.Config{Importer: c}
	p, err := conf.Check(path, c.fset, parsed, nil)
	c.made[path] = p
	return p, err
}

// withAPI generates a program and what it imports, as path, path/NAME, …, and checks the types.
func (c *apiChecker) withAPI(path string, p *load.Package) (*types.Package, error) {
	opts := codegen.Options{API: true, SourceName: func(src *ast.Source) string { return filepath.Base(src.Name) }}
	var last *types.Package
	for _, q := range p.Closure() {
		opts.Entry = q == p
		files, err := codegen.Generate(q.Info, opts)
		if err != nil {
			return nil, err
		}
		below := path
		if q != p {
			below = path + "/" + q.Name()
		}
		if last, err = c.check(below, files); err != nil {
			return nil, err
		}
		opts.Imports = append(opts.Imports, codegen.Import{Info: q.Info, Path: below})
	}
	return last, nil
}

// TestAPIOfAllPrograms checks that the API of every program of the goldens compiles. The kinds of TestAPIBorder are among them, so every
// type is.
func TestAPIOfAllPrograms(t *testing.T) {
	c := newAPIChecker()
	checked := 0
	refused := map[string]bool{"control/names": true} // self and Self are one name for Go
	add := func(label string, u load.Unit) {
		p, err := gobuild.NewLoader().Load(u)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range p.Closure() {
			for _, d := range q.Diagnostics {
				if d.Severity == diag.Error {
					t.Fatal(d)
				}
			}
		}
		if _, err := c.withAPI(fmt.Sprintf("generated/%d", checked), p); (err != nil) != refused[label] {
			t.Errorf("%s: %v", label, err)
		}
		checked++
	}
	for _, file := range archives(t, "run") {
		a := readArchive(t, file)
		dir := unpack(t, a)
		for _, p := range programs(t, a, file) {
			add(p.label(), load.Unit{Dir: dir, Files: []string{filepath.Join(dir, p.name+".aeon")}})
		}
	}
	goldens, err := filepath.Glob("../testdata/semantics/*.txtar")
	if err != nil || len(goldens) == 0 {
		t.Fatalf("there are no goldens: %v", err)
	}
	for _, file := range goldens {
		a := readArchive(t, file)
		if slices.ContainsFunc(a.Files, func(f txtar.File) bool { return f.Name == "errors" }) {
			continue // the checker refuses the program, so it has no code
		}
		dir := unpack(t, a)
		sources, err := filepath.Glob(filepath.Join(dir, "*.aeon"))
		if err != nil || len(sources) == 0 {
			t.Fatalf("%s has no sources: %v", file, err)
		}
		add(file, load.Unit{Dir: dir, Files: sources})
	}
	kinds := filepath.Join(t.TempDir(), "kinds.aeon")
	if err := os.WriteFile(kinds, []byte(drawKinds(*borderSeed, 20).program()), 0o666); err != nil {
		t.Fatal(err)
	}
	add("kinds", load.Unit{Dir: filepath.Dir(kinds), Files: []string{kinds}})
	t.Logf("%d programs", checked)
}

// What the API calls a thing follows from the thing alone.
func TestAPINames(t *testing.T) {
	const one = `
actorclass bank { int put(Open o, color c, bank? next) { return o.maxOrders; } void string() { } void _Put() { } }
actorclass DB { DB(int n) { } }
class Open { int maxOrders; vector<Close> list; }
class Close { int N; }
enum color { RED, GREEN }
client class ear { void heard(Open o, ear? from, int ctx, time time) { } int _sum() { return 0; } }
actorclass client { void hear(ear e) { } void none(ear? e) { } }
`
	const more = `
actorclass Bank_ { ro int Put() { return 0; } }
actorclass context { }
class Aeon { int aeon; int In; map<context, time> godoor; }
enum Colors { RED }
int Bank() { return 0; }
int DB_() { return context(); }
int context() { return 0; }
const int ColorRED_ = 1;
`
	c := newAPIChecker()
	names := func(text string) map[string]string {
		t.Helper()
		info := check(t, "p.aeon", "package p\n"+text)
		if info == nil {
			t.FailNow()
		}
		files, err := codegen.Generate(info, codegen.Options{API: true, Entry: true, SourceName: func(*ast.Source) string { return "p.aeon" }})
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.check("generated/p", files)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			if filepath.Base(c.fset.PositionFor(o.Pos(), false).Filename) != "aeon_api.go" || strings.HasPrefix(name, "Aeon") {
				continue
			}
			found[name] = types.TypeString(o.Type().Underlying(), types.RelativeTo(p))
			methods := types.NewMethodSet(types.NewPointer(o.Type()))
			for i := range methods.Len() {
				if m := methods.At(i).Obj(); m.Exported() && m.Pkg() == p {
					found[name+"."+m.Name()] = types.TypeString(m.Type(), types.RelativeTo(p))
				}
			}
		}
		return found
	}
	alone, together := names(one), names(one+strings.ReplaceAll(more, "context()", "cont()"))
	for name, is := range alone {
		if together[name] != is {
			t.Errorf("%s is %s, and is %q in a larger program", name, is, together[name])
		}
	}
	const options = "opts ...github.com/aeon-lang/aeon.CallOption"
	for name, want := range map[string]string{
		"Bank.Put":      "func(ctx context.Context, o Open_, c Color, next Bank, " + options + ") (ret int64, err error)",
		"Bank.String_":  "func(ctx context.Context, " + options + ") error",
		"Bank.X_Put":    "func(ctx context.Context, " + options + ") error",
		"DB.Bank":       "func(name string) Bank",
		"DB.NewDB_":     "func(ctx context.Context, n int64) (DB_, error)",
		"DB.FindDB_":    "func(text string) (DB_, error)",
		"Open_":         `struct{MaxOrders int64 "json:\"maxOrders\""; List []Close "json:\"list\""}`,
		"NewEar":        "func(c *github.com/aeon-lang/aeon.Client, to EarCallbacks) Ear",
		"EarCallbacks":  "interface{Heard(ctx context.Context, o Open_, from Ear, ctx_ int64, time_ time.Time); X_sum(ctx context.Context)}",
		"Client.Hear":   "func(ctx context.Context, e Ear, " + options + ") error",
		"DB.NewClient_": "func(ctx context.Context) (Client, error)",
		"Close":         `struct{N int64 "json:\"N\""}`,
	} {
		if alone[name] != want {
			t.Errorf("%s is %s, and should be %s", name, alone[name], want)
		}
	}
	for text, want := range map[string]string{
		"class a { int x; int X; }":                    "would both be X in A",
		"class a { int x; }\nclass A { }":              "would both be A in package p",
		"enum A { BC }\nenum AB { C }":                 "would both be ABC in package p",
		"actorclass X { }\nclass FindX { }":            "",
		"actorclass X { }\nactorclass NewX { }":        "would both be NewX in DB",
		"client class X { }\nclass NewX { }":           "would both be NewX in package p",
		"class XCallbacks { }\nclient class X { }":     "would both be XCallbacks in package p",
		"client class x { void m() { } void M() { } }": "would both be M in X",
	} {
		info := check(t, "p.aeon", "package p\n"+text)
		if info == nil {
			t.FailNow()
		}
		_, err := codegen.Generate(info, codegen.Options{API: true})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; it should say %q", text, err, want)
		}
	}
}

// TestAPIBorder changes everything that Go code can reach of the values that it has got by the API, by callbacks too, or passed to
// it: no actor may change. It also passes each value as JSON. Under the race detector the driver is compiled with it, too.
func TestAPIBorder(t *testing.T) {
	s := drawKinds(*borderSeed, *borderKinds)
	m := newModule(t)
	info := check(t, "kinds.aeon", s.program())
	if info == nil {
		t.FailNow()
	}
	files, err := codegen.Generate(info, codegen.Options{API: true, MemoryOnly: true, Entry: true, SourceName: func(*ast.Source) string { return "kinds.aeon" }})
	if err != nil {
		t.Fatal(err)
	}
	m.add(t, "kinds", files)
	driver, err := os.ReadFile(filepath.Join("testdata", "apiborder", "driver.go"))
	if err != nil {
		t.Fatal(err)
	}
	m.write(t, "driver/driver.go", string(driver))
	var b bytes.Buffer
	b.WriteString("package main\n\nimport \"generated/kinds\"\n\nvar all = []func(*kinds.DB){\n")
	for _, k := range s.tested {
		fmt.Fprintf(&b, "\tfunc(db *kinds.DB) { a := db.Actor%[1]d(\"a\"); check(%[2]q, a.Get, a.Fresh, a.Put, a.Pass, a.Fail, a.Show, teller(db, kinds.NewEar%[1]d, a.Tell)) },\n", s.maker[k.aeon], k.aeon)
	}
	b.WriteString("}\n")
	m.write(t, "driver/kinds.go", b.String())
	args := []string{"run"}
	if race.Slower > 1 {
		args = append(args, "-race")
	}
	t.Logf("%d types: %s", len(s.tested), m.run(t, append(args, "./driver")...))
}
