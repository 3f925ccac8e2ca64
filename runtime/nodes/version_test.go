package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/sim/kill/ledger"
)

// aged has a store run an older version of the program, in which a text differs, until it starts again behind a change of runs.
type aged struct {
	text     *string // as a signature
	older    string
	store    event.StoreID
	runs     bool
	original string
}

// start is nodes.Config.Start. A system reads the texts when it starts, and the next one starts behind that.
func (a *aged) start(id event.StoreID, _ *exec.Config) error {
	if *a.text = a.original; a.runs && id == a.store {
		*a.text = a.older
	}
	return nil
}

// oneLater opens the ledger on two stores, of which one runs a version with another add.
func oneLater(t *testing.T, older event.StoreID) (*nodes.Cluster, *aged) {
	methods := ledger.AeonClassAccount.Methods
	m := methods[slices.IndexFunc(methods, func(m *activation.Method) bool { return m.Name == "add" })]
	a := &aged{text: &m.Signature, older: "(int8)", store: older, runs: true, original: m.Signature}
	t.Cleanup(func() { m.Signature = a.original })
	return openProgram(t, &ledger.AeonPackage, 2, func(cfg *nodes.Config) { cfg.Start, cfg.Delay = a.start, under(time.Millisecond) }), a
}

// doorOf returns the door of a store, and a class of its program.
func doorOf(t *testing.T, c *nodes.Cluster, k event.StoreID, p *aeonrt.Package, class string) (*door.Door, *door.Class) {
	t.Helper()
	program, err := door.ProgramOf(aeonrt.AllClasses(p), aeonrt.AllClientClasses(p))
	if err != nil {
		t.Fatal(err)
	}
	d := door.Open(door.Config{System: c.System(k), Program: program})
	of, err := d.Class(class)
	if err != nil {
		t.Fatal(err)
	}
	return d, of
}

