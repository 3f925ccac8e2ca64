package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/aeon-lang/aeon/bench/server"
	"github.com/aeon-lang/aeon/internal/generated"
)

// TestMain is also the other node of rows over two.
func TestMain(m *testing.M) {
	if is, err := server.IsPart(parts); is {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

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
