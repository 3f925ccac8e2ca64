package nodes_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/sched/schedtest"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/value"
	"github.com/aeon-lang/aeon/sim/kill/ledger"
)

var (
	faultSeeds = flag.Int("faults", 30, "how many clusters TestFaults runs, and TestCallbacksThroughFaults")
	faultSeed  = flag.Uint64("fault", 1, "the first seed of these")
)

// A faulty is a cluster whose stores crash and whose sessions end, with clients at each store, all of them tasks of one scheduler: a seed repeats a
// run. The money of the ledger moves in every way that the language has.
type faulty struct {
	test string // its name
	seed uint64
	r    *rand.Rand
	// collects draws when the garbage collector takes what is not used.
	collects *rand.Rand
	s        *sched.Scheduler
	clock    *sched.SimClock
	c        *nodes.Cluster
	tasks    sync.WaitGroup
	live     int
	failed   error // why a store has failed that has not crashed
	log      strings.Builder
	beat     func() // is called again and again until it is calm; nil: nothing is

	accounts []event.ActorID
	calm     bool
	asking   int
	sessions int64                 // one of each store, or three
	apart    int                   // two audits, at most
	closing  int                   // so often clients have found since that a store which has crashed is not there; 0: none closes
	kinds    []string              // of requests: of some kinds many, as what is rare needs several of one kind
	syncs    int                   // how long they take at most, in turns
	opened   int64                 // accounts; those behind the first ones have no money
	applied  map[int64]request     // the requests that were answered, by key
	ticks    [3 * faultStores]bool // whether the ticker of a session has been started
	unknown  map[int64]request     // those of which it is not known
	refused  map[int64]request
	answers  map[int64]string // of requests that may come again, as text: all answers to one are equal
	traces   *traces
	saw      sights
	desks    *desks // nil: there are none
}

// slow is an engine whose syncs take a while, as those of replicas do.
type slow struct {
	*memengine.Engine
	f       *faulty
	crashed error
}

// Sync implements store.Engine.
func (e *slow) Sync() error {
	e.f.pause(e.f.syncs)
	return e.Engine.Sync()
}

// Confirm implements store.Confirming: nothing of a start that has crashed is answered.
func (e *slow) Confirm() error {
	e.f.s.Yield()
	return e.crashed
}

// sights are what has happened in the runs.
type sights struct {
	crashes, cuts, unknown, refused, cancelled, audits, repeated, failed, letters, printed, ended int
	counts                                                                                        across.Counts
	traced                                                                                        recorded
}

const (
	faultStores   = 3
	faultAccounts = 6
	faultMoney    = 1000
	faultVaults   = 3 // of each session
	faultRequests = 6
	faultLater    = 5 * time.Millisecond // by then payments that come later have come, and no ticker has ticked
	faultTicks    = 5 * time.Millisecond // and by then they have
	faultTroubles = 4
	faultCuts     = 12  // of one trouble, at most
	faultSkew     = 100 // of the clocks of the stores of each other cluster, in ticks
	faultClosing  = 100000
	faultLate     = 200 // audits when it is calm: then nothing goes on any more if a request is not answered, and the scheduler says so
)

// request is one of a client.
type request struct {
	kind         string
	session, seq int64
	from, to     int
	path         []int // of a relay, or a spread; -1: null
	amount       int64
	cancels      bool // some time after it was sent
	once         once // however often it is sent
	again        bool // it is sent twice, perhaps at the same time
	fails        bool // the last step does
	desk         int  // of which store
}

// once says what sees to it that a request happens once.
type once int

const (
	unnamed once = iota // nothing does
	byKey
	bySession
	onces
)

// storeOf returns the store of the client of a session.
func storeOf(session int64) event.StoreID { return event.StoreID(session % faultStores) }

func (q request) key() int64 { return q.session*1000000 + q.seq }

