package runtime

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/inherit"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// testEpoch is the time on the simulated clock at the beginning of a test.
var testEpoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// testEvent is a line that MainTest writes; package testrun of aeonc reads it.
type testEvent struct {
	Action  string        // start, run, seed, output, pass, fail or finished
	Unit    int           // of the package in the executable
	Index   *int          `json:",omitempty"` // of the test in the package
	Test    bytejson.Text `json:",omitempty"`
	File    bytejson.Text `json:",omitempty"`
	Line    int           `json:",omitempty"`
	Elapsed *float64      `json:",omitempty"` // seconds
	Output  bytejson.Text `json:",omitempty"`
	Seed    uint64        `json:",omitempty"` // of the schedule that begins
	Stores  *storesEvent  `json:",omitempty"` // of the end of a test on several nodes
}

// storesEvent tells what a test has done over several stores, in all its schedules.
type storesEvent struct {
	Events    int64 // that committed
	Withdrawn int64 // attempts
}

// testRun is one run of a test executable.
type testRun struct {
	out struct {
		sync.Mutex
		io.Writer
	}
	filter   *regexp.Regexp
	seed     uint64
	repeat   int
	parallel bool
	trace    tracing
	nodes    simulating
	done     storesEvent // by the test that runs
	failed   bool
}

// MainTestOf is MainTest for the main packages that aeonc writes, see MainOf.
func MainTestOf(entries ...any) {
	var packages []*Package
	var opts []Option
	for _, e := range entries {
		switch e := e.(type) {
		case *Package:
			packages = append(packages, e)
		case Option:
			opts = append(opts, e)
		}
	}
	MainTest(packages, opts...)
}

// MainTest is the main function of a test executable: it runs the tests of the
// packages and writes events as lines of JSON to standard output, or to the file of -events,
// between which nothing comes that Go code prints. `aeonc test` reads them, and takes the process with it when it ends. Of the options, tests use WithNodes.
func MainTest(packages []*Package, opts ...Option) {
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	go func() { // ends with the process
		<-quit
		_, _ = os.Stderr.Write(allStacks())
		trace.FlushOpen()
		os.Exit(exitUsage)
	}()
	os.Exit(runMainTest(packages, os.Args[1:], os.Stdout, os.Stderr, opts...))
}

// exitWith ends the process when a file that it got ends: the process that started it has ended then, and so waits for no test, not even for one
// that does not end.
func exitWith(name string) error {
	file, err := inherit.Open(name)
	if err != nil {
		return err
	}
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, file)
		trace.FlushOpen()
		os.Exit(exitUsage)
	}()
	return nil
}

// stacksMax bounds a dump of all goroutines.
const stacksMax = 1 << 20

// allStacks returns the stacks of all goroutines. Go's own answer to SIGQUIT leaves
// out the running ones, one of which is the endless loop, if there is one.
func allStacks() []byte {
	buf := make([]byte, stacksMax)
	return buf[:runtime.Stack(buf, true)]
}

