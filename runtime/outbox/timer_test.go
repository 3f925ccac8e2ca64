package outbox

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"pgregory.net/rapid"
)

// modelTimer is what a timer is to the model: a list that is searched.
type modelTimer struct {
	issuer int
	name   string
	every  time.Duration
	due    time.Time
	set    int // order in which it was set
	busy   int // firings that have not ended
	id     int
}

// TestTimersAgreeWithAList compares Timers in simulated time with a list: what fires, when and in which order, what a name means, and
// when no one-shot timer is left.
func TestTimersAgreeWithAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := sched.NewSimClock(time.Unix(0, 0))
		var ts Timers[int]
		var fired []string
		var under []*Timer[int] // firings that have not ended
		ts.Open(TimersConfig[int]{Clock: clock, Settle: func() {}, Fire: func(x *Timer[int]) {
			fired = append(fired, fmt.Sprint(x.Call, "/", x.Ticks))
			under = append(under, x)
		}})
		issuers := make([]*order.Handle, 3)
		for i := range issuers {
			issuers[i] = &order.Handle{ID: event.ActorID{Serial: uint64(i + 1)}}
		}
		var model []*modelTimer
		ticks := map[int]int{}
		drop := func(gone func(m *modelTimer) bool) { model = slices.DeleteFunc(model, gone) }
		oneShots := func() (n int) { // those that fire now included
			for _, m := range model {
				if m.every == 0 {
					n++
				}
			}
			for _, x := range under {
				if x.Every == 0 && !slices.ContainsFunc(model, func(m *modelTimer) bool { return m.id == x.Call }) {
					n++
				}
			}
			return n
		}
		last := 0
		name := rapid.SampledFrom([]string{"", "a", "b"})
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				i, m := rapid.IntRange(0, 2).Draw(t, "issuer"), &modelTimer{name: name.Draw(t, "name")}
				delay := time.Duration(rapid.IntRange(0, 5).Draw(t, "delay"))
				last++
				m.issuer, m.set, m.id, m.due = i, last, last, clock.Now().Add(delay)
				if rapid.Bool().Draw(t, "periodic") && m.name != "" {
					m.every = time.Duration(rapid.IntRange(1, 4).Draw(t, "every"))
				}
				if m.name != "" {
					drop(func(o *modelTimer) bool { return o.issuer == i && o.name == m.name })
				}
				model = append(model, m)
				ts.Set(&Timer[int]{Issuer: issuers[i], Name: m.name, Every: m.every, Due: sched.After(clock.Now(), delay), Call: m.id})
			},
			"cancel": func(t *rapid.T) {
				i, n := rapid.IntRange(0, 2).Draw(t, "issuer"), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
				drop(func(o *modelTimer) bool { return o.issuer == i && o.name == n })
				ts.Cancel(issuers[i], n)
			},
			"delete the issuer": func(t *rapid.T) {
				i := rapid.IntRange(0, 2).Draw(t, "issuer")
				drop(func(o *modelTimer) bool { return o.issuer == i && (o.every > 0 || o.busy == 0) })
				ts.Forget(issuers[i])
			},
			"advance": func(t *rapid.T) {
				clock.Set(clock.Now().Add(time.Duration(rapid.IntRange(0, 6).Draw(t, "by"))))
				now, before := clock.Now(), len(fired)
				var want []string
				for {
					var first *modelTimer
					for _, m := range model {
						waits := m.every > 0 || m.busy == 0
						if waits && !m.due.After(now) && (first == nil || m.due.Before(first.due) || m.due.Equal(first.due) && m.set < first.set) {
							first = m
						}
					}
					if first == nil {
						break
					}
					if first.every > 0 {
						for !first.due.After(now) {
							first.due = first.due.Add(first.every)
						}
						if first.busy > 0 {
							continue // it coalesces with the tick before
						}
					}
					first.busy++
					ticks[first.id]++
					want = append(want, fmt.Sprint(first.id, "/", ticks[first.id]))
				}
				ts.FireDue(now)
				if !slices.Equal(fired[before:], want) {
					t.Fatalf("at %v fired %v, want %v", now, fired[before:], want)
				}
			},
			"end a firing": func(t *rapid.T) {
				if len(under) == 0 {
					return
				}
				k := rapid.IntRange(0, len(under)-1).Draw(t, "firing")
				x := under[k]
				under = slices.Delete(under, k, k+1)
				for _, m := range model {
					if m.id == x.Call {
						m.busy--
					}
				}
				forNothing := rapid.Bool().Draw(t, "for nothing")
				drop(func(m *modelTimer) bool { return m.id == x.Call && (m.every == 0 || forNothing) })
				if forNothing {
					ts.Drop(x)
				}
				ts.Ended(x)
			},
			"": func(t *rapid.T) {
				named, issuersSeen := 0, map[int]bool{}
				for _, m := range model {
					if m.name != "" {
						named++
					}
					issuersSeen[m.issuer] = true
				}
				got := ts.Counts()
				if got.Named != named || got.Issuers != len(issuersSeen) || got.OneShots != oneShots() {
					t.Fatalf("the counts are %+v; the list has %d names, %d issuers, %d one-shot timers", got, named, len(issuersSeen), oneShots())
				}
				if (ts.OneShots() == nil) != (got.OneShots == 0) {
					t.Fatal("a waiter for the last one-shot timer is told otherwise")
				}
				for i, h := range issuers {
					if h.Has(order.MarkTimed) != issuersSeen[i] {
						t.Fatalf("issuer %d is marked %v", i, h.Has(order.MarkTimed))
					}
				}
			},
		})
	})
}
