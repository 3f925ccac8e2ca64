package codegen_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/spec/batch"
)

// source is one .aeon file of an archive with what running it is to print. It may import those in directories.
type source struct {
	archive string
	name    string // without suffix
	text    string
	want    string
	out     int // index of the expected output in the archive's files, -1 if there is none
}

// label names the program among those of all archives.
func (p source) label() string {
	return strings.TrimSuffix(filepath.Base(p.archive), ".txtar") + "/" + p.name
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
	var all []source
	var compiled []batch.Program
	parsed := map[string]*txtar.Archive{}
	for _, file := range archives(t, "run") {
		parsed[file] = readArchive(t, file)
		dir := unpack(t, parsed[file])
		for _, p := range programs(t, parsed[file], file) {
			compiled = append(compiled, batch.Loaded(p.label(), loadProgram(t, filepath.Join(dir, p.name+".aeon"))))
			all = append(all, p)
		}
	}
	if t.Failed() {
		return
	}
	compiler := batch.Compiler{Vet: true}
	x, err := compiler.Compile(t.Context(), compiled)
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := x.Run(t.Context(), x.Jobs(0))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]strings.Builder, len(all))
	for _, o := range outcomes {
		b := &got[o.Job.Program]
		if o.Job.Entry != batch.Main {
			units := compiled[o.Job.Program].Units
			fmt.Fprintf(b, "test %s\n", units[len(units)-1].Package.Tests[o.Job.Entry].Name())
		}
		b.WriteString(batch.Text(&o))
	}
	compare(t, all, parsed, got)
}

func compare(t *testing.T, all []source, parsed map[string]*txtar.Archive, got []strings.Builder) {
	for i, p := range all {
		out := []byte(got[i].String())
		if *update {
			a := parsed[p.archive]
			if p.out >= 0 {
				a.Files[p.out].Data = out
			} else {
				a.Files = append(a.Files, txtar.File{Name: p.name + ".out", Data: out})
			}
			continue
		}
		t.Run(p.label(), func(t *testing.T) {
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
