package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The program that is measured must be what aeonc makes of its source today.
func TestAppIsGenerated(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("go", "run", "./cmd/aeonc", "gen", "-o", dir, "bench/app")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("aeonc gen: %v\n%s", err, out)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 {
		t.Errorf("aeonc gen wrote %d files, not 2", len(files))
	}
	for _, f := range files {
		want, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("app", f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("app/%s is not what aeonc generates; run: go run ./cmd/aeonc gen -o bench/app bench/app", f.Name())
		}
	}
}

// Every row runs, without servers, and the systems that keep accounts keep their sum.
func TestRowsRun(t *testing.T) {
	for _, r := range rows() {
		t.Run(r.title, func(t *testing.T) {
			p, err := newPlace(t.TempDir(), false, true)
			if err != nil {
				t.Fatal(err)
			}
			if err := (options{quick: true, rounds: 1}).measure(r, p); err != nil {
				t.Error(err)
			}
			if err := p.close(); err != nil {
				t.Error(err)
			}
		})
	}
}
