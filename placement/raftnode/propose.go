package raftnode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/aeon-lang/aeon/placement"
)

// ErrNoLeader is wrapped by errors after which nothing was done: no leader was found in the time that there was.
var ErrNoLeader = errors.New("the placement has no leader that can be reached")

// UnknownError says that it is not known whether a command was, or will be, taken. State shows it, sooner or later.
type UnknownError struct{ Cause error }

// Error implements error.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("it is not known whether the command was taken: %v", e.Cause)
}

// Unwrap returns the cause.
func (e *UnknownError) Unwrap() error { return e.Cause }

// retryPause is how long a node waits before it looks for the leader again.
const retryPause = 25 * time.Millisecond

// Propose has the cluster perform a command, and returns what it has made. When it returns without error, State has the command, unless ctx has ended
// meanwhile. The error is a *placement.Refusal if the command was refused, a *UnknownError, or wraps ErrNoLeader: then nothing
// was done until ctx ended. A command without a time gets that of this node. Any goroutine may call it.
func (n *Node) Propose(ctx context.Context, c placement.Command) (placement.Result, error) {
	if c.At.IsZero() {
		c.At = n.cfg.Clock()
	}
	data, err := json.Marshal(c)
	if err != nil {
		return placement.Result{}, err
	}
	r, err := n.ofLeader(ctx, &question{Command: data}, func() reply { return n.perform(ctx, data) })
	switch {
	case errors.Is(err, ErrNoLeader):
		return placement.Result{}, err
	case err != nil:
		return placement.Result{}, &UnknownError{err}
	case r.Unknown != "":
		return placement.Result{}, &UnknownError{errors.New(r.Unknown)}
	}
	_ = n.machine.wait(ctx, r.Index) // it was taken, whether or not it has arrived here
	if r.Refusal != "" {
		return placement.Result{}, &placement.Refusal{Reason: r.Refusal}
	}
	return r.Result, nil
}

// Current returns a state that has all commands which were taken before the call. The error wraps ErrNoLeader, or is that of ctx. Any goroutine may call it.
func (n *Node) Current(ctx context.Context) (*placement.State, error) {
	for {
		r, err := n.ofLeader(ctx, &question{Current: true}, n.current)
		if err != nil && ctx.Err() == nil && !errors.Is(err, ErrNoLeader) {
			continue // the answer was lost; to ask again does no harm
		}
		if err == nil {
			err = n.machine.wait(ctx, r.Index)
		}
		if err != nil {
			return nil, fmt.Errorf("the placement cannot be read: %w", err)
		}
		return n.State(), nil
	}
}

// ofLeader has the leader answer a question, and tries again while nothing was done.
func (n *Node) ofLeader(ctx context.Context, q *question, here func() reply) (reply, error) {
	for {
		r, err := n.tryLeader(ctx, q, here)
		if err == nil && r.Retry != "" {
			err = fmt.Errorf("%w: %s", errRetry, r.Retry)
		}
		if !errors.Is(err, errRetry) {
			return r, err
		}
		pause := time.NewTimer(retryPause)
		select {
		case <-pause.C:
			continue
		case <-ctx.Done():
		case <-n.ctx.Done():
		}
		pause.Stop()
		return r, fmt.Errorf("%w: %w: %w", ErrNoLeader, errors.Join(ctx.Err(), n.ctx.Err()), err)
	}
}

func (n *Node) tryLeader(ctx context.Context, q *question, here func() reply) (reply, error) {
	switch leader, ok := n.Leader(); {
	case !ok:
		return reply{Retry: "this node knows of no leader"}, nil
	case leader == n.cfg.Identity.Node:
		return here(), nil
	default:
		return n.ask(ctx, leader, q)
	}
}

// perform performs a command if this node leads.
func (n *Node) perform(ctx context.Context, data []byte) reply {
	if n.raft.State() != raft.Leader {
		return reply{Retry: "this node does not lead"}
	}
	type ended struct {
		response any
		err      error
	}
	done := make(chan ended, 1)
	begun := n.spawn(func() {
		f := n.raft.Apply(data, enqueueMax)
		err := f.Error()
		if err != nil {
			done <- ended{nil, err}
			return
		}
		done <- ended{f.Response(), nil}
	})
	if !begun {
		return reply{Retry: "this node is being closed"}
	}
	select {
	case e := <-done:
		switch {
		case errors.Is(e.err, raft.ErrNotLeader), errors.Is(e.err, raft.ErrEnqueueTimeout), errors.Is(e.err, raft.ErrLeadershipTransferInProgress):
			return reply{Retry: e.err.Error()}
		case e.err != nil: // leadership was lost while the command was on its way
			return reply{Unknown: e.err.Error()}
		}
		o := e.response.(outcome)
		r := reply{Result: o.result, Index: o.index}
		if o.err != nil {
			r.Refusal = o.err.Error()
		}
		return r
	case <-ctx.Done():
		return reply{Unknown: ctx.Err().Error()}
	}
}

// enqueueMax is how long a leader that is busy lets a command wait before it is taken.
const enqueueMax = time.Second

// current returns the index of a state that has all commands that were answered before, if this node leads. A command is answered
// by the leader that has applied it; all that former ones have answered was applied by the barrier at the beginning of the term.
func (n *Node) current() reply {
	if n.raft.State() != raft.Leader {
		return reply{Retry: "this node does not lead"}
	}
	release, ok := n.hold()
	if !ok {
		return reply{Retry: "this node is being closed"}
	}
	defer release()
	if err := n.raft.VerifyLeader().Error(); err != nil {
		return reply{Retry: err.Error()}
	}
	if n.ledTerm.Load() != n.raft.CurrentTerm() {
		return reply{Retry: "this node has just begun to lead"}
	}
	_, index := n.machine.read()
	return reply{Index: index}
}
