//go:build unix

package testrun_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/cmd/aeonc/internal/testrun"
)

// fake is a script that stands in for a test executable of two packages. Its second
// test kills the process and its third hangs, so that it takes three processes to
// get through. Each is told where the one before has stopped.
const fake = `#!/bin/sh
say() { printf '%s\n' "$1" >&3; }
case "$2" in
-1/-1)
	say '{"Action":"start","Unit":0}'
	say '{"Action":"run","Unit":0,"Index":0,"Test":"one","File":"/src/bank.aeon","Line":3}'
	say '{"Action":"output","Unit":0,"Index":0,"Test":"one","Output":"seen only with -v\n"}'
	say '{"Action":"pass","Unit":0,"Index":0,"Test":"one","Elapsed":0.25}'
	say '{"Action":"run","Unit":0,"Index":1,"Test":"two","File":"/src/bank.aeon","Line":9}'
	say '{"Action":"seed","Unit":0,"Index":1,"Test":"two","Seed":6}'
	say '{"Action":"seed","Unit":0,"Index":1,"Test":"two","Seed":7}'
	say '{"Action":"output","Unit":0,"Index":1,"Test":"two","Output":"printed before\n"}'
	echo 'fatal error: stack overflow' >&2
	exit 2;;
0/1)
	say '{"Action":"start","Unit":0}'
	say '{"Action":"pass","Unit":0}'
	say '{"Action":"start","Unit":1}'
	say '{"Action":"run","Unit":1,"Index":0,"Test":"three","File":"/src/tree.aeon","Line":4}'
	say '{"Action":"seed","Unit":1,"Index":0,"Test":"three","Seed":8}'
	exec sleep 60;;
1/0)
	say '{"Action":"start","Unit":1}'
	echo 'something that Go code prints'
	say '{"Action":"run","Unit":1,"Index":1,"Test":"four","File":"/src/tree.aeon","Line":8}'
	say '{"Action":"output","Unit":1,"Index":1,"Test":"four","Output":"tree.aeon:9: 1 is not 2\n"}'
	say '{"Action":"fail","Unit":1,"Index":1,"Test":"four","File":"/src/tree.aeon","Line":8,"Elapsed":0.5}'
	say '{"Action":"pass","Unit":1}'
	say '{"Action":"start","Unit":2}'
	say '{"Action":"pass","Unit":2}'
	say '{"Action":"finished"}';;
esac
`

