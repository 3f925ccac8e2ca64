package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// A badge is an actor that has a name. It deletes others, and asks for those that have their names then.
type badge struct{ aeonrt.Self }

type badgeArgs struct {
	of   aeonrt.Ref
	name string
}

func (x *badge) SaveField(*aeonrt.Writer, int)      {}
func (x *badge) LoadFields(*aeonrt.Reader)          {}
func (x *badgeArgs) Encode(e *aeonrt.Encoder)       { aeonrt.PutRef(e, x.of); e.String(x.name) }
func (x *badgeArgs) Decode(d *aeonrt.Decoder)       { x.of, x.name = aeonrt.GetRef(d), d.String() }
func (x *badgeArgs) EncodeResult(e *aeonrt.Encoder) { e.String(x.name) }
func (x *badgeArgs) DecodeResult(d *aeonrt.Decoder) { x.name = d.String() }

func badgeMethod(name string) aeonrt.Method {
	return aeonrt.Method{Class: &badgeClass, Name: name, Signature: "(actor badge.Badge?,string)", Params: []string{"of", "name"},
		Effects: aeonrt.Effects{Self: aeonrt.Write}, NewArgs: func() aeonrt.Args { return new(badgeArgs) }}
}

var (
	badgeClass   = aeonrt.Class{Shape: aeonrt.Shape{Package: "badge", Name: "Badge"}}
	badgeNew     = aeonrt.Method{Class: &badgeClass, Name: "Badge", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	badgeTouch   = badgeMethod("touch")
	badgeDrop    = badgeMethod("drop")
	badgeClose   = badgeMethod("close")
	badgeRenew   = badgeMethod("renew")
	badgePass    = badgeMethod("pass")
	badgeCopy    = badgeMethod("copy")
	badgeFetch   = badgeMethod("fetch")
	badgeLend    = badgeMethod("lend")
	badgePackage = aeonrt.Package{Name: "badge", Classes: []*aeonrt.Class{&badgeClass}}

	badgeMore = "................" // that copy adds

	badgeFound event.ActorID // by close or renew, the last time
)

func init() {
	badgeClass.New = func() aeonrt.Object { return new(badge) }
	badgeClass.Construct = &badgeNew
	badgeClass.Methods = []*aeonrt.Method{&badgeTouch, &badgeDrop, &badgeClose, &badgeRenew, &badgePass, &badgeCopy, &badgeFetch, &badgeLend}
	badgeNew.NewArgs, badgeNew.Run = func() aeonrt.Args { return nil }, func(*aeonrt.Cx, any, aeonrt.Args) {}
	badgeTouch.Run = func(*aeonrt.Cx, any, aeonrt.Args) {}
	badgeDrop.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) { aeonrt.Delete(cx, args.(*badgeArgs).of) }
	badgeRenew.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
		r := aeonrt.Named(cx, &badgeClass, args.(*badgeArgs).name)
		badgeFound = r.ID()
		cx.Emit(r, &badgeTouch, &badgeArgs{})
	}
	badgeClose.Run = func(cx *aeonrt.Cx, self any, args aeonrt.Args) {
		badgeDrop.Run(cx, self, args)
		badgeFound = aeonrt.Named(cx, &badgeClass, args.(*badgeArgs).name).ID()
	}
	badgeCopy.Run = func(_ *aeonrt.Cx, _ any, args aeonrt.Args) { args.(*badgeArgs).name += badgeMore }
	badgeFetch.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
		x := args.(*badgeArgs)
		r := &badgeArgs{name: x.name}
		aeonrt.CallRemote(cx, x.of, &badgeCopy, r)
		x.name = fmt.Sprint(len(r.name))
	}
	badgeLend.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
		made := aeonrt.New[*badge](cx, &badgeClass).Ref()
		aeonrt.Constructed(cx)
		aeonrt.CallRemote(cx, args.(*badgeArgs).of, &badgeTouch, &badgeArgs{of: made})
		aeonrt.Delete(cx, made)
	}
	badgePass.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
		aeonrt.CallRemote(cx, args.(*badgeArgs).of, &badgeRenew, &badgeArgs{name: args.(*badgeArgs).name})
	}
}

