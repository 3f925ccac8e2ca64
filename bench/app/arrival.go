package app

import (
	"sync"

	aeonrt "github.com/aeon-lang/aeon/runtime"
)

// arrivals has a channel for every Caller whose program waits in Go.
var arrivals sync.Map

// NewWaitingCaller makes a Caller in the client, and the channel that learns of every call of done.
func NewWaitingCaller(cl *aeonrt.Client) (CallerRef, <-chan struct{}) {
	self := new(Caller)
	done := make(chan struct{}, 1)
	arrivals.Store(self, done)
	return CallerRef{aeonrt.NewClientObject(cl, &self.ClientObject, self)}, done
}

func init() {
	run := methodCallerDone.Run
	methodCallerDone.Run = func(cl *aeonrt.Client, self any, args aeonrt.Args) {
		run(cl, self, args)
		if done, ok := arrivals.Load(self); ok {
			done.(chan struct{}) <- struct{}{}
		}
	}
}