func newFaulty(test, dir string, p *aeonrt.Package, seed uint64) *faulty {
	f := &faulty{test: test, seed: seed, r: rand.New(rand.NewPCG(seed, 3)), collects: rand.New(rand.NewPCG(seed, 5)), applied: make(map[int64]request), unknown: make(map[int64]request), refused: make(map[int64]request), answers: make(map[int64]string)}
	f.kinds = []string{"pay", "later", "put", "close", "relay", "spin", "spread", "open", "start", "stop"}
	f.r.Shuffle(len(f.kinds), func(i, j int) { f.kinds[i], f.kinds[j] = f.kinds[j], f.kinds[i] })
	f.kinds = f.kinds[:2+f.r.IntN(4)]
	if pairs := [][]string{{"start", "stop"}, {"put", "close"}, {"relay"}, {"relay", "spin"}, {"spread"}, {"pay", "spread"}}; f.r.IntN(4) == 0 {
		f.kinds = pairs[f.r.IntN(len(pairs))]
	}
	var out io.Writer = io.Discard
	f.sessions, f.apart = faultStores, 60
	if f.desks = newDesks(seed); f.desks != nil {
		f.kinds, out, f.sessions, f.apart = deskKinds[f.desks.IntN(len(deskKinds))], f.desks, 3*faultStores, 600
	}
	f.clock = sched.NewSimClock(time.Unix(1000, 0))
	f.syncs = 1 << f.r.IntN(7)
	f.s = sched.New(seed, func() string { return f.story() + f.waits() })
	schedtest.Begin(f.story)
	f.traces = newTraces(dir, faultStores, int64(seed%2)*faultSkew, f.fail)
	cfg := nodes.Config{
		System: aeonrt.Config{Classes: aeonrt.AllClasses(p), ClientClasses: aeonrt.AllClientClasses(p), Scheduled: true, Scheduler: f.s, Seed: seed,
			Clock: f.clock, Stdout: out, Log: slog.New(slog.DiscardHandler)},
		Stores: faultStores, Partitions: 2 * faultStores, Spread: true,
		Open:  func(event.StoreID) (store.Engine, error) { return &slow{Engine: memengine.New(), f: f}, nil },
		Fatal: func(err error) { f.failed = err }, // perhaps in code of an event, of which a panic would be a failure
	}
	f.traces.into(&cfg)
	c, err := nodes.Open(cfg)
	if err != nil {
		f.fail("%v", err)
	}
	f.c = c
	return f
}

func (f *faulty) waits() string {
	if f.c == nil {
		return ""
	}
	var b strings.Builder
	f.c.WriteWaits(&b)
	return b.String()
}

func (f *faulty) story() string {
	return fmt.Sprintf("go test ./runtime/nodes -run %s -fault %d -faults 1\n%s", f.test, f.seed, f.log.String())
}

func (f *faulty) note(format string, args ...any) { fmt.Fprintf(&f.log, format+"\n", args...) }

// fail ends the process, from whatever task.
func (f *faulty) fail(format string, args ...any) {
	schedtest.Fail(f.story, format, args...)
}

func (f *faulty) task(do func()) {
	f.live++
	f.s.Go(&f.tasks, func() {
		do()
		f.live--
	})
}

func (f *faulty) pause(most int) {
	for range f.r.IntN(most) {
		f.s.Yield()
	}
}

// account returns an account as a system knows it.
func (f *faulty) account(s *exec.System, i int) ledger.AccountRef {
	return ledger.AccountRef{Ref: s.Resolve(f.accounts[i])}
}

func (f *faulty) bank(s *exec.System) ledger.BankRef {
	return ledger.BankRef{Ref: aeonrt.Named(s.Client(), &ledger.AeonClassBank, "bank")}
}

// vault returns the n-th vault of a session.
func (f *faulty) vault(s *exec.System, session, n int64) ledger.VaultRef {
	return ledger.VaultRef{Ref: aeonrt.Named(s.Client(), &ledger.AeonClassVault, fmt.Sprintf("v%d.%d", session, n%faultVaults))}
}

// stands ends the process if a store has failed that has not crashed.
func (f *faulty) stands() {
	if f.failed != nil {
		f.fail("a store fails: %v", f.failed)
	}
}

// at calls do with the system of a store until it has an answer. again: also if it may have happened. It returns the failure, which is
// unknown or an abort.
func (f *faulty) at(id event.StoreID, again bool, do func(s *exec.System) error) error {
	for {
		s := f.c.System(id)
		if s == nil {
			if f.closing > 0 {
				f.closing++
			}
			if f.closing > faultClosing {
				f.fail("a store that has crashed does not close\n%s", f.waits())
			}
			f.s.Yield()
			continue
		}
		err := do(s)
		f.stands()
		var unknown *event.UnknownError
		switch {
		case again && errors.As(err, &unknown), errors.Is(err, event.ErrClosed) && (again || !errors.Is(err, event.ErrPostponed)):
			f.saw.unknown++
			f.note("store %d: again, after %v", id, err)
			f.s.Yield()
			continue
		}
		return err
	}
}

