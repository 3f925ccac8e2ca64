package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/aeon-lang/aeon/bench/load"
)

// printRow prints the results of a row; rates are relative to the first system that was measured.
func printRow(w io.Writer, r row, results []load.Result) {
	fmt.Fprintf(w, "\n%s    (goal: %s)\n", r.title, r.goal)
	if r.timed || r.durable {
		fmt.Fprintf(w, "  %-40s %10s %9s %9s %9s %9s %8s %7s %8s\n",
			"", "op/s", "p50", "p99", "cpu us/op", "allocs/op", "retries", "spread", "rate x")
	} else {
		fmt.Fprintf(w, "  %-36s %14s %10s %10s %10s %8s %8s\n", "", "op/s", "ns/op", "cpu ns/op", "allocs/op", "spread", "rate x")
	}
	first := 0.0
	for _, s := range results {
		if first == 0 {
			first = s.OpsPerSec
		}
		switch {
		case s.Missing != "":
			fmt.Fprintf(w, "  %-40s %s\n", s.System, s.Missing)
		case r.timed || r.durable:
			fmt.Fprintf(w, "  %-40s %10.0f %9s %9s %9.1f %9.1f %8.2g %6.0f%% %8.3g\n", s.System, s.OpsPerSec, short(s.Median),
				short(s.Tail), s.CPUNsPerOp/1000, s.AllocsPerOp, s.RetriesPerOp, 100*s.Spread, s.OpsPerSec/first)
		default:
			fmt.Fprintf(w, "  %-36s %14.0f %10.0f %10.0f %10.1f %7.0f%% %8.3g\n",
				s.System, s.OpsPerSec, s.NsPerOp, s.CPUNsPerOp, s.AllocsPerOp, 100*s.Spread, s.OpsPerSec/first)
		}
		if r.written && s.Missing == "" {
			fmt.Fprintf(w, "      %.0f bytes written per operation\n", s.WrittenPerOp)
		}
		for _, note := range s.Notes {
			fmt.Fprintf(w, "      %s\n", note)
		}
	}
}

// short writes a time with three digits or so.
func short(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}} {
		if d >= unit.size {
			return strconv.FormatFloat(float64(d)/float64(unit.size), 'g', 3, 64) + unit.name
		}
	}
	return d.String()
}
