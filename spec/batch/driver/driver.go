// Package driver is the main part of the executables that package batch makes: it runs the programs that are compiled
// into one, each time on a fresh system, and reports what came of it. Its source is compiled into those
// executables; package batch also uses its types.
package driver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/callpath"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/inherit"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/trace"
	"github.com/aeon-lang/aeon/runtime/value"
)

// MainEntry is the Entry of a job that runs main; the tests of a program are numbered from 0.
const MainEntry = -1

// Job is one run of one program. It is sent to the executable as a line of JSON.
type Job struct {
	Program int    // index among the programs of the executable
	Entry   int    // MainEntry, or the index of a test
	Seed    uint64 // of the schedule and of random(); 0 is the undisturbed schedule
	// Simulated gives main simulated time, in which timers that are due at the end fire at once. Tests always have it.
	Simulated bool
	// Scheduled runs one goroutine at a time, in an order that Seed chooses, and which is the same
	// whenever it is the same seed. It needs simulated time.
	Scheduled bool
	// Stored runs the program on a store, from which states are dropped and read again all the time, and which is opened
	// once more at the end.
	Stored bool
	// Stores, if above 1, is on how many stores the program runs, over which its actors are spread.
	Stores  int
	LimitMS int64 // how long the run may take
	// Trace, if not "", is the file for a record of the run, with hashes of all states. A run on a store has none.
	Trace string
}

// Outcome is what came of a job. It is sent back by package gob, as what programs print need not be UTF-8.
type Outcome struct {
	Job         Job
	Output      string        // what the program printed
	Failure     *Failure      // what left main or the test; nil if nothing did
	Callbacks   []Failure     // failures of callbacks, as they came
	DeadLetters []DeadLetter  // failures of events that were not awaited, those of pending values included
	Unquiet     string        // why the system did not come to rest after main or the test
	Hang        string        // the run took longer than its limit: what waits for what, and all stacks
	Crash       string        // the process ended; written by the parent
	Stored      string        // what is wrong with the store, or with what it has given back
	Across      across.Counts // what has happened between several stores
	Commits     uint64        // events that committed
	Aborts      uint64        // events that were undone
	TookUS      int64         // how long the run took
}

// Failure is one failure of an event or of a client.
type Failure struct {
	Message string
	Path    []Place // of the program, innermost first
	Stack   string  // of Go, where the failure is none of those that a program can cause
}

// DeadLetter is the failure of an event that was not awaited.
type DeadLetter struct {
	Method string // Class.method
	Failure
}

// Place is a line of a program. File is without directory.
type Place struct {
	File string
	Line int
}

// exitHung is the exit code of a process that gives up after a job has exceeded its limit.
const exitHung = 3

// epoch is where the simulated clock stands at first, as under `aeonc test`.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Main reads jobs from a file, runs them one after the other, and writes their outcomes to another. The arguments of the process name
// the two: Go code that programs bind may print.
func Main(programs ...any) {
	jobs, err := inherit.Open(os.Args[1])
	outcomes, also := inherit.Open(os.Args[2])
	if err := errors.Join(err, also); err != nil {
		panic(err)
	}
	in, out := bufio.NewScanner(jobs), gob.NewEncoder(outcomes)
	for in.Scan() {
		var job Job
		if err := json.Unmarshal(in.Bytes(), &job); err != nil {
			panic(err)
		}
		o := runWithin(programs[job.Program].(*aeonrt.Package), job)
		if err := out.Encode(o); err != nil {
			panic(err)
		}
		if o.Hang != "" {
			os.Exit(exitHung) // what hangs cannot be stopped
		}
	}
}

// runWithin runs a job and gives up when its time is over.
func runWithin(p *aeonrt.Package, job Job) *Outcome {
	r := &run{job: job}
	ended := make(chan *Outcome, 1)
	start := time.Now()
	go func() { ended <- r.perform(p) }() // ends with the job, or with the process
	limit := time.NewTimer(time.Duration(job.LimitMS) * time.Millisecond)
	defer limit.Stop()
	var o *Outcome
	select {
	case o = <-ended:
	case <-limit.C:
		o = &Outcome{Job: job, Output: r.out.String(), Hang: r.dump()}
	}
	o.TookUS = time.Since(start).Microseconds()
	return o
}

// run is one run of a program.
type run struct {
	job     Job
	out     buffer
	several *nodes.Cluster // of a run on several stores
	system  struct {
		sync.Mutex
		*aeonrt.System
	}
}

