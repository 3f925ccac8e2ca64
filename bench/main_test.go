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

// Every row runs, and the systems that keep accounts keep their sum.
func TestRowsRun(t *testing.T) {
	for _, r := range rows() {
		t.Run(r.title, func(t *testing.T) {
			if err := measure(r, "", true, 1); err != nil {
				t.Fatal(err)
			}
		})
	}
}
