package cli

import (
	"cmp"
	"fmt"
	"sync"
	"time"
)

// silenceMax is how long a command says nothing while it runs.
const silenceMax = 5 * time.Second

// progress is what a command tells while it runs. Its lock is that of standard error, too.
type progress struct {
	sync.Mutex
	quiet bool      // it tells nothing
	doing string    // what the command does at this moment
	said  time.Time // when it has said something last
}

// Quiet lets the command say only what is wrong: a program reads what it writes, or it was asked to.
func (e *Env) Quiet() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.quiet = true
}

// Doing notes what the command does from now on, which it says when it has been silent for a while. Any goroutine may call it.
func (e *Env) Doing(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.doing = text
}

// Inform is Say for what a quiet command leaves out.
func (e *Env) Inform(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.mu.quiet {
		e.say(format, args...)
	}
}

// Say writes a line to standard error. Any goroutine may call it.
func (e *Env) Say(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.say(format, args...)
}

// say is Say with the lock held.
func (e *Env) say(format string, args ...any) {
	fmt.Fprintf(e.Stderr, e.Tool+": "+format+"\n", args...)
	e.mu.said = time.Now()
}

// Unwatch ends saying what the command does: from here on the programs that it has started do.
func (e *Env) Unwatch() { e.unwatch() }

// watch says what the command does, and how long it has run, whenever it has been silent for a while, until unwatch.
func (e *Env) watch(command string) {
	start, stop, ended := time.Now(), make(chan struct{}), make(chan struct{})
	silence := cmp.Or(e.SilenceMax, silenceMax)
	e.mu.doing, e.mu.said = command, start
	e.unwatch = sync.OnceFunc(func() {
		close(stop)
		<-ended
	})
	go func() {
		defer close(ended)
		next := time.NewTimer(silence)
		defer next.Stop()
		for {
			select {
			case <-stop:
				return
			case <-next.C:
				next.Reset(e.broken(start, silence))
			}
		}
	}()
}

// broken reports progress if the command has been silent for too long, and returns when the next
// report is due.
func (e *Env) broken(start time.Time, silence time.Duration) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mu.quiet {
		return silence
	}
	if time.Since(e.mu.said) >= silence {
		e.say("%s, %.0f s", e.mu.doing, time.Since(start).Seconds())
	}
	return silence - time.Since(e.mu.said)
}
