package main

import (
	"fmt"
	"os"
	"strings"
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
			if _, err := (options{quick: true, rounds: 1}).measure(r, p); err != nil {
				t.Error(err)
			}
			if err := p.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A choice that leaves nothing to measure is refused.
func TestNothingToMeasure(t *testing.T) {
	p, err := newPlace(t.TempDir(), false, true)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	title := rows()[0].title
	for _, c := range []struct {
		options
		want []string
	}{
		{options{run: "no such row"}, []string{`-run: no row has a title that contains "no such row"`, "\n\t" + title}},
		{options{run: title, system: "no such system"}, []string{`-system: no system of these rows has a name that contains "no such system"`}},
	} {
		err := c.measureAll(p)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("-run %q -system %q: %v, want %q in it", c.run, c.system, err, want)
			}
		}
	}
}