// perform makes a request at a store.
func (f *faulty) perform(id event.StoreID, q request) error {
	var args order.Args // of the last time
	tries := 0
	err := f.at(id, q.once != unnamed, func(s *exec.System) error {
		tries++
		c := &exec.Call{}
		switch q.kind {
		case "pay":
			c.Target, c.Method = f.account(s, q.from).Ref, &ledger.AeonMethodAccountPay
			c.Args = &ledger.AeonArgsAccountPay{To: f.account(s, q.to), Amount: q.amount, Session: q.session, Seq: q.seq}
		case "later":
			c.Target, c.Method = f.account(s, q.from).Ref, &ledger.AeonMethodAccountLater
			c.Args = &ledger.AeonArgsAccountLater{To: f.account(s, q.to), Amount: q.amount, Session: q.session, Seq: q.seq}
		case "put":
			c.Target, c.Method = f.vault(s, q.session, q.seq).Ref, &ledger.AeonMethodVaultPut
			c.Args = &ledger.AeonArgsVaultPut{From: f.account(s, q.from), Amount: q.amount, Session: q.session, Seq: q.seq}
		case "close":
			c.Target, c.Method = f.vault(s, q.session, q.seq).Ref, &ledger.AeonMethodVaultClose
			c.Args = &ledger.AeonArgsVaultClose{To: f.account(s, q.from), Session: q.session, Seq: q.seq}
		case "open":
			c.Target, c.Method = f.bank(s).Ref, &ledger.AeonMethodBankOpen
			c.Args = &ledger.AeonArgsBankOpen{N: q.amount}
		case "start":
			c.Target, c.Method, c.Args = f.ticker(s, q.session), &ledger.AeonMethodTickerStart, &ledger.AeonArgsTickerStart{}
		case "stop":
			c.Target, c.Method, c.Args = f.ticker(s, q.session), &ledger.AeonMethodTickerStop, &ledger.AeonArgsTickerStop{}
		case "relay":
			c.Target, c.Method = f.account(s, q.from).Ref, &ledger.AeonMethodAccountRelay
			x := &ledger.AeonArgsAccountRelay{Amount: q.amount, Session: q.session, Seq: q.seq}
			for _, i := range q.path {
				if i < 0 {
					aeonrt.Push(&x.Path, ledger.AccountRef{})
					continue
				}
				aeonrt.Push(&x.Path, f.account(s, i))
			}
			c.Args = x
		case "spread":
			c.Target, c.Method = f.account(s, q.from).Ref, &ledger.AeonMethodAccountSpread
			x := &ledger.AeonArgsAccountSpread{Amount: q.amount, Session: q.session, Seq: q.seq}
			for _, i := range q.path {
				aeonrt.Push(&x.To, f.account(s, i))
			}
			c.Args = x
		case "route", "fan", "spoil":
			f.desks.perform(f, s, q, c)
		case "spin":
			c.Target, c.Method = f.account(s, q.from).Ref, &ledger.AeonMethodAccountSpin
			c.Args = &ledger.AeonArgsAccountSpin{N: q.amount, Session: q.session, Seq: q.seq}
		}
		args = c.Args
		switch q.once {
		case byKey:
			c.Key = fmt.Sprint(q.key())
		case bySession:
			x, err := s.BeginSession(fmt.Sprint("session", q.session))
			if err != nil {
				return err
			}
			return x.Await(uint64(q.seq), 0, c.Target, c.Method, c.Args)
		}
		if q.cancels {
			ctx, cancel := context.WithCancel(context.Background())
			c.Cancel = &order.Cancellation{Until: ctx, First: q.once != unnamed}
			f.task(func() {
				f.pause(100)
				cancel() // the event may see that by itself
				f.pause(30)
				c.Cancel.Cancel()
			})
		}
		_, err := s.Perform(c)
		return err
	})
	if away := (*event.AwayError)(nil); tries > 1 && errors.As(err, &away) {
		return &event.UnknownError{Cause: err} // the last try has not come to learn whether an earlier one has happened
	}
	if q.once != unnamed && !errors.Is(err, order.ErrCancelled) {
		answer := fmt.Sprint(err)
		if err == nil {
			answer = fmt.Sprintf("%x", codec.AppendResult(nil, new(codec.Encoder), args))
		}
		if before, repeated := f.answers[q.key()]; repeated && answer != before {
			f.fail("%+v is answered by %s, and was by %s", q, answer, before)
		}
		f.answers[q.key()] = answer
	}
	return err
}

