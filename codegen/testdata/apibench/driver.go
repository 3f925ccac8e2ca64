// The driver of BenchmarkAPI: it makes the same calls by the API and by what that calls, in turns, and prints
// how many times longer the API takes, for the fastest turn of each.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/aeon-lang/aeon"
	aeonrt "github.com/aeon-lang/aeon/runtime"

	"generated/plain"
	"generated/raw"
)

const turns, calls = 200, 2000

func main() {
	ctx := context.Background()
	sys := aeonrt.Open(aeonrt.Config{})
	cl := sys.Client()
	r := raw.CounterRef{Ref: aeonrt.Named(cl, &raw.AeonClassCounter, "c")}
	db, err := plain.Open(ctx, aeon.InMemory())
	check(err)
	a := db.Counter("c")
	long, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, c := range []struct {
		name         string
		direct, stub func() error
	}{
		{"write", func() error { _, err := r.Add(cl, 1, 2); return err }, func() error { _, err := a.Add(ctx, 1, 2); return err }},
		{"read", func() error { _, err := r.Get(cl); return err }, func() error { _, err := a.Get(ctx); return err }},
		{"write-cancellable", func() error { _, err := r.Add(cl, 1, 2); return err }, func() error { _, err := a.Add(long, 1, 2); return err }},
	} {
		best := [2]time.Duration{time.Hour, time.Hour}
		for range turns {
			for i, call := range []func() error{c.direct, c.stub} {
				began := time.Now()
				for range calls {
					check(call())
				}
				best[i] = min(best[i], time.Since(began))
			}
		}
		fmt.Printf("%s %d %d\n", c.name, best[0]/calls, best[1]/calls)
	}
	check(db.Close())
	sys.Close()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
