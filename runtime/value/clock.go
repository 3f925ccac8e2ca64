package value

import (
	"cmp"
	"time"
)

// Time is the value time: nanoseconds since the start of 1970, UTC.
type Time int64

// Duration is the value duration, in nanoseconds.
type Duration int64

// Compare implements Ordered.
func (t Time) Compare(other Time) int { return cmp.Compare(t, other) }

// Add returns t + d, or faults on overflow.
func (t Time) Add(d Duration) Time { return Add(t, Time(d)) }

// SubDuration returns t - d, or faults on overflow.
func (t Time) SubDuration(d Duration) Time { return Sub(t, Time(d)) }

// Sub returns the duration from u to t, or faults on overflow.
func (t Time) Sub(u Time) Duration { return Duration(Sub(t, u)) }

// Str returns t as RFC 3339 writes it.
func (t Time) Str() string { return time.Unix(0, int64(t)).UTC().Format(time.RFC3339Nano) }

// Compare implements Ordered.
func (d Duration) Compare(other Duration) int { return cmp.Compare(d, other) }

// Str returns d as Go writes it, such as 1m30s.
func (d Duration) Str() string { return time.Duration(d).String() }
