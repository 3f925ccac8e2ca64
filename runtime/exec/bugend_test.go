package exec

import (
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/store"
)

// bugEnv names the bug with which TestEndOnABug runs, in a process that TestABugEndsTheProcess starts.
const bugEnv = "AEON_EXEC_BUG"

// bugs are the bugs that must end the process, each with the text that the process then writes.
var bugs = map[string]struct {
	run  func(t *testing.T)
	says string
}{
	"a journal panics":    {brokenJournal, "panic: bug in the runtime: the disk is full"},
	"nothing ends a wait": {endlessWait, "panic: sched: deadlock: no task of the scheduled system can run"},
}

func TestABugEndsTheProcess(t *testing.T) {
	for name, b := range bugs {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEndOnABug$")
			cmd.Env = append(os.Environ(), bugEnv+"="+name)
			if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), b.says) {
				t.Errorf("%v, and it does not say %q:\n%s", err, b.says, out)
			}
		})
	}
}

// TestEndOnABug is no test of its own: TestABugEndsTheProcess runs it.
func TestEndOnABug(t *testing.T) {
	if b, ok := bugs[os.Getenv(bugEnv)]; ok {
		b.run(t)
	}
}

// badJournal panics once bad is set.
type badJournal struct {
	*store.Store
	bad atomic.Bool
}

func (j *badJournal) Append(b store.Batch) store.Position {
	if j.bad.Load() {
		panic("the disk is full")
	}
	return j.Store.Append(b)
}

// brokenJournal has a commit panic while the event holds its actor. The caller recovers
// every panic and goes on; the process must not.
func brokenJournal(t *testing.T) {
	st, err := store.Open(replicatest.New(), store.Options{Program: "test", Log: quiet})
	mustNot(t, err)
	j := &badJournal{Store: st}
	s, err := Recover(Config{Log: quiet, Store: st, Classes: testClasses, journal: j})
	mustNot(t, err)
	nodes, err := workload{nodes: 1}.plant(s)
	mustNot(t, err)
	j.bad.Store(true)
	defer func() { _ = recover() }()
	_ = s.Client().Await(nodes[0].Ref, &methodLocal, &wargs{steps: []wstep{{op: wAdd, n: 1}}})
}

// endlessWait has an event of a scheduled system wait for a signal that never comes.
func endlessWait(t *testing.T) {
	s := Open(Config{Scheduled: true, Log: quiet})
	r, err := s.Client().New(&classDesk, &methodDesk, work(nil))
	mustNot(t, err)
	_ = s.Client().Issue(r, &methodWork, work(func(cx *Cx, _ *desk) { eventOf(cx).sys.scheduler.Wait(nil) })).Wait()
}
