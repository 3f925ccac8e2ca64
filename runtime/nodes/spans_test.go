package nodes_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/spantree"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/sim/kill/ledger"
	common "go.opentelemetry.io/proto/otlp/common/v1"
)

// spansOf returns the spans of what run does with a program that is kept in so many stores, each of which exports its own, and how many stores have
// exported some.
func spansOf(t *testing.T, program *aeonrt.Package, stores int, seed uint64, run func(*testing.T, *exec.System)) (trees string, exported int) {
	t.Helper()
	clock := sched.NewSimClock(time.Unix(1000, 0))
	tracers, lines := make([]*span.Tracer, stores), make([]bytes.Buffer, stores)
	for i := range stores {
		tracers[i] = span.Open(span.Config{Program: "test", Store: fmt.Sprint("store", i), Cluster: "cluster", Sample: 1, Sink: &span.Lines{To: &lines[i]}, Log: slog.New(slog.DiscardHandler)})
		defer tracers[i].Close()
	}
	c, err := nodes.Open(nodes.Config{
		System: aeonrt.Config{Classes: aeonrt.AllClasses(program), ClientClasses: aeonrt.AllClientClasses(program), Scheduled: true, Seed: seed, Clock: clock},
		Stores: stores, Partitions: 2 * stores, Spread: true,
		Open:  func(event.StoreID) (store.Engine, error) { return memengine.New(), nil },
		Fatal: func(err error) { t.Error(err) },
		Start: func(id event.StoreID, cfg *exec.Config) error {
			cfg.Spans = tracers[id]
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := c.System(event.StoreID(stores - 1))
	run(t, s)
	s.FireNextUntil(clock.Now().Add(faultTicks))
	c.Settle()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	var all []*spantree.Span
	for i := range stores {
		tracers[i].Close()
		own := spantree.Read(t, lines[i].Bytes())
		for _, x := range own {
			for _, a := range x.GetAttributes() {
				if a.GetKey() == "aeon.actor" { // of which the store of an event may know the id alone
					a.Value = &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: regexp.MustCompile(`[:/].*`).ReplaceAllString(a.GetValue().GetStringValue(), "")}}
				}
			}
			all = append(all, x)
		}
		exported += min(1, len(own))
	}
	ids := all
	all = slices.DeleteFunc(slices.Clone(all), func(x *spantree.Span) bool { return strings.HasPrefix(x.GetName(), "wait ") })
	for i, x := range ids {
		for _, y := range ids[:i] {
			if x.Trace == y.Trace && x.ID == y.ID {
				t.Errorf("two spans have one id: %s and %s", x.GetName(), y.GetName())
			}
		}
	}
	return spantree.Trees(merged(all)), exported
}

// merged makes one span of that of an event and that of its call, if another store has made that.
func merged(list []*spantree.Span) (kept []*spantree.Span) {
	for _, x := range list {
		of := slices.IndexFunc(list, func(e *spantree.Span) bool {
			return e.Trace == x.Trace && e.ID == x.Parent && e.GetName() == x.GetName() && e.Attribute("aeon.event") != ""
		})
		if of < 0 {
			kept = append(kept, x)
			continue
		}
		for _, below := range list {
			if below.Trace == x.Trace && below.Parent == x.ID {
				below.Parent = x.Parent
			}
		}
	}
	return kept
}

// pays runs a few events of a ledger.
func pays(t *testing.T, s *exec.System) {
	cl := s.Client()
	bank := ledger.BankRef{Ref: aeonrt.Named(cl, &ledger.AeonClassBank, "bank")}
	list, err := bank.Open(cl, 4, 1000)
	if err != nil {
		t.Fatal(err)
	}
	a := list.Items()
	var path aeonrt.Vector[ledger.AccountRef]
	for _, to := range []int{2, 3, 0} {
		aeonrt.Push(&path, a[to])
	}
	_, e1 := a[0].Pay(cl, a[1], 5, 1, 1)
	_, refused := a[2].Pay(cl, a[3], 5000, 1, 2)
	_, e2 := a[1].Later(cl, a[0], 5, 1, 3)
	_, e3 := a[1].Relay(cl, path, 5, 1, 4)
	sum, e4 := bank.Audit(cl, aeonrt.Vector[ledger.VaultRef]{})
	if e1 != nil || refused == nil || e2 != nil || e3 != nil || e4 != nil || sum != 4000 {
		t.Fatal(e1, refused, e2, e3, e4, sum)
	}
}

// What an event does in several stores is one trace, the same as if it did all in one: each store exports what it has run.
func TestSpansOverStores(t *testing.T) {
	for name, p := range map[string]struct {
		of  *aeonrt.Package
		run func(*testing.T, *exec.System)
	}{"calls": {&ledger.AeonPackage, pays}, "async calls": {&tillPackage, counts}} {
		t.Run(name, func(t *testing.T) {
			want, _ := spansOf(t, p.of, 1, 1, p.run)
			for seed := range uint64(10) {
				got, exported := spansOf(t, p.of, 3, seed, p.run)
				if got != want {
					t.Fatalf("seed %d:\n%s\nin one store:\n%s", seed, got, want)
				}
				if exported < 2 {
					t.Errorf("seed %d: %d stores have exported spans", seed, exported)
				}
			}
		})
	}
}

// counts has tills count, each by an async call.
func counts(t *testing.T, s *exec.System) {
	cl := s.Client()
	var of []aeonrt.Ref
	for range 12 {
		r, err := cl.New(&tillClass, &tillNew, &tillArgs{})
		if err != nil {
			t.Fatal(err)
		}
		of = append(of, r)
	}
	for i := range of {
		if err := cl.Await(of[i], &tillAll, &tillArgs{by: 1000, of: slices.Concat(of[:i], of[i+1:])}); err != nil {
			t.Fatal(err)
		}
	}
}
