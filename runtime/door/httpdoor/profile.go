package httpdoor

import (
	"bytes"
	"net/http"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
)

// profileMax is how many seconds a profile may take.
const profileMax = 300

// profiling is set while a profile is taken that has the process count: the runtime of Go has one switch for each.
var profiling atomic.Bool

// blockRate and mutexFraction are how the runtime of Go samples while such a profile is taken: each wait of 10 µs, and each
// tenth mutex that was fought over.
const (
	blockRate     = 10_000
	mutexFraction = 10
)

// profile takes a profile and answers with it, in the form of pprof. Those of cpu, block and mutex take some seconds; the
// counts of block and mutex are of all such profiles of the process together, as Go adds them up.
func (s *Server) profile(w http.ResponseWriter, r *http.Request) {
	kind, seconds := r.URL.Query().Get("kind"), r.URL.Query().Get("seconds")
	n := uint64(10)
	if seconds != "" {
		var err error
		if n, err = strconv.ParseUint(seconds, 10, 32); err != nil || n < 1 || n > profileMax {
			s.fail(w, door.Refuse(door.BadArgs, "seconds: %q is no number from 1 to %d", seconds, profileMax))
			return
		}
	}
	var b bytes.Buffer
	var err error
	switch kind {
	case "heap":
		runtime.GC() // the profile is of the last collection
		err = pprof.Lookup(kind).WriteTo(&b, 0)
	case "goroutine":
		err = pprof.Lookup(kind).WriteTo(&b, 0)
	case "cpu", "block", "mutex":
		if !profiling.CompareAndSwap(false, true) {
			s.fail(w, door.Refuse(door.Full, "another profile is being taken"))
			return
		}
		defer profiling.Store(false)
		err = s.sample(r, kind, time.Duration(n)*time.Second, &b)
	default:
		s.fail(w, door.Refuse(door.BadArgs, "there is no profile %q; there are cpu, heap, goroutine, block and mutex", kind))
		return
	}
	switch {
	case err != nil:
		s.fail(w, door.Refuse(door.Full, "the profile cannot be taken: %v", err))
		return
	case r.Context().Err() != nil:
		return // the client has gone
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = (&patient{w: w}).Write(b.Bytes()) // the client has gone if this fails
}

// sample has the process count for a time, or until the client has gone or the program ends.
func (s *Server) sample(r *http.Request, kind string, d time.Duration, b *bytes.Buffer) error {
	switch kind {
	case "cpu":
		if err := pprof.StartCPUProfile(b); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	case "block":
		runtime.SetBlockProfileRate(blockRate)
		defer runtime.SetBlockProfileRate(0)
	case "mutex":
		before := runtime.SetMutexProfileFraction(mutexFraction)
		defer runtime.SetMutexProfileFraction(before)
	}
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
	case <-r.Context().Done():
	case <-s.Ending():
	}
	if kind == "cpu" {
		return nil
	}
	return pprof.Lookup(kind).WriteTo(b, 0)
}
