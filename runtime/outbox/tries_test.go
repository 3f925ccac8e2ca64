package outbox

import (
	"context"
	"testing"
	"time"
	"weak"
)

// Tries keep no call that was tried, and no memory when none waits.
func TestTriesKeepWhatWaitsAlone(t *testing.T) {
	const added, tried = 10, 6
	var tries Tries[*large]
	var made []weak.Pointer[large]
	begin, end, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	tries.Open(TriesConfig[*large]{Max: 1, TimeMax: time.Hour, CloseMax: time.Hour,
		Try: func(context.Context, *large) error {
			begin <- struct{}{}
			<-end
			return nil
		},
		Ended: func(*large, error) { ended <- struct{}{} },
		Later: func(*large) bool { return false },
		Leave: func(*large) {}})
	for range added {
		c := new(large)
		made = append(made, weak.Make(c))
		tries.Add(c)
	}
	try := func() {
		<-begin
		end <- struct{}{}
		<-ended
	}
	for range tried {
		try()
	}
	<-begin
	if n := kept(made); n != added-tried {
		t.Errorf("%d calls are kept, and %d are under way or wait", n, added-tried)
	}
	end <- struct{}{}
	<-ended
	for range added - tried - 1 {
		try()
	}
	tries.Close()()
	if n := kept(made); n != 0 || cap(tries.mu.queue) != 0 {
		t.Errorf("%d calls are kept, and room for %d, when none waits", n, cap(tries.mu.queue))
	}
}
