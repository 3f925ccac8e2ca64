package explore

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/gocall"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/spec"
	"github.com/aeon-lang/aeon/typecheck"
)

// The search with reduction must find every outcome that the search of all steps in all
// states finds. These tests make random programs in which few events do much to each other.

// source makes random programs of two hubs that share nothing, each with three cells. They send
// each other events. Their methods are m0 to m3, of which each issues later ones only.
type source struct {
	rng *rand.Rand
	b   strings.Builder
}

func (s *source) pick(list ...string) string { return list[s.rng.IntN(len(list))] }

func (s *source) stmt(m int) string {
	cell, k := s.pick("a", "b", "c"), s.rng.IntN(4)
	later := fmt.Sprintf("m%d(%d)", m+1+s.rng.IntN(max(1, 3-m)), k)
	switch s.rng.IntN(14) {
	case 0, 1:
		return fmt.Sprintf("%s.add(k + %d);", cell, k)
	case 2:
		return fmt.Sprintf("%s.set(%s.get() * 2);", cell, s.pick("a", "b", "c"))
	case 3:
		return fmt.Sprintf("n = n * 3 + %d;", k)
	case 4:
		return fmt.Sprintf("require(%s.get() < %d, \"%s is {%s.get()}\");", cell, 4+k*3, cell, cell)
	case 5:
		return fmt.Sprintf("if (n %% 2 == %d) { %s.add(1); }", k%2, cell)
	case 6:
		return "print(\"{name} {k} {n}\");"
	case 7:
		return fmt.Sprintf("async %s.add(%d);", cell, k)
	case 8:
		return fmt.Sprintf("event watcher!.note(n + %d);", k)
	case 9:
		if m < 3 {
			return fmt.Sprintf("event this.%s after %dms as \"t%d\";", later, k, k%2)
		}
		return fmt.Sprintf("cancel \"t%d\";", k%2)
	}
	if m == 3 {
		return "n++;"
	}
	return fmt.Sprintf("event %s.%s;", s.pick("this", "other?"), later)
}

func (s *source) program() string {
	s.b.WriteString(`package p
client class Watcher { int sum = 0; void note(int k) { sum = sum * 2 + k; print("sum", sum); } }
actorclass Cell { int n = 0; void add(int k) { n += k; } void set(int k) { n = k % 100; } ro int get() { return n; } }
actorclass Hub {
	Cell a = new Cell(); Cell b = new Cell(); Cell c = new Cell();
	int n = 0; string name;
	yield Hub? other; yield Watcher? watcher;
	Hub(string s) { name = s; }
	void meet(yield Hub h, yield Watcher w) { other = h; watcher = w; }
	ro string show() { return "{n} {a.get()} {b.get()} {c.get()}"; }
	void set(int k) { event this.m2(k) after 1ms as "t0"; }
	void stop() { cancel "t0"; }
	void end() { delete this; }
`)
	for m := range 4 {
		fmt.Fprintf(&s.b, "\tvoid m%d(int k) {\n", m)
		for range 1 + s.rng.IntN(3) {
			fmt.Fprintf(&s.b, "\t\t%s\n", s.stmt(m))
		}
		s.b.WriteString("\t}\n")
	}
	// In main a timer may be due just when main has slept, and its firing meets what main does next.
	inMain := s.rng.IntN(2) == 0
	entry := `test "t" {`
	if inMain {
		entry = "void main() {"
	}
	s.b.WriteString(`}
` + entry + `
	Watcher w = new Watcher();
	Hub x = new Hub("x");
	Hub y = new Hub("y");
	await event x.meet(y, w);
	await event y.meet(x, w);
`)
	for i := range 3 + s.rng.IntN(2) {
		k := s.rng.IntN(3)
		call := fmt.Sprintf("event %s.m%d(%d)", s.pick("x", "y"), s.rng.IntN(4), s.rng.IntN(3))
		switch s.rng.IntN(6) {
		case 5:
			fmt.Fprintf(&s.b, "\tawait %s;\n", call)
		case 0:
			fmt.Fprintf(&s.b, "\tpending<void> p%d = %s;\n\ttry { await p%d; } catch (string why) { print(why); }\n", i, call, i)
		case 1:
			fmt.Fprintf(&s.b, "\ttry { await %s; } catch (string why) { print(why); }\n", call)
		default:
			fmt.Fprintf(&s.b, "\t%s;\n", call)
		}
		if inMain && s.rng.IntN(2) == 0 {
			hub := s.pick("x", "y")
			fmt.Fprintf(&s.b, "\tevent %s.set(%d);\n\tsleep(1ms);\n\t%s;\n", hub, k+1, s.pick("event "+hub+".set(0)", "event "+hub+".stop()", "event "+hub+".end()", "sleep(1ms)"))
		}
	}
	if s.rng.IntN(2) == 0 {
		s.b.WriteString("\tsettle();\n")
	}
	pass := "advance"
	if inMain {
		pass = "sleep"
	}
	fmt.Fprintf(&s.b, "\t%s(2ms);\n\tprint(await event x.show(), \"|\", await event y.show());\n}\n", pass)
	return s.b.String()
}

