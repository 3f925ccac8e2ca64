//go:build unix

package pebbledb

import "time"

// No test waits for a process that was killed: each lock that is found stays.
func init() { lockPatience = 50 * time.Millisecond }