func (r *run) perform(p *aeonrt.Package) *Outcome {
	body, simulated := p.Main, r.job.Simulated
	if r.job.Entry != MainEntry {
		body, simulated = p.Tests[r.job.Entry].Run, true
	}
	cfg := aeonrt.Config{Stdout: &r.out, Log: slog.New(slog.DiscardHandler), Seed: r.job.Seed, Clock: aeonrt.RealClock{}, InventGo: true}
	if simulated {
		cfg.Clock, cfg.Scheduled = aeonrt.NewSimClock(epoch), r.job.Scheduled
	}
	o := &Outcome{Job: r.job}
	traced := r.traced(&cfg)
	s, keeping := r.open(cfg, p, o)
	if s == nil {
		return o
	}
	r.system.Lock()
	r.system.System = s
	r.system.Unlock()
	o.Failure = call(body, s.Client())
	switch {
	case o.Failure != nil || r.job.Entry != MainEntry: // timers are dropped
		s.Client().Settle()
	case simulated:
		o.Unquiet = fireAll(s)
	default:
		if err := s.Quiesce(context.Background()); err != nil {
			o.Unquiet = err.Error()
		}
	}
	end := func() {}
	if keeping != nil {
		end = keeping.end(s, o)
	}
	systems := []*aeonrt.System{s}
	if r.several != nil {
		systems, o.Across = r.several.Systems(), r.several.Counts()
	}
	for _, s := range systems {
		stats := s.Stats()
		o.Commits, o.Aborts = o.Commits+stats.Commits, o.Aborts+stats.Aborts
	}
	if r.several == nil {
		s.Close()
	} else if err := r.several.Close(); err != nil {
		o.Stored = err.Error()
	}
	traced()
	end()
	o.Output = r.out.String()
	for _, s := range systems {
		for _, c := range s.CallbackFailures() {
			o.Callbacks = append(o.Callbacks, *failureOf(c.Err, c.Path))
		}
		for _, d := range s.DeadLetters() {
			o.DeadLetters = append(o.DeadLetters, DeadLetter{Method: d.Method, Failure: *failureOf(d.Err, nil)})
		}
	}
	return o
}

// traced has the system write its trace, if the job says so; end ends it.
func (r *run) traced(cfg *aeonrt.Config) (end func()) {
	if r.job.Trace == "" {
		return func() {}
	}
	w, err := trace.Create(r.job.Trace, trace.Memory, false)
	if err != nil {
		panic(err)
	}
	w.Begin(trace.Header{Program: "generated", Seed: r.job.Seed, States: true})
	cfg.Trace, cfg.TraceStates = w, true
	return func() {
		w.End("closed")
		if err := w.Close(); err != nil {
			panic(err)
		}
	}
}

// open opens a system, on a store if the job says so; nil if it cannot be opened.
func (r *run) open(cfg aeonrt.Config, p *aeonrt.Package, o *Outcome) (*aeonrt.System, *stored) {
	switch {
	case r.job.Stores > 1:
		if err := r.openSeveral(cfg, p); err != nil {
			o.Stored = err.Error()
			return nil, nil
		}
		return r.several.System(0), nil
	case !r.job.Stored:
		return aeonrt.Open(cfg), nil
	}
	d, s, err := openStored(cfg, p)
	if err != nil {
		o.Stored = err.Error()
		return nil, nil
	}
	return s, d
}

// firingsMax bounds what main leaves to be fired: beyond it, timers set timers for ever.
const firingsMax = 10_000

// fireAll advances simulated time until no one-shot timer is left, and no further: with the last one the program ends.
func fireAll(s *aeonrt.System) (unquiet string) {
	cl := s.Client()
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for range firingsMax {
		cl.Settle()
		if s.Quiesce(gone) == nil {
			return ""
		}
		if !s.FireNext() {
			break
		}
	}
	return "timers are left"
}

// call runs code of a client and returns what left it, nil if nothing did.
func call(body func(*aeonrt.Client), cl *aeonrt.Client) (f *Failure) {
	defer func() {
		if p := recover(); p != nil {
			f = failureOf(p, callpath.Here())
		}
	}()
	body(cl)
	return nil
}

// failureOf describes what code of a client panicked with, or an event failed with.
func failureOf(p any, path []callpath.Frame) *Failure {
	f := &Failure{Message: fmt.Sprint(p)}
	err, _ := p.(error)
	var abort *aeonrt.AbortError
	var limit *event.LimitError
	var fault value.Fault
	switch {
	case errors.As(err, &abort):
		if len(abort.Path) > 0 {
			path = abort.Path
		}
	case errors.As(err, &limit), errors.As(err, &fault):
	default:
		f.Stack = string(debug.Stack())
	}
	for _, frame := range path {
		if i := strings.LastIndexByte(frame.File, '/'); strings.HasSuffix(frame.File, ".aeon") {
			f.Path = append(f.Path, Place{frame.File[i+1:], frame.Line})
		}
	}
	return f
}

// dump says what waits for what, and where all goroutines are.
func (r *run) dump() string {
	var b strings.Builder
	r.system.Lock()
	if r.system.System != nil {
		r.system.WriteWaits(&b)
	}
	r.system.Unlock()
	stacks := make([]byte, 1<<20)
	b.Write(stacks[:runtime.Stack(stacks, true)])
	return b.String()
}

// buffer collects what a program prints.
type buffer struct {
	mu struct {
		sync.Mutex
		bytes.Buffer
	}
}

var _ io.Writer = (*buffer)(nil)

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.Buffer.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.Buffer.String()
}
