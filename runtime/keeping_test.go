package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
)

// disk is a directory in memory, which any number of runs open one after the other.
type disk struct {
	engine replicatest.Engine
	err    error // of opening
	dir    string
}

func (d *disk) open(dir string, o store.EngineOptions) (store.Engine, error) {
	d.dir = dir
	if d.err != nil {
		return nil, d.err
	}
	if d.engine == nil && o.MustExist {
		return nil, fmt.Errorf("%s is empty: %w", dir, store.ErrMissing)
	}
	if d.engine == nil {
		d.engine = replicatest.New()
	}
	return d.engine, nil
}

// crash has the next run open what a crash leaves.
func (d *disk) crash() { d.engine = d.engine.Crash(func(int) int { return 0 }) }

// exit is the end of the process that has opened the directory.
func (d *disk) exit() {
	if e := d.engine; e != nil {
		d.crash()
		_ = e.Close() // it may be closed, or have failed
	}
}

// cell is an actor without fields.
type cell struct{ Self }

func (*cell) SaveField(*image.Writer, int) {}
func (*cell) LoadFields(*image.Reader)     {}

var (
	cellClass = Class{Shape: Shape{Package: "demo", Name: "Cell", New: func() Object { return &cell{} }}}
	makeCell  = Method{Class: &cellClass, Name: "Cell", Effects: Effects{Self: Write}, Run: func(*Cx, any, Args) {}}
)

// run runs body as the main function of a program that may keep its state on d.
func (d *disk) run(t *testing.T, body func(*Client), args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = runMain(&Package{Name: "demo", Main: body, Classes: []*Class{&cellClass}}, args, &out, &err, make(chan os.Signal), With(Parts{Store: d.open, Snapshots: noTargets}))
	d.exit()
	return code, out.String(), err.String()
}

func TestAProgramOpensWhatItIsGivenAndSaysSo(t *testing.T) {
	d := &disk{}
	if code, out, err := d.run(t, func(cl *Client) { cl.Print("hello") }); code != 0 || out != "hello\n" || err != "" || d.engine != nil {
		t.Errorf("without --data: code %d, stdout %q, stderr %q, opened %v", code, out, err, d.engine != nil)
	}
	code, out, err := d.run(t, func(cl *Client) { cl.Print("hello") }, "--data", "d", "-summary")
	if code != 0 || out != "hello\n" || !strings.HasPrefix(err, "demo: created d\n") || d.dir != "d" {
		t.Errorf("code %d, stdout %q, stderr %q, opened %q", code, out, err, d.dir)
	}
	if _, _, err := d.run(t, func(cl *Client) { Must(cl.New(&cellClass, &makeCell, nil)) }, "--data", "d", "-summary"); !strings.HasPrefix(err, "demo: opened d: nothing is in it\n") {
		t.Errorf("second run: stderr %q", err)
	}
	if _, _, err := d.run(t, func(*Client) {}, "--data", "d", "-summary"); !strings.HasPrefix(err, "demo: opened d: 1 actor goes on\n") {
		t.Errorf("third run: stderr %q", err)
	}
}

func TestARefusedDirectoryHasACodeOfItsOwn(t *testing.T) {
	d := &disk{err: errors.New("d is in use by process 7; stop it first")}
	code, _, err := d.run(t, func(*Client) { t.Error("main has run") }, "--data", "d")
	if code != 3 || err != "demo: d is in use by process 7; stop it first\n" {
		t.Errorf("code %d, stderr %q", code, err)
	}
	d.err = nil
	if code, _, err := d.run(t, func(*Client) { t.Error("main has run") }, "--data", "d", "--trace", t.TempDir()); code != 3 || !strings.Contains(err, "the trace cannot be written") {
		t.Errorf("a trace that cannot be written: code %d, stderr %q", code, err)
	}
}

