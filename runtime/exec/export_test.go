package exec

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// taken is a snapshot in memory.
type taken [][2][]byte

func (s taken) each(f func(key, row []byte) error) error {
	for _, r := range s {
		if err := f(r[0], r[1]); err != nil {
			return err
		}
	}
	return nil
}

func (s *taken) keep(key, row []byte) error {
	if n := len(*s); n > 0 && string((*s)[n-1][0]) >= string(key) {
		return errors.New(store.DescribeKey(key) + " is not in order")
	}
	*s = append(*s, [2][]byte{append([]byte(nil), key...), append([]byte(nil), row...)})
	return nil
}

// takeActor makes a snapshot of an actor of a running system.
func takeActor(t *testing.T, n *node, r order.Ref) (s taken, actors int) {
	t.Helper()
	view := n.store.Snapshot()
	c, err := archive.CutAt(view, r.ID())
	mustNot(t, err)
	mustNot(t, c.Rows(s.keep))
	mustNot(t, view.Close())
	return s, c.Actors()
}

// edit closes the system, calls f with the store's engine, and opens the system again.
func (n *node) edit(f func(replicatest.Engine) error) {
	n.t.Helper()
	n.close()
	n.engine = n.engine.Reopen()
	mustNot(n.t, f(n.engine))
	mustNot(n.t, n.engine.Sync())
	n.open()
}

// elsewhere opens a system on a new store that is filled from a snapshot.
func elsewhere(t *testing.T, s taken) *node {
	t.Helper()
	n := &node{t: t, engine: replicatest.New()}
	n.cfg.Log, n.cfg.Classes, n.cfg.Clock = quiet, testClasses, sched.NewSimClock(time.Unix(1000, 0))
	mustNot(t, archive.Restore(n.engine, store.Identity{Store: "elsewhere", Program: "test"}, 0, s.each))
	n.open()
	return n
}

func (n *node) bank(name string) bankRef { return bankRef{Named(n.cl, &classBank, name)} }

func (n *node) audit(name string) int64 {
	n.t.Helper()
	sum, err := n.bank(name).Audit(n.cl)
	mustNot(n.t, err)
	return sum
}

// A snapshot of a bank has its accounts as they were. Restored, the accounts are so again, and an
// account that was opened since is gone. Other actors stay as they are.
func TestActorIsRestored(t *testing.T) {
	n := startNode(t, Config{})
	b, list := openBank(t, n.sys, "one", 3)
	openBank(t, n.sys, "two", 2)
	mustNot(t, b.Transfer(n.cl, "a0", "a1", 300))
	snap, actors := takeActor(t, n, b.Ref)
	if actors != 4 {
		t.Errorf("the snapshot has %d actors", actors)
	}
	mustNot(t, b.Transfer(n.cl, "a1", "a2", 700))
	_, err := b.Open(n.cl, "new")
	mustNot(t, err)
	_, err = list[0].Deposit(n.cl, 50)
	mustNot(t, err)
	mustNot(t, n.bank("two").Transfer(n.cl, "a0", "a1", 10))
	n.edit(func(e replicatest.Engine) error {
		got, err := archive.RestoreActor(e, b.ID(), snap.each)
		if got != 4 {
			t.Errorf("%d actors were restored", got)
		}
		return err
	})
	check := func(n *node) {
		t.Helper()
		if sum := n.audit("one"); sum != 3000 {
			t.Errorf("the bank has %d", sum)
		}
		for i, want := range []int64{700, 1300, 1000} {
			if got, err := (accountRef{n.sys.Resolve(list[i].ID())}).Balance(n.cl); got != want || err != nil {
				t.Errorf("account %d has %d, want %d: %v", i, got, want, err)
			}
		}
		if err := n.bank("one").Transfer(n.cl, "a0", "new", 1); err == nil {
			t.Error("the account that was opened later is there")
		}
		mustNot(t, n.bank("one").Transfer(n.cl, "a0", "a1", 1))
		mustNot(t, n.bank("one").Transfer(n.cl, "a1", "a0", 1))
	}
	check(n)
	if sum := n.audit("two"); sum != 2000 {
		t.Errorf("the other bank has %d", sum)
	}
	if got, err := accountRef.Balance(accountAt(t, n, "two", "a1"), n.cl); got != 1010 || err != nil {
		t.Errorf("an account of the other bank has %d, %v", got, err)
	}
	n.reopen()
	check(n)
	n.close()
	alone := elsewhere(t, snap)
	check(alone)
	if sum := alone.audit("two"); sum != 0 {
		t.Errorf("elsewhere the other bank has %d", sum)
	}
	alone.reopen()
	check(alone)
	alone.close()
}

