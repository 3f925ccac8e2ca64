package runtime

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// graceMax is how long running events may take to end after a signal. It is short: Ctrl-C is to stop the
// program, and an event that is cut off has not happened.
const graceMax = 200 * time.Millisecond

// end lets the running events end, and closes what the program has used. sig is the signal that ends the program; nil: none has come yet. The first one begins
// the grace period, after which the process ends without them, and a second one ends it at once. limit does so, too; nil lets events run until a signal comes.
func (r *mainRun) end(sig os.Signal, limit <-chan time.Time) {
	closed := r.closing() // before anything is said
	if sig != nil {
		limit = r.told(sig)
	}
	for {
		select {
		case <-closed:
			insist()
			r.closed()
			if n := r.system.Undone(); n > 0 && sig != nil {
				r.say("ended: %s left undone", undoneEvents(n))
			}
			return
		case further := <-r.signals:
			if sig == nil {
				sig, limit = further, r.told(further)
				continue
			}
			insist()
			r.code = SignalCode(further)
			r.leaveTrace()
			return
		case err := <-r.keeping.failed:
			r.storeFailed(closed, err)
			return
		case <-limit:
			insist()
			r.cutOff()
			return
		}
	}
}

// told notes the first signal, and begins the grace period.
func (r *mainRun) told(sig os.Signal) (limit <-chan time.Time) {
	r.say("%v", sig)
	if !r.serves() {
		r.code = max(r.code, SignalCode(sig))
	}
	return time.After(graceMax)
}

// serves reports whether the program goes on until a signal comes, which then is its end, and no failure: a supervisor takes 128 and a number for one.
func (r *mainRun) serves() bool { return r.serve || r.listening.listens() && !r.mainRuns.Load() }

// insist lets a further signal kill the process. Call it before anything that may take long and does not listen to signals: the disk may not answer.
func insist() { signal.Reset(os.Interrupt, syscall.SIGTERM) }

// closing closes the system; the channel is closed when that is done.
func (r *mainRun) closing() <-chan struct{} {
	closed := make(chan struct{})
	go func() { // ends with the events, or with the process
		r.listening.close()
		r.system.Close()
		close(closed)
	}()
	return closed
}

// closed ends what the system has used. The system is closed.
func (r *mainRun) closed() {
	r.endSnapshots() // one that is under way reads the store
	err := r.keeping.end()
	r.tracing.end(r.system, err) // err says that something was lost: then the section does not end as closed
	if err != nil {
		r.say("%v\n\t%s", err, r.keeping.afterFailure(err))
		r.code = exitStore
	}
}

// storeFailed says that the store has failed, and gives callers that still wait a short time to end.
func (r *mainRun) storeFailed(closed <-chan struct{}, err error) {
	insist()
	r.say("%v\n\t%s", err, r.keeping.afterFailure(err))
	r.code = exitStore
	select {
	case <-closed:
	case <-time.After(graceMax):
	}
}

// cutOff ends the program without the events that still run. What was answered is safe.
func (r *mainRun) cutOff() {
	lost := ""
	if n := r.system.Undone(); n > 0 {
		lost = ": " + undoneEvents(n) + " left undone"
	}
	r.say("ended without the events that still ran%s%s", r.keeping.later(), lost)
	if err := r.keeping.flush(); err != nil {
		r.say("%v\n\t%s", err, r.keeping.afterFailure(err))
		r.code = exitStore
	}
	r.leaveTrace()
}

// leaveTrace writes the trace of a system that still runs. What it changes in a store until the process has ended is in the trace, too.
func (r *mainRun) leaveTrace() {
	if r.keeping.store == nil {
		return
	}
	if err := r.tracing.leave(); err != nil {
		r.fail(exitFailed, "%v", err)
	}
}

// undoneEvents writes how many events were cut off.
func undoneEvents(n int64) string {
	if n == 1 {
		return "1 event was"
	}
	return fmt.Sprintf("%d events were", n)
}