// A program does not go on where a cluster has begun with what there was: there would be two.
func TestWhatAClusterHasIsNotRunAlone(t *testing.T) {
	d, dir := &disk{}, t.TempDir()
	if code, _, err := d.run(t, func(cl *Client) {}, "--data", dir); code != 0 {
		t.Fatalf("code %d, stderr %q", code, err)
	}
	if err := archive.Adopt(archive.AdoptedError{Dir: dir, Cluster: "abcdefghijkl", Node: "/a node"}); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("demo: %s was adopted by the node in /a node, and its actors go on in cluster abcdefgh: start that node, and see that its disk is mounted; to use %[1]s all the same, as it was then, remove %[1]s/ADOPTED\n", dir)
	if code, _, err := d.run(t, func(*Client) { t.Error("main has run") }, "--data", dir); code != 3 || err != want {
		t.Errorf("code %d, stderr %q", code, err)
	}
	if err := os.Remove(filepath.Join(dir, "ADOPTED")); err != nil {
		t.Fatal(err)
	}
	if code, _, err := d.run(t, func(cl *Client) {}, "--data", dir); code != 0 {
		t.Errorf("code %d, stderr %q", code, err)
	}
}

func TestAStoreThatFailsEndsTheProgram(t *testing.T) {
	d := &disk{}
	code, _, err := d.run(t, func(cl *Client) {
		if _, err := cl.New(&cellClass, &makeCell, nil); err != nil {
			t.Error(err)
		}
		d.engine.Fail(errors.New("the disk of d is full; free space on it and start again"))
		if _, err := cl.New(&cellClass, &makeCell, nil); err == nil {
			t.Error("an event that was not stored is answered")
		}
	}, "--data", "d")
	if code != store.ExitFailed || strings.Count(err, "the disk of d is full") != 1 || !strings.Contains(err, "what was not answered yet is unknown") || !strings.Contains(err, "what was answered is in d") {
		t.Errorf("code %d, stderr %q", code, err)
	}
}

// An event whose outcome is unknown is no failure that a program can catch: neither one that was not stored nor one
// that could not read the state of an actor.
func TestTryDoesNotCatchAStoreThatFails(t *testing.T) {
	d := &disk{}
	code, out, err := d.run(t, func(cl *Client) {
		d.engine.Fail(errors.New("the disk of d is full; free space on it and start again"))
		why, failed := Try(func() { Must(cl.New(&cellClass, &makeCell, nil)) })
		cl.Print("caught: " + why)
		t.Errorf("try has ended with %q, %v", why, failed)
	}, "--data", "d")
	if code != store.ExitFailed || out != "" || !strings.Contains(err, "what was not answered yet is unknown") {
		t.Errorf("code %d, stdout %q, stderr %q", code, out, err)
	}
	defer func() {
		if err, _ := recover().(error); err == nil || err.Error() != "cannot read" {
			t.Errorf("try let %v through", err)
		}
	}()
	why, failed := Try(func() {
		Check(&AbortError{Msg: "cannot read", Fault: true, Cause: &UnknownError{Cause: io.ErrUnexpectedEOF}})
	})
	t.Errorf("try has ended with %q, %v", why, failed)
}

func TestServingLeavesOutMain(t *testing.T) {
	d := &disk{}
	signals := make(chan os.Signal, 1)
	var err bytes.Buffer
	p := &Package{Name: "demo", Main: func(*Client) { t.Error("main has run") }}
	code := runMain(p, []string{"--data", "d", "--serve"}, io.Discard, &err, signals, With(Parts{Store: d.open, Snapshots: noTargets}))
	if want := "demo: d is empty: there is no store\n\tto begin with a new store there, add --create\n"; code != 3 || err.String() != want || d.engine != nil {
		t.Errorf("nothing to serve: code %d, stderr %q", code, err.String())
	}
	err.Reset()
	signals <- syscall.SIGTERM
	code = runMain(p, []string{"--data", "d", "--serve", "--create"}, io.Discard, &err, signals, With(Parts{Store: d.open, Snapshots: noTargets}))
	if code != 0 || err.String() != "demo: created d\ndemo: terminated\n" {
		t.Errorf("code %d, stderr %q", code, err.String())
	}
}

