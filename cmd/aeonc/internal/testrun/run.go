package testrun

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config says what to run and how to report it.
type Config struct {
	Executable string
	// Packages are the names to report, in the order in which the executable has them.
	Packages []string
	Filter   string   // a regular expression that the names of the tests must match; "" runs all
	Seed     string   // "" lets the executable choose
	Repeat   int      // how many schedules each test is run with
	Parallel bool     // events run in parallel, in an order that the machine decides; seeds do not replay then
	Trace    []string // flags that make the executable write a trace
	// TestMax is how long one test may take before it is killed and fails.
	TestMax time.Duration
	JSON    bool // write the format of `go test -json`
	Verbose bool // show passed tests and their output, too
	Stdout  io.Writer
	// Progress, if set, is called when a schedule of a test begins, with which of them it is.
	Progress func(pkg, test string, schedule int)
	// Place shortens the name of a file for users; nil leaves it as it is.
	Place func(file string) string
}

// Result counts the tests.
type Result struct {
	Passed, Failed int
	Took           time.Duration
}

// Run runs all tests of an executable. A test that takes the process with it, or
// does not end, fails, and the ones after it run in a new process. The error says
// that the executable could not be run.
func Run(ctx context.Context, cfg Config) (Result, error) {
	start := time.Now()
	rep := newReporter(cfg)
	after := testID{-1, -1}
	for {
		r := &runner{cfg: cfg, rep: rep}
		err := r.run(ctx, after)
		if ctx.Err() != nil {
			return rep.result, ctx.Err()
		}
		if interrupted(err) { // Ctrl-C reaches the executable as well, and perhaps first
			return rep.result, context.Canceled
		}
		if r.finished {
			break
		}
		if r.current == nil {
			return rep.result, fmt.Errorf("the test executable failed outside all tests: %w\n%s", orExit(err), r.stderr.String())
		}
		rep.died(*r.current, r.why(err))
		after = r.current.id()
	}
	rep.result.Took = time.Since(start)
	rep.totals()
	return rep.result, nil
}

func orExit(err error) error {
	if err == nil {
		return errors.New("it ended too early")
	}
	return err
}

// runner is one process that runs tests.
type runner struct {
	cfg      Config
	rep      *reporter
	current  *event // the test that is running
	seed     uint64 // of its schedule
	schedule int    // how many have begun
	finished bool
	timedOut atomic.Bool
	stderr   tail
}

func (r *runner) run(ctx context.Context, after testID) error {
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	args := []string{"-after", after.String(), "-repeat", fmt.Sprint(max(r.cfg.Repeat, 1))}
	if r.cfg.Filter != "" {
		args = append(args, "-run", r.cfg.Filter)
	}
	if r.cfg.Parallel {
		args = append(args, "-parallel")
	}
	if r.cfg.Seed != "" {
		args = append(args, "-seed", r.cfg.Seed)
	}
	args = append(args, r.cfg.Trace...)
	cmd := exec.CommandContext(ctx, r.cfg.Executable, args...)
	cmd.Stderr = &r.stderr
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	limit := time.AfterFunc(r.cfg.TestMax, func() { r.dump(cmd, kill) })
	defer limit.Stop()
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if e, ok := decode(bytes.TrimSpace(line)); ok {
			if e.Action == "run" {
				limit.Reset(r.cfg.TestMax)
			}
			r.event(e)
		} else if text := strings.TrimSpace(string(line)); text != "" {
			r.stderr.Write(line) // Go code of the program writes past the runtime
		}
		if err != nil {
			break
		}
	}
	return cmd.Wait()
}

func (r *runner) event(e event) {
	switch {
	case e.Action == "finished":
		r.finished = true
		return
	case e.Action == "seed":
		r.seed = e.Seed
		r.schedule++
		if r.cfg.Progress != nil && r.current != nil {
			r.cfg.Progress(r.rep.name(r.current.id().unit), string(r.current.Test), r.schedule)
		}
		return
	case e.Action == "run":
		r.current, r.schedule = &e, 0
	case e.Test != "" && (e.Action == "pass" || e.Action == "fail"):
		r.current = nil
	}
	r.rep.event(e)
}

// why says what happened to a process that ended within a test.
func (r *runner) why(err error) string {
	why := fmt.Sprintf("the test took the process with it: %v\n%s", orExit(err), r.stderr.String())
	if r.timedOut.Load() {
		why = fmt.Sprintf("the test did not end within %v\n%s", r.cfg.TestMax, programStacks(r.stderr.String(), r.cfg.Place))
	}
	return fmt.Sprintf("%s\nseed %d\n", strings.TrimRight(why, "\n"), r.seed)
}

// tail keeps the first and the last bytes of a stream. Any goroutine may write.
type tail struct {
	mu struct {
		sync.Mutex
		head, end []byte
		left      int // bytes left out between them
	}
}

const tailHalf = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if room := tailHalf - len(t.mu.head); room > 0 {
		room = min(room, len(p))
		t.mu.head, p = append(t.mu.head, p[:room]...), p[room:]
	}
	t.mu.end = append(t.mu.end, p...)
	if over := len(t.mu.end) - tailHalf; over > 0 {
		t.mu.end = append(t.mu.end[:0], t.mu.end[over:]...)
		t.mu.left += over
	}
	return n, nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.left > 0 {
		return fmt.Sprintf("%s\n… %d bytes left out …\n%s", t.mu.head, t.mu.left, t.mu.end)
	}
	return string(t.mu.head) + string(t.mu.end)
}
