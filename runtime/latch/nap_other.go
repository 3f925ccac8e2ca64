//go:build !linux

package latch

import "time"

func nap(d time.Duration) { time.Sleep(d) }
