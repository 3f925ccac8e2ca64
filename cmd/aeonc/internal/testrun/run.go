package testrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/inherit"
)

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
		if r.finished && r.current == nil {
			break
		}
		if r.current == nil {
			return rep.result, fmt.Errorf("the test executable failed outside all tests: %w\n%s", orExit(err), r.printed.String())
		}
		r.current.Seed = r.seed
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
	printed  tail // by Go code of the program, past the runtime
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
	args = append(append(args, r.cfg.Further...), "-events") // inherit appends what they are written to, and what ends with this process
	cmd := exec.CommandContext(ctx, r.cfg.Executable, args...)
	cmd.Stdout, cmd.Stderr = &r.printed, &r.printed
	cmd.WaitDelay = time.Second
	events, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer events.Close()
	ends, alive, err := os.Pipe()
	if err != nil {
		return errors.Join(err, theirs.Close())
	}
	defer alive.Close()
	if err := inherit.Start(cmd, theirs, ends); err != nil {
		return err
	}
	limit := time.AfterFunc(r.cfg.TestMax, func() { r.dump(cmd, kill) })
	defer limit.Stop()
	for in := json.NewDecoder(events); ; {
		var e event
		if in.Decode(&e) != nil { // the end, or a line that the process did not end
			return cmd.Wait()
		}
		if e.Action == "run" || e.Action == "seed" {
			limit.Reset(r.cfg.TestMax)
		}
		r.event(e)
	}
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
		r.current, r.schedule, r.seed = &e, 0, 0
	case e.Test != "" && (e.Action == "pass" || e.Action == "fail"):
		if e.Action == "fail" {
			e.Seed = r.seed
		}
		r.current = nil
	}
	r.rep.event(e)
}

// why says what happened to a process that ended within a test.
func (r *runner) why(err error) string {
	why := fmt.Sprintf("the test took the process with it: %v\n%s", orExit(err), r.printed.String())
	if r.timedOut.Load() {
		why = fmt.Sprintf("the test did not end within %v\n%s", r.cfg.TestMax, programStacks(r.printed.String(), r.cfg.Place))
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