func run(t *testing.T, change func(*testrun.Config)) (testrun.Result, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fake")
	if err := os.WriteFile(name, []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cfg := testrun.Config{Executable: name, Packages: []string{"examples/bank", "examples/tree", "examples/empty"}, TestMax: 300 * time.Millisecond, Stdout: &out, Place: filepath.Base}
	if change != nil {
		change(&cfg)
	}
	r, err := testrun.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r, regexp.MustCompile(`(packages \()\d+\.\d+s\)`).ReplaceAllString(out.String(), "${1}TIME)")
}

func TestRunReportsAsGoDoes(t *testing.T) {
	var begun []string
	r, out := run(t, func(c *testrun.Config) {
		c.Progress = func(pkg, test string, schedule int) {
			begun = append(begun, fmt.Sprintf("%s %s %d", pkg, test, schedule))
		}
	})
	if want := []string{"examples/bank two 1", "examples/bank two 2", "examples/tree three 1"}; !slices.Equal(begun, want) {
		t.Errorf("schedules %q have begun, want %q", begun, want)
	}
	if r.Passed != 1 || r.Failed != 3 {
		t.Errorf("%d passed, %d failed", r.Passed, r.Failed)
	}
	const want = `--- FAIL: two (bank.aeon:9) (0.00s)
    printed before
    the test took the process with it: exit status 2
    fatal error: stack overflow
    seed 7
FAIL	examples/bank	0.25s
--- FAIL: three (tree.aeon:4) (0.00s)
    the test did not end within 300ms
    seed 8
--- FAIL: four (tree.aeon:8) (0.50s)
    tree.aeon:9: 1 is not 2
FAIL	examples/tree	0.50s
?   	examples/empty	[no tests]
1 passed, 3 failed in 3 packages (TIME)
`
	if out != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

// A test that fails, or takes the process with it, says how to run it again with its seed, and what was done over several stores is added up.
func TestFailuresSayHowToRunThemAgain(t *testing.T) {
	several := strings.NewReplacer(
		`"Elapsed":0.25}`, `"Elapsed":0.25,"Stores":{"Events":1,"Withdrawn":0}}`,
		`"Elapsed":0.5}`, `"Elapsed":0.5,"Stores":{"Events":4,"Withdrawn":2}}`,
		`echo 'something that`, `say '{"Action":"seed","Unit":1,"Index":1,"Test":"four","Seed":9}'; echo 'something that`).Replace(fake)
	change := func(c *testrun.Config) {
		if err := os.WriteFile(c.Executable, []byte(several), 0o755); err != nil {
			t.Fatal(err)
		}
		c.Again = func(pkg int, test string, seed uint64) string { return fmt.Sprintf("again %d %s %d", pkg, test, seed) }
	}
	r, out := run(t, change)
	for _, want := range []string{"    seed 7\n    to run it again: again 0 two 7\nFAIL\t", "    seed 8\n    to run it again: again 1 three 8\n---", "    tree.aeon:9: 1 is not 2\nFAIL\t",
		"1 passed, 3 failed in 3 packages (TIME)"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if r.Stores == nil || *r.Stores != (testrun.Stores{Events: 5, Withdrawn: 2}) || !strings.HasSuffix(out, "; over several stores: 5 events, 2 withdrawn\n") {
		t.Errorf("over several stores: %v, in\n%s", r.Stores, out)
	}
	_, out = run(t, func(c *testrun.Config) { change(c); c.JSON = true })
	for _, want := range []string{`"Test":"two","Output":"to run it again: again 0 two 7\n"}`, `"Seed":7}`, `"Stores":{"Events":4,"Withdrawn":2}}`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is missing in\n%s", want, out)
		}
	}
}

// What Go code of a program prints, with or without the end of a line, takes nothing from what the executable says. A test that has begun and
// has not ended has failed, though the executable says that all have.
func TestWhatGoCodePrintsIsNoEvent(t *testing.T) {
	const noisy = `#!/bin/sh
say() { printf x; printf '%s\n' "$1" >&3; printf '{'; }
[ "$2" = 0/2 ] && { say '{"Action":"finished"}'; exit; }
say '{"Action":"start","Unit":0}'
say '{"Action":"run","Unit":0,"Index":0,"Test":"one","File":"/src/bank.aeon","Line":3}'
say '{"Action":"seed","Unit":0,"Index":0,"Test":"one","Seed":6}'
say '{"Action":"pass","Unit":0,"Index":0,"Test":"one","Elapsed":0}'
say '{"Action":"run","Unit":0,"Index":1,"Test":"two","File":"/src/bank.aeon","Line":9}'
say '{"Action":"seed","Unit":0,"Index":1,"Test":"two","Seed":7}'
say '{"Action":"seed","Unit":0,"Index":1,"Test":"two","Seed":8}'
say '{"Action":"output","Unit":0,"Index":1,"Test":"two","Output":"bank.aeon:9: 1 is not 2\n"}'
say '{"Action":"fail","Unit":0,"Index":1,"Test":"two","Elapsed":0}'
say '{"Action":"run","Unit":0,"Index":2,"Test":"three","File":"/src/bank.aeon","Line":12}'
say '{"Action":"finished"}'
`
	r, out := run(t, func(c *testrun.Config) {
		if err := os.WriteFile(c.Executable, []byte(noisy), 0o755); err != nil {
			t.Fatal(err)
		}
		c.Again = func(_ int, _ string, seed uint64) string { return fmt.Sprint("again ", seed) }
	})
	if r.Passed != 1 || r.Failed != 2 || !strings.Contains(out, "    bank.aeon:9: 1 is not 2\n    to run it again: again 8\n") || !strings.Contains(out, "ended too early\n    x{x{") {
		t.Errorf("%d passed, %d failed:\n%s", r.Passed, r.Failed, out)
	}
}

// Each schedule has the whole time that a test may take.
func TestTheTimeIsThatOfOneSchedule(t *testing.T) {
	const slow = `#!/bin/sh
say() { printf '%s\n' "$1" >&3; }
[ "$2" = -1/-1 ] || { say '{"Action":"finished"}'; exit; }
say '{"Action":"start","Unit":0}'
say '{"Action":"run","Unit":0,"Index":0,"Test":"one","File":"/src/bank.aeon","Line":3}'
for seed in 1 2 3 4; do
	say '{"Action":"seed","Unit":0,"Index":0,"Test":"one","Seed":'$seed'}'
	sleep 0.5
done
say '{"Action":"pass","Unit":0,"Index":0,"Test":"one","Elapsed":2}'
say '{"Action":"finished"}'
`
	r, out := run(t, func(c *testrun.Config) {
		if err := os.WriteFile(c.Executable, []byte(slow), 0o755); err != nil {
			t.Fatal(err)
		}
		c.TestMax = 1500 * time.Millisecond // less than all take, and a second more than one does: on a machine with much to do a process begins late
	})
	if r.Passed != 1 || r.Failed != 0 {
		t.Errorf("%d passed, %d failed:\n%s", r.Passed, r.Failed, out)
	}
}

func TestVerboseShowsPassedTests(t *testing.T) {
	_, out := run(t, func(c *testrun.Config) { c.Verbose = true })
	for _, want := range []string{"=== RUN   one\n", "--- PASS: one (bank.aeon:3) (0.25s)\n    seen only with -v\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

func TestJSONIsThatOfGoTest(t *testing.T) {
	_, out := run(t, func(c *testrun.Config) { c.JSON = true })
	actions := map[string]int{}
	for line := range strings.Lines(out) {
		var e struct{ Action, Package, Test string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if !strings.HasPrefix(e.Package, "examples/") {
			t.Errorf("package %q", e.Package)
		}
		if e.Test == "" {
			e.Action += " package"
		}
		actions[e.Action]++
	}
	for action, want := range map[string]int{"run": 4, "pass": 1, "fail": 3, "fail package": 2, "skip package": 1, "start package": 3} {
		if actions[action] != want {
			t.Errorf("%d events %q, want %d", actions[action], action, want)
		}
	}
}

func TestAnExecutableThatFailsOutsideTestsIsAnError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fake")
	if err := os.WriteFile(name, []byte("#!/bin/sh\necho broken >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, exe := range []string{name, name + "missing"} {
		if _, err := testrun.Run(context.Background(), testrun.Config{Executable: exe, TestMax: time.Second, Stdout: &bytes.Buffer{}}); err == nil {
			t.Errorf("%s: no error", exe)
		}
	}
}

// Ctrl-C at the keyboard ends the executable, too: no test has failed by that.
func TestAnInterruptIsNoFailure(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fake")
	const fake = `#!/bin/sh
[ "$2" = -1/-1 ] || { echo '{"Action":"finished"}' >&3; exit; }
echo '{"Action":"start","Unit":0}' >&3
echo '{"Action":"run","Unit":0,"Index":0,"Test":"one","File":"/src/bank.aeon","Line":3}' >&3
kill -INT $$
`
	if err := os.WriteFile(name, []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r, err := testrun.Run(t.Context(), testrun.Config{Executable: name, Packages: []string{"p"}, TestMax: time.Minute, Stdout: &out, Place: filepath.Base})
	if !errors.Is(err, context.Canceled) || r.Failed != 0 || strings.Contains(out.String(), "FAIL") {
		t.Errorf("error %v, %d failed, output\n%s", err, r.Failed, out.String())
	}
}
