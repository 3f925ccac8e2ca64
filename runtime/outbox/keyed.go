package outbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/internal/shard"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Keyed are the requests that come by themselves, each with a key that its client has chosen for it alone. The outcome of
// each is stored in the batch of its event, with the target. A request that comes again gets it without running again,
// until it expires.
//
// Outcomes are stored by generations, so that those of a generation expire in one step and memory holds none of them: a
// request is looked for in all generations that there are, which are few.
//
// Invariants: a request is performed by at most one event, which has claimed it; its outcome stays for Expiry at least.
type Keyed struct {
	cfg    KeyedConfig
	claims shard.Set[keyedClaims]
	mu     struct {
		sync.RWMutex
		begun []int64             // when each generation began, in nanoseconds since 1970, ascending; it is the number of the generation
		used  map[int64]time.Time // when each took an outcome, since this process began: some time before the last one
	}
	passed func(since time.Time) time.Duration // by the steady clock of the machine, if the clock has it
}

// keyedClaims are the requests that are performed.
type keyedClaims struct {
	sync.Mutex
	running map[keyedID]chan struct{} // closed at the end
}

type keyedID struct {
	target event.ActorID
	key    string
}

// KeyedConfig says how outcomes live. All fields are needed but Scheduler.
type KeyedConfig struct {
	Store     *store.Store
	Append    func(store.Batch) store.Position // to the journal
	Clock     sched.Clock
	Scheduler *sched.Scheduler // nil unless the system is scheduled
	Expiry    time.Duration    // an outcome is kept for so long at least
	// At passes a place where a crash finds the store in another state.
	At func(place string)
}

// generations is how many begin within Expiry: outcomes are kept for at most a quarter longer.
const generations = 4

// Open is called before the first use. No other goroutine uses ks.
func (ks *Keyed) Open(cfg KeyedConfig) {
	ks.cfg = cfg
	ks.mu.used = make(map[int64]time.Time)
	ks.passed = func(since time.Time) time.Duration { return ks.cfg.Clock.Now().Sub(since) }
}

// Recover finds the generations that the store has. No other goroutine uses ks.
func (ks *Keyed) Recover() error {
	seen := map[int64]bool{}
	for p := range ks.cfg.Store.Partitions() {
		list, err := row.Generations(ks.cfg.Store, event.PartitionID(p))
		if err != nil {
			return err
		}
		for _, g := range list {
			seen[int64(g)] = true
		}
	}
	ks.mu.begun = slices.Sorted(maps.Keys(seen))
	return nil
}

// Request returns a request that no event has claimed. It has no Seq.
func (ks *Keyed) Request(of event.Request) *Request { return &Request{Request: of, claims: ks} }

// Reclaim returns the request of a chain that was found in a store and goes on with it. No other goroutine uses ks.
func (ks *Keyed) Reclaim(of event.Request) *Request {
	r := ks.Request(of)
	c := ks.claimsOf(&of)
	c.put(&of)
	r.claimed = true
	return r
}

func (ks *Keyed) claimsOf(r *event.Request) *keyedClaims { return ks.claims.Of(r.Target.Serial) }

func (c *keyedClaims) put(r *event.Request) {
	if c.running == nil {
		c.running = make(map[keyedID]chan struct{})
	}
	c.running[keyedID{r.Target, r.Session}] = make(chan struct{})
}

func (c *keyedClaims) get(r *event.Request) chan struct{} {
	c.Lock()
	defer c.Unlock()
	return c.running[keyedID{r.Target, r.Session}]
}

// claim implements claims. A store that cannot be read has failed, so that no answer leaves the node.
func (ks *Keyed) claim(r *event.Request) bool {
	c := ks.claimsOf(r)
	c.Lock()
	before := c.running[keyedID{r.Target, r.Session}]
	if before == nil {
		c.put(r)
	}
	c.Unlock()
	if before != nil {
		return false
	}
	if _, _, found, err := ks.find(r); found || err != nil {
		ks.end(r, false, false)
		return false
	}
	return true
}

