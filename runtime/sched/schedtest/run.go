// Package schedtest tells how the scheduled run of a test is repeated when something ends it.
package schedtest

import (
	"fmt"
	"os"

	"github.com/aeon-lang/aeon/runtime/sched"
)

// running tells how the run that goes on is repeated, and what has happened in it; nil: none goes on.
var running func() string

func init() { sched.AtEnd(Tell) }

// Tell writes the story of the run that goes on, if there is one. It is called when a bug in the runtime is about to end the process, which says
// nothing of the run, and deferred where the run may panic.
func Tell() {
	if story := running; story != nil {
		running = nil
		fmt.Fprint(os.Stderr, story())
	}
}

// Begin says that a run goes on, of which story tells how it is repeated and what has happened. Runs go on one after the other.
func Begin(story func() string) { running = story }

// End says that the run has ended.
func End() { running = nil }

// Fail ends the process with the story of the run and a message, from whatever task. No caller returns.
func Fail(story func() string, format string, args ...any) {
	running = nil // it is told here
	panic(story() + fmt.Sprintf(format, args...))
}
