package codegen_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/codegen"
)

// runnerSource is the main package of the executable: it runs main and each test of every program on a system of its own and reports
// what was printed and how it failed.
const runnerSource = `package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
%s)

func main() {
%s}

func run(name string, p *aeonrt.Package) {
	fmt.Printf("-- %%s --\n", name)
	if p.Main != nil {
		fmt.Print(runBody(p.Main, aeonrt.RealClock{}))
	}
	for _, t := range p.Tests {
		fmt.Printf("test %%s\n%%s", t.Name, runBody(t.Run, aeonrt.NewSimClock(time.Unix(0, 0))))
	}
}

func runBody(body func(*aeonrt.Client), clock aeonrt.Clock) string {
	var out bytes.Buffer
	system := aeonrt.Open(aeonrt.Config{Stdout: &out, Log: slog.New(slog.DiscardHandler), Clock: clock})
	defer system.Close()
	func() {
		defer func() {
			if r := recover(); r != nil {
				fmt.Fprintf(&out, "failed: %%v%%s\n", r, where(r))
			}
		}()
		body(system.Client())
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := system.Quiesce(ctx); err != nil {
		fmt.Fprintf(&out, "not quiescent: %%v\n", err)
	}
	for _, d := range system.DeadLetters() {
		fmt.Fprintf(&out, "dead letter: %%v\n", d.Err)
	}
	return out.String()
}

// where returns the lines of the program that a failure came through, innermost first.
func where(r any) string {
	var lines []string
	add := func(file string, line int) {
		if i := strings.LastIndexByte(file, '/'); strings.HasSuffix(file, ".aeon") {
			lines = append(lines, fmt.Sprintf("%%s:%%d", file[i+1:], line))
		}
	}
	if a, ok := r.(*aeonrt.AbortError); ok {
		for _, f := range a.Path {
			add(f.File, f.Line)
		}
		return " at " + strings.Join(lines, " < ")
	}
	pc := make([]uintptr, 100)
	frames := runtime.CallersFrames(pc[:runtime.Callers(0, pc)])
	for {
		f, more := frames.Next()
		add(f.File, f.Line)
		if !more {
			break
		}
	}
	return " at " + strings.Join(lines, " < ")
}
`

// source is one .aeon file of an archive with what running it is to print. It may import those in directories.
type source struct {
	archive string
	name    string // without suffix
	text    string
	want    string
	out     int // index of the expected output in the archive's files, -1 if there is none
}

func programs(t testing.TB, a *txtar.Archive, archive string) (list []source) {
	t.Helper()
	outs := map[string]int{}
	for i, f := range a.Files {
		if name, ok := strings.CutSuffix(f.Name, ".out"); ok {
			outs[name] = i
		}
	}
	for _, f := range a.Files {
		name, ok := strings.CutSuffix(f.Name, ".aeon")
		if !ok || strings.Contains(name, "/") {
			continue // a package that programs import
		}
		p := source{archive: archive, name: name, text: string(f.Data), out: -1}
		if i, ok := outs[name]; ok {
			p.out, p.want = i, string(a.Files[i].Data)
		} else if !*update {
			t.Errorf("%s: no expected output for %s.aeon", archive, name)
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		t.Fatalf("%s contains no programs", archive)
	}
	return list
}

// withPackage gives a program that begins without one a package clause on its first line, which
// leaves its line numbers as they are.
func withPackage(text string) string {
	if strings.HasPrefix(text, "package ") {
		return text
	}
	return "package p " + text
}

// unpack writes the sources of an archive into a new folder.
func unpack(t testing.TB, a *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range a.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(withPackage(string(f.Data))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPrograms compiles, vets and runs every program of testdata/codegen/run in one executable.
func TestPrograms(t *testing.T) {
	m := newModule(t)
	var imports, calls strings.Builder
	var all []source
	parsed := map[string]*txtar.Archive{}
	for _, file := range archives(t, "run") {
		parsed[file] = readArchive(t, file)
		dir := unpack(t, parsed[file])
		for _, p := range programs(t, parsed[file], file) {
			id := fmt.Sprintf("p%d", len(all))
			m.addProgram(t, id, load(t, filepath.Join(dir, p.name+".aeon")), true)
			fmt.Fprintf(&imports, "\t%s %q\n", id, m.pkgs[len(m.pkgs)-1])
			fmt.Fprintf(&calls, "\trun(%q, &%s.AeonPackage)\n", id, id)
			all = append(all, p)
		}
	}
	if t.Failed() {
		return
	}
	m.run(t, append([]string{"vet"}, m.pkgs...)...)
	m.add(t, "main", []codegen.File{{Name: "main.go", Content: fmt.Appendf(nil, runnerSource, imports.String(), calls.String())}})
	bin := filepath.Join(t.TempDir(), "programs")
	m.run(t, "build", "-o", bin, m.pkgs[len(m.pkgs)-1])
	out, err := exec.Command(bin).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	compare(t, all, parsed, txtar.Parse(out))
}

func compare(t *testing.T, all []source, parsed map[string]*txtar.Archive, got *txtar.Archive) {
	if len(got.Files) != len(all) {
		t.Fatalf("%d of %d programs ran", len(got.Files), len(all))
	}
	for i, p := range all {
		out := got.Files[i].Data
		if *update {
			a := parsed[p.archive]
			if p.out >= 0 {
				a.Files[p.out].Data = out
			} else {
				a.Files = append(a.Files, txtar.File{Name: p.name + ".out", Data: out})
			}
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(p.archive), ".txtar")+"/"+p.name, func(t *testing.T) {
			if !bytes.Equal(out, []byte(p.want)) {
				t.Errorf("printed\n%s\nwant\n%s", out, p.want)
			}
		})
	}
	if *update {
		for file, a := range parsed {
			writeArchive(t, file, a)
		}
	}
}