// A signal is how a program that serves ends, also when it cuts off an event; a second one is not.
func TestASignalIsTheEndOfServing(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 128 + 15} {
		signals, begun, leave := make(chan os.Signal, n), make(chan struct{}), make(chan struct{})
		slow := Method{Class: &cellClass, Name: "Cell", Effects: Effects{Self: Write}, Run: func(*Cx, any, Args) {
			close(begun)
			<-leave
		}}
		var said bytes.Buffer
		r := &mainRun{out: &output{to: io.Discard}, stderr: &said, signals: signals, p: &Package{Name: "demo", Classes: []*Class{&cellClass}}}
		With(Parts{Store: (&disk{}).open, Snapshots: noTargets})(r)
		if code, ok := r.parse([]string{"--data", "d", "--serve", "--create"}, io.Discard); !ok || !r.open() {
			t.Fatalf("code %d, stderr %q", code, said.String())
		}
		made := make(chan error, 1)
		go func() {
			_, err := r.system.Client().New(&cellClass, &slow, nil)
			made <- err
		}()
		<-begun
		for range n {
			signals <- syscall.SIGTERM
		}
		r.run()
		if r.code != want {
			t.Errorf("after %d signals: code %d, stderr %q", n, r.code, said.String())
		}
		close(leave) // the process is not gone yet
		<-made
		r.system.Close()
		if err := r.keeping.end(); err != nil {
			t.Error(err)
		}
	}
}

// A program that listens serves when its main has ended. A signal that cuts main off has not let it do what it was started for.
func TestASignalCutsOffAMainThatListens(t *testing.T) {
	insist() // Go makes channels for signals, once, which must not be those of a bubble
	for _, runs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			signals, leave, left := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
			main := func(*Client) {
				defer close(left)
				if runs {
					<-leave
				}
			}
			var said bytes.Buffer
			door := opens(noDoor{})
			want := 0
			if runs {
				want = 128 + 15
			}
			ended := make(chan int)
			go func() {
				ended <- runMain(&Package{Name: "demo", Main: main}, []string{"--listen", "127.0.0.1:0"}, io.Discard, &said, signals, With(Parts{Store: (&disk{}).open, Snapshots: noTargets, Door: door}))
			}()
			synctest.Wait()
			signals <- syscall.SIGTERM
			if code := <-ended; code != want {
				t.Errorf("main runs: %v: code %d, stderr %q", runs, code, said.String())
			}
			close(leave) // the process is not gone yet
			<-left
		})
	}
}

// opens is what opens a door that needs nothing.
func opens(d Door) DoorOpener {
	return func(DoorConfig) (func(*System) (Door, error), error) {
		return func(*System) (Door, error) { return d, nil }, nil
	}
}

// What a door needs is read before anything is opened: a program that is refused for that leaves no store behind, and no trace.
func TestWhatADoorNeedsIsReadBeforeAnythingIsMade(t *testing.T) {
	d, file := &disk{}, filepath.Join(t.TempDir(), "trace")
	door := func(DoorConfig) (func(*System) (Door, error), error) {
		return nil, errors.New("tokens:2: right 2 of bob")
	}
	var said bytes.Buffer
	code := runMain(&Package{Name: "demo"}, []string{"--serve", "--create", "--data", "d", "--listen", "127.0.0.1:0", "--trace", file}, io.Discard, &said, make(chan os.Signal),
		With(Parts{Store: d.open, Snapshots: noTargets, Door: door}))
	if _, err := os.Stat(file); code != exitRefused || said.String() != "demo: tokens:2: right 2 of bob\n" || d.engine != nil || !os.IsNotExist(err) {
		t.Errorf("code %d, %q, a store was opened: %v, a trace: %v", code, said.String(), d.engine != nil, err)
	}
}

// noDoor is a door that no call comes through.
type noDoor struct{}

func (noDoor) Address() string             { return "127.0.0.1:1" }
func (noDoor) Failed() <-chan error        { return nil }
func (noDoor) Close(context.Context) error { return nil }

