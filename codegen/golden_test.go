package codegen_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

func writeArchive(t testing.TB, file string, a *txtar.Archive) {
	t.Helper()
	if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestGolden compares the Go of whole programs, as `aeonc gen` writes it, with what a developer has read and found
// good.
func TestGolden(t *testing.T) {
	for _, file := range archives(t, "golden") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a := readArchive(t, file)
			if len(a.Files) == 0 || !strings.HasSuffix(a.Files[0].Name, ".aeon") {
				t.Fatal("the archive does not begin with a program")
			}
			files := generate(t, a.Files[0].Name, string(a.Files[0].Data), false)
			if *update {
				a.Files = a.Files[:1]
				for _, f := range files {
					a.Files = append(a.Files, txtar.File{Name: f.Name, Data: f.Content})
				}
				writeArchive(t, file, a)
				return
			}
			if len(a.Files) != len(files)+1 {
				t.Fatalf("%d files generated, %d expected", len(files), len(a.Files)-1)
			}
			for i, f := range files {
				want := a.Files[i+1]
				if f.Name != want.Name || !bytes.Equal(f.Content, want.Data) {
					t.Errorf("%s differs from %s; run with -update and read the difference", f.Name, want.Name)
				}
			}
		})
	}
}

// TestPlainFilesAreVetClean compiles and vets what `aeonc gen` writes: of the goldens, and of the listing of the
// dissertation with its elided parts filled in.
func TestPlainFilesAreVetClean(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "testdata", "lang", "steakhouse.aeon"))
	if err != nil {
		t.Fatal(err)
	}
	m := newModule(t)
	m.add(t, "steakhouse", generate(t, "steakhouse.aeon", string(text), false))
	for _, file := range archives(t, "golden") {
		program := readArchive(t, file).Files[0]
		m.add(t, strings.TrimSuffix(program.Name, ".aeon"), generate(t, program.Name, string(program.Data), false))
	}
	m.run(t, append([]string{"vet"}, m.pkgs...)...)
}
