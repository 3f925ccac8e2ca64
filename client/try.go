package client

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Outcome is what is certain of a request that was sent once.
type Outcome int

// The outcomes.
const (
	Answered  Outcome = iota // it has its answer, which may be a failure
	NotDone                  // it was not performed
	Undone                   // it was not performed, as the time of this sending was too short: its answer, if no time is left for another one
	Untrusted                // it was not sent, as the certificate of the node is not trusted
	MaybeDone                // it may have been performed
)

// Nodes are those of a program, of which one is asked first: the one that has answered last. Any goroutine may use them.
type Nodes struct {
	Count int // at least 1

	first atomic.Int64
}

// First returns the node that is asked first.
func (n *Nodes) First() int { return int(n.first.Load()) }

// Leave has another node be asked first if it was this one.
func (n *Nodes) Leave(node int) {
	n.first.CompareAndSwap(int64(node), int64((node+1)%n.Count))
}

// TimeMax is how long a call whose context has no deadline is tried.
const TimeMax = 2 * time.Minute

const (
	// sendMax is how long a node may take to answer before another one is asked: it may be paused, or cut off. Each further time it is twice as long,
	// since an event that takes longer is undone with its request. An answer that has begun may take longer, as long as some of it comes in that time.
	sendMax = 5 * time.Second
	// sendMin is what must be left for a further try: one that is under way at the end would leave open what has become of it.
	sendMin = 50 * time.Millisecond
	// pauseMin and pauseMax bound the pause after all nodes were asked.
	pauseMin = 20 * time.Millisecond
	pauseMax = time.Second
)

// Try has a request answered: send sends it to a node, once. If that does not answer it goes to the others, one by one, until ctx ends. again says that
// it may be sent though it may have been performed, as it has a key, or reads alone. It ends at once if no certificate of a node is trusted, as that
// is for people to mend. The error is that of the answer; or an *Error, which is
// ErrUnavailable if the request was surely not performed, and else ErrUnknown.
func (n *Nodes) Try(ctx context.Context, again bool, send func(ctx context.Context, node int) (Outcome, error)) error {
	ctx, end := limited(ctx)
	defer end()
	deadline, _ := ctx.Deadline()
	first, patience, pause := n.First(), sendMax, pauseMin
	maybe := false // it may have been performed
	untrusted := 0 // nodes, the last ones that were tried
	var last error
	for tries := 0; ; tries++ {
		if tries > 0 && tries%n.Count == 0 {
			if !wait(ctx, pause) {
				break
			}
			pause = min(2*pause, pauseMax)
		}
		if ctx.Err() != nil || tries > 0 && time.Until(deadline) < sendMin {
			break
		}
		node := (first + tries) % n.Count
		once, cancel := context.WithTimeout(ctx, patience)
		outcome, err := send(once, node)
		late := once.Err() != nil || outcome == Undone
		cancel()
		if outcome == Answered || outcome == Undone && time.Until(deadline) < sendMin {
			n.first.Store(int64(node))
			if e, is := errors.AsType[*Error](err); is && maybe {
				return e.behindMaybe()
			}
			return err
		}
		maybe, last = maybe || outcome == MaybeDone, err
		if maybe && !again {
			break
		}
		if untrusted++; outcome != Untrusted {
			untrusted = 0
		}
		if untrusted == n.Count {
			break
		}
		if late {
			patience *= 2
		}
	}
	if last == nil {
		last = context.Cause(ctx)
	}
	if maybe {
		return &Error{Code: NoOutcome, Msg: "no node has answered, and whether the call has happened is not known", Happened: Unknown, cause: last}
	}
	return &Error{Code: Unavailable, Msg: "no node has performed the call", Happened: No, cause: last}
}

// limited returns ctx with a deadline.
func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, TimeMax)
}

// behindMaybe returns the failure of a request that may have been performed before: one of this sending alone leaves that open.
func (e *Error) behindMaybe() *Error {
	if e.outcome || e.Happened != No {
		return e
	}
	open := *e
	if open.Happened = Unknown; open.Code == Unavailable {
		open.Code = NoOutcome
	}
	return &open
}

// wait waits, and reports whether ctx goes on.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