// An event that a signal has cut off, or a second one at once, may still change the store before the process has ended. Such a change is in the
// trace, too: the next run goes on behind it.
func TestTheTraceHasWhatASignalHasCutOff(t *testing.T) {
	for n, want := range map[int]string{1: "ended without the events that still ran; sub-events", 2: "demo: terminated\n"} {
		d, file := &disk{}, filepath.Join(t.TempDir(), "trace")
		signals, leave, made := make(chan os.Signal, n), make(chan struct{}), make(chan error, 1)
		slow := Method{Class: &cellClass, Name: "Cell", Effects: Effects{Self: Write}, Run: func(*Cx, any, Args) {
			for range n {
				signals <- syscall.SIGTERM
			}
			<-leave
		}}
		var said bytes.Buffer
		r := &mainRun{out: &output{to: io.Discard}, stderr: &said, signals: signals, p: &Package{Name: "demo", Classes: []*Class{&cellClass}, Main: func(cl *Client) {
			_, err := cl.New(&cellClass, &slow, nil)
			made <- err
		}}}
		With(Parts{Store: d.open, Snapshots: noTargets})(r)
		if code, ok := r.parse([]string{"--data", "d", "--trace", file}, io.Discard); !ok || !r.open() {
			t.Fatalf("code %d, stderr %q", code, said.String())
		}
		writer := r.tracing.writer
		r.run()
		if err := r.tracing.close(); err != nil || r.code != 128+15 || !strings.Contains(said.String(), want) {
			t.Errorf("%d signals: code %d, %v, stderr %q", n, r.code, err, said.String())
		}
		close(leave) // the process is not gone yet
		if err := <-made; err != nil {
			t.Fatal(err)
		}
		r.system.Close()
		d.crash()
		if code, _, err := d.run(t, func(*Client) {}, "--data", "d", "--trace", file); code != 0 {
			t.Fatalf("code %d, stderr %q", code, err)
		}
		if err := errors.Join(r.keeping.end(), writer.Close()); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, recovered, found := strings.Cut(string(text), `"recovered":`)
		order, _, _ := strings.Cut(recovered, ",")
		if !found || !strings.Contains(string(text), `{"order":`+order+`,"batch":true`) {
			t.Errorf("%d signals: the second run goes on behind event %q, which the first does not have:\n%s", n, order, text)
		}
	}
}

func TestFlagsOfTheStore(t *testing.T) {
	for args, want := range map[string]string{
		"--data d --durability memory": "leave out one of the two",
		"--serve":                      "name the directory with --data, or an address with --listen",
		"--durability sync":            "name it with --data",
		"--data d --create":            "--create is for --serve",
		"--data d --snapshots s --snapshot-actor Cell":                       "\"Cell\" is neither CLASS/NAME, nor CLASS:ID",
		"--data d --snapshots s --snapshot-actor Sell/x":                     "the program has no actorclass Sell, did you mean Cell? it has Cell",
		"--data d --snapshots s --snapshot-actor Cell/x --snapshot-once all": "leave out --snapshot-actor",
		"--dta d": "demo: unknown flag --dta, did you mean --data?\n\tusage: demo [flags]\n\t--help lists the flags\n",
	} {
		if code, _, err := (&disk{}).run(t, func(*Client) { t.Error("main has run") }, strings.Fields(args)...); code != exitUsage || !strings.Contains(err, want) {
			t.Errorf("%s: code %d, stderr %q", args, code, err)
		}
	}
	if code, out, _ := (&disk{}).run(t, nil, "--help"); code != 0 || !strings.Contains(out, "\n\t--data DIR ") {
		t.Errorf("code %d, stdout %q", code, out)
	}
	// A program without the store says so, however the flag is written.
	for _, args := range []string{"--data d", "-data=d", "--durability=sync", "--memory 1GB", "--serve", "--create"} {
		code, _, err := runAsMain(t, func(*Client) { t.Error("main has run") }, strings.Fields(args)...)
		if code != exitUsage || !strings.Contains(err, "compiled to keep its state in memory only") {
			t.Errorf("%s: code %d, stderr %q", args, code, err)
		}
	}
	if _, out, _ := runAsMain(t, nil, "--help"); strings.Contains(out, "--data") {
		t.Errorf("a program without the store offers it: %q", out)
	}
}

func TestWhatGoesOnIsSaidInWords(t *testing.T) {
	for want, r := range map[string]Restored{
		"nothing is in it":                         {},
		"1 actor goes on":                          {Actors: 1},
		"2 actors go on":                           {Actors: 2},
		"3 actors, 2 sub-events and 1 timer go on": {Actors: 3, SubEvents: 2, Timers: 1},
		"1 actor, 1 sub-event, 1 tail call and 12 timers go on": {Actors: 1, SubEvents: 1, Continuations: 1, Timers: 12},
	} {
		if got := describeRestored(r); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}

// noTargets opens directories only.
func noTargets(_ context.Context, address string) (snapshot.Target, error) {
	return snapshot.Dir(address), nil
}
