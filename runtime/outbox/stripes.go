package outbox

import (
	"math/bits"
	"sync"

	"github.com/aeon-lang/aeon/internal/shard"
)

// Stripes order the commits of events that write no actor in common and still add to the same
// lists: readers of one issuer whose sub-events go to several targets, events that call back
// the same clients, print, log, or set timers. Each event adds to several lists. Without stripes two
// events could be in one order in one list and in the other order in another list, and no serial
// order would explain both.
//
// An event holds the stripes of all lists that it adds to while it takes its place in the
// journal and adds. No other event adds to these lists in between, so the order of these moments
// is a serial order.
type Stripes struct{ shard.Set[sync.Mutex] }

const _ = uint(64 - shard.Count) // a set of stripes is a word

// The output and the timers have a stripe each; issuers and clients share the others.
const (
	OutputStripe uint64 = 1 << iota
	TimersStripe
)

// StripeOf returns the stripe of an issuer or a client, by its number. Stripes are joined by |.
func StripeOf(n uint64) uint64 { return 1 << (2 + shard.Index(n, shard.Count-2)) }

// Lock takes the stripes of a set, in ascending order.
func (p *Stripes) Lock(set uint64) {
	for ; set != 0; set &= set - 1 {
		p.At(bits.TrailingZeros64(set)).Lock()
	}
}

// Unlock releases the stripes of a set.
func (p *Stripes) Unlock(set uint64) {
	for ; set != 0; set &= set - 1 {
		p.At(bits.TrailingZeros64(set)).Unlock()
	}
}