// badges are a cluster of three stores, and names of badges in each.
type badges struct {
	*nodes.Cluster
	t *testing.T
}

// badgesOn opens a cluster whose messages take some time, and whose store 0 has a disk that takes long.
func badgesOn(t *testing.T, trip, sync time.Duration) *badges {
	return &badges{openProgram(t, &badgePackage, 3, func(cfg *nodes.Config) {
		cfg.Partitions, cfg.Spread, cfg.Delay = 3, false, under(trip)
		cfg.Open = func(s event.StoreID) (store.Engine, error) {
			if s == 0 && sync > 0 {
				return laggard{memengine.New(), sync}, nil
			}
			return memengine.New(), nil
		}
	}), t}
}

// name returns the n-th name whose badges are in a store.
func (b *badges) name(in event.StoreID, n int) string {
	for i := 0; ; i++ {
		name := fmt.Sprint("badge ", i)
		if event.NamedActor(badgeClass.Path(), name, 0, 3).Birth != event.PartitionID(in) {
			continue
		}
		if n--; n < 0 {
			return name
		}
	}
}

// badge returns the badge of a name, as a store knows it. It has been made.
func (b *badges) badge(by event.StoreID, name string) aeonrt.Ref {
	b.t.Helper()
	cl := b.System(by).Client()
	r := aeonrt.Named(cl, &badgeClass, name)
	if err := cl.Await(r, &badgeTouch, &badgeArgs{}); err != nil {
		b.t.Fatal(err)
	}
	return r
}

// end ends the cluster, in which no event has failed that no client awaits.
func (b *badges) end() {
	b.t.Helper()
	b.Settle()
	for _, s := range b.Systems() {
		if list := s.DeadLetters(); len(list) > 0 {
			b.t.Errorf("%v", list)
		}
	}
	if err := b.Close(); err != nil {
		b.t.Error(err)
	}
}

// An event that deletes an actor of another store, and then asks for the actor of that name, does not wait for itself, though it is learned that its call there is the last one.
func TestAnEventNamesWhatItDeletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := badgesOn(t, 10*time.Millisecond, 0)
		s, name := b.System(0), b.name(1, 0)
		home := b.badge(0, b.name(0, 0))
		for round := range 4 {
			of := b.badge(0, name)
			b.Settle()
			closes := s.Client().Issue(home, &badgeClose, &badgeArgs{of, name})
			<-time.After(time.Second)
			if tries, _, _ := s.Across().Open(); tries > 0 {
				var waits strings.Builder
				b.WriteWaits(&waits)
				t.Errorf("round %d: the event does not end:\n%s", round, &waits)
				closes.Cancel()
			}
			if err := closes.Wait(); err != nil {
				t.Error(err)
			}
			if badgeFound != of.ID() {
				t.Errorf("round %d: %q is %v, and %v until the event has committed", round, name, badgeFound, of.ID())
			}
		}
		b.end()
	})
}

