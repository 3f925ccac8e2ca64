package nodes_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

// A text of an actor of another store takes its label, for which that store is asked once. If the store is away the event may be cancelled meanwhile, and
// holds nothing then.
func TestTextsOfActorsOfOtherStores(t *testing.T) {
	defer goleak.VerifyNone(t)
	c := openProgram(t, &shop.AeonPackage, 3)
	const here, away = event.StoreID(0), event.StoreID(1)
	s := c.System(here)
	cl := s.Client()
	in := func(ref aeonrt.Ref) event.StoreID { return s.Across().StoreOf(ref.ID()) }
	var shops []shop.ShopRef // one here, one that is away
	for i := 0; len(shops) < 2; i++ {
		if ref := (shop.ShopRef{Ref: aeonrt.Named(cl, &shop.AeonClassShop, shopName(i))}); in(ref.Ref) == event.StoreID(len(shops)) {
			shops = append(shops, ref)
		}
	}
	cart := func() shop.CartRef { // that is away
		t.Helper()
		for {
			if ref, err := shops[0].Open(cl, "an owner"); err != nil {
				t.Fatal(err)
			} else if in(ref.Ref) == away {
				return ref
			}
		}
	}
	known, unknown := cart(), cart()
	c.Settle()
	const want = "Cart: Cart, Shop: Shop("
	for _, messages := range []int64{4, 0} {
		before := c.Counts().Messages
		text, err := written(t.Context(), t, s, shops, known)
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%q, %v", text, err)
		}
		c.Settle()
		if n := c.Counts().Messages - before; n != messages {
			t.Errorf("a text takes %d messages, not %d", n, messages)
		}
	}
	before := c.Counts().Messages
	if err := c.Crash(away, losing(allLost)); err != nil {
		t.Fatal(err)
	}
	if text, err := written(t.Context(), t, s, shops, known); err != nil || !strings.Contains(text, want) {
		t.Errorf("a label that is known: %q, %v", text, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if text, err := written(ctx, t, s, shops, unknown); err == nil || !strings.HasSuffix(err.Error(), "cancelled") {
		t.Errorf("a label that is not known: %q, %v", text, err)
	}
	if err := shops[0].Put(cl, shop.AeonNewItem("tea", 1, 0, aeonrt.Opt[string]{}, aeonrt.Vector[string]{})); err != nil {
		t.Errorf("a writer of the same actor: %v", err)
	}
	if n := c.Counts().Messages - before; n > 0 {
		t.Errorf("%d messages were sent", n)
	}
	if err := c.Restart(away); err != nil {
		t.Fatal(err)
	}
	if text, err := written(t.Context(), t, s, shops, unknown); err != nil || !strings.Contains(text, want) {
		t.Errorf("when the store is there again: %q, %v", text, err)
	}
	// The shop that is away has been named, and is not constructed. What another store knows by its id has its name in a row, so a store that does not
	// know the label yet gets the one that never changes.
	from := c.System(2)
	far := []shop.ShopRef{{}, shops[1]}
	for i := 0; far[0].IsNull(); i++ {
		if ref := aeonrt.Named(from.Client(), &shop.AeonClassShop, fmt.Sprint("far ", i)); from.Across().IsHere(ref.ID()) {
			far[0].Ref = ref
		}
	}
	if text, err := written(t.Context(), t, from, far, known); err != nil || !strings.Contains(text, want) {
		t.Errorf("the label of what is not constructed: %q, %v", text, err)
	}
	c.Settle()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// written has a shop write a value that refers to a cart and another shop.
func written(ctx context.Context, t *testing.T, s *exec.System, shops []shop.ShopRef, cart shop.CartRef) (string, error) {
	t.Helper()
	class := &shop.AeonClassShop
	m := class.Methods[slices.IndexFunc(class.Methods, func(m *aeonrt.Method) bool { return m.Name == "written" })]
	args, e := m.NewArgs(), codec.NewEncoder(nil)
	shop.AeonPutEverything(e, shop.Everything{Cart: cart, Shop: shops[1]})
	d := codec.NewDecoder(e.Data())
	d.Context = s
	if args.(codec.Args).Decode(d); d.Err() != nil {
		t.Fatal(d.Err())
	}
	cancel := &order.Cancellation{Until: ctx}
	defer context.AfterFunc(ctx, cancel.Cancel)()
	if _, err := s.Perform(&exec.Call{Target: shops[0].Ref, Method: m, Args: args, Cancel: cancel}); err != nil {
		return "", err
	}
	return codec.NewDecoder(codec.AppendResult(nil, new(codec.Encoder), args)).String(), nil
}