// find returns the row of the outcome of a request, and its key.
func (ks *Keyed) find(r *event.Request) (key, value []byte, found bool, err error) {
	ks.mu.RLock()
	begun := ks.mu.begun
	ks.mu.RUnlock()
	for i := len(begun) - 1; i >= 0 && !found && err == nil; i-- {
		key = row.AppendKeyedKey(key[:0], uint64(begun[i]), r)
		value, found, err = ks.cfg.Store.Get(key, value[:0])
	}
	return key, value, found, err
}

// write implements claims.
func (ks *Keyed) write(w *row.Writer, r *event.Request, o *event.Outcome) {
	w.Key = row.AppendKeyedKey(w.Key[:0], uint64(ks.generation()), r)
	w.Row = row.AppendKeyed(w.Row, r.Fingerprint, o)
}

// end implements claims.
func (ks *Keyed) end(r *event.Request, _, left bool) {
	c := ks.claimsOf(r)
	c.Lock()
	defer c.Unlock()
	id := keyedID{r.Target, r.Session}
	close(c.running[id])
	if !left {
		delete(c.running, id)
	}
}

// ErrKeyTooLong refuses a key that does not fit into the key of its row.
var ErrKeyTooLong = fmt.Errorf("the key of the request has more than %d bytes; choose a shorter one", row.KeyMax)

// Perform performs a request: run runs it, and returns ErrRepeated if it is not to claim. Then Perform waits until the event
// that has claimed it has ended, and replay takes the outcome, which may have one of the fingerprints before instead of that of the request. The
// result is that of run or of replay; or the error is ErrKeyTooLong, event.ErrKeyReused, event.ErrPostponed or an *event.UnknownError;
// or event.ErrUnderWay, if ctx ends before that event.
func (ks *Keyed) Perform(ctx context.Context, of event.Request, before []event.Fingerprint, run func(*Request) (store.Position, error), replay func(*event.Outcome) error) (seen store.Position, err error) {
	if len(of.Session) > row.KeyMax {
		return 0, ErrKeyTooLong
	}
	ks.Sweep()
	for {
		seen, err = run(ks.Request(of))
		if !errors.Is(err, ErrRepeated) {
			return seen, err
		}
		o, how, err := ks.Outcome(ctx, &of)
		if lost := ks.cfg.Store.Err(); lost != nil { // the outcome may not be durable: the caller that performed the request could not wait for it
			return 0, &event.UnknownError{Cause: lost}
		}
		switch {
		case err != nil:
			return 0, unread(ks.cfg.Store, err)
		case how == Left:
			return 0, event.ErrPostponed
		case how == Runs:
			return 0, event.ErrUnderWay
		case how == Refused: // before it ran: it may be performed now
			continue
		case o.Fingerprint == of.Fingerprint, slices.Contains(before, o.Fingerprint):
			return 0, replayed(ks.cfg.Store, &of, o.Key, &o.Outcome, replay)
		case !o.Fingerprint.Lasting():
			return 0, &event.UnknownError{Cause: errReusedOrOlder}
		}
		return 0, event.ErrKeyReused
	}
}

// errReusedOrOlder is why the outcome of a request is unknown whose key has an outcome that an earlier version of aeon has stored.
var errReusedOrOlder = errors.New("a request with this key has run by an earlier version of aeon; whether it was this one cannot be told, as the fields of its arguments have changed since, or it had other arguments")

// KeyedOutcome is the outcome of a request with a key.
type KeyedOutcome struct {
	event.Outcome
	Fingerprint event.Fingerprint // of the request that has it
	Key         []byte            // of its row
}