// accountAt finds an account of a bank.
func accountAt(t *testing.T, n *node, bankName, name string) (a accountRef) {
	t.Helper()
	h := order.HandleOf(n.bank(bankName).Bare())
	if h.Is(order.Unloaded) {
		mustNot(t, n.sys.durable.Load(h))
	}
	return h.Object.(*bank).accounts.Lookup(name)
}

// A snapshot of a node has everything, and events go on while it is taken.
func TestNodeIsRestored(t *testing.T) {
	n := startNode(t, Config{})
	b, _ := openBank(t, n.sys, "one", 3)
	view := n.store.Snapshot()
	mustNot(t, b.Transfer(n.cl, "a0", "a1", 300))
	var snap taken
	mustNot(t, archive.NodeRows(view, nil, snap.keep))
	mustNot(t, view.Close())
	n.close()
	back := elsewhere(t, snap)
	if got, err := accountAt(t, back, "one", "a0").Balance(back.cl); got != 1000 || err != nil {
		t.Errorf("a0 has %d, %v", got, err)
	}
	if got := back.audit("one"); got != 3000 {
		t.Errorf("the bank has %d", got)
	}
	if id := back.store.Identity().Store; id != "elsewhere" {
		t.Errorf("the store is %s", id)
	}
	back.close()
}

// Timers that an actor had in the snapshot fire after its restore. Timers that it has set since do not.
func TestTimersComeBack(t *testing.T) {
	n := startNode(t, Config{})
	d := newDesk(t, n.cl)
	remind := func(name string, amount int64) {
		t.Helper()
		mustNot(t, d.await(n.cl, func(cx *Cx, self *desk) {
			a := New[*account](cx, &classAccount)
			Constructed(cx)
			cx.EmitAfter(a.Self.Ref(), &methodDeposit, &depositArgs{amount: amount}, time.Second, name)
		}))
	}
	remind("early", 1)
	snap, actors := takeActor(t, n, d.Ref)
	remind("late", 2)
	if set := n.timersSet(); len(set) != 2 {
		t.Fatalf("timers %q are set", set)
	}
	n.edit(func(e replicatest.Engine) error {
		_, err := archive.RestoreActor(e, d.ID(), snap.each)
		return err
	})
	if set := n.timersSet(); len(set) != 1 || set[0] != "early" {
		t.Errorf("timers %q are set after it was restored, of %d actors", set, actors)
	}
	n.close()
}

// timersSet returns the names of the timers that are set.
func (n *node) timersSet() (names []string) {
	n.sys.timers.Pending(func(t *timer, _ bool) { names = append(names, t.Name) })
	return names
}

// A deleted actor comes back with its name, unless another actor has had the name since.
func TestDeletedActorComesBack(t *testing.T) {
	n := startNode(t, Config{})
	b, list := openBank(t, n.sys, "one", 2)
	snap, _ := takeActor(t, n, b.Ref)
	mustNot(t, n.cl.Delete(b.Ref))
	for _, a := range list {
		mustNot(t, n.cl.Delete(a.Ref))
	}
	n.edit(func(e replicatest.Engine) error {
		_, err := archive.RestoreActor(e, b.ID(), snap.each)
		return err
	})
	if sum := n.audit("one"); sum != 2000 {
		t.Errorf("the bank has %d", sum)
	}
	mustNot(t, n.cl.Delete(n.bank("one").Ref))
	for _, a := range list {
		mustNot(t, n.cl.Delete(n.sys.Resolve(a.ID())))
	}
	if sum := n.audit("one"); sum != 0 {
		t.Errorf("the next bank of the name has %d", sum)
	}
	n.close()
	n.engine = n.engine.Reopen()
	before := n.engine.Applied()
	var taken *archive.NameTakenError
	if _, err := archive.RestoreActor(n.engine, b.ID(), snap.each); !errors.As(err, &taken) || taken.Name == "" {
		t.Errorf("restoring it over another: %v", err)
	}
	if n.engine.Applied() != before {
		t.Error("a refused restore has changed something")
	}
}

