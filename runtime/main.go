package runtime

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/aeon-lang/aeon/internal/cmdline"
	"github.com/aeon-lang/aeon/internal/heapfloor"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// The exit codes of a program; of main that a signal cuts off it is 128 and its number, and Go's own are store's.
const (
	exitClean   = 0
	exitFailed  = 1
	exitUsage   = store.ExitUsage  // nothing has been done
	exitRefused = 3                // the data directory or the file of the trace cannot be used; nothing has been done
	exitStore   = store.ExitFailed // the store has failed; the outcome of what was not answered is unknown
	signalBase  = 128
)

// Option is an option of Main.
type Option func(*mainRun)

// Parts are what a program can do that is linked with them.
type Parts struct {
	Store     store.Opener  // keeps state on disk: the program then has --data and the flags that go with it
	Snapshots TargetOpener  // opens the place of the store's snapshots
	Door      DoorOpener    // takes calls from outside: --listen
	Spans     SpanOpener    // opens where spans go: --spans
	Cluster   ClusterRunner // runs the program as a node of a cluster: --cluster-listen
}

// With links a program with parts.
func With(parts Parts) Option {
	return func(r *mainRun) {
		r.keeping.open, r.keeping.openTarget, r.listening.openDoor, r.spanning.openPlace = parts.Store, parts.Snapshots, parts.Door, parts.Spans
		r.runNode = parts.Cluster
	}
}

// Main is the main function of a program. It runs p.Main on a new system, or on one that goes on with
// the state in a data directory. Then it waits until no event, sub-event or one-shot timer is left, and ends
// the process. A failure that leaves p.Main is written to standard error and makes the exit code 1.
func Main(p *Package, opts ...Option) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	heapfloor.Keep() // until the process ends
	os.Exit(runMain(p, os.Args[1:], os.Stdout, os.Stderr, signals, opts...))
}

// MainOf is Main for the main packages that aeonc writes: entries are the *Package and the options, as any. A package
// that sees a type compiles the generic code behind it once more, and behind these lies most of the runtime: with
// their types hidden a main package is compiled in no time instead of half a second.
func MainOf(entries ...any) {
	var opts []Option
	for _, o := range entries[1:] {
		opts = append(opts, o.(Option))
	}
	Main(entries[0].(*Package), opts...)
}

// mainRun is one run of a program.
type mainRun struct {
	p       *Package
	out     *output
	stderr  io.Writer
	signals <-chan os.Signal

	summary, serve, create bool
	once                   string // what to take a snapshot of, instead of running
	seed                   uint64
	seeded                 bool // the seed was given
	tracing                tracing
	keeping                keeping
	listening              listening
	spanning               spanning
	simulating             simulating
	cluster                settings.Cluster
	runNode                ClusterRunner // nil: the program was compiled without
	log                    *slog.Logger

	system       *System
	early        os.Signal   // has come while the program opened; nil: none has
	mainRuns     atomic.Bool // or is to run: a signal cuts it off
	endSnapshots func()      // also cuts off a snapshot under way, and waits for its end
	code         int
}

func runMain(p *Package, args []string, stdout, stderr io.Writer, signals <-chan os.Signal, opts ...Option) int {
	r := &mainRun{p: p, out: &output{to: stdout}, stderr: stderr, signals: signals}
	for _, o := range opts {
		o(r)
	}
	if code, ok := r.parse(args, stdout); !ok {
		return code
	}
	if r.once != "" {
		return r.snapshotOnce(stdout)
	}
	if r.cluster.Listen != "" {
		return r.node()
	}
	if r.simulating.Several() {
		return r.simulating.run(r)
	}
	start := time.Now()
	if code, ok := r.begin(); !ok {
		return code
	}
	r.run()
	if err := r.out.failure(); err != nil {
		r.fail(exitFailed, "not all that was printed could be written: %v", err)
	}
	if err := r.tracing.close(); err != nil {
		r.fail(exitFailed, "%v", err)
	}
	if err := r.spanning.close(); err != nil {
		r.say("%v", err)
	}
	if r.summary {
		r.say("%s", summary(r.system.Stats(), time.Since(start)))
	}
	return r.code
}

