package runtime

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/aeon-lang/aeon/runtime/trace"
)

// The exit codes of a program; after a signal it is 128 and its number.
const (
	exitClean  = 0
	exitFailed = 1
	exitUsage  = 2
	signalBase = 128
)

// graceMax is how long running events may take to end after a signal. It is short: whoever presses Ctrl-C
// wants the program to stop, and an event that is cut off has not happened.
const graceMax = 200 * time.Millisecond

// Main is the main function of a program: it runs p.Main on a new system, waits
// until no event, sub-event or one-shot timer is left, and ends the process. A
// failure that leaves p.Main is written to standard error and makes the exit
// code 1.
func Main(p *Package) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(runMain(p, os.Args[1:], os.Stdout, os.Stderr, signals))
}

func runMain(p *Package, args []string, stdout, stderr io.Writer, signals <-chan os.Signal) int {
	fs := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors and help are worded below
	summary := fs.Bool("summary", false, "write what was done to standard error at the end")
	seed := fs.Uint64("seed", 0, "`number` that goes into every random()")
	var tr tracing
	tr.flags(fs)
	switch err := fs.Parse(args); {
	case err == flag.ErrHelp:
		writeUsage(stdout, p, fs)
		return exitClean
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v; --help lists the flags\n", p.Name, err)
		return exitUsage
	case fs.NArg() > 0:
		fmt.Fprintf(stderr, "%s: the program takes no arguments, but %q was given\n", p.Name, fs.Arg(0))
		return exitUsage
	case p.Main == nil:
		fmt.Fprintf(stderr, "%s: the package has no main function\n", p.Name)
		return exitUsage
	}
	if err := tr.open(false); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
		return exitFailed
	}
	start := time.Now()
	out := &output{to: stdout}
	s := Open(tr.begin(Config{Stdout: out, Seed: *seed, Log: newLog(stderr, true)}, trace.Header{Program: p.Name, Seed: *seed}))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan *failure, 1)
	go func() { // ends with main and its events, or with the process
		f := call(p.Main, s.Client())
		if f == nil && s.Quiesce(ctx) != nil {
			f = &failure{msg: "interrupted"}
		}
		ended <- f
	}()
	code := exitClean
	select {
	case f := <-ended:
		s.Close()
		tr.end()
		if f != nil {
			fmt.Fprintf(stderr, "%s: main failed: %s", p.Name, f)
			code = exitFailed
		}
	case sig := <-signals:
		cancel()
		code = interrupted(p, s, sig, stderr, signals, tr.end)
	}
	if err := out.failure(); err != nil {
		fmt.Fprintf(stderr, "%s: not all that was printed could be written: %v\n", p.Name, err)
		code = max(code, exitFailed)
	}
	if err := tr.close(); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
		code = max(code, exitFailed)
	}
	if *summary {
		writeSummary(stderr, p, s.Stats(), time.Since(start))
	}
	return code
}

// interrupted lets the events that run end, if they do so at once; a second signal,
// or their taking too long, ends the process without them. It calls ended if they have.
func interrupted(p *Package, s *System, sig os.Signal, stderr io.Writer, signals <-chan os.Signal, ended func()) int {
	fmt.Fprintf(stderr, "%s: %v\n", p.Name, sig)
	closed := make(chan struct{})
	go func() { // ends with the events, or with the process
		s.Close()
		close(closed)
	}()
	select {
	case <-closed:
		ended()
	case <-signals:
	case <-time.After(graceMax):
		fmt.Fprintf(stderr, "%s: ended without the events that still ran\n", p.Name)
	}
	if n, ok := sig.(syscall.Signal); ok {
		return signalBase + int(n)
	}
	return exitFailed
}

func writeSummary(w io.Writer, p *Package, t Stats, took time.Duration) {
	fmt.Fprintf(w, "%s: ended after %.2f s: %d events committed, %d undone", p.Name, took.Seconds(), t.Commits, t.Aborts)
	if t.DeadLetters > 0 {
		fmt.Fprintf(w, ", %d dead letters (failures that nobody awaited)", t.DeadLetters)
	}
	fmt.Fprintln(w)
}
