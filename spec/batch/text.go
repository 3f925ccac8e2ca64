package batch

import (
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/spec/batch/driver"
)

// Text returns what a run did as golden files have it: what the program printed, then how it failed and
// where, then its dead letters, without anything that differs from run to run.
func Text(o *driver.Outcome) string {
	var b strings.Builder
	b.WriteString(o.Output)
	if o.Failure != nil {
		fmt.Fprintf(&b, "failed: %s at %s\n", o.Failure.Message, places(o.Failure.Path))
	}
	if o.Unquiet != "" {
		fmt.Fprintf(&b, "not quiescent: %s\n", o.Unquiet)
	}
	for _, d := range o.DeadLetters {
		fmt.Fprintf(&b, "dead letter: %s\n", d.Message)
	}
	if o.Hang != "" {
		fmt.Fprintf(&b, "hangs: %s\n", o.Hang)
	}
	if o.Crash != "" {
		fmt.Fprintf(&b, "crashes: %s\n", o.Crash)
	}
	return b.String()
}

func places(path []Place) string {
	lines := make([]string, len(path))
	for i, p := range path {
		lines[i] = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return strings.Join(lines, " < ")
}