func (f *faulty) ticker(s *exec.System, session int64) aeonrt.Ref {
	return aeonrt.Named(s.Client(), &ledger.AeonClassTicker, fmt.Sprint("t", session))
}

// draw draws a request.
func (f *faulty) draw(session, seq int64) request {
	q := request{kind: f.kinds[f.r.IntN(len(f.kinds))], session: session, seq: seq,
		from: f.r.IntN(faultAccounts), to: f.r.IntN(faultAccounts), amount: 1 + f.r.Int64N(20), cancels: f.r.IntN(6) == 0}
	q.once = once(f.r.IntN(int(onces)))
	q.again = f.r.IntN(4) == 0
	switch q.kind {
	case "relay":
		for range 2 + f.r.IntN(3) {
			q.path = append(q.path, f.r.IntN(faultAccounts))
		}
		if q.once != unnamed && f.r.IntN(5) == 0 {
			q.fails, q.path = true, append(q.path, -1)
		}
	case "spin":
		q.amount = 1 + f.r.Int64N(3)
	}
	switch q.kind {
	case "relay", "spin":
		q.cancels = false
	default:
		q.once = max(q.once, byKey)
		q.cancels = q.cancels && q.once == byKey
	}
	q.again = q.again && q.once != unnamed && !q.cancels
	switch q.kind {
	case "open":
		f.opened++
		q.amount = f.opened
	case "spread":
		for range 1 + f.r.IntN(5) {
			q.path = append(q.path, f.r.IntN(faultAccounts))
		}
	}
	switch q.kind {
	case "pay", "spread":
		if f.r.IntN(8) == 0 {
			q.amount = 1 << 40 // is refused
		}
	}
	if f.desks != nil {
		f.desks.draw(&q)
	}
	return q
}

// ask is the client of a session.
func (f *faulty) ask(session int64) {
	id := storeOf(session)
	for i := int64(1); i <= faultRequests || !f.calm; i++ {
		q := f.draw(session, i)
		if q.again {
			f.task(func() {
				f.pause(200)
				_ = f.perform(id, q)
			})
		}
		err := f.perform(id, q)
		var abort *event.AbortError
		var unknown *event.UnknownError
		switch {
		case err == nil:
			f.applied[q.key()] = q
			if q.kind == "start" || q.kind == "stop" {
				f.ticks[session] = q.kind == "start"
			}
		case q.fails && errors.As(err, &abort) && abort.Msg == activation.MsgNull:
			f.saw.failed++
			f.applied[q.key()] = q
		case errors.As(err, &unknown), errors.Is(err, event.ErrPostponed), errors.Is(err, event.ErrUnderWay):
			f.unknown[q.key()] = q
		case errors.Is(err, order.ErrCancelled) && q.mayEnd():
			f.saw.cancelled++
			f.desks.ended[q.key()] = q
		case errors.Is(err, order.ErrCancelled):
			f.saw.cancelled++
			f.refused[q.key()] = q
		case errors.As(err, &abort) && strings.Contains(abort.Msg, ", not "):
			f.saw.refused++
			f.refused[q.key()] = q
		default:
			f.fail("%+v ends with %v", q, err)
		}
		f.note("store %d: %+v: %v", id, q, err)
		f.pause(30)
	}
	f.asking--
}

// repeat sends all requests again that have an answer which is kept.
func (f *faulty) repeat() {
	for _, list := range [...]map[int64]request{f.applied, f.refused} {
		for _, key := range slices.Sorted(maps.Keys(list)) {
			if q := list[key]; f.answers[key] != "" {
				f.saw.repeated++
				_ = f.perform(storeOf(q.session), q)
			}
		}
	}
}

