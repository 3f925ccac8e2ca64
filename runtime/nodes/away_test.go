package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/sim/kill/ledger"
)

// nameIn returns a name whose actors of a class are in a store.
func nameIn(c *aeonrt.Class, k event.StoreID) string {
	for n := 0; ; n++ {
		name := fmt.Sprint("name ", n)
		if ofMark(event.NamedActor(c.Path(), name, 0, markPartitions).Birth) == k {
			return name
		}
	}
}

// What is asked of a store that is away ends with the call that asks, which is told so, and holds nothing any more.
func TestQuestionsToAStoreThatIsAway(t *testing.T) {
	defer goleak.VerifyNone(t)
	c := ledgerOn(t, 0, memengine.New(), memengine.New(), memengine.New())
	away := ofMark(event.NamedActor(ledger.AeonClassLog.Path(), "log", 0, markPartitions).Birth)
	here := (away + 1) % markStores
	s := c.System(here)
	p, err := door.ProgramOf(aeonrt.AllClasses(&ledger.AeonPackage), nil)
	if err != nil {
		t.Fatal(err)
	}
	d := door.Open(door.Config{System: s, Program: p})
	list := ledgerAccounts(t, c.System(here).Client()).Items()
	account := list[slices.IndexFunc(list, func(a ledger.AccountRef) bool { return ofMark(a.ID().Birth) == away })].ID()
	c.Settle()
	if err := c.Crash(away, losing(allLost)); err != nil {
		t.Fatal(err)
	}
	within := func(what, code string, call func(ctx context.Context) error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := call(ctx)
		f := door.Explain(err)
		of := new(event.AwayError)
		if !errors.As(err, &of) || of.Store != away || f.Code != code || f.Happened != door.No || !strings.Contains(f.Msg, fmt.Sprintf("store %d is away: it has no leader that is reached", away)) {
			t.Errorf("%s: %v, %+v", what, err, f)
		}
	}
	class := func(name string) *door.Class {
		c, err := d.Class(name)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	vault := class("Vault")
	put, err := vault.Method("Put")
	if err != nil {
		t.Fatal(err)
	}
	within("a target with a name", door.Closing, func(ctx context.Context) error {
		_, err := d.Actor(ctx, vault, nameIn(&ledger.AeonClassVault, away))
		return err
	})
	within("a target without a name", door.Closing, func(ctx context.Context) error {
		_, err := d.Actor(ctx, class("Account"), ":"+account.String())
		return err
	})
	within("an actor among arguments", door.Closing, func(ctx context.Context) error {
		_, err := put.Params.Read(fmt.Appendf(nil, `{"from": "Account:%v", "amount": 1, "session": 1, "seq": 1}`, account), d.Names(ctx, ""))
		return err
	})
	// The constructor of the vault, which is here, names the log.
	target, err := d.Actor(t.Context(), vault, nameIn(&ledger.AeonClassVault, here))
	if err != nil {
		t.Fatal(err)
	}
	balance, err := vault.Method("Balance")
	if err != nil {
		t.Fatal(err)
	}
	args, err := balance.Params.Read([]byte("{}"), d.Names(t.Context(), ""))
	if err != nil {
		t.Fatal(err)
	}
	call := &door.Call{Target: target, Method: balance, Args: args}
	within("a name in the code", door.TimedOut, func(ctx context.Context) error {
		_, err := d.Call(ctx, call)
		return err
	})
	if list := s.Across().Look(); len(list) > 0 {
		t.Errorf("operators see %v", list)
	}
	if err := c.Restart(away); err != nil {
		t.Fatal(err)
	}
	if answer, err := d.Call(t.Context(), call); err != nil || string(answer.Result) != "0" {
		t.Errorf("when the store is there again: %s, %v", answer.Result, err)
	}
	c.Settle()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
