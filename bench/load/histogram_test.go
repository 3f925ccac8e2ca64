package load

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A quantile is never below the true one, and above it by at most the width of a class.
func TestQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var h, half histogram
		var all []time.Duration
		for range 1 + r.IntN(2000) {
			d := time.Duration(r.Int64N(1 << (1 + r.IntN(41))))
			all = append(all, d)
			if r.IntN(2) == 0 {
				h.note(d)
			} else {
				half.note(d)
			}
		}
		h.add(&half)
		slices.Sort(all)
		for _, q := range []float64{0, 0.5, 0.99} {
			want := all[int(q*float64(len(all)))]
			if got := h.quantile(q); got < want || got > want+want/16 {
				t.Fatalf("of %d times, the quantile %g is %d, want %d", len(all), q, got, want)
			}
		}
	}
}

func TestQuantileOfNothing(t *testing.T) {
	var h histogram
	if got := h.quantile(0.5); got != 0 {
		t.Errorf("got %v", got)
	}
}
