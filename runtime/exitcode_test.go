package runtime

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
)

const endEnv = "AEON_TEST_END"

// endings are the ways in which Go itself ends a process, and what it writes then.
var endings = map[string]struct {
	end  func()
	says string
}{
	"panic":   {func() { panic("a bug") }, "panic: a bug"},
	"fatal":   {func() { new(sync.Mutex).Unlock() }, "fatal error: sync: unlock of unlocked mutex"},
	"stack":   {func() { debug.SetMaxStack(1 << 20); deeper(1) }, "stack overflow"}, // a gigabyte would take seconds
	"memory":  {hoard, "fatal error: "},                                             // out of memory; under the race detector it runs out of addresses first
	"deliver": {nil, ""},                                                            // it ends well
}

func deeper(n int) int { return deeper(n+1) + n }

// hoard asks for memory that no process gets.
func hoard() {
	var kept [][]byte
	for range 1 << 20 {
		kept = append(kept, make([]byte, 1<<46))
	}
	panic(len(kept))
}

// TestEnd is no test of its own: TestExitCodes runs it in a process, which ends in one of these ways in a goroutine of
// its own.
func TestEnd(t *testing.T) {
	how, ok := endings[os.Getenv(endEnv)]
	if !ok {
		return
	}
	os.Args = append([]string{"demo"}, strings.Fields(os.Getenv(endEnv+"_ARGS"))...)
	Main(&Package{Name: "demo", Main: func(*Client) {
		if how.end != nil {
			ended := make(chan struct{})
			go func() {
				how.end()
				close(ended) // not deferred: a panic would let Main end the process before Go does
			}()
			<-ended
		}
	}})
}

// A process that Go ends because of a bug has none of the exit codes that say that nothing was done.
func TestExitCodes(t *testing.T) {
	run := func(how, args string) (int, string) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestEnd$")
		cmd.Env = append(os.Environ(), endEnv+"="+how, endEnv+"_ARGS="+args)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), stderr.String()
	}
	const byGo = 2
	for how, e := range endings {
		want := byGo
		if e.end == nil {
			want = exitClean
		}
		if code, stderr := run(how, ""); code != want || !strings.Contains(stderr, e.says) {
			t.Errorf("%s: exit code %d, %.300s", how, code, stderr)
		}
		if code, stderr := run(how, "--nosuch"); code != exitUsage || !strings.Contains(stderr, "unknown flag --nosuch") {
			t.Errorf("%s, with a wrong command line: exit code %d, %.300s", how, code, stderr)
		}
	}
	for _, code := range []int{exitClean, exitFailed, exitUsage, exitRefused, exitStore} {
		if code == byGo {
			t.Errorf("%d is what Go ends a process with", code)
		}
	}
}
