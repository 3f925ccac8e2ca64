package grpcdoor

import (
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/aeon-lang/aeon/runtime/door"
)

// receivers are goroutines that receive the messages of calls. Some are kept for the next call: a fresh one grows its stack first,
// which costs more than what it does.
type receivers struct {
	jobs chan job
	kept chan struct{} // has one for each that waits for a job
	done chan struct{} // closed when none is to wait any more
	end  func()        // closes it, and may be called again. Goroutines that receive end with their calls
}

// keptMax is how many goroutines wait for a job at the most.
const keptMax = 16

func newReceivers() receivers {
	done := make(chan struct{})
	return receivers{jobs: make(chan job), kept: make(chan struct{}, keptMax), done: done, end: sync.OnceFunc(func() { close(done) })}
}

// job is a call whose message is to be received.
type job struct {
	readers *readers
	of      *reading
	stream  grpc.ServerStream
}

// do receives the message. The reading is that of another call as soon as its end is told, so it leaves the readers before.
func (j job) do() {
	ask(j.stream.Context())
	err := unread(j.stream.RecvMsg(&j.of.message))
	j.readers.leave(j.of)
	j.of.got <- received{whole: true, err: err}
}

// receive has a job done, and does not wait for it.
func (rs *receivers) receive(j job) {
	select {
	case rs.jobs <- j:
	default:
		go rs.work(j)
	}
}

func (rs *receivers) work(j job) {
	for {
		j.do()
		select {
		case rs.kept <- struct{}{}:
		default:
			return
		}
		select {
		case j = <-rs.jobs:
			<-rs.kept
		case <-rs.done:
			return
		}
	}
}

// unread is the failure of a call whose message could not be received; nil if err is.
func unread(err error) error {
	switch {
	case err == nil:
		return nil
	case err == io.EOF:
		return door.Refuse(door.BadArgs, "the call has no message")
	case status.Code(err) == codes.ResourceExhausted:
		return door.Refuse(door.TooLarge, "%s", status.Convert(err).Message())
	}
	return door.Refuse(door.BadArgs, "the message cannot be received: %s", status.Convert(err).Message())
}
