package runtime

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/store"
)

// brokenDoor is a door whose failures a test tells.
type brokenDoor struct {
	noDoor
	failed chan error
}

func (d brokenDoor) Failed() <-chan error { return d.failed }

// A program that ends of itself does not wait for ever for events that still run: a signal ends it after the grace period, a second one at once. When its door has
// failed it needs none.
func TestAProgramThatEndsListensToSignals(t *testing.T) {
	insist() // Go makes channels for signals, once, which must not be those of a bubble
	for _, c := range []struct {
		name    string
		door    bool // fails; else main does
		signals int
		code    int
		took    time.Duration
		says    string
	}{
		{"door", true, 0, exitFailed, graceMax, "demo: the audit cannot be written\ndemo: ended without the events that still ran"},
		{"door, 1 signal", true, 1, exitFailed, graceMax, "demo: the audit cannot be written\ndemo: terminated\ndemo: ended without the events that still ran"},
		{"main, 1 signal", false, 1, signalBase + 15, graceMax, "demo: terminated\ndemo: ended without the events that still ran"},
		{"door, 2 signals", true, 2, signalBase + 15, 0, "demo: the audit cannot be written\ndemo: terminated\n"},
		{"main, 2 signals", false, 2, signalBase + 15, 0, "demo: terminated\ndemo: main failed: "},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun, leave, made := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			slow := Method{Class: &cellClass, Name: "Cell", Effects: Effects{Self: Write}, Run: func(*Cx, any, Args) {
				close(begun)
				<-leave
			}}
			signals, door := make(chan os.Signal, 2), brokenDoor{failed: make(chan error, 1)}
			var said bytes.Buffer
			r := &mainRun{out: &output{to: io.Discard}, stderr: &said, signals: signals, p: &Package{Name: "demo", Classes: []*Class{&cellClass}}}
			if !c.door {
				r.p.Main = func(*Client) { panic(errors.New("no more steaks")) }
			}
			With(Parts{Store: (&disk{}).open, Snapshots: noTargets, Door: opens(door)})(r)
			args := []string{"--data", "d", "--listen", "127.0.0.1:0"}
			if c.door {
				args = append(args, "--serve", "--create")
			}
			if code, ok := r.parse(args, io.Discard); !ok || !r.open() {
				t.Fatalf("code %d, stderr %q", code, said.String())
			}
			said.Reset()
			go func() {
				_, err := r.system.Client().New(&cellClass, &slow, nil)
				made <- err
			}()
			<-begun
			ended := make(chan struct{})
			go func() {
				r.run()
				close(ended)
			}()
			if c.door {
				door.failed <- errors.New("the audit cannot be written")
			}
			if !c.door {
				<-time.After(time.Hour) // what clients have begun may end
			}
			synctest.Wait()
			select {
			case <-ended:
				t.Errorf("%s: it has ended before, stderr %q", c.name, said.String())
			default:
			}
			start := time.Now()
			for range c.signals {
				signals <- syscall.SIGTERM
			}
			<-ended
			if took := time.Since(start); took != c.took || r.code != c.code || !strings.HasPrefix(said.String(), c.says) {
				t.Errorf("%s: code %d after %v, stderr %q", c.name, r.code, took, said.String())
			}
			close(leave) // the process is not gone yet
			<-made
			r.system.Close()
			if err := r.keeping.end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// stuck is what a process waits for that no signal that it listens to ends.
func stuck() {
	fmt.Fprintln(os.Stderr, "stuck")
	select {}
}

// stuckEngine is on a disk that has gone when it is to be closed.
type stuckEngine struct{ replicatest.Engine }

func (stuckEngine) Close() error {
	stuck()
	return nil
}

// stuckPlace heeds no context.
type stuckPlace struct {
	snapshot.Target
	reached chan struct{}
}

func (p stuckPlace) String() string { return "place" }

func (p stuckPlace) List(context.Context, string) ([]snapshot.Entry, error) {
	close(p.reached)
	stuck()
	return nil, nil
}

const stuckEnv = "AEON_TEST_STUCK"

// TestStuck is no test of its own: TestAFurtherSignalKills runs it in a process.
func TestStuck(t *testing.T) {
	how := os.Getenv(stuckEnv)
	if how == "" {
		return
	}
	d, reached, door := &disk{}, make(chan struct{}), brokenDoor{failed: make(chan error, 1)}
	open := func(dir string, o store.EngineOptions) (store.Engine, error) {
		e, err := d.open(dir, o)
		if how == "main" || how == "door" {
			return stuckEngine{d.engine}, err
		}
		return e, err
	}
	os.Args = []string{"demo", "--data", "d"}
	if how == "door" {
		os.Args = append(os.Args, "--listen", "127.0.0.1:0")
	}
	if how == "snapshot" || how == "store" {
		os.Args = append(os.Args, "--snapshots", "place", "--snapshot-every", "1s")
	}
	Main(&Package{Name: "demo", Classes: []*Class{&cellClass}, Main: func(cl *Client) {
		switch how {
		case "door":
			door.failed <- errors.New("the audit cannot be written")
		case "snapshot":
			<-reached
			_, _ = cl.New(&cellClass, &Method{Class: &cellClass, Name: "Cell", Effects: Effects{Self: Write}, Run: func(*Cx, any, Args) {
				fmt.Fprintln(os.Stderr, "an event runs") // so it is not closed
				select {}
			}}, nil)
		case "store":
			<-reached
			d.engine.Fail(errors.New("the disk of d has failed"))
			_, _ = cl.New(&cellClass, &makeCell, nil) // which finds that
			select {}
		}
	}}, With(Parts{
		Store: open, Door: opens(door),
		Snapshots: func(context.Context, string) (snapshot.Target, error) { return stuckPlace{reached: reached}, nil },
	}))
}

// However a program ends, a further signal kills it when what it has to wait for does not come: the close of its store, or a snapshot under way.
func TestAFurtherSignalKills(t *testing.T) {
	for how, until := range map[string]string{"main": "stuck", "door": "stuck", "snapshot": "an event runs", "store": "demo: the store has failed"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			limit, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			cmd := exec.CommandContext(limit, os.Args[0], "-test.run=^TestStuck$")
			cmd.Env = append(os.Environ(), stuckEnv+"="+how)
			stderr, err := cmd.StderrPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(stderr)
			for line := ""; !strings.HasPrefix(line, until); {
				if line, err = lines.ReadString('\n'); err != nil {
					t.Fatalf("it has ended: %v", err)
				}
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = io.Copy(io.Discard, lines)
				_ = cmd.Wait() // the state tells
			}()
			_ = cmd.Process.Signal(os.Interrupt) // it may have ended; two of one kind may become one
			for {
				_ = cmd.Process.Signal(syscall.SIGTERM)
				select {
				case <-ended:
					if s := cmd.ProcessState.Sys().(syscall.WaitStatus); !s.Signaled() || s.Signal() == syscall.SIGKILL {
						t.Errorf("after 20 s, or before, it has ended by %v", cmd.ProcessState)
					}
					return
				case <-time.After(50 * time.Millisecond):
				}
			}
		})
	}
}

