package exec

import (
	"math/bits"
	"sync"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/order"
)

// stripes order the commits of events that hold nothing in common in writing and still meet
// in what they leave behind: readers of one issuer whose sub-events go to several targets,
// events that call back the same clients, print, or set timers. Each of them adds to
// several lists; without this one list could have them in one order and another in the
// other, and no serial order would explain both.
//
// An event holds the stripes of all that it adds to while it takes its place in the
// journal and adds. Whatever happens in between at one of them happens to no other event, so
// the order of these moments is a serial order.
type stripes struct{ shard.Set[sync.Mutex] }

const _ = uint(64 - shard.Count) // a set of them is a word

// Stripes 0 and 1 are the output and the timers, the others are shared by issuers and
// clients.
const (
	theOutput = 0
	theTimers = 1
)

// stripeOf returns a stripe for a number.
func stripeOf(n uint64) uint64 { return 1 << (2 + shard.Index(n, shard.Count-2)) }

// needed returns the set of stripes that ops need. An issuer that the event holds for
// writing is its alone.
func (ev *Event) needed(ops []op) (set uint64) {
	for i := range ops {
		o := &ops[i]
		switch o.kind {
		case opBranch:
			set |= ev.needed(o.branch.cx.ops)
		case opEmit, opTail:
			if !o.keep && (o.issuer != ev.Target || ev.method.Self != order.Write) {
				set |= stripeOf(o.issuer.ID.Serial)
			}
			if o.timer != nil && ev.sys.durable != nil {
				set |= 1 << theTimers // its row moves, unless it is cancelled meanwhile
			}
		case opCallback:
			set |= stripeOf(uint64(o.object.client.id))
		case opTimer, opCancel:
			set |= 1 << theTimers
		case opPrint:
			set |= 1 << theOutput
		}
	}
	return set
}

// lock takes the stripes of a set, in ascending order.
func (p *stripes) lock(set uint64) {
	for ; set != 0; set &= set - 1 {
		p.At(bits.TrailingZeros64(set)).Lock()
	}
}

func (p *stripes) unlock(set uint64) {
	for ; set != 0; set &= set - 1 {
		p.At(bits.TrailingZeros64(set)).Unlock()
	}
}