// While stores run two versions of the program an event that calls a method which they do not share waits, holds nothing, and is told why when its time is over. All
// others go on. It is performed when both run one version.
func TestStoresOfTwoVersions(t *testing.T) {
	for older := range event.StoreID(2) { // the store that is called, and that which calls
		synctest.Test(t, func(t *testing.T) {
			c, versions := oneLater(t, older)
			const home = event.StoreID(0)
			cl := c.System(home).Client()
			list := ledgerAccounts(t, cl).Items()
			in := func(k event.StoreID, but ledger.AccountRef) ledger.AccountRef {
				return list[slices.IndexFunc(list, func(a ledger.AccountRef) bool { return event.StoreID(a.ID().Birth)%2 == k && a != but })]
			}
			from, to := in(home, ledger.AccountRef{}), in(1, ledger.AccountRef{})
			d, accounts := doorOf(t, c, home, &ledger.AeonPackage, "Account")
			pay, err := accounts.Method("Pay")
			if err != nil {
				t.Fatal(err)
			}
			seq := 0
			transferIn := func(ctx context.Context, to ledger.AccountRef) error {
				seq++
				x := &door.Call{Method: pay}
				if x.Args, err = pay.Params.Read(fmt.Appendf(nil, `{"to": "Account:%v", "amount": 1, "session": 1, "seq": %d}`, to.ID(), seq), d.Names(t.Context(), "")); err != nil {
					t.Fatal(err)
				}
				if x.Target, err = d.Actor(t.Context(), accounts, ":"+from.ID().String()); err != nil {
					t.Fatal(err)
				}
				_, err := d.Call(ctx, x)
				return err
			}
			transfer := func(to ledger.AccountRef, within time.Duration) error {
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				return transferIn(ctx, to)
			}
			before := c.Counts().Withdrawn
			err = transfer(to, time.Second)
			f := door.Explain(err)
			away := new(event.AwayError)
			if !errors.As(err, &away) || away.Store != 1 || away.Lacks != "ledger.Account.add" || f.Code != door.TimedOut || f.Happened != door.No ||
				!strings.Contains(f.Msg, "store 1 runs a version of the program that has no ledger.Account.add, or one with other types: start all nodes with one version") {
				t.Errorf("store %d is older: %v, %+v", older, err, f)
			}
			if n := c.Counts().Withdrawn - before; n > 2 {
				t.Errorf("an event that waits for another version was withdrawn %d times", n)
			}
			if err := transfer(in(home, from), time.Second); err != nil {
				t.Errorf("an event of one store: %v", err)
			}
			over, cancel := context.WithCancel(t.Context())
			cancel()
			if err := transferIn(over, in(home, from)); !errors.Is(err, order.ErrCancelled) || errors.As(err, &away) {
				t.Errorf("an event of one store that is cancelled is told of another version: %v", err)
			}
			if n, err := from.Worth(cl); err != nil || n != 99 {
				t.Errorf("the payer has %d (%v)", n, err)
			}
			if n, err := to.Worth(cl); err != nil || n != 100 {
				t.Errorf("a method that both versions have: %d (%v)", n, err)
			}
			paid := make(chan error)
			go func() { paid <- transfer(to, time.Minute) }()
			<-time.After(time.Second)
			versions.runs = false
			if err := errors.Join(c.Crash(older, losing(allLost)), c.Restart(older)); err != nil {
				t.Fatal(err)
			}
			if older == home { // the client has to go to the next start
				if err := <-paid; err == nil {
					t.Error("an event outlives its home")
				}
				d, accounts = doorOf(t, c, home, &ledger.AeonPackage, "Account")
				cl = c.System(home).Client()
				go func() { paid <- transfer(to, time.Minute) }()
			}
			if err := <-paid; err != nil {
				t.Errorf("when both run one version: %v", err)
			}
			if n, err := to.Worth(cl); err != nil || n != 101 {
				t.Errorf("the payee has %d (%v)", n, err)
			}
			c.Settle()
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A callback that a store does not know, since it is one of another version, waits as calls do: at the home of an event whose part has issued it, and at the store of its client.
func TestCallbacksOfTwoVersions(t *testing.T) {
	for _, home := range []event.StoreID{0, 1} { // the client is at store 0, which is older, and store 1 calls it
		synctest.Test(t, func(t *testing.T) {
			heard := 0
			var ear aeonrt.ClientObject
			hear := aeonrt.ClientMethod{Class: "Ear", Name: "hear", NewArgs: newGaugeArgs, Run: func(*aeonrt.Client, any, aeonrt.Args) { heard++ }}
			versions := &aged{text: &hear.Signature, older: "(int8)", original: "(int)", store: 0, runs: true}
			c, all := gauges(t, func(cfg *nodes.Config) {
				cfg.System.ClientClasses = []*aeonrt.ClientClass{{Package: "gauge", Name: "Ear", Methods: []*aeonrt.ClientMethod{&hear}}}
				cfg.Start, cfg.Delay = versions.start, under(time.Millisecond)
			})
			number := aeonrt.NewClientObject(c.System(0).Client(), &ear, nil).Stored()
			gaugeHails = func(cx *aeonrt.Cx) { cx.Callback(c.System(1).ResolveClient(number), &hear, &gaugeArgs{}) }
			before := c.Counts().Withdrawn
			ended := make(chan error, 1)
			go func() {
				s := c.System(home)
				ended <- s.Client().Await(s.Resolve(all[1].ID()), &gaugeHail, &gaugeArgs{})
			}()
			<-time.After(time.Second)
			if n := c.Counts().Withdrawn - before; n > 2 || heard > 0 || len(ended) > 0 {
				t.Errorf("home %d: withdrawn %d times, %d callbacks are heard, the event has ended: %v", home, n, heard, len(ended) > 0)
			}
			for s := range event.StoreID(3) {
				if err := c.System(s).Client().Await(c.System(s).Resolve(all[2].ID()), &gaugePeek, &gaugeArgs{}); err != nil {
					t.Errorf("home %d: another event of store %d: %v", home, s, err)
				}
			}
			if home == 0 { // store 1 goes back to the version of store 0
				versions.original = versions.older
				if err := errors.Join(c.Crash(1, losing(allLost)), c.Restart(1)); err != nil {
					t.Fatal(err)
				}
			} else { // store 0 gets the version of store 1, and its client has gone
				versions.runs = false
				if err := errors.Join(c.Crash(0, losing(allLost)), c.Restart(0)); err != nil {
					t.Fatal(err)
				}
			}
			if err := <-ended; err != nil {
				t.Errorf("home %d: when both run one version: %v", home, err)
			}
			c.Settle()
			if want := 1 - int(home); heard != want {
				t.Errorf("home %d: %d callbacks are heard, want %d", home, heard, want)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// So does a callback that comes with an answer which is a vote, too, as the method has been called often.
func TestACallbackOfALaterVersionWithAVote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := 0
		var ear aeonrt.ClientObject
		hear := aeonrt.ClientMethod{Class: "Ear", Name: "hear", NewArgs: newGaugeArgs, Run: func(*aeonrt.Client, any, aeonrt.Args) { heard++ }}
		versions := &aged{text: &hear.Signature, older: "(int8)", original: "(int)", store: 1}
		c, all := gauges(t, func(cfg *nodes.Config) {
			cfg.System.ClientClasses = []*aeonrt.ClientClass{{Package: "gauge", Name: "Ear", Methods: []*aeonrt.ClientMethod{&hear}}}
			cfg.Start, cfg.Delay = versions.start, under(time.Millisecond)
		})
		number := aeonrt.NewClientObject(c.System(0).Client(), &ear, nil).Stored()
		gaugeHails = func(cx *aeonrt.Cx) { cx.Callback(c.System(1).ResolveClient(number), &hear, &gaugeArgs{}) }
		hail := func() error {
			s := c.System(0)
			return s.Client().Await(s.Resolve(all[1].ID()), &gaugeHail, &gaugeArgs{})
		}
		const often = 5
		for range often {
			if err := hail(); err != nil {
				t.Fatal(err)
			}
		}
		c.Settle()
		restart := func() {
			t.Helper()
			if err := errors.Join(c.Crash(1, losing(allLost)), c.Restart(1)); err != nil {
				t.Fatal(err)
			}
		}
		versions.runs = true
		restart()
		ended := make(chan error, 1)
		go func() { ended <- hail() }()
		<-time.After(time.Second)
		if len(ended) > 0 || heard != often {
			t.Errorf("the event has ended: %v, %d callbacks are heard", len(ended) > 0, heard-often)
		}
		versions.runs = false
		restart()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		c.Settle()
		if heard != often+1 {
			t.Errorf("%d callbacks are heard, want 1", heard-often)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// An event that names an actor of a class of a later version waits, and holds nothing, at its home and by a part.
func TestAnEventNamesAClassOfALaterVersion(t *testing.T) {
	for _, home := range []event.StoreID{0, 2} { // store 0 names it
		synctest.Test(t, func(t *testing.T) {
			later := aeonrt.Class{Shape: aeonrt.Shape{Package: "gauge", Name: "Later"}}
			later.New = func() aeonrt.Object { return new(gauge) }
			construct := gaugeMethod("new", aeonrt.Effects{Self: aeonrt.Write})
			construct.Class, construct.Run = &later, func(*aeonrt.Cx, any, aeonrt.Args) {}
			later.Methods, later.Ctor = []*aeonrt.Method{}, &construct
			older := true
			c, all := gauges(t, func(cfg *nodes.Config) {
				cfg.Delay = under(time.Millisecond)
				cfg.Start = func(id event.StoreID, sys *exec.Config) error {
					if id != 1 || !older {
						sys.Classes = append(slices.Clone(sys.Classes), &later)
					}
					return nil
				}
			})
			name := ""
			for n := 0; name == "" || event.NamedActor(later.Path(), name, 0, len(all)).Birth != 1; n++ {
				name = fmt.Sprint("later", n)
			}
			gaugeHails = func(cx *aeonrt.Cx) { activation.Named(cx, &later, name) }
			s, ended := c.System(home), make(chan error, 1)
			go func() { ended <- s.Client().Await(s.Resolve(all[0].ID()), &gaugeHail, &gaugeArgs{}) }()
			<-time.After(time.Second)
			if err := c.System(0).Client().Await(all[0], &gaugePeek, &gaugeArgs{}); err != nil || len(ended) > 0 {
				t.Errorf("home %d: another event (%v); the one that waits has ended: %v", home, err, len(ended) > 0)
			}
			older = false
			if err := errors.Join(c.Crash(1, losing(allLost)), c.Restart(1), <-ended, c.Close()); err != nil {
				t.Errorf("home %d: %v", home, err)
			}
		})
	}
}

// A store does not find the actor of a name whose class is one of a later version: what asks waits for the time that it has.
func TestAClassOfALaterVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		isLog := func(c *activation.Class) bool { return c == &ledger.AeonClassLog }
		older := true
		c := openProgram(t, &ledger.AeonPackage, 2, func(cfg *nodes.Config) {
			cfg.Start = func(id event.StoreID, sys *exec.Config) error {
				if id == 1 && older {
					sys.Classes = slices.DeleteFunc(slices.Clone(sys.Classes), isLog)
				}
				return nil
			}
		})
		name := ""
		for n := 0; name == "" || event.NamedActor(ledger.AeonClassLog.Path(), name, 0, 8).Birth%2 != 1; n++ {
			name = fmt.Sprint("log", n)
		}
		find := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := activation.FindNamed(ctx, c.System(0).Client(), &ledger.AeonClassLog, name)
			return err
		}
		if away := new(event.AwayError); !errors.As(find(), &away) || away.Store != 1 || away.Lacks != "ledger.Log" {
			t.Errorf("a store finds an actor of a class that it does not have: %v", away)
		}
		older = false
		if err := errors.Join(c.Crash(1, losing(allLost)), c.Restart(1), find(), c.Close()); err != nil {
			t.Error(err)
		}
	})
}