func runMainTest(packages []*Package, args []string, stdout, stderr io.Writer, opts ...Option) int {
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	fs.SetOutput(stderr)
	var linked mainRun
	for _, o := range opts {
		o(&linked)
	}
	r := &testRun{nodes: linked.simulating}
	r.out.Writer = stdout
	filter := fs.String("run", "", "run only tests whose names match `regexp`")
	events := fs.String("events", "", "write events to the file that was handed over under this `name`, and exit when that of the name behind the flags ends")
	after := fs.String("after", "-1/-1", "start behind this `package/test`")
	fs.Uint64Var(&r.seed, "seed", 0, "seed of the first schedule; 0 draws one")
	fs.IntVar(&r.repeat, "repeat", 1, "how many schedules each test is run with")
	fs.BoolVar(&r.parallel, "parallel", false, "leave the schedule to the machine")
	r.trace.flags(fs)
	r.nodes.flags(fs)
	if err := fs.Parse(args); err != nil {
		return exitUsage
	}
	err := r.nodes.check(nil)
	if *events != "" && err == nil {
		if r.out.Writer, err = inherit.Open(*events); err == nil {
			err = exitWith(fs.Arg(0))
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	if r.filter, err = regexp.Compile(*filter); err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	var unit, index int
	if _, err := fmt.Sscanf(*after, "%d/%d", &unit, &index); err != nil {
		fmt.Fprintln(stderr, "-after:", err)
		return exitUsage
	}
	if r.nodes.Several() {
		if unit < 0 { // else it goes on after a test that has ended the process
			err = NodeTrace{Dir: r.trace.file}.openSimulated()
		}
	} else {
		err = r.trace.open(trace.Memory, unit >= 0, nil)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	for u := max(unit, 0); u < len(packages); u++ {
		first := 0
		if u == unit {
			first = index + 1
		}
		r.runPackage(packages[u], u, first)
	}
	if err := r.trace.close(); err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	r.say(testEvent{Action: "finished"})
	if r.failed {
		return exitFailed
	}
	return exitClean
}

func (r *testRun) runPackage(p *Package, unit, first int) {
	r.say(testEvent{Action: "start", Unit: unit})
	for i := first; i < len(p.Tests); i++ {
		if t := p.Tests[i]; r.filter.MatchString(t.Name) {
			r.runTest(p, &t, testEvent{Unit: unit, Index: &i, Test: bytejson.Text(t.Name), File: bytejson.Text(t.File), Line: t.Line})
		}
	}
	r.say(testEvent{Action: "pass", Unit: unit})
}

// runTest runs a test with each of its seeds until it fails.
func (r *testRun) runTest(p *Package, t *Test, e testEvent) {
	e.Action = "run"
	r.say(e)
	start := time.Now()
	e.Action = "pass"
	r.done = storesEvent{}
	for i := range r.repeat {
		seed := r.seed + uint64(i)
		if r.seed == 0 {
			seed = rand.Uint64()>>32 + 1 // short enough to be typed
		}
		if f := r.once(p, t, e, seed); f != nil {
			e.Action = "fail"
			r.failed = true
			r.output(e, fmt.Sprintf("%sseed %d\n", f, seed))
			break
		}
	}
	elapsed := time.Since(start).Seconds()
	e.Elapsed = &elapsed
	if r.nodes.Several() {
		e.Stores = &r.done
	}
	r.say(e)
}

// once runs a test on a system of its own, one goroutine at a time in an order that the
// seed chooses, so that the seed of a failure repeats it.
func (r *testRun) once(p *Package, t *Test, e testEvent, seed uint64) *failure {
	e.Action, e.Seed = "seed", seed
	r.say(e)
	out := &testOutput{r, e}
	n, err := r.begin(p, &e, Config{Clock: NewSimClock(testEpoch), Stdout: out, Seed: seed, Log: newLog(out, false), Scheduled: !r.parallel, InventGo: true},
		trace.Header{Program: p.Name, Test: e.Test, Seed: seed})
	if err != nil {
		return &failure{msg: err.Error()}
	}
	s := n.Systems()[0]
	f := call(func(cl *Client) {
		t.Run(cl)
		cl.Settle() // Close refuses what callbacks issue
	}, s.Client())
	if n.Counts != nil {
		counts := n.Counts()
		r.done.Events += counts.Committed
		r.done.Withdrawn += counts.Withdrawn
	}
	if err := n.Close(); err != nil && f == nil {
		f = &failure{msg: err.Error()}
	}
	for _, s := range n.Systems() {
		if f == nil {
			f = unheard(s)
		}
	}
	return f
}

// begin opens systems that keep nothing for one run of a test: one, or one for each node of a cluster, which has a directory for its traces.
func (r *testRun) begin(p *Package, e *testEvent, cfg Config, h trace.Header) (*Nodes, error) {
	if r.nodes.Several() {
		return r.nodes.begin(cfg, p, &simTrace{NodeTrace: NodeTrace{Dir: r.trace.file, States: r.trace.states}, header: h,
			prefix: fmt.Sprintf("%d.%d-%d-", e.Unit, *e.Index, h.Seed)})
	}
	only := Open(r.trace.begin(cfg, h))
	return &Nodes{Systems: func() []*System { return []*System{only} }, Close: func() error { only.Close(); r.trace.end(only, nil); return nil }}, nil
}

// unheard returns a failure that no client has got, as such a failure fails the test; the log has all of them.
func unheard(s *System) *failure {
	for _, d := range s.DeadLetters() {
		if d.Call {
			continue
		}
		f := &failure{msg: d.Err.Error(), note: "no client has awaited " + d.Method + ", so the test fails; a test that expects the failure awaits the event in try … catch"}
		var abort *AbortError
		if errors.As(d.Err, &abort) {
			f.path = abort.Path
		}
		return f
	}
	if list := s.CallbackFailures(); len(list) > 0 {
		c := list[0]
		return &failure{msg: c.Err.Error(), path: c.Path, note: "the callback " + c.Method + " has failed, so the test fails"}
	}
	return nil
}

// testOutput turns what a test prints into events.
type testOutput struct {
	run  *testRun
	test testEvent
}

func (o *testOutput) Write(p []byte) (int, error) {
	o.run.output(o.test, string(p))
	return len(p), nil
}

func (r *testRun) output(e testEvent, text string) {
	e.Action, e.Output, e.File, e.Line, e.Elapsed, e.Seed = "output", bytejson.Text(text), "", 0, nil, 0
	r.say(e)
}

// say writes an event; any goroutine may call it.
func (r *testRun) say(e testEvent) {
	line, err := json.Marshal(e)
	if err != nil {
		panic(err) // never: strings and numbers marshal
	}
	r.out.Lock()
	defer r.out.Unlock()
	_, _ = r.out.Write(append(line, '\n')) // there is no other way to report it
}
