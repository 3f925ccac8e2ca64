package exec

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Tellers are clients with durable sessions, or with requests that have keys, which move money between the accounts of a bank. The bank is a node of
// the workload, and the accounts are its kids; only tellers know them. After a crash a teller sends its last request again.

// teller is what a client remembers of its session; it survives crashes.
type teller struct {
	name  string
	keyed bool     // its requests have keys
	x     *Session // else its session
	seq   uint64   // of the last request, 0 if there was none
	known uint64   // of the last one whose outcome the teller got
	asked *wargs   // request seq
	past  *wargs   // request known
	why   string   // its failure
}

const (
	bankAccounts   = 5
	bankMoney      = 100 // of each account at first
	tellerRequests = 12  // of a round
)

func newTellers(n int) []teller {
	list := make([]teller, n)
	for i := range list {
		list[i].name, list[i].keyed = fmt.Sprint("teller ", i), i%2 == 1
	}
	return list
}

// openBank creates the bank of the tellers.
func (c *crashes) openBank() error {
	cl := c.sys.Client()
	r, err := cl.New(&classNode, &methodBorn, &wargs{})
	if err != nil {
		return err
	}
	c.bank = wref{r}
	x := &wargs{}
	for range bankAccounts {
		x.steps = append(x.steps, wstep{op: wNew, n: bankMoney})
	}
	return cl.Await(r, &methodScript, x)
}

// transfer returns the steps of a request: they take money from one account and give it to another, in the same
// event or in one that follows it in any of the ways there are. Some abort.
func transfer(rng *rand.Rand) []wstep {
	amount := int64(1 + rng.IntN(20))
	add := func(n int64) []wstep { return []wstep{{op: wGet}, {op: wAdd, n: n}} }
	steps := []wstep{{op: wCall, k: rng.IntN(bankAccounts), sub: add(-amount)}}
	give := wstep{k: rng.IntN(bankAccounts), sub: add(amount)}
	switch rng.IntN(7) {
	case 0:
		return append(steps, wstep{op: wCall, k: give.k, sub: give.sub}, wstep{op: wAbort, n: amount})
	case 1:
		give.op = wEmit
	case 2:
		give.op, give.n = wAfter, int64(rng.IntN(30))
	case 3, 4:
		give.op = wTail
	case 5:
		give.op = wAsync
	default:
		give.op = wCall
	}
	return append(steps, give)
}

// tell sends requests, first those that t has sent before the crash. The request whose outcome t knows still has
// this outcome. The request after it, if there was one, is performed unless it has been.
func (c *crashes) tell(t *teller, rng *rand.Rand) {
	if !t.keyed {
		x, err := c.sys.BeginSession(t.name)
		if err == event.ErrClosed {
			return // before a request was sent
		}
		if err != nil {
			c.fail(err)
			return
		}
		c.mu.Lock() // a crash copies the tellers
		t.x = x
		c.mu.Unlock()
	}
	if t.known > 0 {
		err := c.ask(t, t.known, t.past)
		if errors.Is(err, event.ErrClosed) {
			return
		}
		why := text(err)
		if why != t.why && why != event.ErrAcknowledged.Error() {
			c.fail(fmt.Errorf("%s: request %d ended with %q, and with %q when it was sent again", t.name, t.known, t.why, why))
		}
	}
	for range tellerRequests {
		c.mu.Lock()
		if t.known == t.seq {
			t.seq++
			t.asked = &wargs{steps: transfer(rng), asked: true}
			t.asked.Encode(&codec.Encoder{}) // it gets its number
		}
		c.mu.Unlock()
		ask := c.ask
		if rng.IntN(2) == 0 {
			ask = c.askTwice
		}
		err := ask(t, t.seq, t.asked)
		if errors.Is(err, event.ErrClosed) {
			return // it has not run, or has begun a chain, which goes on
		}
		why := text(err)
		c.mu.Lock()
		t.known, t.past, t.why = t.seq, t.asked, why
		c.mu.Unlock()
	}
}

// key is the key of a request.
func (t *teller) key(seq uint64) string { return fmt.Sprint(t.name, ", request ", seq) }

