package load

import (
	"math/bits"
	"time"
)

// Times are counted in classes that are at most 1/16 wide: 16 for each power of two of
// nanoseconds, up to a bit more than an hour.
const (
	fine    = 4
	classes = 43 << fine
)

// histogram counts times. The zero value is empty and takes no memory but its own until
// the first time is noted.
type histogram struct {
	counts []uint32
	total  uint64
}

// class returns the class of a time.
func class(d time.Duration) int {
	n := uint64(max(d, 0))
	if n < 1<<fine {
		return int(n)
	}
	shift := bits.Len64(n) - 1 - fine
	return min((shift+1)<<fine+int(n>>shift)&(1<<fine-1), classes-1)
}

// upper returns the largest time of a class.
func upper(c int) time.Duration {
	if c < 1<<fine {
		return time.Duration(c)
	}
	shift := c>>fine - 1
	low := uint64(1<<fine+c&(1<<fine-1)) << shift
	return time.Duration(low + 1<<shift - 1)
}

func (h *histogram) note(d time.Duration) {
	if h.counts == nil {
		h.counts = make([]uint32, classes)
	}
	h.counts[class(d)]++
	h.total++
}

func (h *histogram) add(other *histogram) {
	if other.total == 0 {
		return
	}
	if h.counts == nil {
		h.counts = make([]uint32, classes)
	}
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.total += other.total
}

// quantile returns a time that the share q of all noted times do not exceed, up to the
// width of a class; 0 if none was noted.
func (h *histogram) quantile(q float64) time.Duration {
	left := uint64(q * float64(h.total))
	for c, n := range h.counts {
		if uint64(n) > left {
			return upper(c)
		}
		left -= uint64(n)
	}
	return 0
}
