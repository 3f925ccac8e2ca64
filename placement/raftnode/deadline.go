package raftnode

import (
	"fmt"
	"time"
)

// deadline ends the process when the disk does not answer: raft's leader writes to its disk in the goroutine that leads, and its
// heartbeats, which others run, would go on, so that no other node would be elected (hashicorp/raft #503, #614).
type deadline struct {
	max   time.Duration
	fatal func(error)
}

// during is called as defer d.during(what)().
func (d deadline) during(what string) (ended func()) {
	t := time.AfterFunc(d.max, func() {
		d.fatal(fmt.Errorf("the log of the placement cannot be %s: the disk has not answered for %v", what, d.max))
	})
	return func() { t.Stop() }
}