// audit counts all money.
func (f *faulty) audit(id event.StoreID) {
	var sum int64
	err := f.at(id, true, func(s *exec.System) (err error) {
		var vaults aeonrt.Vector[ledger.VaultRef]
		for i := range f.sessions {
			for n := range int64(faultVaults) {
				aeonrt.Push(&vaults, f.vault(s, i, n))
			}
		}
		sum, err = f.bank(s).Audit(s.Client(), vaults)
		return err
	})
	var abort *event.AbortError
	switch {
	case errors.As(err, &abort) && strings.Contains(abort.Msg, "deleted"): // a vault was closed meanwhile
	case err != nil:
		f.fail("an audit ends with %v", err)
	case sum != faultAccounts*faultMoney:
		f.fail("an audit finds %d", sum)
	default:
		f.saw.audits++
	}
}

// trouble has stores crash and sessions end until it is calm.
func (f *faulty) trouble() {
	for range faultTroubles {
		f.pause(400)
		if f.collects.IntN(4) == 0 {
			f.s.Collect()
		}
		id := event.StoreID(f.r.IntN(faultStores))
		if f.r.IntN(3) == 0 {
			for range 1 + f.r.IntN(faultCuts) {
				id = event.StoreID(f.r.IntN(faultStores))
				other := (id + 1) % faultStores
				f.note("the session between %d and %d ends", id, other)
				f.saw.cuts++
				f.c.Cut(id, other)
				f.pause(60)
			}
			continue
		}
		f.crash(id)
		down := []event.StoreID{id}
		if f.r.IntN(4) == 0 {
			f.pause(1 << f.r.IntN(8))
			down = append(down, (id+1+event.StoreID(f.r.IntN(faultStores-1)))%faultStores)
			f.crash(down[1])
		}
		for _, id := range down {
			f.pause(1 << f.r.IntN(10)) // often it starts at once
			if err := f.c.Restart(id); err != nil {
				f.fail("store %d does not start: %v", id, err)
			}
			f.note("store %d starts", id)
		}
	}
	f.calm = true
	f.note("it is calm")
}

// crash has a store crash.
func (f *faulty) crash(id event.StoreID) {
	f.note("store %d crashes", id)
	f.saw.crashes++
	f.closing = 1
	err := f.c.Crash(id, func(e store.Engine, why error) store.Engine {
		old := e.(*slow)
		old.crashed = why
		old.Fail(why)
		f.pause(1 << f.r.IntN(8)) // a store that has failed runs on for a while
		return &slow{Engine: old.Crash(func(unsynced int) int { return f.r.IntN(unsynced + 1) }), f: f}
	})
	if err != nil {
		f.fail("%v", err)
	}
	f.closing = 0
}

// run opens the accounts, has things go wrong while clients ask, and looks at what there is in the end.
func (f *faulty) run() {
	defer schedtest.Tell() // if it panics
	s := f.c.System(0)
	list, err := f.bank(s).Open(s.Client(), faultAccounts, faultMoney)
	if err != nil {
		f.fail("%v", err)
	}
	for _, a := range list.Items() {
		f.accounts = append(f.accounts, a.Ref.ID())
	}
	if f.beat != nil {
		f.task(func() {
			for !f.calm {
				f.beat()
				f.pause(60)
			}
		})
	}
	if f.desks != nil {
		f.desks.open(f, list)
	}
	f.opened, f.asking = faultAccounts, int(f.sessions)
	for i := range f.sessions {
		f.task(func() { f.ask(i) })
	}
	f.task(f.trouble)
	f.task(func() {
		for late := 0; !f.calm || f.asking > 0 && late < faultLate; {
			if f.calm {
				late++
			}
			f.audit(event.StoreID(f.r.IntN(faultStores)))
			f.pause(f.apart)
		}
	})
	f.s.Until(func() bool { return f.calm && f.asking == 0 && f.live == 0 })
	f.tasks.Wait()
	f.pass(faultLater)
	f.repeat()
	f.s.Until(func() bool { return f.live == 0 }) // what cancels is
	f.tasks.Wait()
	f.check()
	s = f.c.System(0)
	f.pass(faultTicks)
	for i := range f.sessions {
		t := ledger.TickerRef{Ref: f.ticker(s, i)}
		if n, err := t.Ticks(s.Client()); err != nil || n > 0 != f.ticks[i] {
			f.fail("the ticker of session %d has ticked %d times (%v), and was started last: %v", i, n, err, f.ticks[i])
		}
		if err := t.Stop(s.Client()); err != nil {
			f.fail("%v", err)
		}
	}
	f.c.Settle()
	f.saw.counts = f.c.Counts()
	for i, s := range f.c.Systems() {
		if tries, parts, undone := s.Across().Open(); tries+parts+undone > 0 {
			f.fail("store %d: %d attempts, %d parts and %d decisions are left", i, tries, parts, undone)
		}
		if err := s.Graph().Validate(); err != nil {
			f.fail("store %d: %v", i, err)
		}
		for _, dead := range s.DeadLetters() {
			if f.saw.letters++; dead.Err.Error() != activation.MsgNull {
				f.fail("store %d: %v", i, dead)
			}
		}
	}
	for i := range event.StoreID(faultStores) {
		if n := f.inDoubt(f.c.Engine(i)); n > 0 {
			f.fail("store %d: %d rows are in doubt", i, n)
		}
	}
	if err := f.c.Close(); err != nil {
		f.fail("%v", err)
	}
	f.stands()
	f.saw.traced = f.traces.check()
	schedtest.End()
}

