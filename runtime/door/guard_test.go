package door

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/runtime/order"
)

// eventOf returns what the event of a call sees of its cancellation: the event itself, and what it waits for.
func eventOf(c *Guarded) (*order.Attempt, <-chan struct{}) {
	a := &order.Attempt{Wants: order.Wants{Cancellation: &c.Cancellation}}
	return a, a.Context().Done()
}

// never is how long a channel is awaited that may not be closed.
const never = 10 * time.Second

// after returns how long it takes until done is closed; never if it is not.
func after(done <-chan struct{}) time.Duration {
	began := time.Now()
	select {
	case <-done:
	case <-time.After(never):
	}
	return time.Since(began)
}

// The end of a context is seen at once by an event, and soon by what it waits for.
func TestGuardedByContexts(t *testing.T) {
	for _, age := range []time.Duration{0, lookEach / 2, 3 * lookEach} {
		synctest.Test(t, func(t *testing.T) {
			var g guards
			ctx, cancel := context.WithCancel(context.Background())
			c := g.begin(ctx, 0)
			event, waits := eventOf(c)
			time.Sleep(age)
			if event.Cancelled() {
				t.Errorf("after %v: it is cancelled before its context has ended", age)
			}
			cancel()
			if !event.Cancelled() {
				t.Errorf("after %v: the event does not see that its context has ended", age)
			}
			most := 2 * lookEach
			if age > most { // it is armed
				most = 0
			}
			if took := after(waits); took > most {
				t.Errorf("after %v: what waits is cancelled %v later, want at most %v", age, took, most)
			}
			c.End()
		})
	}
}

// A call is cancelled when its time is up, and not before. Its time counts from its beginning.
func TestGuardedByTime(t *testing.T) {
	for _, most := range []time.Duration{lookEach / 2, 4 * lookEach, never / 2} {
		synctest.Test(t, func(t *testing.T) {
			var g guards
			other := g.begin(context.Background(), 0) // has the lists looked at
			defer other.End()
			time.Sleep(lookEach / 3)
			c := g.begin(context.Background(), most)
			defer c.End()
			_, waits := eventOf(c)
			if took := after(waits); took < most || took > max(most, lookEach)+lookEach {
				t.Errorf("a call that may take %v is cancelled after %v", most, took)
			}
		})
	}
}

// A call that has ended is not cancelled, and nothing looks where there are no calls.
func TestGuardedCallsEnd(t *testing.T) {
	for _, age := range []time.Duration{0, lookEach / 2, 3 * lookEach} {
		synctest.Test(t, func(t *testing.T) {
			var g guards
			ctx, cancel := context.WithCancel(context.Background())
			c := g.begin(ctx, time.Minute)
			_, waits := eventOf(c)
			time.Sleep(age)
			c.End()
			cancel()
			if took := after(waits); took < never {
				t.Errorf("a call that has ended after %v is cancelled %v later", age, took)
			}
			if g.looking.Load() {
				t.Errorf("after %v: the lists are looked at, and have no call", age)
			}
			again := g.begin(ctx, 0) // whose context has ended
			defer again.End()
			_, waits = eventOf(again)
			if took := after(waits); took > 2*lookEach {
				t.Errorf("after %v: the next call is cancelled after %v", age, took)
			}
		})
	}
}

// Calls end in any order, and the others are still cancelled.
func TestGuardedCallsEndInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g guards
		ctx, cancel := context.WithCancel(context.Background())
		r := rand.New(rand.NewPCG(1, 2))
		calls := make([]*Guarded, 400)
		for i := range calls {
			calls[i] = g.begin(ctx, 0)
		}
		r.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
		ended, left := calls[:len(calls)/2], calls[len(calls)/2:]
		for _, c := range ended {
			c.End()
		}
		cancel()
		for _, c := range left {
			if _, waits := eventOf(c); after(waits) > 2*lookEach {
				t.Fatal("a call is not cancelled, though its context has ended")
			}
			c.End()
		}
		for _, c := range ended {
			if _, waits := eventOf(c); after(waits) < never {
				t.Fatal("a call is cancelled, though it has ended")
			}
		}
	})
}

// Calls begin and end beside each other and the looks. Each whose context ends is cancelled, and no other.
func TestGuardedCallsTogether(t *testing.T) {
	var g guards
	var group sync.WaitGroup
	for seed := range uint64(8) {
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			for range 300 {
				ctx, cancel := context.WithCancel(context.Background())
				c := g.begin(ctx, 2*never)
				_, waits := eventOf(c)
				switch r.IntN(8) {
				case 0:
					cancel()
					if after(waits) >= never {
						t.Error("a call is not cancelled, though its context has ended")
						return
					}
				case 1: // until others have ended and been looked at
					other := g.begin(ctx, 2*lookEach)
					_, late := eventOf(other)
					after(late)
					other.End()
				}
				if ctx.Err() == nil {
					select {
					case <-waits:
						t.Error("a call is cancelled, though its context has not ended")
					default:
					}
				}
				c.End()
				cancel()
			}
		})
	}
	group.Wait()
	for i := range g.lists {
		if g.lists[i].some() {
			t.Errorf("list %d has calls that have ended", i)
		}
	}
}
