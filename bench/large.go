package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/aeon-lang/aeon/bench/app"
	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/peers"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/store"
)

// perBank is how many accounts each of the banks owns.
const perBank = 1000

// entries is how many entries a large map has.
func (p *place) entries() int {
	if p.quick {
		return 5_000
	}
	return 1_000_000
}

// banks is how many banks there are; with their accounts, a million actors and a bit.
func (p *place) banks() int { return p.entries() / perBank }

// largeRows are about stores that hold much, of which little is used.
func largeRows() []row {
	return []row{
		{title: "a million actors, opening their store", goal: "serving in under 1 s", callers: 1, durable: true, contenders: func(p *place) []contender {
			return []contender{
				{"pebble, open and scan a row per actor (limit)", p.inFolder(func(dir string) (load.System, error) {
					return peers.PebbleOpen(dir, p.entries(), true)
				})},
				{"aeon, open and answer an event", p.inFolder(func(dir string) (load.System, error) { return aeonOpening(p, dir) })},
			}
		}},
		{title: "a million actors, a read of one of them, 64 clients", goal: "<= 300 bytes an actor, 0 if passivated, 400 MB for a million", callers: 64, durable: true,
			contenders: func(p *place) []contender {
				return []contender{
					{"pebble, get of a key (limit)", p.inFolder(func(dir string) (load.System, error) { return peers.PebbleGet(dir, p.entries()) })},
					{"aeon, in memory", func() (load.System, error) { return aeonMillion(p, "") }},
					{"aeon, on disk", p.inFolder(func(dir string) (load.System, error) { return aeonMillion(p, dir) })},
				}
			}},
		{title: "a map of a million entries, an insertion, 1 client", goal: "time and bytes of a small one", callers: 1, durable: true, written: true,
			contenders: func(p *place) []contender {
				insertion := func(entries int) func() (load.System, error) {
					return p.inFolder(func(dir string) (load.System, error) { return aeonInsertion(dir, entries) })
				}
				return []contender{
					{"pebble, set of a key, Sync (limit)", p.inFolder(peers.PebbleSet)},
					{"aeon, a map of 10 entries", insertion(10)},
					{"aeon, a map of a million entries", insertion(p.entries())},
				}
			}},
		{title: "a map of a million entries, opening its store and a get", goal: "without reading the map", callers: 1, durable: true, contenders: func(p *place) []contender {
			return []contender{
				{"pebble, open and get a key (limit)", p.inFolder(func(dir string) (load.System, error) {
					return peers.PebbleOpen(dir, p.entries(), false)
				})},
				{"aeon, open and get an entry", p.inFolder(func(dir string) (load.System, error) { return aeonGet(dir, p.entries()) })},
			}
		}},
	}
}

// heap returns how many bytes are in use after a collection.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what finalizers and pools have let go in the first one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func bankName(i int) string { return "bank " + strconv.Itoa(i) }

// fillBanks creates the actors of a row.
func fillBanks(sys *aeonrt.System, banks int) error {
	return inParallel(sys, banks, func(cl *aeonrt.Client, i int) error {
		return bankOf(sys, bankName(i)).Open(cl, perBank, deposit)
	})
}

// phases are the parts of openings, by the median of which they are told.
type phases struct {
	names []string
	took  [][]time.Duration
}

func newPhases(names ...string) *phases {
	return &phases{names: names, took: make([][]time.Duration, len(names))}
}

// note adds the times between the marks.
func (p *phases) note(marks ...time.Time) {
	for i := range p.names {
		p.took[i] = append(p.took[i], marks[i+1].Sub(marks[i]))
	}
}

func (p *phases) notes() []string {
	var all []string
	for i, name := range p.names {
		sorted := slices.Sorted(slices.Values(p.took[i]))
		all = append(all, fmt.Sprintf("%s: %s", name, short(sorted[len(sorted)/2])))
	}
	return all
}

// aeonOpening opens the store of a million actors, reads the balance of one and closes it.
func aeonOpening(p *place, dir string) (load.System, error) {
	fill := func(n *node) error { return fillBanks(n.System, p.banks()) }
	return reopened(dir, fill, "the first event, which reads the states of a bank and an account", func(n *node, r *rand.Rand) error {
		bank := bankOf(n.System, bankName(r.IntN(p.banks())))
		balance, err := bank.Balance(n.Client(), r.Int64N(perBank))
		if err == nil && balance != deposit {
			err = fmt.Errorf("the account has %d, not %d", balance, int64(deposit))
		}
		return err
	})
}