// What a store has prepared deletes an actor. An event that comes after that, and asks for the actor of the name there, gets the next one, be it asked for by code, or by a client.
func TestANameIsFreeAfterAPreparedDeletion(t *testing.T) {
	const trip, late = 10 * time.Millisecond, time.Second
	drops := func(t *testing.T) (b *badges, name string, home, of aeonrt.Ref, dropped *aeonrt.Future) {
		b = badgesOn(t, trip, late)
		name, home = b.name(1, 0), b.badge(0, b.name(0, 0))
		of = b.badge(0, name)
		b.Settle()
		dropped = b.System(0).Client().Issue(home, &badgeDrop, &badgeArgs{of: of})
		<-time.After(6 * trip) // the event has committed, and that is not durable
		if tries, _, _ := b.System(0).Across().Open(); tries != 0 || b.System(1).Across().InDoubt() != 1 {
			t.Errorf("%d attempts are not decided, and %d parts are in doubt", tries, b.System(1).Across().InDoubt())
		}
		return b, name, home, of, dropped
	}
	t.Run("to code", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, name, home, of, dropped := drops(t)
			helper := aeonrt.Named(b.System(0).Client(), &badgeClass, b.name(1, 1))
			passes := b.System(0).Client().Issue(home, &badgePass, &badgeArgs{helper, name})
			if err := errors.Join(dropped.Wait(), passes.Wait()); err != nil {
				t.Error(err)
			}
			if badgeFound == of.ID() {
				t.Errorf("%q is %v, which an event has deleted that comes before", name, badgeFound)
			}
			b.end()
		})
	})
	t.Run("to code that is cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, name, _, _, dropped := drops(t)
			cl := b.System(1).Client()
			helper := aeonrt.Named(cl, &badgeClass, b.name(1, 1))
			renews := cl.Issue(helper, &badgeRenew, &badgeArgs{name: name})
			synctest.Wait()
			began := time.Now()
			renews.Cancel()
			if err := renews.Wait(); !errors.Is(err, order.ErrCancelled) || time.Since(began) > trip {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
			if err := dropped.Wait(); err != nil {
				t.Error(err)
			}
			b.end()
		})
	})
	t.Run("to clients", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, name, _, of, dropped := drops(t)
			ctx, cancel := context.WithTimeout(t.Context(), trip)
			defer cancel()
			if r, err := activation.FindNamed(ctx, b.System(1).Client(), &badgeClass, name); !errors.As(err, new(*event.AwayError)) {
				t.Errorf("%q is %v (%v) before it is known", name, r.ID(), err)
			}
			if err := dropped.Wait(); err != nil {
				t.Error(err)
			}
			if r := b.badge(1, name); r.ID() == of.ID() {
				t.Errorf("%q is %v, which was deleted", name, r.ID())
			}
			b.end()
		})
	})
}

// A store tells another one which actor has a name when the deletion of the one before is durable: after a crash there would be that one again.
func TestANameIsToldWhenItIsDurable(t *testing.T) {
	const trip, late = 10 * time.Millisecond, time.Second
	synctest.Test(t, func(t *testing.T) {
		b := badgesOn(t, trip, late)
		name, cl := b.name(0, 1), b.System(0).Client()
		home, of := b.badge(0, b.name(0, 0)), b.badge(0, name)
		b.Settle()
		began := time.Now()
		dropped := cl.Issue(home, &badgeDrop, &badgeArgs{of: of})
		synctest.Wait() // the event has committed, and that is not durable
		r, err := activation.FindNamed(t.Context(), b.System(1).Client(), &badgeClass, name)
		if took := time.Since(began); err != nil || r.ID() == of.ID() || took < late {
			t.Errorf("%q is %v (%v) after %v, and was %v", name, r.ID(), err, took, of.ID())
		}
		if err := dropped.Wait(); err != nil {
			t.Error(err)
		}
		b.end()
	})
}

// What an event makes, tells another store of and deletes leaves nothing in the sequencing tree.
func TestWhatIsMadeAndDeletedIsGone(t *testing.T) {
	b := badgesOn(t, 0, 0)
	g, cl := b.System(0).Graph(), b.System(0).Client()
	at, of := aeonrt.Named(cl, &badgeClass, b.name(0, 0)), aeonrt.Named(cl, &badgeClass, b.name(1, 0))
	lend := func() (left int) {
		if err := cl.Await(at, &badgeLend, &badgeArgs{of: of}); err != nil {
			t.Fatal(err)
		}
		b.Settle()
		for _, p := range g.TChildren(nil, g.TOP()) {
			left += len(g.TChildren(nil, p))
		}
		return left
	}
	first := lend()
	for range 100 {
		if left := lend(); left > first {
			t.Fatalf("%d actors are left, and %d were after the first event", left, first)
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
