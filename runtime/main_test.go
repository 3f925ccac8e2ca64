package runtime

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/value"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runAsMain runs body as the main function of a program.
func runAsMain(t *testing.T, body func(*Client), args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = runMain(&Package{Name: "demo", Main: body}, args, &out, &err, make(chan os.Signal))
	return code, out.String(), err.String()
}

func TestMainPrintsAndEnds(t *testing.T) {
	code, out, err := runAsMain(t, func(cl *Client) { cl.Print("hello") })
	if code != 0 || out != "hello\n" || err != "" {
		t.Errorf("code %d, stdout %q, stderr %q", code, out, err)
	}
}

func TestAFailureThatLeavesMainHasCodeOne(t *testing.T) {
	code, out, err := runAsMain(t, func(cl *Client) {
		cl.Print("before")
		value.Fail("no more steaks")
	})
	if code != 1 || out != "before\n" {
		t.Errorf("code %d, stdout %q", code, out)
	}
	if err != "demo: main failed: no more steaks\n" { // places in this package are the runtime's own
		t.Errorf("stderr %q", err)
	}
}

func TestMainSummarises(t *testing.T) {
	_, _, err := runAsMain(t, func(*Client) {}, "-summary")
	if !strings.HasPrefix(err, "demo: ended after 0.") || !strings.HasSuffix(err, "0 events committed, 0 undone\n") {
		t.Errorf("stderr %q", err)
	}
	for n, want := range map[uint64]string{0: "0 dead letters", 1: "1 dead letter", 2: "2 dead letters"} {
		if got := plural(n, "dead letter"); got != want {
			t.Errorf("plural: %q, want %q", got, want)
		}
	}
}

func TestMainRefusesWhatItDoesNotKnow(t *testing.T) {
	ran := false
	for _, args := range [][]string{{"-nosuch"}, {"file"}} {
		if code, _, err := runAsMain(t, func(*Client) { ran = true }, args...); code != exitUsage || err == "" || ran {
			t.Errorf("%v: code %d, stderr %q, ran %v", args, code, err, ran)
		}
	}
	if code, _, err := runAsMain(t, nil); code != exitUsage || !strings.Contains(err, "no main function") {
		t.Errorf("without main: code %d, stderr %q", code, err)
	}
}

func TestMainExplainsItself(t *testing.T) {
	ran := false
	code, out, err := runAsMain(t, func(*Client) { ran = true }, "-h")
	if code != 0 || ran || !strings.HasPrefix(out, "usage: demo [flags]\n") || !strings.Contains(out, "\n\t--seed number ") || err != "" {
		t.Errorf("code %d, stdout %q, stderr %q, ran %v", code, out, err, ran)
	}
}

// fullDisk takes no byte.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestMainSaysThatItsOutputIsLost(t *testing.T) {
	var err bytes.Buffer
	p := &Package{Name: "demo", Main: func(cl *Client) { cl.Print("lost") }}
	code := runMain(p, nil, fullDisk{}, &err, nil)
	if want := "demo: not all that was printed could be written: no space left on device\n"; code != 1 || err.String() != want {
		t.Errorf("code %d, stderr %q", code, err.String())
	}
	err.Reset()
	if code := runMain(&Package{Name: "demo", Main: func(*Client) {}}, nil, fullDisk{}, &err, nil); code != 0 || err.Len() > 0 {
		t.Errorf("nothing printed: code %d, stderr %q", code, err.String())
	}
}

func TestASignalEndsTheProgram(t *testing.T) {
	signals := make(chan os.Signal, 1)
	stop := make(chan struct{})
	var err bytes.Buffer
	code := runMain(&Package{Name: "demo", Main: func(*Client) {
		signals <- syscall.SIGTERM
		<-stop // main itself ignores the signal
	}}, nil, io.Discard, &err, signals)
	close(stop)
	if code != 128+15 || !strings.Contains(err.String(), "terminated") {
		t.Errorf("code %d, stderr %q", code, err.String())
	}
}

// events runs a test executable in this process and decodes what it writes, but for the
// seeds of the schedules.
func events(t *testing.T, packages []*Package, args ...string) (code int, list []testEvent) {
	t.Helper()
	code, list, _ = seededEvents(t, packages, args...)
	return code, list
}

func seededEvents(t *testing.T, packages []*Package, args ...string) (code int, list []testEvent, seeds []uint64) {
	t.Helper()
	var out, err bytes.Buffer
	code = runMainTest(packages, args, &out, &err)
	if err.Len() > 0 {
		t.Errorf("stderr %q", err.String())
	}
	for line := range strings.Lines(out.String()) {
		var e testEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if e.Action == "seed" {
			seeds = append(seeds, e.Seed)
			continue
		}
		list = append(list, e)
	}
	return code, list, seeds
}

