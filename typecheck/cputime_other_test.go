//go:build !unix

package typecheck

import "time"

var started = time.Now()

// cpuTime is the time on the clock where the system does not count ours.
func cpuTime() time.Duration { return time.Since(started) }
