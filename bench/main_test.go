package main

import (
	"testing"

	"github.com/aeon-lang/aeon/internal/generated"
)

// The program that is measured must be what aeonc makes of its source today.
func TestAppIsGenerated(t *testing.T) {
	if err := generated.Check("..", "bench/app"); err != nil {
		t.Error(err)
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
