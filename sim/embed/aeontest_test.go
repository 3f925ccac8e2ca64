package embed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/aeontest"
	"github.com/aeon-lang/aeon/sim/embed/hall"
)

func open(t testing.TB, p *aeontest.Program, opts ...aeon.Option) (*hall.DB, hall.Hall) {
	t.Helper()
	db, err := hall.Open(t.Context(), append(opts, p.Option())...)
	mustNot(t, err)
	return db, db.Hall("main")
}

// A seed repeats a run, the calls of callbacks included, and seeds are different orders.
func TestSeedIsOneOrder(t *testing.T) {
	run := func(seed uint64) string {
		ctx := t.Context()
		p := aeontest.New(t, seed)
		db, h := open(t, p)
		var heard []string
		for i := range 2 {
			mustNot(t, h.Hire(ctx, hall.NewUsher(db.NewClient(), &guest{heard: func(_ context.Context, what string, count int64) {
				heard = append(heard, fmt.Sprintf("%d:%s%d", i, what, count))
			}})))
		}
		for range 3 {
			mustNot(t, h.Both(ctx, db.Hall("a"), db.Hall("b")))
		}
		if len(heard) > 0 {
			t.Errorf("callbacks came before Settle: %v", heard)
		}
		p.Settle()
		mustNot(t, db.Close())
		return strings.Join(heard, " ")
	}
	seen := map[string]bool{}
	for seed := range uint64(20) {
		order := run(seed)
		if again := run(seed); again != order {
			t.Errorf("seed %d: %s, then %s", seed, order, again)
		}
		seen[order] = true
	}
	if len(seen) < 10 {
		t.Errorf("20 seeds are %d orders", len(seen))
	}
}