// ask sends a request, perhaps not for the first time.
func (c *crashes) ask(t *teller, seq uint64, first *wargs) (err error) {
	y := &wargs{steps: first.steps, of: first, number: first.number}
	if t.keyed {
		_, err = c.sys.Perform(&Call{Target: c.bank.Ref, Method: &methodScript, Args: y, Key: t.key(seq)})
	} else {
		err = t.x.Await(seq, seq-1, c.bank.Ref, &methodScript, y)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == event.ErrClosed {
		c.mu.refused = append(c.mu.refused, y)
	} else {
		c.mu.acked = append(c.mu.acked, y) // also a failure: it is an outcome
	}
	return err
}

// askTwice sends a request twice at once. Both get the same outcome, unless Close has come between.
func (c *crashes) askTwice(t *teller, seq uint64, first *wargs) error {
	var again error
	var group sync.WaitGroup
	group.Go(func() { again = c.ask(t, seq, first) })
	err := c.ask(t, seq, first)
	group.Wait()
	switch {
	case errors.Is(again, event.ErrClosed):
	case errors.Is(err, event.ErrClosed):
		err = again
	case text(err) != text(again):
		c.fail(fmt.Errorf("%s: request %d was sent twice, and has ended with %q and %q", t.name, seq, text(err), text(again)))
	}
	return err
}

func (c *crashes) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = errors.Join(c.failed, err)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// keptOutcomes checks that the outcomes which the tellers know are in a store, or known there to be over.
func (c *crashes) keptOutcomes(view store.Reader) error {
	for _, t := range c.tellers {
		if t.known == 0 {
			continue
		}
		if t.keyed {
			if found, err := c.keptKeyed(view, t.key(t.known)); err != nil || !found {
				return cmp.Or(err, fmt.Errorf("%s: the outcome of request %d was answered and is lost", t.name, t.known))
			}
			continue
		}
		_, kept, err := view.Get(row.AppendOutcomeKey(nil, &event.Request{Session: t.name, Seq: t.known, Target: c.bank.ID()}), nil)
		if err != nil {
			return err
		}
		key := row.AppendSessionKey(nil, t.name, c.sys.cfg.Partitions)
		value, ok, err := view.Get(key, nil)
		if err != nil {
			return err
		}
		if ok && !kept {
			payload, err := store.Payload(key, value)
			if err != nil {
				return err
			}
			over, err := row.ReadSession(payload)
			if err != nil {
				return err
			}
			kept = over >= t.known
		}
		if !kept {
			return fmt.Errorf("%s: the outcome of request %d was answered and is lost", t.name, t.known)
		}
	}
	return nil
}

// keptKeyed reports whether a store has the outcome of a request with a key.
func (c *crashes) keptKeyed(view store.Reader, key string) (found bool, err error) {
	id := c.bank.ID()
	list, err := row.Generations(view, id.Birth)
	for _, g := range list {
		if !found && err == nil {
			_, found, err = view.Get(row.AppendKeyedKey(nil, g, &event.Request{Session: key, Target: id}), nil)
		}
	}
	return found, err
}

// audit checks, when nothing runs any more, that every request of the tellers was performed once, with the
// outcome that its teller got, and that there is as much money as at first.
func (c *crashes) audit() error {
	requests := 0
	for _, t := range c.tellers {
		requests += int(t.seq)
		if why, done := c.model.asked[t.asked]; !done || why != t.why {
			return fmt.Errorf("%s: request %d was answered with %q; it was performed: %v, and ended with %q", t.name, t.seq, t.why, done, why)
		}
	}
	if len(c.model.asked) != requests {
		return fmt.Errorf("the tellers sent %d requests, and %d were performed", requests, len(c.model.asked))
	}
	bank, err := c.state(order.HandleOf(c.bank.Bare()))
	if err != nil {
		return err
	}
	sum := int64(0)
	for _, r := range bank.kids.Items() {
		account, err := c.state(order.HandleOf(r.Bare()))
		if err != nil {
			return err
		}
		sum += account.value
	}
	if sum != bankAccounts*bankMoney {
		return fmt.Errorf("the accounts have %d in all, and began with %d", sum, bankAccounts*bankMoney)
	}
	return nil
}

// state returns the state of the bank or of an account of it. No event deletes these.
func (c *crashes) state(h *order.Handle) (*wnode, error) {
	if err := c.sys.durable.Load(h); err != nil {
		return nil, err
	}
	node, ok := h.Object.(*wnode)
	if !ok {
		return nil, fmt.Errorf("%v is lost", h)
	}
	return node, nil
}