// A restore is refused if it would replace an actor that another owner has, too.
func TestSharedActorIsNotReplaced(t *testing.T) {
	n := startNode(t, Config{})
	d, other := newDesk(t, n.cl), newDesk(t, n.cl)
	var kid deskRef
	mustNot(t, d.await(n.cl, func(cx *Cx, self *desk) { kid = self.hire(cx) }))
	snap, _ := takeActor(t, n, d.Ref)
	share := func(cx *Cx, self *desk) { undo.VectorPushOwned(cx.UndoLog(), &self.Self, 4, &self.kids, kid) }
	mustNot(t, other.await(n.cl, share))
	refused := func(want bool) {
		t.Helper()
		n.close()
		n.engine = n.engine.Reopen()
		var e *archive.OwnedElsewhereError
		if _, err := archive.RestoreActor(n.engine, d.ID(), snap.each); !errors.As(err, &e) || e.Was != want || e.Actor != kid.ID() {
			t.Errorf("RestoreActor: %v", err)
		}
		n.open()
	}
	refused(false) // both own it
	again := deskRef{n.sys.Resolve(d.ID())}
	mustNot(t, again.await(n.cl, func(cx *Cx, self *desk) { undo.VectorPopOwned(cx.UndoLog(), &self.Self, 4, &self.kids) }))
	refused(true) // it has moved there
	n.close()
}

// A cut has the label that a trace gives its root, and with it the actor is found again.
func TestACutIsLabelledAsInATrace(t *testing.T) {
	n := startNode(t, Config{})
	openBank(t, n.sys, "one", 1)
	account := accountAt(t, n, "one", "a0").ID()
	for id, want := range map[event.ActorID]string{
		n.bank("one").ID(): classBank.Path() + "/one",
		account:            classAccount.Path() + ":" + account.String(),
	} {
		c, err := archive.CutAt(n.store, id)
		mustNot(t, err)
		for program, want := range map[string]string{"other": want, classBank.Package: strings.TrimPrefix(want, classBank.Package+".")} {
			if got, err := c.Label(program); err != nil || got != want {
				t.Errorf("%v in program %s: %q, %v, want %q", id, program, got, err, want)
			}
		}
	}
	n.close()
}

func TestMissingActorIsNamed(t *testing.T) {
	n := startNode(t, Config{})
	openBank(t, n.sys, "one", 1)
	if id, err := archive.FindNamed(n.store, classBank.Path(), "one"); err != nil || id != n.bank("one").ID() {
		t.Errorf("archive.FindNamed = %v, %v", id, err)
	}
	var missing *archive.NoActorError
	if _, err := archive.FindNamed(n.store, classBank.Path(), "two"); !errors.As(err, &missing) {
		t.Errorf("archive.FindNamed of a missing actor: %v", err)
	}
	if _, err := archive.CutAt(n.store, accountRef{}.ID()); !errors.As(err, &missing) {
		t.Errorf("archive.CutAt of a missing actor: %v", err)
	}
	n.close()
}