// node runs the program as a node of a cluster.
func (r *mainRun) node() int {
	traced := NodeTrace{Dir: r.tracing.file, States: r.tracing.states}
	if err := traced.openDir(); err != nil {
		r.fail(exitRefused, "%v", err)
		return r.code
	}
	log := newLog(r.stderr, true)
	spans := &NodeSpans{Spans: r.spanning.Spans, open: r.spanning.openPlace, program: r.p.Name, log: log}
	snapshots := &NodeSnapshots{keeping: r.keeping}
	code := r.runNode(ClusterConfig{
		Package: r.p, Cluster: r.cluster, State: r.keeping.State, Listen: r.listening.Listen, Trace: traced, Spans: spans, Snapshots: snapshots, OpenEngine: r.keeping.open, Cache: r.keeping.cache(), Create: r.create, Seed: r.seed,
		Stdout: r.out, Say: r.say, Log: log, Signals: r.signals,
	})
	spans.close()
	if err := r.out.failure(); err != nil {
		r.fail(exitFailed, "not all that was printed could be written: %v", err)
	}
	return max(code, r.code)
}

// sayMax is how long the program waits for a reader of what it says.
const sayMax = time.Second

// say writes a line to standard error. If that is a pipe which is full, and not read, the program goes on without, as it could neither start nor end.
func (r *mainRun) say(format string, args ...any) {
	said := make(chan struct{})
	go func() { // ends when the line is written, or with the process
		fmt.Fprintf(r.stderr, "%s: %s\n", r.p.Name, fmt.Sprintf(format, args...))
		close(said)
	}()
	select {
	case <-said:
	case <-time.After(sayMax):
	}
}

// fail says what went wrong. The largest such code is the exit code of the program.
func (r *mainRun) fail(code int, format string, args ...any) {
	r.say(format, args...)
	r.code = max(r.code, code)
}

// parse reads the command line; ok is false if the program is to end with code.
func (r *mainRun) parse(args []string, stdout io.Writer) (code int, ok bool) {
	fs := flag.NewFlagSet(r.p.Name, flag.ContinueOnError)
	fs.BoolVar(&r.summary, "summary", false, "write what was done to standard error at the end")
	fs.Uint64Var(&r.seed, "seed", 0, "`number` that goes into every random()")
	r.tracing.flags(fs)
	r.simulating.flags(fs)
	if r.simulating.open != nil {
		r.simulating.FaultFlag(fs)
	}
	if r.keeping.open != nil {
		r.keeping.Flags(fs)
		if r.listening.openDoor != nil {
			r.listening.Flags(fs)
		}
		if r.spanning.openPlace != nil {
			r.spanning.Flags(fs)
		}
		if r.runNode != nil {
			r.cluster.Flags(fs)
		}
		fs.BoolVar(&r.serve, "serve", false, "with --data: leave out main, and serve what is in DIR until a signal comes")
		fs.BoolVar(&r.create, "create", false, "with --serve: make a new store if DIR does not exist or is empty")
		fs.StringVar(&r.once, "snapshot-once", "", "with --data and --snapshots: run nothing, take a snapshot of `WHAT`, all or the id of an actor, and end")
	}
	own, every := flag.NewFlagSet(r.p.Name, flag.ContinueOnError), flag.NewFlagSet(r.p.Name, flag.ContinueOnError) // for the help
	if err := r.p.clash(fs); err != nil {
		r.say("%v", err)
		return exitUsage, false
	}
	r.p.configFlags(own)
	fs.VisitAll(func(f *flag.Flag) { every.Var(f.Value, f.Name, f.Usage) })
	own.VisitAll(func(f *flag.Flag) { fs.Var(f.Value, f.Name, f.Usage) })
	rest, err := cmdline.Parse(fs, args, true)
	if errors.Is(err, flag.ErrHelp) {
		writeUsage(stdout, r.p, own, every)
		return exitClean, false
	}
	fs.Visit(func(f *flag.Flag) { r.seeded = r.seeded || f.Name == "seed" })
	if err == nil {
		err = r.simulating.check(args)
	}
	if err == nil {
		err = r.check(rest)
	}
	if unknown := new(cmdline.UnknownError); errors.As(err, &unknown) {
		switch {
		case r.keeping.open == nil && ofStore(unknown.Name):
			err = fmt.Errorf("--%s: %w", unknown.Name, errNoStore)
		case unknown.Name == "nodes", unknown.Name == "faults":
			err = errNoNodes
		case r.runNode == nil && settings.IsClusterFlag(unknown.Name):
			err = fmt.Errorf("--%s: %w", unknown.Name, errNoCluster)
		}
	}
	if err != nil {
		r.say("%v\n\t%s\n\t--help lists the flags", err, usageLine(r.p))
		return exitUsage, false
	}
	r.mainRuns.Store(!r.serve && r.p.Main != nil)
	return exitClean, true
}

