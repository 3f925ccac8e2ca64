package typecheck

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata/typecheck; the pinned error counts stay")

// areas are the folders of testdata/typecheck. Each has accepted programs
// (…_ok.txtar) and rejected ones.
var areas = []string{"calls", "effects", "flow", "go", "names", "null", "ownership", "readonly", "snapshots", "tables", "types", "values", "yield"}

var errorCount = regexp.MustCompile(`(?m)^errors: (\d+)$`)

// goldenFiles returns the archives of one area.
func goldenFiles(t testing.TB, area string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "typecheck", area, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata/typecheck/%s holds no goldens (%v)", area, err)
	}
	return files
}

// Each archive says in its comment what it shows, and how many errors there
// are ("errors: 2"): that number is written by hand, so that cascades fail.
// The files are checked as one package; `want` has the diagnostics, and
// `effects` and `graph`, where present, those results.
func TestGoldens(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join("..", "testdata", "typecheck"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "fuzz" && !slices.Contains(areas, e.Name()) {
			t.Errorf("testdata/typecheck/%s is not listed as an area", e.Name())
		}
	}
	for _, area := range areas {
		accepted, rejected := 0, 0
		for _, file := range goldenFiles(t, area) {
			t.Run(area+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				if golden(t, file) == 0 {
					accepted++
				} else {
					rejected++
				}
			})
		}
		if accepted == 0 || area != "effects" && rejected == 0 {
			t.Errorf("%s: %d accepted and %d rejected programs", area, accepted, rejected)
		}
	}
}

// golden checks one archive and returns the number of errors.
func golden(t *testing.T, file string) int {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := txtar.Parse(data)
	pinned := errorCount.FindSubmatch(a.Comment)
	if pinned == nil {
		t.Fatal("the comment says no `errors: N`")
	}
	want, _ := strconv.Atoi(string(pinned[1]))
	info, diags := checkProgram(t, string(txtar.Format(sourcesOf(a))))
	errors := 0
	for _, d := range diags {
		if d.Severity == diag.Error {
			errors++
		}
	}
	if errors != want {
		t.Errorf("%d errors, and %d are pinned:\n%s", errors, want, show(diags))
	}
	changed := false
	for i, f := range a.Files {
		if isSource(f.Name) {
			continue
		}
		got := section(t, f.Name, info, diags)
		if got == string(f.Data) {
			continue
		}
		if *update {
			a.Files[i].Data, changed = []byte(got), true
			continue
		}
		t.Errorf("%s: got\n%s\nwant\n%s", f.Name, got, f.Data)
	}
	if changed {
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return errors
}

// sourcesOf returns the part of an archive that is checked.
func sourcesOf(a *txtar.Archive) *txtar.Archive {
	return &txtar.Archive{Files: slices.DeleteFunc(slices.Clone(a.Files), func(f txtar.File) bool { return !isSource(f.Name) })}
}

func isSource(name string) bool {
	return strings.HasSuffix(name, ".aeon") || strings.HasPrefix(name, "go/")
}

// section computes one golden part.
func section(t *testing.T, name string, info *Info, diags []diag.Diagnostic) string {
	var b strings.Builder
	switch name {
	case "want":
		return show(diags)
	case "effects":
		if err := PrintEffects(&b, info); err != nil {
			t.Fatal(err)
		}
	case "narrow":
		for _, c := range info.Package.Classes {
			for _, m := range c.Methods {
				if m.Effects != nil && c.Kind == ast.ActorClass {
					b.WriteString(narrowText(m))
				}
			}
		}
	case "graph":
		for _, e := range info.Graph.Edges {
			fmt.Fprintf(&b, "%s -> %s:", e.From, e.To)
			for _, r := range e.Reasons {
				fmt.Fprintf(&b, " %s@%d", r.Kind, r.Span.Pos().Line())
			}
			b.WriteString("\n")
		}
	case "facts":
		return facts1(info)
	default:
		t.Fatalf("no part is called %s", name)
	}
	return b.String()
}

// narrowText shows the descriptor of a method.
func narrowText(m *Func) string {
	e := m.Effects
	s := fmt.Sprintf("%s: self %s, below %s %s", m.FullName(), e.Self, e.Below, e.BelowMode)
	for _, x := range e.Narrow {
		class := "any class"
		if x.Class != nil {
			class = x.Class.name
		}
		s += fmt.Sprintf("\n\t%s (%s) %s, below %s %s %s", x.Path, class, x.Mode, x.Below, x.BelowMode, classList(x.Touches))
	}
	return s + "\n"
}

func classList(list []ClassMode) string {
	var parts []string
	for _, c := range list {
		parts = append(parts, c.Class.name+":"+c.Mode.String())
	}
	return strings.Join(parts, " ")
}

// facts1 shows what code generation reads from the side tables: stores with
// their ownership, loops that copy, mutating methods, and yield locals.
func facts1(info *Info) string {
	var lines []string
	at := func(n ast.Node) string { return fmt.Sprintf("%03d", n.Span().Pos().Line()) }
	for n, s := range info.Stores {
		root := "this"
		if s.Root != nil {
			root = s.Root.name
		}
		for _, step := range s.Steps {
			switch step.Kind {
			case FieldStep:
				root += "." + step.Field.name
			case IndexStep:
				root += "[" + step.Index.Span().Text() + "]"
			case NonNullStep:
				root += "!"
			}
		}
		owner := [...]string{"", " moves", " shrinks", " fresh", " changes"}[s.Owner]
		lines = append(lines, at(n)+" store "+root+owner)
	}
	for n := range info.CopyLoops {
		lines = append(lines, at(n)+" loop copies "+n.X.Span().Text())
	}
	info.Package.AllFuncs(func(f *Func) {
		if f.Mutating {
			lines = append(lines, at(f.Decl)+" mutating "+f.FullName())
		}
		if helper(f) && f.Decl != nil && f.Class == nil {
			lines = append(lines, fmt.Sprintf("%s context %s %d client=%t actor=%t", at(f.Decl), f.name, f.Context, f.ByClient, f.ByActor))
		}
		for _, v := range f.Locals {
			if v.Yield && f.Context != ClientContext {
				lines = append(lines, at(v.Decl)+" yield "+v.name)
			}
		}
	})
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}
