// Command bench measures aeon beside its peers and its limits and prints the
// ratios. Every row was measured in this one run, round by round in turn, because
// absolute figures of a machine mean little. README.md says what to install.
//
//	go run .                all rows
//	go run . -run hot       the rows whose title contains hot
//	go run . -system aeon   those systems of each row whose name contains aeon
//	go run . -quick         short rounds, to see that everything works
//	go run . -dir /mnt/ssd  data directories there instead of in the temporary directory
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/remote"
	"github.com/aeon-lang/aeon/bench/server"
	"github.com/aeon-lang/aeon/internal/heapfloor"
)

func main() {
	heapfloor.Keep() // as programs of aeon do; all that is Go has it here
	if is, err := server.IsPart(parts); is {
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	o := options{}
	flag.StringVar(&o.run, "run", "", "measure only the rows whose title contains this")
	flag.StringVar(&o.system, "system", "", "measure only the systems whose name contains this")
	flag.BoolVar(&o.quick, "quick", false, "short rounds and little data: everything works, the figures mean little")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds per row; the median counts")
	dir := flag.String("dir", "", "make the data directories below this one; all of it is removed at the end")
	delay := flag.Duration("delay", 0, "delay each message of a session between two nodes, as a network does")
	profile := flag.String("cpuprofile", "", "write a CPU profile to this file")
	flag.Parse()
	if *delay > 0 {
		os.Setenv(remote.DelayVariable, delay.String()) // for the other nodes, too
	}
	p, err := newPlace(*dir, true, o.quick)
	if err == nil {
		p.profile = *profile
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
		go func() {
			<-interrupted
			p.close()
			os.Exit(130)
		}()
		err = profiled(*profile, func() error { return o.measureAll(p) })
		if closing := p.close(); err == nil {
			err = closing
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are what the command line has chosen.
type options struct {
	run, system string
	quick       bool
	rounds      int
}

// profiled runs f with a CPU profile into file, if it is named.
func profiled(file string, f func() error) error {
	if file == "" {
		return f()
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return f()
}

func (o options) measureAll(p *place) error {
	fmt.Printf("%s, %d CPUs, median of %d rounds, data in %s\n", runtime.Version(), runtime.GOMAXPROCS(0), o.rounds, p.dir)
	var titles strings.Builder
	chosen, measured := false, false
	for _, r := range rows() {
		fmt.Fprintf(&titles, "\n\t%s", r.title)
		if !strings.Contains(r.title, o.run) {
			continue
		}
		chosen = true
		some, err := o.measure(r, p)
		if err != nil {
			return fmt.Errorf("%s: %w", r.title, err)
		}
		measured = measured || some
	}
	switch {
	case !chosen:
		return fmt.Errorf("-run: no row has a title that contains %q; the titles are%s", o.run, &titles)
	case !measured:
		return fmt.Errorf("-system: no system of these rows has a name that contains %q", o.system)
	}
	return nil
}

// plan says how long a row is measured.
func (o options) plan(r row) load.Plan {
	plan := load.Plan{Callers: r.callers, Round: time.Second, Rounds: o.rounds, Warmup: 300 * time.Millisecond, Timed: r.timed || r.durable}
	if r.timed {
		plan.Warmup = 2 * time.Second // until then a new process touches the memory of its heap for the first time: see package heapfloor
	}
	if r.durable {
		plan.Round, plan.Warmup = 2*time.Second, time.Second
		plan.Settle = syscall.Sync // what one system has left to write would delay the next one's syncs
	}
	if r.short {
		plan.Round, plan.Warmup = 200*time.Millisecond, 50*time.Millisecond
	}
	if o.quick {
		plan.Round, plan.Warmup, plan.Rounds, plan.Settle = 50*time.Millisecond, 20*time.Millisecond, 1, nil
	}
	return plan
}

// measure measures a row and prints it, and says whether it has any of the systems that are chosen.
func (o options) measure(r row, p *place) (bool, error) {
	systems, err := open(r.contenders(p), o.system)
	if err != nil || len(systems) == 0 {
		return false, err
	}
	results, err := load.Compare(o.plan(r), systems...)
	if err != nil {
		return false, err
	}
	printRow(os.Stdout, r, results)
	return true, nil
}