// pass has time pass.
func (f *faulty) pass(d time.Duration) {
	for end := f.clock.Now().Add(d); f.c.System(0).FireNextUntil(end); {
	}
	f.clock.Set(f.clock.Now().Add(d))
}

// inDoubt counts the rows of what is prepared or decided.
func (f *faulty) inDoubt(view store.Reader) (n int) {
	for p := range event.PartitionID(2 * faultStores) {
		err := row.Section(view, p, store.InDoubt, row.InDoubtKeyMin, func(_, _, _, _ []byte) error {
			n++
			return nil
		})
		if err != nil {
			f.fail("%v", err)
		}
	}
	return n
}

// check compares what the accounts have with what was answered.
func (f *faulty) check() {
	f.audit(0)
	s := f.c.System(0)
	cl := s.Client()
	receipts, steps, notes := make(map[int64]int64), make(map[int64]int64), make(map[int64]int64)
	log := ledger.LogRef{Ref: aeonrt.Named(cl, &ledger.AeonClassLog, "log")}
	wrong, err := log.Wrong(cl)
	last, err2 := log.Last(cl)
	if err != nil || err2 != nil || wrong != "" {
		f.fail("%v, %v: %s", err, err2, wrong)
	}
	for i := range f.accounts {
		a := f.account(s, i)
		r, err := a.Receipts(cl)
		t, err2 := a.Steps(cl)
		if err != nil || err2 != nil {
			f.fail("%v, %v", err, err2)
		}
		value.Each(r, func(k, n int64) bool { receipts[k] += n; return true })
		value.Each(t, func(k, n int64) bool { steps[k] += n; return true })
	}
	dump, err := f.bank(s).Dump(cl)
	if err != nil {
		f.fail("%v", err)
	}
	count := int64(0)
	for in := dump.Items(); len(in) > 0; in = in[4+4*in[3]:] {
		if in[0] != count {
			f.fail("account %d has the number %d", count, in[0])
		}
		count++
		notes[in[0]] = in[2]
	}
	opened := int64(faultAccounts)
	for _, q := range f.applied {
		if q.kind == "open" {
			opened = max(opened, q.amount)
		}
	}
	if count != opened {
		f.fail("there are %d accounts, and %d were opened", count, opened)
	}
	value.Each(last, func(k, n int64) bool {
		if notes[k] != n {
			f.fail("account %d has issued %d notes, and the log has got %d", k, notes[k], n)
		}
		return true
	})
	for k, q := range f.applied {
		if q.kind == "open" || q.kind == "start" || q.kind == "stop" {
			continue // they leave no receipts
		}
		f.compare(q, receipts[k], steps[k])
	}
	for k, q := range f.unknown {
		if receipts[k] > 0 && !q.mayEnd() {
			f.compare(q, receipts[k], steps[k])
		}
	}
	for k, q := range f.refused {
		if receipts[k] > 0 {
			f.fail("%+v was refused, and applied", q)
		}
	}
	if f.desks != nil {
		f.desks.check(f, receipts, steps)
	}
}

