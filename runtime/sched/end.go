package sched

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"weak"
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

// WhenGone calls f when the collector has taken p, unless it takes s as well. A cleanup must not keep s alive: s may refer to p, as a
// system does by a client's object that an actor refers to, and then both would stay for ever. So x must not lead to s either.
func WhenGone[P, S, X any](p *P, s *S, f func(*S, X), x X) {
	w := weak.Make(s)
	runtime.AddCleanup(p, func(x X) {
		if s := w.Value(); s != nil {
			f(s, x)
		}
	}, x)
}
