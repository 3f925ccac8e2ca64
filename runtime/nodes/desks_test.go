package nodes_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/sim/kill/ledger"
)

// desks are what every third cluster of TestFaults has beside accounts: a desk in each store, whose events go to stores that no footprint names, print, make async calls
// within async calls, or make an actor anywhere and fail. There each store has three clients, which cancel chains, too. What is drawn for them changes no other cluster.
type desks struct {
	*rand.Rand
	names [faultStores]string
	told  map[string]int    // how often each line was printed
	ended map[int64]request // chains that were cancelled: each of their steps has happened once, or not at all
	line  strings.Builder   // that is not complete
}

// deskKinds are kinds of requests that find something by being many of few kinds.
var deskKinds = [][]string{{"route"}, {"route"}, {"route"}, {"route"}, {"spoil"}, {"route", "spoil"}, {"fan"}, {"fan", "spoil"}, {"relay", "spin"}, {"relay", "route"},
	{"route", "fan", "spoil", "put", "close"}, {"route", "fan", "spoil", "later", "start", "stop", "relay", "open"}}

// newDesks draws whether a cluster has desks; nil: it has none.
func newDesks(seed uint64) *desks {
	d := &desks{Rand: rand.New(rand.NewPCG(seed, 6)), told: make(map[string]int), ended: make(map[int64]request)}
	if d.IntN(3) > 0 {
		return nil
	}
	return d
}

// Write implements io.Writer, for what is printed.
func (d *desks) Write(b []byte) (int, error) {
	for _, c := range b {
		if c != '\n' {
			d.line.WriteByte(c)
			continue
		}
		d.told[d.line.String()]++
		d.line.Reset()
	}
	return len(b), nil
}

// open has a desk in each store know the accounts.
func (d *desks) open(f *faulty, list aeonrt.Vector[ledger.AccountRef]) {
	for id := range d.names {
		s := f.c.System(event.StoreID(id))
		for i := 0; d.names[id] == ""; i++ {
			name := fmt.Sprint("desk", i)
			if s.Across().IsHere(aeonrt.Named(s.Client(), &ledger.AeonClassDesk, name).ID()) {
				d.names[id] = name
			}
		}
		if err := f.desk(f.c.System(0), id).Know(f.c.System(0).Client(), list); err != nil {
			f.fail("%v", err)
		}
	}
}

// desk returns the desk of a store as a system knows it.
func (f *faulty) desk(s *exec.System, of int) ledger.DeskRef {
	return ledger.DeskRef{Ref: aeonrt.Named(s.Client(), &ledger.AeonClassDesk, f.desks.names[of])}
}

// draw draws what is of desks in a request, and whether a chain is cancelled.
func (d *desks) draw(q *request) {
	q.desk = int(storeOf(q.session))
	if d.IntN(6) == 0 {
		q.desk = d.IntN(faultStores)
	}
	switch q.kind {
	case "route":
		if d.IntN(8) > 0 { // what meets no other event for long is forgotten by its desk
			q.from, q.to = int(q.session%faultAccounts), int(q.session%faultAccounts)
		}
	case "fan":
		for range 1 + d.IntN(4) {
			q.path = append(q.path, d.IntN(faultAccounts))
		}
	case "relay", "spin":
		if q.once != bySession && !q.fails && !q.again {
			q.cancels = d.IntN(3) == 0
		}
	}
}

// mayEnd reports whether the request is a chain that may end after any step, as a client cancels it.
func (q *request) mayEnd() bool {
	return q.cancels && q.once == unnamed && (q.kind == "relay" || q.kind == "spin")
}

// perform makes c the call of a request to a desk.
func (d *desks) perform(f *faulty, s *exec.System, q request, c *exec.Call) {
	c.Target = f.desk(s, q.desk).Ref
	switch q.kind {
	case "route":
		c.Method = &ledger.AeonMethodDeskRoute
		c.Args = &ledger.AeonArgsDeskRoute{From: int64(q.from), To: int64(q.to), Amount: q.amount, Session: q.session, Seq: q.seq}
	case "fan":
		x := &ledger.AeonArgsDeskFan{From: int64(q.from), Amount: q.amount, Session: q.session, Seq: q.seq}
		for _, i := range q.path {
			aeonrt.Push(&x.To, int64(i))
		}
		c.Method, c.Args = &ledger.AeonMethodDeskFan, x
	case "spoil":
		c.Method = &ledger.AeonMethodDeskSpoil
		c.Args = &ledger.AeonArgsDeskSpoil{From: int64(q.from), Amount: q.amount, Session: q.session, Seq: q.seq}
	}
}

// check compares what the accounts have, and what was printed, with what was answered.
func (d *desks) check(f *faulty, receipts, steps map[int64]int64) {
	f.saw.printed, f.saw.ended = len(d.told), len(d.ended)
	for line, n := range d.told {
		if n > 1 {
			f.fail("%q was printed %d times", line, n)
		}
	}
	for _, q := range f.refused {
		if d.told[fmt.Sprint(q.session, " ", q.seq)] > 0 {
			f.fail("%+v was refused, and has printed", q)
		}
	}
	for k, q := range f.unknown {
		if most := stepsOf(q); q.mayEnd() && (receipts[k] > 1 || steps[k] > most || receipts[k] == 0 && steps[k] > 0) {
			f.fail("%+v was applied %d times, and has taken %d steps of %d", q, receipts[k], steps[k], most)
		}
	}
	for k, q := range d.ended {
		if most := stepsOf(q); receipts[k] > 1 || steps[k] >= most || receipts[k] == 0 && steps[k] > 0 {
			f.fail("%+v was cancelled, and applied %d times, and has taken %d steps of %d", q, receipts[k], steps[k], most)
		}
	}
}
