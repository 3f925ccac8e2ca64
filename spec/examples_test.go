package spec_test

import (
	"path/filepath"
	"testing"

	"github.com/aeon-lang/aeon/spec"
)

// TestExamples runs main and the tests of every example in random orders: none fails.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "examples", "*", "*.aeon"))
	if err != nil || len(files) == 0 {
		t.Fatalf("examples holds no programs (%v)", err)
	}
	for _, file := range files {
		p := loadProgram(t, filepath.Dir(file), file)
		entries := p.Tests()
		if e, ok := p.Main(); ok {
			entries = append(entries, e)
		}
		for _, e := range entries {
			t.Run(filepath.Base(filepath.Dir(file))+"/"+e.Name, func(t *testing.T) {
				seeds := uint64(1)
				if e.Test {
					seeds = 5 // main is long
				}
				for seed := range seeds {
					out := p.Run(e, spec.NewRandom(seed), spec.Options{})
					if out.Failure != nil || out.Bug != "" || out.Exhausted != "" {
						t.Fatalf("seed %d: %s", seed, out)
					}
				}
			})
		}
	}
}