// ofStore reports whether a flag is one of programs that keep their state.
func ofStore(name string) bool {
	return settings.IsFlag(name) || slices.Contains([]string{"serve", "create", "snapshot-once"}, name)
}

// check returns what is wrong with a command line whose flags have been parsed.
func (r *mainRun) check(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("the program takes no arguments, but %q was given", rest[0])
	}
	if err := r.keeping.Check(); err != nil {
		return err
	}
	if err := r.listening.Check(); err != nil {
		return err
	}
	if err := r.spanning.check(&r.listening); err != nil {
		return err
	}
	if err := r.cluster.Check(&r.keeping.State, &r.listening.Listen); err != nil {
		return err
	}
	if err := r.keeping.nameActor(r.p); err != nil {
		return err
	}
	switch {
	case r.serve && r.keeping.Dir == "" && !r.listening.listens():
		return errors.New("--serve goes on with what is in a directory, or takes calls from outside; name the directory with --data, or an address with --listen")
	case r.create && !r.serve:
		return errors.New("--create is for --serve: without that the directory of --data is made if it does not exist")
	case r.once != "" && r.keeping.Snapshots == "":
		return errors.New("--snapshot-once copies what is in a directory; name that with --data, and the place with --snapshots")
	case r.once != "" && r.keeping.SnapshotActor != "":
		return errors.New("--snapshot-once says itself what the snapshot is of; leave out --snapshot-actor")
	case r.tracing.states && r.tracing.file == "":
		return errors.New("--trace-states adds to a trace; name its file with --trace")
	case r.cluster.Listen != "" && r.once != "":
		return errors.New("--snapshot-once is of a program that runs alone; a node takes snapshots while it leads, with --snapshots")
	case r.once != "" && r.listening.listens():
		return errors.New("--snapshot-once runs nothing that could be called; leave out --listen")
	case r.keeping.Dir != "" && r.listening.Shows(r.keeping.Dir):
		return fmt.Errorf("--static %s would serve the data directory to all; serve another one", r.listening.Static)
	case r.keeping.Snapshots != "" && r.listening.Shows(r.keeping.Snapshots):
		return fmt.Errorf("--static %s would serve the snapshots to all; serve another directory", r.listening.Static)
	case r.cluster.Listen != "" && !r.serve:
		return errors.New("--cluster-listen is for --serve: main belongs to no node")
	case r.tracing.file != "" && r.listening.Shows(r.tracing.file):
		return fmt.Errorf("--static %s would serve the trace to all; serve another directory", r.listening.Static)
	case r.p.Main == nil && !r.serve && !r.listening.listens() && r.once == "":
		return errors.New("the package has no main function")
	case r.serve || r.once != "": // without main
		return nil
	}
	return r.p.configure()
}

// begin opens the program, and returns the exit code if it cannot go on. A signal that comes meanwhile ends it when it is open. If that takes longer than the grace
// period, or a second one comes, the process ends as if it were killed: the disk may not answer, or there is much to recover, and no caller has an answer yet.
func (r *mainRun) begin() (code int, ok bool) {
	opened := make(chan bool, 1)
	go func() { opened <- r.open() }() // ends when all is open, or with the process
	select {
	case ok := <-opened:
		return r.code, ok
	case r.early = <-r.signals:
	}
	code = exitClean
	if !r.serves() {
		code = SignalCode(r.early)
	}
	select {
	case ok := <-opened:
		return r.code, ok
	case sig := <-r.signals:
		code = SignalCode(sig)
	case <-time.After(graceMax):
	}
	insist()
	r.say("%v: it had not opened yet", r.early)
	return code, false
}