func parse(t testing.TB, text string) *spec.Program {
	t.Helper()
	file, diags := lang.Parse("p.aeon", []byte(text))
	if diag.HasErrors(diags) {
		t.Fatalf("%v\n%s", diags, text)
	}
	info, diags := typecheck.Check([]*ast.File{file}, typecheck.Options{})
	if diag.HasErrors(diags) {
		t.Fatalf("%v\n%s", diags, text)
	}
	return spec.New(info)
}

// entryOf returns main, or the test of a program without main.
func entryOf(p *spec.Program) spec.Entry {
	if e, ok := p.Main(); ok {
		return e
	}
	return p.Tests()[0]
}

// outcomes returns the different ends of the orders of an entry of p.
func outcomes(t testing.TB, p *spec.Program, e spec.Entry, cfg Config) ([]string, *Result) {
	t.Helper()
	all, r := Outcomes(p, e, cfg)
	if r.Failing != nil {
		t.Fatalf("a run fails: %s", r.Failing)
	}
	return slices.Sorted(maps.Keys(all)), r
}

// TestReductionKeepsOutcomes compares the two searches on random programs.
func TestReductionKeepsOutcomes(t *testing.T) {
	programs, many, plainSteps, steps := 0, 0, 0, 0
	for seed := range *seeds {
		text := (&source{rng: rand.New(rand.NewPCG(seed, 7))}).program()
		p := parse(t, text)
		want, plain := outcomes(t, p, entryOf(p), Config{Plain: true, StatesMax: 2000})
		if !plain.Complete {
			continue
		}
		got, reduced := outcomes(t, p, entryOf(p), Config{StatesMax: 2000})
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: with reduction there are %d outcomes, without %d\n%s\nfound:\n%s\nall:\n%s", seed, len(got), len(want), text,
				strings.Join(got, "--\n"), strings.Join(want, "--\n"))
		}
		programs++
		plainSteps, steps = plainSteps+plain.Steps, steps+reduced.Steps
		if len(want) > 1 {
			many++
		}
	}
	if programs < int(*seeds)/2 || many < int(*seeds)/4 {
		t.Errorf("only %d programs were covered, %d of them with several outcomes", programs, many)
	}
	if steps >= plainSteps {
		t.Errorf("the reduction saves nothing: %d steps of %d", steps, plainSteps)
	}
	t.Logf("%d programs, %d with several outcomes: %d steps instead of %d", programs, many, steps, plainSteps)
}

// TestReductionKeepsGoldenOutcomes compares the two searches on the programs of the golden suite.
func TestReductionKeepsGoldenOutcomes(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join("..", "..", "testdata", "semantics", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("testdata/semantics holds no archives (%v)", err)
	}
	programs, steps, plainSteps := 0, 0, 0
	for _, archive := range archives {
		p := golden(t, archive)
		if p == nil {
			continue // it shows what the checker says
		}
		e, ok := p.Main()
		if !ok {
			e = p.Tests()[0]
		}
		want, plain := outcomes(t, p, e, Config{Plain: true})
		got, reduced := outcomes(t, p, e, Config{})
		if !plain.Complete || !reduced.Complete || !slices.Equal(got, want) {
			t.Errorf("%s: with reduction (%v) there are %d outcomes, without (%v) %d\n%s\nall:\n%s", archive, reduced.Complete, len(got), plain.Complete, len(want),
				strings.Join(got, "--\n"), strings.Join(want, "--\n"))
		}
		programs++
		steps, plainSteps = steps+reduced.Steps, plainSteps+plain.Steps
	}
	if programs < len(archives)/2 {
		t.Errorf("only %d of %d programs were explored", programs, len(archives))
	}
	t.Logf("%d programs: %d steps instead of %d", programs, steps, plainSteps)
}

// golden returns the program of a golden file, nil if it is not correct.
func golden(t *testing.T, archive string) *spec.Program {
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	unit := load.Unit{Dir: t.TempDir()}
	for _, f := range a.Files {
		if !strings.HasSuffix(f.Name, load.Extension) {
			continue
		}
		name := filepath.Join(unit.Dir, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, f.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(f.Name, "/") {
			unit.Files = append(unit.Files, name)
		}
	}
	p, err := gobuild.NewLoader().Load(unit)
	if err != nil {
		t.Fatal(err)
	}
	if p.HasErrors() {
		return nil
	}
	goFuncs, err := gocall.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = goFuncs.Close() })
	program := spec.Load(p)
	program.BindGo(goFuncs)
	return program
}

var seeds = flag.Uint64("explore.seeds", 40, "how many random programs the reduction is tried with")
