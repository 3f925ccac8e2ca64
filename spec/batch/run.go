package batch

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/runtime/inherit"
	"github.com/aeon-lang/aeon/spec/batch/driver"
)

// The requests to an executable, and its answers.
type (
	Job        = driver.Job
	Outcome    = driver.Outcome
	Failure    = driver.Failure
	DeadLetter = driver.DeadLetter
	Place      = driver.Place
)

// Main is the Entry of a job that runs main.
const Main = driver.MainEntry

const (
	// limitDefault is how long a job may take that does not say so.
	limitDefault = 10 * time.Second
	// grace is what a process gets beyond the limit of a job to say itself that it hangs.
	grace = 10 * time.Second
	// crashMax bounds what is kept of the last words of a process.
	crashMax = 32 << 10
)

// Jobs returns one job for main, if there is one, and one for each test of every program, for each seed.
func (x *Executable) Jobs(seeds ...uint64) (jobs []Job) {
	for i, p := range x.Programs {
		entry := p.Units[len(p.Units)-1].Package
		first := 0
		if entry.Main != nil {
			first = Main
		}
		for e := first; e < len(entry.Tests); e++ {
			for _, seed := range seeds {
				jobs = append(jobs, Job{Program: i, Entry: e, Seed: seed})
			}
		}
	}
	return jobs
}

// Run runs the jobs in one process for each core and returns their outcomes in the order of the jobs. A job that
// crashes or hangs has an outcome like others, and the rest go on in a new process. The error says that the executable
// could not be run, or that ctx has ended.
func (x *Executable) Run(ctx context.Context, jobs []Job) ([]Outcome, error) {
	outcomes := make([]Outcome, len(jobs))
	todo := make(chan int)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		workers.Go(func() {
			w := &worker{path: x.Path}
			defer w.stop()
			for i := range todo {
				var err error
				if outcomes[i], err = w.run(ctx, jobs[i]); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range jobs {
		if ctx.Err() != nil {
			break
		}
		todo <- i
		if x.Progress != nil {
			x.Progress(i + 1)
		}
	}
	close(todo)
	workers.Wait()
	return outcomes, context.Cause(ctx)
}

// worker owns at most one process at a time.
type worker struct {
	path string
	cmd  *exec.Cmd
	in   *os.File
	from *os.File
	out  *gob.Decoder // of from
	err  *words       // what the process has printed
}

// run sends a job to the process, which is started if there is none, and waits for the outcome.
func (w *worker) run(ctx context.Context, job Job) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{}, err
	}
	asked := job
	if job.LimitMS == 0 {
		job.LimitMS = limitDefault.Milliseconds()
	}
	if w.cmd == nil {
		if err := w.start(); err != nil {
			return Outcome{}, err
		}
	}
	line, err := json.Marshal(job)
	if err != nil {
		return Outcome{}, err
	}
	process := w.cmd.Process
	late := make(chan struct{})
	kill := time.AfterFunc(time.Duration(job.LimitMS)*time.Millisecond+grace, func() {
		close(late)
		_ = process.Kill() // it may have ended meanwhile
	})
	defer kill.Stop()
	stop := context.AfterFunc(ctx, func() { _ = process.Kill() })
	defer stop()
	_, _ = w.in.Write(append(line, '\n')) // a process that is gone shows below
	var o Outcome
	if w.out.Decode(&o) == nil {
		o.Job = asked
		if o.Hang != "" {
			w.stop()
		}
		return o, nil
	}
	o = Outcome{Job: asked}
	o.Crash = w.stop()
	select {
	case <-late:
		o.Hang = "killed: it has not noticed by itself"
	default:
	}
	return o, ctx.Err()
}

func (w *worker) start() error {
	w.cmd = exec.Command(w.path)
	w.cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", max(2, runtime.GOMAXPROCS(0))), "GOTRACEBACK=all")
	w.err = &words{}
	w.cmd.Stdout, w.cmd.Stderr = w.err, w.err
	jobs, in, err := os.Pipe()
	if err != nil {
		return err
	}
	out, outcomes, err := os.Pipe()
	if err != nil {
		return err
	}
	w.in, w.from, w.out = in, out, gob.NewDecoder(out)
	return inherit.Start(w.cmd, jobs, outcomes)
}

// stop ends the process and returns its last words.
func (w *worker) stop() string {
	if w.cmd == nil || w.cmd.Process == nil {
		return ""
	}
	_ = w.in.Close() // an idle process ends by itself then
	err := w.cmd.Wait()
	_ = w.from.Close()
	w.cmd = nil
	status := "exit status 0"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.Error()
	}
	return fmt.Sprintf("%s\n%s", status, w.err.text())
}

// words keeps the first bytes of what is written: a crash says first what has happened.
type words struct {
	mu struct {
		sync.Mutex
		bytes.Buffer
	}
}

// Write implements io.Writer.
func (t *words) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := crashMax - t.mu.Len(); room > 0 {
		t.mu.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *words) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.Buffer.String()
}