// Time passes by Advance alone; timers fire when they are due, also after the program was killed or closed.
func TestAdvance(t *testing.T) {
	for how, again := range map[string]func(db *hall.DB, p *aeontest.Program){
		"on":      func(*hall.DB, *aeontest.Program) {},
		"killed":  func(_ *hall.DB, p *aeontest.Program) { p.Kill() },
		"closed":  func(db *hall.DB, _ *aeontest.Program) { _ = db.Close() },
		"settled": func(_ *hall.DB, p *aeontest.Program) { p.Settle(); p.Kill() },
	} {
		t.Run(how, func(t *testing.T) {
			aeontest.Run(t, 5, func(t *testing.T, p *aeontest.Program) {
				ctx := t.Context()
				var printed bytes.Buffer
				db, h := open(t, p, aeon.Stdout(&printed))
				mustNot(t, h.Hold(ctx, "A1", "ann"))
				p.Advance(time.Minute)
				mustNot(t, h.Hold(ctx, "A2", "bob"))
				if again(db, p); how != "on" {
					db, h = open(t, p, aeon.Stdout(&printed))
				}
				var at []time.Duration
				mustNot(t, h.Hire(ctx, hall.NewUsher(db.NewClient(), &guest{heard: func(_ context.Context, what string, _ int64) {
					at = append(at, p.Now().Sub(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
				}})))
				p.Advance(9*time.Minute - 1)
				if list, err := h.Holding(ctx); err != nil || fmt.Sprint(list) != "[A1 A2]" || printed.Len() > 0 {
					t.Errorf("held: %v, %v; printed: %s", list, err, &printed)
				}
				p.Advance(time.Hour)
				if list, err := h.Holding(ctx); err != nil || len(list) > 0 || printed.String() != "A1 is free\nA2 is free\n" || fmt.Sprint(at) != "[10m0s 11m0s]" {
					t.Errorf("held: %v, %v; printed: %s, at %v", list, err, &printed, at)
				}
			})
		})
	}
}

// What was answered survives a kill, and what was issued happens once; what has happened since the last answer may be undone,
// and happens again then.
func TestKill(t *testing.T) {
	const schedules = 40
	lost := 0
	aeontest.Run(t, schedules, func(t *testing.T, p *aeontest.Program) {
		ctx := t.Context()
		db, h := open(t, p)
		c := db.NewClient()
		g, want := hall.NewGuest(c, &guest{}), int64(0)
		mustNot(t, h.Wait(ctx, g))
		for round := range 4 {
			key := aeon.Once(fmt.Sprint("round ", round))
			n, err := h.Release(ctx, seat, 3, key)
			if want += 3; err != nil || n != want {
				t.Fatalf("%d, %v; want %d", n, err, want)
			}
			mustNot(t, h.Both(ctx, db.Hall("a"), db.Hall("b")))
			want += 2
			old := h
			if round == 0 {
				p.Settle()
			}
			p.Kill()
			if _, err := old.Told(ctx); !errors.Is(err, aeon.ErrClosed) || !errors.Is(c.Err(), aeon.ErrClosed) {
				t.Errorf("the killed program: %v, its client: %v", err, c.Err())
			}
			<-c.Done()
			db, h = open(t, p)
			if n, err := h.Release(ctx, seat, 3, key); err != nil || n != want-2 {
				t.Errorf("sent again: %d, %v; want %d", n, err, want-2)
			}
			if n, err := h.Told(ctx); err != nil || n < want-2 {
				t.Errorf("%d, %v; want %d to %d", n, err, want-2, want)
			} else if round == 0 && n < want {
				lost++ // of what had settled, and was told to none
			}
			p.Settle()
			if n, err := h.Told(ctx); err != nil || n != want {
				t.Fatalf("round %d: %d, %v; want %d", round, n, err, want)
			}
			c = db.NewClient()
		}
		// Output that was seen has happened; the answer to the call was, too.
		var printed bytes.Buffer
		mustNot(t, db.Close())
		db, h = open(t, p, aeon.Stdout(&printed))
		mustNot(t, h.Hold(ctx, "A1", "ann"))
		mustNot(t, h.Both(ctx, db.Hall("a"), db.Hall("b")))
		p.Advance(10 * time.Minute)
		p.Kill()
		db, h = open(t, p, aeon.Stdout(&printed))
		if list, err := h.Holding(ctx); err != nil || len(list) > 0 || strings.Count(printed.String(), "free") != 1 {
			t.Errorf("held: %v, %v; printed: %s", list, err, &printed)
		}
	})
	if lost == 0 || lost == schedules {
		t.Errorf("of %d crashes %d have undone something", schedules, lost)
	}
}

// Goroutines may call a program that is in a test, callbacks too.
func TestManyCallers(t *testing.T) {
	aeontest.Run(t, 5, func(t *testing.T, p *aeontest.Program) {
		ctx := t.Context()
		db, h := open(t, p)
		var counts []int64
		mustNot(t, h.Wait(ctx, hall.NewGuest(db.NewClient(), &guest{freed: func(ctx context.Context, _ hall.Seat, count int64, _ hall.Guest) {
			p.Settle() // of all but this callback
			if counts = append(counts, count); count == 100 {
				mustNot(t, h.Note(ctx, "enough"))
			}
		}})))
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 25 {
					if err := release(ctx, h, seat, 1); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		p.Settle()
		if n, err := h.Told(ctx); n != 101 || err != nil || len(counts) != 100 || !slices.IsSorted(counts) {
			t.Errorf("%d, %v; callbacks: %v", n, err, counts)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		err := release(ended, h, seat, 1)
		if failed := new(aeon.Error); !errors.Is(err, context.Canceled) || !errors.As(err, &failed) || failed.Code != "cancelled" || failed.Later {
			t.Error(err)
		}
	})
}

// fake takes what fails a test.
type fake struct {
	testing.TB
	failed   []string
	cleanups []func()
}

func (f *fake) Error(args ...any) { f.failed = append(f.failed, fmt.Sprint(args...)) }
func (f *fake) Errorf(format string, args ...any) {
	f.failed = append(f.failed, fmt.Sprintf(format, args...))
}
func (f *fake) Fatal(args ...any) { f.Error(args...) }
func (f *fake) Cleanup(c func())  { f.cleanups = append(f.cleanups, c) }
func (f *fake) Output() io.Writer { return io.Discard }

func TestUnheardFailuresFailTheTest(t *testing.T) {
	for _, taken := range []bool{false, true} {
		ctx := t.Context()
		f := &fake{TB: t}
		p := aeontest.New(f, 1)
		p.Kill()
		if len(f.failed) != 1 || !strings.Contains(f.failed[0], "no program is open") {
			t.Errorf("Kill of nothing: %q", f.failed)
		}
		f.failed = nil
		db, h := open(t, p)
		for _, opts := range [][]aeon.Option{{p.Option()}, {p.Option(), aeon.InMemory()}} {
			if _, err := hall.Open(ctx, opts...); err == nil || !strings.Contains(err.Error(), "test") {
				t.Errorf("opened twice: %v", err)
			}
		}
		mustNot(t, h.Spoil(ctx))
		c := db.NewClient()
		mustNot(t, h.Wait(ctx, hall.NewGuest(c, &guest{freed: func(context.Context, hall.Seat, int64, hall.Guest) { panic("oh no") }})))
		mustNot(t, release(ctx, h, seat, 1))
		p.Settle()
		list := []string{"no caller has awaited Hall.fail, which has failed: spoilt", "the callback Guest.freed has panicked: oh no"}
		if taken {
			got := p.Failures()
			if slices.Sort(got); !slices.Equal(got, list) {
				t.Errorf("failures: %q", got)
			}
			list = nil
		}
		for _, c := range f.cleanups {
			c()
		}
		if slices.Sort(f.failed); !slices.Equal(f.failed, list) {
			t.Errorf("the test has failed with %q", f.failed)
		}
	}
}
