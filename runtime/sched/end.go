package sched

import (
	"fmt"
	"runtime/debug"
)

var atEnd []func()

// AtEnd has f called before a bug ends the process. It is called by inits.
func AtEnd(f func()) { atEnd = append(atEnd, f) }

// end ends the process with a message. No caller can recover from that.
func end(message string) {
	for _, f := range atEnd {
		f()
	}
	go panic(message)
	select {}
}

// EndOnBug, deferred, ends the process if a step of the protocol or of a commit panics: its latches are taken, and
// what they guard is half changed.
func EndOnBug() {
	if p := recover(); p != nil {
		end(fmt.Sprintf("bug in the runtime: %v\n%s", p, debug.Stack()))
	}
}