// brief writes each event as one word.
func brief(list []testEvent) string {
	var words []string
	for _, e := range list {
		w := e.Action
		if e.Test != "" {
			w += ":" + string(e.Test)
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func testPackages() []*Package {
	return []*Package{
		{Name: "a", Tests: []Test{
			{Name: "good", File: "a.aeon", Line: 3, Run: func(*Client) {}},
			{Name: "bad", File: "a.aeon", Line: 7, Run: func(cl *Client) { cl.Print("said"); value.Fail("1 is not 2") }},
		}},
		{Name: "b"},
		{Name: "c", Tests: []Test{{Name: "time", Run: func(cl *Client) {
			cl.Sleep(time.Hour)
			if cl.Now() != testEpoch.Add(time.Hour).UnixNano() {
				value.Fail("a test lives in simulated time")
			}
		}}}},
	}
}

// idle is an actor that does nothing.
type idle struct{ Self }

var (
	classIdle  = Class{Shape: Shape{Package: "demo", Name: "Idle"}}
	methodIdle = Method{Class: &classIdle, Name: "idle", Effects: Effects{Self: Read}}
)

func init() {
	classIdle.New = func() Object { return new(idle) }
	methodIdle.Run = func(*Cx, any, Args) {}
}

// One line counts the events that a signal leaves undone: they have not failed, and are no dead letters.
func TestASignalCountsWhatItLeavesUndone(t *testing.T) {
	signals := make(chan os.Signal, 1)
	var said bytes.Buffer
	code := runMain(&Package{Name: "demo", Main: func(cl *Client) {
		a, err := cl.New(&classIdle, &methodIdle, nil)
		if err != nil {
			t.Error(err)
		}
		signals <- syscall.SIGTERM
		for cl.Await(a, &methodIdle, nil) == nil {
			continue // until the system closes
		}
		for range 100 {
			cl.Send(a, &methodIdle, nil)
		}
	}}, []string{"--summary"}, io.Discard, &said, signals)
	if code != signalBase+15 || strings.Contains(said.String(), "dead letter") {
		t.Errorf("code %d, said\n%s", code, said.String())
	}
}

func TestMainTestWritesEvents(t *testing.T) {
	code, list := events(t, testPackages())
	const want = "start run:good pass:good run:bad output:bad output:bad fail:bad pass start pass start run:time pass:time pass finished"
	if got := brief(list); code != 1 || got != want {
		t.Errorf("code %d\n got %s\nwant %s", code, got, want)
	}
	if list[4].Output != "said\n" || !strings.HasPrefix(string(list[5].Output), "1 is not 2\n") || !strings.Contains(string(list[5].Output), "seed ") {
		t.Errorf("output %q, %q", list[4].Output, list[5].Output)
	}
	if list[3].File != "a.aeon" || list[3].Line != 7 || list[3].Unit != 0 || *list[3].Index != 1 {
		t.Errorf("run event %+v", list[3])
	}
}

func TestMainTestFiltersAndGoesOn(t *testing.T) {
	if code, list := events(t, testPackages(), "-run", "^(good|time)$"); code != 0 || brief(list) != "start run:good pass:good pass start pass start run:time pass:time pass finished" {
		t.Errorf("-run: code %d, %s", code, brief(list))
	}
	if _, list := events(t, testPackages(), "-after", "0/1"); brief(list) != "start pass start pass start run:time pass:time pass finished" {
		t.Errorf("-after: %s", brief(list))
	}
}

func TestMainTestRunsEverySchedule(t *testing.T) {
	var runs atomic.Int32
	seen := map[float64]bool{}
	p := &Package{Name: "a", Tests: []Test{{Name: "t", Run: func(cl *Client) {
		runs.Add(1)
		seen[cl.Random()] = true
		if runs.Load() == 5 {
			value.Fail("the fifth")
		}
	}}}}
	_, list, seeds := seededEvents(t, []*Package{p}, "-seed", "10", "-repeat", "8")
	if !slices.Equal(seeds, []uint64{10, 11, 12, 13, 14}) {
		t.Errorf("announced the seeds %v", seeds)
	}
	if runs.Load() != 5 || len(seen) != 5 {
		t.Errorf("%d runs, %d different numbers drawn", runs.Load(), len(seen))
	}
	if out := list[2].Output; !strings.Contains(string(out), "seed 14\n") {
		t.Errorf("output %q does not name the seed", out)
	}
}

func TestNamesOfFunctionsAreThoseOfTheProgram(t *testing.T) {
	for in, want := range map[string]string{
		"aeon.invalid/p12/bank.(*Account).withdraw":       "Account.withdraw",
		"aeon.invalid/p12/bank.(*Account).withdraw.func1": "Account.withdraw",
		"aeon.invalid/p12/bank.aeonMain.func2.1":          "main",
		"aeon.invalid/p12/bank.aeonTest3":                 "test",
		"main.main":                                       "main",
	} {
		if got := shortFunc(in); got != want {
			t.Errorf("%s is shown as %s, want %s", in, got, want)
		}
	}
}

func TestARepeatedPlaceIsWrittenOnce(t *testing.T) {
	rec, m := Frame{Func: "p.rec", File: "/p.aeon", Line: 2}, Frame{Func: "p.aeonMain", File: "/p.aeon", Line: 9}
	f := &failure{msg: "too deep", path: []Frame{rec, rec, rec, m, rec}}
	want := "too deep\n\tat /p.aeon:2 rec (3 times)\n\tat /p.aeon:9 main\n\tat /p.aeon:2 rec\n"
	if got := f.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
