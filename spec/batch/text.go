package batch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/spec/batch/driver"
)

// Text returns what a run did as golden files have it, and as spec.Outcome writes it: what the program printed, then how
// it failed and where, then its failed callbacks, then its dead letters, which have no order and are sorted.
func Text(o *driver.Outcome) string {
	var b strings.Builder
	b.WriteString(o.Output)
	if o.Failure != nil {
		fmt.Fprintf(&b, "failed: %s at %s\n", o.Failure.Message, places(o.Failure.Path))
	}
	if o.Unquiet != "" {
		fmt.Fprintf(&b, "not quiescent: %s\n", o.Unquiet)
	}
	for _, c := range o.Callbacks {
		fmt.Fprintf(&b, "callback failed: %s at %s\n", c.Message, places(c.Path))
	}
	letters := make([]string, len(o.DeadLetters))
	for i, d := range o.DeadLetters {
		letters[i] = fmt.Sprintf("dead letter: %s: %s\n", d.Method, d.Message)
	}
	slices.Sort(letters)
	b.WriteString(strings.Join(letters, ""))
	if o.Hang != "" {
		fmt.Fprintf(&b, "hangs: %s\n", o.Hang)
	}
	if o.Crash != "" {
		fmt.Fprintf(&b, "crashes: %s\n", o.Crash)
	}
	if o.Stored != "" {
		fmt.Fprintf(&b, "the store: %s\n", o.Stored)
	}
	return b.String()
}

// places writes a path; a line that follows itself, as in recursion, stands once.
func places(path []Place) string {
	path = slices.Compact(slices.Clone(path))
	lines := make([]string, len(path))
	for i, p := range path {
		lines[i] = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return strings.Join(lines, " < ")
}