// fullPipe takes nothing until it is broken.
type fullPipe struct{ broken chan struct{} }

func (p fullPipe) Write([]byte) (int, error) {
	<-p.broken
	return 0, io.ErrClosedPipe
}

// A signal ends a program whose standard error is a full pipe.
func TestASignalEndsAProgramWhoseWordsAreNotRead(t *testing.T) {
	insist() // Go makes channels for signals, once, which must not be those of a bubble
	synctest.Test(t, func(t *testing.T) {
		stderr := fullPipe{make(chan struct{})}
		signals, leave, left := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
		start := time.Now()
		code := runMain(&Package{Name: "demo", Main: func(*Client) {
			defer close(left)
			signals <- syscall.SIGTERM
			<-leave
		}}, []string{"--summary"}, io.Discard, stderr, signals)
		if took := time.Since(start); code != signalBase+15 || took > time.Minute {
			t.Errorf("code %d after %v", code, took)
		}
		close(leave) // the process is not gone yet
		<-left
		close(stderr.broken)
	})
}

// A signal ends a program that opens: after the grace period, or at once if a second one comes. One that opens in time ends as if the signal had come then, and has
// not run main.
func TestASignalEndsAProgramThatOpens(t *testing.T) {
	insist() // Go makes channels for signals, once, which must not be those of a bubble
	const serve = "--serve --create"
	for _, c := range []struct {
		args    string
		opens   time.Duration
		signals int
		code    int
		took    time.Duration
		says    string
	}{
		{serve, time.Hour, 1, exitClean, graceMax, "demo: terminated: it had not opened yet\n"},
		{serve, time.Hour, 2, signalBase + 15, 0, "demo: terminated: it had not opened yet\n"},
		{serve, graceMax / 2, 1, exitClean, graceMax / 2, "demo: created d\ndemo: terminated\n"},
		{"", time.Hour, 1, signalBase + 15, graceMax, "demo: terminated: it had not opened yet\n"},
		{"--listen 127.0.0.1:0", time.Hour, 1, signalBase + 15, graceMax, "demo: terminated: it had not opened yet\n"},
		{"", graceMax / 2, 1, signalBase + 15, graceMax / 2, "demo: terminated\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			signals, gone, d := make(chan os.Signal, 2), make(chan struct{}), &disk{}
			open := func(dir string, o store.EngineOptions) (store.Engine, error) {
				select {
				case <-time.After(c.opens):
					return d.open(dir, o)
				case <-gone:
					return nil, errors.New("the process has ended")
				}
			}
			for range c.signals {
				signals <- syscall.SIGTERM
			}
			var said bytes.Buffer
			p := &Package{Name: "demo", Main: func(*Client) { t.Error("main has run") }, Classes: []*Class{&cellClass}}
			start := time.Now()
			code := runMain(p, strings.Fields("--data d "+c.args), io.Discard, &said, signals, With(Parts{Store: open, Snapshots: noTargets, Door: opens(noDoor{})}))
			if took := time.Since(start); code != c.code || took != c.took || said.String() != c.says {
				t.Errorf("%s, opens in %v, %d signals: code %d after %v, stderr %q", c.args, c.opens, c.signals, code, took, said.String())
			}
			close(gone)
		})
	}
}

// A signal ends a program that is to take a snapshot while the place does not answer.
func TestASignalEndsASnapshot(t *testing.T) {
	insist() // Go makes channels for signals, once, which must not be those of a bubble
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 1)
		away := func(ctx context.Context, _ string) (snapshot.Target, error) {
			signals <- syscall.SIGTERM
			<-ctx.Done()
			return nil, &snapshot.AwayError{Address: "place", Cause: context.Cause(ctx)}
		}
		var said bytes.Buffer
		start := time.Now()
		code := runMain(&Package{Name: "demo"}, strings.Fields("--data d --snapshots place --snapshot-once all"), io.Discard, &said, signals, With(Parts{Store: (&disk{}).open, Snapshots: away}))
		if took := time.Since(start); took > 0 || code != signalBase+15 || said.String() != "demo: no snapshot was taken: terminated\n" {
			t.Errorf("code %d after %v, stderr %q", code, took, said.String())
		}
	})
}