// A snapshot whose rows have another form is refused, and nothing of it is written.
func TestRestoreRefusesAnotherFormat(t *testing.T) {
	n := startNode(t, Config{})
	b, _ := openBank(t, n.sys, "one", 1)
	snap, _ := takeActor(t, n, b.Ref)
	n.close()
	key := store.MetaKey("format")
	for i := range snap {
		if string(snap[i][0]) == string(key) {
			snap[i][1] = store.AppendRow(nil, key, []byte{store.Format - 1})
		}
	}
	e := n.engine.Reopen()
	before := content(t, e)
	var older *store.OlderFormatError
	if _, err := archive.RestoreActor(e, b.ID(), snap.each); !errors.As(err, &older) || older.Place != "the snapshot" {
		t.Errorf("archive.RestoreActor gave %v", err)
	}
	if !maps.Equal(before, content(t, e)) {
		t.Error("the store has changed")
	}
	if err := archive.Restore(replicatest.New(), store.Identity{}, 0, snap.each); !errors.As(err, &older) {
		t.Errorf("Restore gave %v", err)
	}
}

// Rows that do not say which form they have are no snapshot, nor are no rows at all.
func TestRestoreRefusesRowsWithoutAFormat(t *testing.T) {
	n := startNode(t, Config{})
	b, _ := openBank(t, n.sys, "one", 1)
	snap, _ := takeActor(t, n, b.Ref)
	n.close()
	snap = slices.DeleteFunc(snap, func(row [2][]byte) bool { return string(row[0]) == string(store.FormatKey()) })
	e := n.engine.Reopen()
	before := content(t, e)
	for name, rows := range map[string]taken{"without it": snap, "no rows": nil} {
		var corrupt *store.CorruptError
		if _, err := archive.RestoreActor(e, b.ID(), rows.each); !errors.As(err, &corrupt) {
			t.Errorf("%s: archive.RestoreActor gave %v", name, err)
		}
		if err := archive.Restore(replicatest.New(), store.Identity{}, 0, rows.each); !errors.As(err, &corrupt) {
			t.Errorf("%s: Restore gave %v", name, err)
		}
	}
	if !maps.Equal(before, content(t, e)) {
		t.Error("the store has changed")
	}
}

// An actor that comes back does not own again what it owned when it was deleted.
func TestRestoredActorOwnsWhatItRefersTo(t *testing.T) {
	n := startNode(t, Config{})
	b, _ := openBank(t, n.sys, "one", 2)
	snap, _ := takeActor(t, n, b.Ref)
	later, err := b.Open(n.cl, "later")
	mustNot(t, err)
	_, err = later.Deposit(n.cl, 7)
	mustNot(t, err)
	for _, name := range []string{"a0", "a1"} {
		mustNot(t, n.cl.Delete(accountAt(t, n, "one", name).Ref))
	}
	n.reopen() // the account is detached when its owner goes
	mustNot(t, n.cl.Delete(n.sys.Resolve(b.ID())))
	n.edit(func(e replicatest.Engine) error {
		_, err := archive.RestoreActor(e, b.ID(), snap.each)
		return err
	})
	h := order.HandleOf(n.sys.Resolve(later.ID()))
	if got, err := (accountRef{order.RefOf(h)}).Balance(n.cl); got != 7 || err != nil {
		t.Errorf("the account has %d, %v", got, err)
	}
	if owners := n.sys.host.Graph.Owners(nil, &h.Node); len(owners) > 0 {
		t.Errorf("%v owns the account", n.sys.host.HandleOf(owners[0]))
	}
	if sum := n.audit("one"); sum != 2000 {
		t.Errorf("the bank has %d", sum)
	}
	n.close()
}

// Progress returns a number that grows whenever an event ends. A watchdog that sees it
// stand still while events wait has found a deadlock.
func (s *System) Progress() uint64 {
	t := s.Stats()
	return t.Commits + t.Aborts + t.Withdrawals + t.Reroutes + t.Moves
}

// Watch checks every interval that something progresses while events wait, until stop is
// closed; if not, it calls stuck with the wait-for graph, once. The caller runs it in a
// goroutine and joins it.
func (s *System) Watch(interval time.Duration, stop <-chan struct{}, stuck func(waits string)) {
	t := time.NewTicker(interval)
	defer t.Stop()
	last := s.Progress()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
		}
		now := s.Progress()
		if now == last && s.Waiting() > 0 {
			var b bytes.Buffer
			s.WriteWaits(&b)
			stuck(b.String())
			return
		}
		last = now
	}
}