// compare fails unless a request was applied once, and so was each of its steps.
func (f *faulty) compare(q request, receipts, steps int64) {
	want := stepsOf(q)
	if receipts != 1 || steps != want {
		f.fail("%+v was applied %d times, and has taken %d steps, and %d were due", q, receipts, steps, want)
	}
}

// stepsOf returns how many steps a request takes behind its first event.
func stepsOf(q request) int64 {
	switch n := int64(len(q.path)); {
	case q.kind == "later":
		return 1
	case q.kind == "relay" && q.fails:
		return n - 2 // the step that calls null is undone
	case q.kind == "relay":
		return n
	case q.kind == "spin":
		return q.amount + 1
	}
	return 0
}

// A seed is one run, whenever the garbage collector comes.
func TestTheCollectorChangesNoRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for seed := uint64(1); seed <= 2; seed++ {
		run := func(beat func()) (traces string, choices uint64) {
			dir := t.TempDir()
			f := newFaulty("TestTheCollectorChangesNoRun", dir, &ledger.AeonPackage, seed)
			f.beat, f.traces.stay = beat, true
			f.run()
			files, err := filepath.Glob(filepath.Join(dir, "*"))
			if err != nil || len(files) < faultStores {
				t.Fatal(files, err)
			}
			for _, name := range files {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				traces += filepath.Base(name) + string(text)
			}
			return traces, f.s.Choices()
		}
		traces, choices := run(func() {})
		collected, chosen := run(func() {
			runtime.GC()
			runtime.GC() // what is in a sync.Pool outlives the first one
		})
		if collected != traces || chosen != choices {
			t.Errorf("seed %d: the run with the collector differs from that without", seed)
		}
	}
}

// Whatever crashes or is cut off, each event over stores happens in all of them or in none, once, and in the end nothing is in doubt.
func TestFaults(t *testing.T) {
	// One task runs at a time, so a second processor only makes it dearer to hand over to the next. What is alive is small.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	var saw sights
	for seed := *faultSeed; seed < *faultSeed+uint64(*faultSeeds); seed++ {
		f := newFaulty("TestFaults", t.TempDir(), &ledger.AeonPackage, seed)
		f.run()
		saw.crashes, saw.cuts, saw.unknown = saw.crashes+f.saw.crashes, saw.cuts+f.saw.cuts, saw.unknown+f.saw.unknown
		saw.refused, saw.cancelled, saw.audits = saw.refused+f.saw.refused, saw.cancelled+f.saw.cancelled, saw.audits+f.saw.audits
		saw.repeated, saw.failed, saw.letters = saw.repeated+f.saw.repeated, saw.failed+f.saw.failed, saw.letters+f.saw.letters
		saw.printed, saw.ended = saw.printed+f.saw.printed, saw.ended+f.saw.ended
		saw.counts.Add(f.saw.counts)
		saw.traced.add(f.saw.traced)
	}
	t.Logf("over several stores: %+v", saw)
	if *faultSeeds >= 100 && (saw.counts.Restored == 0 || saw.counts.Over == 0 || saw.counts.Withdrawn == 0 || saw.unknown == 0 || saw.refused == 0 || saw.cancelled == 0 || saw.audits == 0 || saw.failed == 0 || saw.printed == 0 || saw.ended == 0 || saw.traced.parts == 0 || saw.traced.lost == 0) {
		t.Errorf("something never happens: %+v", saw)
	}
}

const bugEnv = "AEON_TEST_BUG"

// TestBug is no test of its own: TestABugTellsTheRun runs it in a process, which a bug of the runtime ends.
func TestBug(t *testing.T) {
	if os.Getenv(bugEnv) == "" {
		return
	}
	f := newFaulty("TestFaults", t.TempDir(), &ledger.AeonPackage, 4711)
	f.beat = func() {
		defer sched.EndOnBug()
		panic("planted")
	}
	f.run()
}

// A bug of the runtime that ends the process tells how the run is repeated.
func TestABugTellsTheRun(t *testing.T) {
	cmd := osexec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBug$")
	cmd.Env = append(os.Environ(), bugEnv+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || strings.Count(string(out), "go test ./runtime/nodes -run TestFaults -fault 4711 -faults 1\n") != 1 || !strings.Contains(string(out), "bug in the runtime: planted") {
		t.Errorf("%v\n%.2000s", err, out)
	}
}
