package nodes_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/aeon-lang/aeon/examples/bank"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/watch"
	"github.com/aeon-lang/aeon/sim/kill/ledger"
)

var transfers = flag.Int("transfers", 300, "how many transfers each client of TestTransfersOverStores makes")

func open(t testing.TB, stores int) *nodes.Cluster {
	t.Helper()
	return openProgram(t, &bank.AeonPackage, stores)
}

// openProgram opens a program on so many stores, with changes of the configuration.
func openProgram(t testing.TB, p *aeonrt.Package, stores int, changes ...func(*nodes.Config)) *nodes.Cluster {
	t.Helper()
	cfg := nodes.Config{
		System: aeonrt.Config{Classes: aeonrt.AllClasses(p)}, Stores: stores, Partitions: 4 * stores, Spread: stores > 1,
		Open:  func(event.StoreID) (store.Engine, error) { return memengine.New(), nil },
		Fatal: func(err error) { panic(err) },
	}
	for _, change := range changes {
		change(&cfg)
	}
	c, err := nodes.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// under has all messages be under way for as long.
func under(d time.Duration) func(*across.Message) time.Duration {
	return func(*across.Message) time.Duration { return d }
}

// losing has an engine in memory crash, which keeps as many of its batches that are not synced as keep says.
func losing(keep func(unsynced int) int) func(store.Engine, error) store.Engine {
	return func(e store.Engine, why error) store.Engine {
		e.(*memengine.Engine).Fail(why)
		return e.(*memengine.Engine).Crash(keep)
	}
}

// allLost has losing keep none of them.
func allLost(int) int { return 0 }

// allKept has losing keep all.
func allKept(unsynced int) int { return unsynced }

// ledgerAccounts opens accounts of the ledger, in any store.
func ledgerAccounts(t testing.TB, cl *aeonrt.Client) aeonrt.Vector[ledger.AccountRef] {
	t.Helper()
	list, err := ledger.BankRef{Ref: aeonrt.Named(cl, &ledger.AeonClassBank, "bank")}.Open(cl, 12, 100)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// bankOfStore returns a bank of a store, without accounts.
func bankOfStore(s *exec.System) (b ledger.BankRef) {
	for i := 0; b.ID().IsNull() || !s.Across().IsHere(b.ID()); i++ {
		b.Ref = aeonrt.Named(s.Client(), &ledger.AeonClassBank, fmt.Sprint("bank", i))
	}
	return b
}

const (
	accounts = 24
	deposit  = 1000
	clients  = 8
)

// opened returns a bank with accounts, as seen by a client of a system.
func opened(t testing.TB, c *nodes.Cluster) bank.Bank_Ref {
	t.Helper()
	cl := c.System(0).Client()
	b := bank.Bank_Ref{Ref: aeonrt.Named(cl, &bank.AeonClassBank_, "b")}
	for i := range accounts {
		if err := b.Open(cl, owner(i), deposit); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func owner(i int) string { return fmt.Sprintf("owner %d", i) }

// Transfers between accounts that are anywhere are atomic: an audit of all, at any time, finds what there was at first, and the traces of the stores are one history. Clients are at every store.
func TestTransfersOverStores(t *testing.T) {
	defer goleak.VerifyNone(t)
	recorded := newTraces(t.TempDir(), 3, 0, t.Fatalf)
	c := openProgram(t, &bank.AeonPackage, 3, recorded.into)
	opened(t, c)
	var group sync.WaitGroup
	var refused atomic.Int64
	saw, follower := &seen{why: make(map[string]int)}, c.System(0).Follow(watch.Filter{})
	defer follower.Close()
	for n := range clients {
		group.Go(func() {
			s := c.System(event.StoreID(n % 3))
			cl, r := s.Client(), rand.New(rand.NewPCG(1, uint64(n)))
			b := bank.Bank_Ref{Ref: aeonrt.Named(cl, &bank.AeonClassBank_, "b")}
			for i := range *transfers {
				saw.look(s)
				if i%10 == 9 {
					if sum, err := b.Total(cl); err != nil || sum != accounts*deposit {
						t.Errorf("an audit finds %d (%v)", sum, err)
					}
					continue
				}
				if b.Transfer(cl, owner(r.IntN(accounts)), owner(r.IntN(accounts)), 1+r.Int64N(deposit)) != nil {
					refused.Add(1)
				}
			}
		})
	}
	group.Wait()
	for len(follower.Lines()) > 0 {
		l := <-follower.Lines()
		saw.why[l.Kind]++
	}
	if saw.why["a call there"] == 0 || saw.why["its vote"] == 0 || saw.why[watch.Withdrawn] == 0 {
		t.Errorf("operators see %v", saw.why)
	}
	cl := c.System(0).Client()
	b := bank.Bank_Ref{Ref: aeonrt.Named(cl, &bank.AeonClassBank_, "b")}
	sum := int64(0)
	for i := range accounts {
		n, err := b.Balance(cl, owner(i))
		if err != nil || n < 0 {
			t.Errorf("%s has %d (%v)", owner(i), n, err)
		}
		sum += n
	}
	if sum != accounts*deposit {
		t.Errorf("there are %d, and were %d", sum, accounts*deposit)
	}
	cl.Settle()
	counts := c.Counts()
	t.Logf("%d transfers were refused; %+v", refused.Load(), counts)
	if counts.Committed < int64(clients**transfers/2) || counts.Withdrawn == 0 || refused.Load() == 0 {
		t.Error("too little has happened over several stores")
	}
	for i, s := range c.Systems() {
		if tries, parts, undone := s.Across().Open(); tries+parts+undone+s.Across().InDoubt() > 0 {
			t.Errorf("store %d: %d attempts, %d parts and %d decisions are left", i, tries, parts, undone)
		}
		if list := s.Across().Look(); len(list) > 0 {
			t.Errorf("store %d: operators see %v", i, list)
		}
		if err := s.Graph().Validate(); err != nil {
			t.Errorf("store %d: %v", i, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if n := recorded.check(); n.parts < clients**transfers/2 {
		t.Errorf("only %d parts were recorded", n.parts)
	}
}

// seen counts what operators see of several stores.
type seen struct {
	sync.Mutex
	why map[string]int
}

// look looks at a store as operators do.
func (n *seen) look(s *exec.System) {
	var at []*order.Handle
	list := s.Across().Look()
	for _, x := range list {
		for _, v := range x.At {
			at = append(at, v.At)
		}
	}
	s.WaitGraph(at)
	n.Lock()
	defer n.Unlock()
	for _, x := range list {
		n.why[x.Why]++
	}
}

// An event that waits for a chain which keeps an actor of another store is seen to do so.
func TestAChainThatKeepsIsSeen(t *testing.T) {
	c := openProgram(t, &ledger.AeonPackage, 3)
	s := c.System(0)
	cl := s.Client()
	accounts := ledgerAccounts(t, cl)
	var a ledger.AccountRef
	for _, x := range accounts.Items() {
		if x.Ref.ID().Birth%3 == 1 {
			a = x
		}
	}
	seen, want := false, fmt.Sprintf("a chain keeps actor %v", a.Ref.ID())
	const rounds, steps = 20, 3000
	for round := 0; round < rounds && !seen; round++ {
		ended := make(chan struct{})
		var group sync.WaitGroup
		group.Go(func() {
			defer close(ended)
			if _, err := a.SpinEvent(cl, steps, 1, int64(round)).Await(); err != nil {
				t.Error(err)
			}
		})
		group.Go(func() { // again, as one may come before the chain
			for cl := s.Client(); !isClosed(ended); {
				if err := a.Add(cl, 1); err != nil {
					t.Error(err)
				}
			}
		})
		for !isClosed(ended) {
			for _, x := range s.Across().Look() {
				seen = seen || x.Home == 0 && x.Why == want && slices.Equal(x.For, []event.StoreID{1}) && x.Work == "Account.add"
			}
			runtime.Gosched()
		}
		group.Wait()
	}
	if !seen {
		t.Errorf("no event waits as %s", want)
	}
	c.Settle()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A request with a key, or of a session, gets its outcome once, whichever stores its chain goes through, and a repetition gets the same.
func TestAKeyGoesElsewhere(t *testing.T) {
	c := openProgram(t, &ledger.AeonPackage, 3)
	s := c.System(0)
	cl := s.Client()
	accounts := ledgerAccounts(t, cl)
	session, err := s.BeginSession("s")
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range accounts.Items() {
		var path aeonrt.Vector[ledger.AccountRef]
		for _, k := range []int{i + 1, i + 2, i + 4} {
			aeonrt.Push(&path, accounts.Items()[k%12])
		}
		if i%4 == 3 {
			aeonrt.Push(&path, ledger.AccountRef{})
		}
		var first *ledger.AeonArgsAccountRelay
		var failed string
		for n := range 3 {
			var err error
			x := &ledger.AeonArgsAccountRelay{Path: path, Amount: 1, Session: 1, Seq: int64(i)}
			if i%2 == 0 {
				_, err = s.Perform(&exec.Call{Target: a.Ref, Method: &ledger.AeonMethodAccountRelay, Args: x, Key: fmt.Sprint(i)})
			} else {
				err = session.Await(uint64(i), 0, a.Ref, &ledger.AeonMethodAccountRelay, x)
			}
			if abort := (*event.AbortError)(nil); i%4 == 3 && errors.As(err, &abort) {
				if failed = cmp.Or(failed, abort.Msg); abort.Msg != failed {
					t.Errorf("account %d: %q, and %q before", i, abort.Msg, failed)
				}
			} else if i%4 == 3 || err != nil {
				t.Errorf("account %d: %v", i, err)
			}
			if n == 0 {
				first = x
			} else if x.AeonResult() != first.AeonResult() {
				t.Errorf("account %d: %v, and %v before", i, x.AeonResult(), first.AeonResult())
			}
		}
		if got, err := a.Receipts(cl); err != nil || got.Size() != 1 {
			t.Errorf("account %d has %v (%v)", i, got.Size(), err)
		}
	}
	c.Settle()
	for i, s := range c.Systems() {
		if dead := s.DeadLetters(); len(dead) > 0 {
			t.Errorf("store %d: %v", i, dead[0])
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A request that has deleted its target, which is not the first of its name, gets the same answer again when the store of the target has started anew and knows the
// name alone.
func TestAKeyOutlivesItsTarget(t *testing.T) {
	c := openProgram(t, &ledger.AeonPackage, 2)
	s := c.System(0)
	cl := s.Client()
	account := ledgerAccounts(t, cl).Items()[0]
	vault, name := ledger.VaultRef{}, ""
	for i := 0; vault.ID().IsNull() || s.Across().IsHere(vault.ID()); i++ { // one of store 1
		name = fmt.Sprint("vault", i)
		vault = ledger.VaultRef{Ref: aeonrt.Named(cl, &ledger.AeonClassVault, name)}
	}
	for i := range 2 {
		vault = ledger.VaultRef{Ref: aeonrt.Named(cl, &ledger.AeonClassVault, name)}
		if _, err := vault.Put(cl, account, 7, 0, int64(i)); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			break
		}
		if _, err := vault.Close(cl, account, 0, 10); err != nil {
			t.Fatal(err)
		}
	}
	closes := func() (got int64) {
		x := &ledger.AeonArgsVaultClose{To: account, Seq: 20}
		if _, err := s.Perform(&exec.Call{Target: vault.Ref, Method: &ledger.AeonMethodVaultClose, Args: x, Key: "close"}); err != nil {
			t.Error(err)
		}
		return x.AeonResult().(int64)
	}
	first := closes()
	c.Settle()
	err := c.Crash(1, losing(func(unsynced int) int { return unsynced }))
	if err == nil {
		err = c.Restart(1)
	}
	if err != nil {
		t.Fatal(err)
	}
	if again := closes(); first != 7 || again != first {
		t.Errorf("%d at first, and %d when it is sent again", first, again)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// restartInDoubt has store 1 crash, and start anew, when an event of store 0 is decided, and store 1, which has voted for it, does not know that.
func restartInDoubt(t *testing.T, c *nodes.Cluster) {
	t.Helper()
	for undone := 0; undone == 0; _, _, undone = c.System(0).Across().Open() {
		<-time.After(time.Millisecond)
	}
	err := c.Crash(1, losing(func(unsynced int) int { return unsynced }))
	if err == nil {
		err = c.Restart(1)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := c.Counts().Restored; n != 1 {
		t.Fatalf("%d parts are restored", n)
	}
}

// A store starts anew when it has voted for an event that deletes an actor, and carries that out without having read the actor. An event that waits for the actor when it comes to
// it, as there are too many beside it to enter with, finds it deleted, and does not look for its state.
func TestADeletionThatWasPrepared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, all := gauges(t, func(cfg *nodes.Config) {
			cfg.System.Classes = append(cfg.System.Classes, &twigClass)
			cfg.Open = func(s event.StoreID) (store.Engine, error) {
				if s == 2 {
					return laggard{memengine.New(), time.Second}, nil
				}
				return memengine.New(), nil
			}
		})
		s, kid := c.System(1), &twigArgs{}
		root, err := s.Client().New(&twigClass, &twigNew, &twigArgs{depth: 2, kids: 100})
		if err == nil {
			err = s.Client().Await(root, &twigFirst, kid)
		}
		if err != nil {
			t.Fatal(err)
		}
		c.Settle()
		s = c.System(0)
		clears := s.Client().Issue(all[0], &gaugeClear, &gaugeArgs{s.Resolve(kid.first.ID()), s.Resolve(all[2].ID())})
		synctest.Wait() // store 1 has voted, and store 2 has not
		if err = c.Crash(1, losing(func(unsynced int) int { return unsynced })); err == nil {
			err = c.Restart(1)
		}
		if n := c.Counts().Restored; err != nil || n != 1 {
			t.Fatalf("%d parts are restored (%v)", n, err)
		}
		s = c.System(1)
		sizes, sized := s.Client().Issue(s.Resolve(root.ID()), &twigSize, &twigArgs{}), make(chan error, 1)
		go func() { sized <- sizes.Wait() }()
		synctest.Wait()
		if len(sized) > 0 {
			t.Errorf("a reader of an actor that is perhaps deleted ends with %v", <-sized)
		}
		if err := clears.Wait(); err != nil {
			t.Error(err)
		}
		err = <-sized
		if abort := new(aeonrt.AbortError); !errors.As(err, &abort) || !abort.Fault {
			t.Errorf("a reader that has waited gets %v", err)
		}
		c.Settle()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A call comes to a store when that was told already that its attempt is withdrawn, which the home does not forget before all code of it has unwound. The part that begins then
// does not stay.
func TestAPartThatBeginsBehindTheWithdrawal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const trip, late = 10 * time.Millisecond, time.Second
		var slow event.ActorID
		c, all := gauges(t, func(cfg *nodes.Config) {
			cfg.Delay = func(m *across.Message) time.Duration {
				if m.Kind == across.Visited && m.Call.Target == slow {
					return late
				}
				return trip
			}
		})
		s := c.System(0)
		slow, gaugeHeld = all[1].ID(), make(chan struct{})
		began := time.Now()
		apart := s.Client().Issue(all[0], &gaugeApart, &gaugeArgs{s.Resolve(all[1].ID()), s.Resolve(all[2].ID())})
		<-time.After(5 * trip)
		if n := c.Counts().Calls; n != 1 {
			t.Errorf("%d calls have come to their stores", n)
		}
		c.Cut(0, 2)
		<-time.After(time.Until(began.Add(late + 5*trip)))
		tries, _, _ := s.Across().Open()
		_, parts, _ := c.System(1).Across().Open()
		if n := c.Counts().Calls; tries != 1 || parts != 0 || n != 2 {
			t.Errorf("after %d calls there are %d attempts at home, and %d parts of an attempt that is withdrawn", n, tries, parts)
		}
		close(gaugeHeld)
		if err := apart.Wait(); err != nil {
			t.Error(err)
		}
		c.Settle()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A part comes to a store by way of store 0 when that store has lost the session with the home, which has withdrawn the attempt and cannot say so. Events of the store do not
// wait for it, and the event goes on in the next session.
func TestAPartThatComesBetweenTwoSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const late = time.Second
		var ordered, slow atomic.Bool
		c, all := gauges(t, func(cfg *nodes.Config) {
			cfg.Delay = func(m *across.Message) time.Duration {
				if m.Kind == across.Order && slow.Load() {
					ordered.Store(true)
					return late
				}
				return 0
			}
		})
		s, here := c.System(2), c.System(1)
		gaugeHeld = make(chan struct{})
		held := here.Client().Issue(all[1], &gaugeHold, &gaugeArgs{})
		synctest.Wait()
		slow.Store(true)
		both := s.Client().Issue(all[2], &gaugeClear, &gaugeArgs{all[2], s.Resolve(all[1].ID())}) // it is withdrawn, and enters by TOP
		synctest.Wait()
		if !ordered.Load() {
			t.Fatal("no attempt has entered by TOP")
		}
		s.Across().Lost(1)
		here.Across().Lost(2)
		close(gaugeHeld)
		if err := held.Wait(); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * late)
		next, done := here.Client().Issue(all[1], &gaugeMark, &gaugeArgs{}), make(chan error)
		go func() { done <- next.Wait() }()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(late):
			t.Error("an event of the store waits for a part of an attempt that is over")
			defer func() { <-done }()
		}
		c.Cut(1, 2) // another session begins
		if err := both.Wait(); err != nil {
			t.Error(err)
		}
		c.Settle()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A store that has voted for an event which makes actors there starts anew before that is decided. The actors that it makes then have other ids.
func TestIDsOfWhatIsPreparedAreNotGivenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openProgram(t, &ledger.AeonPackage, 2, func(cfg *nodes.Config) { cfg.Delay = under(10 * time.Millisecond) })
		// open has a bank of a store open accounts in both.
		open := func(at event.StoreID, money int64) (aeonrt.Vector[ledger.AccountRef], error) {
			return bankOfStore(c.System(at)).Open(c.System(at).Client(), 12, money)
		}
		var first aeonrt.Vector[ledger.AccountRef]
		opened := make(chan error)
		go func() {
			var err error
			first, err = open(0, 100)
			opened <- err
		}()
		restartInDoubt(t, c)
		second, err := open(1, 50)
		if err != nil {
			t.Fatal(err)
		}
		if err := <-opened; err != nil {
			t.Fatal(err)
		}
		seen := make(map[event.ActorID]bool)
		for i, list := range []aeonrt.Vector[ledger.AccountRef]{first, second} {
			for _, a := range list.Items() {
				got, err := ledger.AccountRef{Ref: c.System(1).Resolve(a.ID())}.Worth(c.System(1).Client())
				if want := int64(100 - 50*i); err != nil || got != want || seen[a.ID()] {
					t.Errorf("account %v has %d (%v), and not %d; another one has its id: %v", a.ID(), got, err, want, seen[a.ID()])
				}
				seen[a.ID()] = true
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Clients whose own store stands do not notice that another one crashes and starts again: their events wait, or are made again.
func TestACrashElsewhere(t *testing.T) {
	defer goleak.VerifyNone(t)
	const crashes, each, askers = 8, 60, 4
	var ended atomic.Int64 // clients
	c := open(t, 3)
	opened(t, c)
	var group sync.WaitGroup
	for n := range askers {
		group.Go(func() {
			defer ended.Add(1)
			cl, r := c.System(event.StoreID(n%2)).Client(), rand.New(rand.NewPCG(3, uint64(n)))
			b := bank.Bank_Ref{Ref: aeonrt.Named(cl, &bank.AeonClassBank_, "b")}
			for i := range each {
				if i%10 == 9 {
					if sum, err := b.Total(cl); err != nil || sum != accounts*deposit {
						t.Errorf("an audit finds %d (%v)", sum, err)
					}
					continue
				}
				var abort *event.AbortError
				if err := b.Transfer(cl, owner(r.IntN(accounts)), owner(r.IntN(accounts)), 1+r.Int64N(deposit)); err != nil && !errors.As(err, &abort) {
					t.Errorf("a transfer ends with %v", err)
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(4, 4))
	for range crashes {
		for before := c.Counts().Committed; c.Counts().Committed < before+10 && ended.Load() < askers; {
			runtime.Gosched()
		}
		err := c.Crash(2, losing(func(unsynced int) int { return r.IntN(unsynced + 1) }))
		if err == nil {
			err = c.Restart(2)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	group.Wait()
	c.Settle()
	b := bank.Bank_Ref{Ref: aeonrt.Named(c.System(2).Client(), &bank.AeonClassBank_, "b")}
	if sum, err := b.Total(c.System(2).Client()); err != nil || sum != accounts*deposit {
		t.Errorf("in the end there are %d (%v)", sum, err)
	}
	t.Logf("%+v", c.Counts())
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// What a transfer over stores costs, beside one in a single store of the same kind: messages are delivered by goroutines here.
func BenchmarkTransfer(b *testing.B) {
	for _, stores := range []int{1, 3} {
		b.Run(fmt.Sprintf("stores=%d", stores), func(b *testing.B) {
			c := open(b, stores)
			opened(b, c)
			var n atomic.Uint64
			b.ResetTimer()
			start := time.Now()
			b.RunParallel(func(pb *testing.PB) {
				k := n.Add(1)
				cl, r := c.System(event.StoreID(k%uint64(stores))).Client(), rand.New(rand.NewPCG(2, k))
				ref := bank.Bank_Ref{Ref: aeonrt.Named(cl, &bank.AeonClassBank_, "b")}
				for pb.Next() {
					_ = ref.Transfer(cl, owner(r.IntN(accounts)), owner(r.IntN(accounts)), 1) // it may be refused
				}
			})
			b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "transfers/s")
			b.StopTimer()
			c.System(0).Client().Settle()
			if n := c.Counts(); n.Committed > 0 {
				b.ReportMetric(float64(n.Withdrawn)/float64(n.Committed), "withdrawn/event")
				b.ReportMetric(float64(n.Messages)/float64(n.Committed), "messages/event")
				b.ReportMetric(float64(n.Unordered)/float64(n.Wide), "unordered/attempt")
			}
			if err := c.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}
