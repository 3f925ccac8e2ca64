package spec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/spec"
)

// loadProgram loads a program; errors in it fail the test.
func loadProgram(t testing.TB, dir string, files ...string) *spec.Program {
	t.Helper()
	p, err := load.NewLoader().Load(load.Unit{Dir: dir, Files: files})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range p.Closure() {
		if diag.HasErrors(q.Diagnostics) {
			t.Fatal(q.Diagnostics)
		}
	}
	return spec.Load(p)
}

// unpack writes the sources of an archive into a new folder. A program that begins without a
// package clause gets one on its first line.
func unpack(t testing.TB, a *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range a.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		text := string(f.Data)
		if !strings.HasPrefix(text, "package ") {
			text = "package p " + text
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestCompiledPrograms runs the programs whose output codegen's tests pin. The interpreter
// prints the same, with failures at the same lines.
func TestCompiledPrograms(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join("..", "testdata", "codegen", "run", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("testdata/codegen/run holds no archives (%v)", err)
	}
	for _, file := range archives {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, f := range a.Files {
			if name, ok := strings.CutSuffix(f.Name, ".out"); ok {
				want[name] = string(f.Data)
			}
		}
		dir := unpack(t, a)
		for name, out := range want {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+name, func(t *testing.T) {
				p := loadProgram(t, dir, filepath.Join(dir, name+".aeon"))
				if got := runAll(p, spec.Options{Start: time.Unix(0, 0)}, spec.First{}); got != collapse(out) {
					t.Errorf("printed\n%s\nwant\n%s", got, out)
				}
			})
		}
	}
}

// runAll runs main, at a real time, and then each test, as codegen's harness does.
func runAll(p *spec.Program, o spec.Options, c spec.Chooser) string {
	var b strings.Builder
	if e, ok := p.Main(); ok {
		b.WriteString(p.Run(e, c, spec.Options{}).String())
	}
	for _, e := range p.Tests() {
		fmt.Fprintf(&b, "test %s\n%s", e.Name, p.Run(e, c, o).String())
	}
	return b.String()
}

// collapse writes a place that follows itself once: generated Go has closures of its own.
func collapse(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		head, path, ok := strings.Cut(l, " at ")
		if !ok || !strings.HasPrefix(l, "failed: ") {
			continue
		}
		var kept []string
		for _, p := range strings.Split(path, " < ") {
			if len(kept) == 0 || kept[len(kept)-1] != p {
				kept = append(kept, p)
			}
		}
		lines[i] = head + " at " + strings.Join(kept, " < ")
	}
	return strings.Join(lines, "\n")
}