// open opens the files that the user has named, and the system. If it returns false, it has written why, and nothing is
// open.
func (r *mainRun) open() bool {
	r.log = newLog(r.stderr, true)
	if err := r.listening.prepare(r.p, r.keeping.Dir, r.log); err != nil {
		r.fail(exitRefused, "%v", err)
		return false
	}
	kind := trace.Memory
	if r.keeping.Dir != "" {
		kind = trace.Stored
	}
	if err := r.tracing.open(kind, kind == trace.Stored, r.log); err != nil {
		r.fail(exitRefused, "%v", err)
		return false
	}
	if err := r.spanning.open(); err != nil {
		r.fail(exitRefused, "%v", err)
		return r.abandon()
	}
	config, err := r.keeping.begin(Config{Stdout: r.out, Seed: r.seed, Log: r.log}, r.p, r.log, r.serve && !r.create, r.listening.listens())
	if err != nil {
		r.fail(exitRefused, "%v", err)
		return r.abandon()
	}
	header, err := r.keeping.header(trace.Header{Program: r.p.Name, Seed: r.seed})
	config = r.spanning.begin(r.tracing.begin(config, header), r.p.Name, header.Store, r.log)
	switch {
	case err != nil:
	case r.keeping.store == nil:
		r.system = Open(config)
	default:
		r.system, err = Recover(config)
	}
	if err != nil {
		r.fail(exitRefused, "%v", r.keeping.refused(err))
		return r.abandon()
	}
	if (r.summary || r.serve) && r.keeping.Dir != "" {
		r.say("%s", r.keeping.describeOpened(r.system.Restored()))
	}
	if err := r.listening.open(r.system); err != nil {
		r.fail(exitRefused, "%v", err)
		r.system.Close()
		return r.abandon()
	}
	if r.listening.listens() {
		r.say("listening on %s://%s", r.listening.Scheme(), r.listening.door.Address())
	}
	return true
}

// abandon closes what was opened before opening the system failed.
func (r *mainRun) abandon() bool {
	known := r.keeping.hasFailed()
	if err := r.spanning.close(); err != nil {
		r.say("%v", err)
	}
	if err := r.keeping.end(); err != nil && !known {
		r.fail(exitStore, "%v", err)
	}
	if err := r.tracing.close(); err != nil {
		r.say("%v", err)
	}
	return false
}

// run runs main, or serves, until main has ended, a signal comes or the store fails.
func (r *mainRun) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.endSnapshots = r.keeping.startSnapshots(r.system, r.log)
	defer r.endSnapshots()
	ended := make(chan *failure, 1)
	if r.early != nil {
		r.end(r.early, nil)
		return
	}
	if r.mainRuns.Load() {
		go func() { // ends with main and its events, or with the process
			f := call(r.p.Main, r.system.Client())
			switch {
			case f == nil && r.listening.listens():
				r.mainRuns.Store(false)
				return // it goes on listening
			case f == nil && r.system.Quiesce(ctx) != nil:
				f = &failure{msg: "interrupted"}
			case f != nil && !r.keeping.hasFailed():
				r.system.Client().Settle() // Close refuses what callbacks issue
			}
			ended <- f
		}()
	}
	select {
	case f := <-ended:
		if r.keeping.hasFailed() { // then a failure of main is due to the store
			r.storeFailed(r.closing(), r.keeping.store.Err())
			return
		}
		r.end(nil, nil)
		if f != nil {
			r.fail(exitFailed, "main failed: %s", strings.TrimSuffix(f.String(), "\n"))
		}
	case sig := <-r.signals:
		cancel()
		r.end(sig, nil)
	case err := <-r.listening.failed():
		r.fail(exitFailed, "%v", err)
		r.end(nil, time.After(graceMax))
	case err := <-r.keeping.failed:
		r.storeFailed(r.closing(), err)
	}
}

func plural(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// summary tells what was done.
func summary(t Stats, took time.Duration) string {
	text := fmt.Sprintf("ended after %.2f s: %s committed, %d undone", took.Seconds(), plural(t.Commits, "event"), t.Aborts)
	if t.Repeats > 0 {
		text += fmt.Sprintf(", %s of keys that had an outcome", plural(t.Repeats, "request"))
	}
	if t.DeadLetters > 0 {
		text += fmt.Sprintf(", %s (failures that were not awaited)", plural(t.DeadLetters, "dead letter"))
	}
	return text
}