// Outcome waits while a request runs that an event has found claimed, until ctx ends, and returns its outcome, if it has Ended.
func (ks *Keyed) Outcome(ctx context.Context, r *event.Request) (o KeyedOutcome, how Ending, err error) {
	if before := ks.claimsOf(r).get(r); before != nil {
		ks.cfg.Scheduler.WaitEither(before, ctx.Done())
		select {
		case <-before:
		default:
			return o, Runs, nil
		}
		if ks.claimsOf(r).get(r) == before {
			return o, Left, nil
		}
	}
	key, value, found, err := ks.find(r)
	if err != nil || !found {
		return o, Refused, err
	}
	o.Key = key
	o.Fingerprint, o.Outcome, err = row.ReadKeyed(key, value)
	return o, Ended, err
}

// Knows reports whether a request has an outcome, or an event has claimed it.
func (ks *Keyed) Knows(r *event.Request) (bool, error) {
	if ks.claimsOf(r).get(r) != nil {
		return true, nil
	}
	_, _, found, err := ks.find(r)
	if err != nil {
		err = unread(ks.cfg.Store, err)
	}
	return found, err
}

// generation returns the generation that outcomes of this moment belong to.
func (ks *Keyed) generation() int64 {
	now := ks.cfg.Clock.Now()
	ks.mu.RLock()
	g, ok := ks.near(ks.mu.begun, now.UnixNano())
	ok = ok && ks.passed(ks.mu.used[g]) < ks.lag()
	ks.mu.RUnlock()
	if ok {
		return g
	}
	ks.mu.Lock()
	defer ks.mu.Unlock()
	if g, ok = ks.near(ks.mu.begun, now.UnixNano()); !ok {
		g = now.UnixNano()
		at, _ := slices.BinarySearch(ks.mu.begun, g)
		ks.mu.begun = slices.Insert(slices.Clone(ks.mu.begun), at, g)
	}
	ks.mu.used[g] = now
	return g
}

// lag is by how much used may be behind the last use.
func (ks *Keyed) lag() time.Duration { return time.Duration(ks.width() / 64) }

// near returns a generation that begins within a width of a time. One that begins later is there if the clock was set back: what it has stays longer.
func (ks *Keyed) near(begun []int64, now int64) (g int64, ok bool) {
	for _, g := range slices.Backward(begun) {
		if d := now - g; -ks.width() < d && d < ks.width() {
			return g, true
		}
	}
	return 0, false
}

func (ks *Keyed) width() int64 { return int64(ks.cfg.Expiry) / generations }

// Sweep drops the outcomes that have expired. Most calls do nothing.
func (ks *Keyed) Sweep() {
	ks.mu.RLock()
	idle := ks.expired() == 0
	ks.mu.RUnlock()
	if idle {
		return
	}
	ks.mu.Lock()
	defer ks.mu.Unlock()
	n := ks.expired()
	if n == 0 {
		return
	}
	w := row.Writer{Store: ks.cfg.Store}
	for _, g := range ks.mu.begun[:n] {
		for p := range ks.cfg.Store.Partitions() {
			w.Key = row.AppendGenerationKey(w.Key[:0], event.PartitionID(p), uint64(g))
			w.DeleteBelow()
		}
	}
	for _, g := range ks.mu.begun[:n] {
		delete(ks.mu.used, g)
	}
	ks.mu.begun = ks.mu.begun[n:]
	ks.cfg.At("keyed/expire")
	ks.cfg.Append(w.Take())
	ks.cfg.At("keyed/expired")
}

// expired returns how many generations have expired. Caller holds mu. A generation takes no outcome when its width is over. That is so by the clock of the
// day, which is compared also over a restart, and is set: an outcome that this process has taken stays until as much has passed by the steady clock, too.
func (ks *Keyed) expired() (n int) {
	now := ks.cfg.Clock.Now().UnixNano()
	for n < len(ks.mu.begun) && now-ks.mu.begun[n]-ks.width() >= int64(ks.cfg.Expiry) {
		if last, used := ks.mu.used[ks.mu.begun[n]]; used && ks.passed(last) < ks.cfg.Expiry+ks.lag() {
			break
		}
		n++
	}
	return n
}