// reopened fills a store, and opens it again and again for one use. Its notes say how long each part takes.
func reopened(dir string, fill func(*node) error, what string, use func(*node, *rand.Rand) error) (load.System, error) {
	n, err := openNode(dir, store.Sync())
	if err != nil {
		return load.System{}, err
	}
	if err := errors.Join(fill(n), n.close()); err != nil {
		return load.System{}, err
	}
	times := newPhases("open", what, "close")
	return load.System{
		NewClient: func(int, int) load.Client {
			return func(r *rand.Rand) error {
				begin := time.Now()
				n, err := openNode(dir, store.Sync())
				if err != nil {
					return err
				}
				open := time.Now()
				err = use(n, r)
				used := time.Now()
				err = errors.Join(err, n.close())
				times.note(begin, open, used, time.Now())
				return err
			}
		},
		Notes: times.notes,
	}, nil
}

// aeonMillion reads the balances of accounts, each by an event on the account's bank. Its notes
// say what the actors take in memory. They are on disk if dir is named.
func aeonMillion(p *place, dir string) (load.System, error) {
	before := heap()
	var sys *aeonrt.System
	closing := func() { sys.Close() }
	actors := int64(p.banks() * (perBank + 1))
	if dir == "" {
		sys = aeonrt.Open(aeonrt.Config{})
		if err := fillBanks(sys, p.banks()); err != nil {
			return load.System{}, err
		}
	} else {
		n, err := openNode(dir, store.Sync())
		if err != nil {
			return load.System{}, err
		}
		if err := errors.Join(fillBanks(n.System, p.banks()), n.reopen()); err != nil {
			return load.System{}, err
		}
		sys, closing = n.System, func() { n.close() }
	}
	atFirst := heap() - before
	return load.System{
		NewClient: func(int, int) load.Client {
			cl := sys.Client()
			return func(r *rand.Rand) error {
				balance, err := bankOf(sys, bankName(r.IntN(p.banks()))).Balance(cl, r.Int64N(perBank))
				if err == nil && balance != deposit {
					err = fmt.Errorf("the account has %d, not %d", balance, int64(deposit))
				}
				return err
			}
		},
		Notes: func() []string {
			taken := func(when string, bytes int64) string {
				return fmt.Sprintf("%d MB in memory, %d bytes an actor, %s", bytes>>20, bytes/actors, when)
			}
			all := []string{taken("when made or opened", atFirst)}
			if dir != "" { // the last one that was opened: what has come since is its own
				all = append(all, taken("after these reads", heap()-before))
				dropped := sys.Unload(1)
				all = append(all, taken(fmt.Sprintf("after %d states were dropped", dropped), heap()-before))
			}
			return all
		},
		Close: closing,
	}, nil
}

// indexOf returns the actor with the large map.
func indexOf(n *node) app.IndexRef {
	return app.IndexRef{Ref: aeonrt.Named(n.Client(), &app.AeonClassIndex, "index")}
}

// fillIndex makes a map of that many entries, with the keys 0, 2, 4 and so on.
func fillIndex(n *node, entries int) error {
	cl, index := n.Client(), indexOf(n)
	for from := 0; from < entries; from += 1000 {
		if err := index.Fill(cl, int64(from), int64(min(1000, entries-from))); err != nil {
			return err
		}
	}
	return nil
}

// aeonInsertion inserts new keys into a map, anywhere in it.
func aeonInsertion(dir string, entries int) (load.System, error) {
	n, err := openNode(dir, store.Sync())
	if err != nil {
		return load.System{}, err
	}
	if err := errors.Join(fillIndex(n, entries), n.reopen()); err != nil {
		return load.System{}, err
	}
	inserted := map[int64]int64{}
	return load.System{
		NewClient: func(int, int) load.Client {
			cl, index := n.Client(), indexOf(n)
			return func(r *rand.Rand) error {
				key, value := 2*r.Int64N(1<<40)+1, r.Int64()
				inserted[key] = value
				return index.Put(cl, key, value)
			}
		},
		Check: func() error {
			if err := n.reopen(); err != nil {
				return err
			}
			cl, index := n.Client(), indexOf(n)
			size, err := index.Size(cl)
			if want := int64(entries + len(inserted)); err != nil || size != want {
				return errors.Join(err, fmt.Errorf("the map has %d entries, not %d", size, want))
			}
			for key, value := range inserted {
				got, err := index.At(cl, key)
				if err != nil || got != value {
					return errors.Join(err, fmt.Errorf("entry %d is %d, not %d", key, got, value))
				}
			}
			return nil
		},
		Close: func() { n.close() },
	}, nil
}

// aeonGet opens the store of a large map, gets one entry and closes it.
func aeonGet(dir string, entries int) (load.System, error) {
	fill := func(n *node) error { return fillIndex(n, entries) }
	return reopened(dir, fill, "the get", func(n *node, r *rand.Rand) error {
		key := 2 * r.Int64N(int64(entries))
		value, err := indexOf(n).At(n.Client(), key)
		if err == nil && value != key {
			err = fmt.Errorf("entry %d is %d", key, value)
		}
		return err
	})
}
