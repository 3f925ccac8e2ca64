package exec

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/runtime/order"
)

// TestReadersOfOneIssuerAgreeOnAnOrder lets events that hold one issuer together, as they only read it,
// issue sub-events to two targets each. Both targets must get them in the order of the commits.
func TestReadersOfOneIssuerAgreeOnAnOrder(t *testing.T) {
	s, cl := testSystem(t, Config{})
	read := methodAlone
	read.Name, read.Self, read.ReadOnly = "read", order.Read, true
	var logs [2]struct {
		sync.Mutex
		got []int
	}
	issuer := newDesk(t, cl)
	targets := []order.Ref{newDesk(t, cl).Ref, newDesk(t, cl).Ref}
	const clients, rounds = 8, 400
	var group sync.WaitGroup
	for c := range clients {
		cl := s.Client()
		group.Go(func() {
			for r := range rounds {
				n := c*rounds + r
				mustNot(t, cl.Await(issuer.Ref, &read, work(func(cx *Cx, _ *desk) {
					for i, target := range targets {
						cx.Emit(target, &methodAlone, work(func(*Cx, *desk) {
							logs[i].Lock()
							defer logs[i].Unlock()
							logs[i].got = append(logs[i].got, n)
						}))
					}
				})))
			}
		})
	}
	group.Wait()
	cl.Settle()
	if len(logs[0].got) != clients*rounds || !slices.Equal(logs[0].got, logs[1].got) {
		for i := range logs[0].got {
			if logs[0].got[i] != logs[1].got[i] {
				t.Fatalf("of %d events, number %d is %d at one target and %d at the other", len(logs[0].got), i, logs[0].got[i], logs[1].got[i])
			}
		}
		t.Fatalf("%d and %d sub-events ran, not %d", len(logs[0].got), len(logs[1].got), clients*rounds)
	}
}

// yielding keeps the lines of a log, and lets other goroutines run at each.
type yielding struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
}

func (h *yielding) Enabled(context.Context, slog.Level) bool { return true }

func (h *yielding) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	h.lines = append(h.lines, r.Message)
	h.mu.Unlock()
	runtime.Gosched()
	return nil
}

// An event commits in one step: no line of another event, of any actor, is among its lines of the log.
func TestLinesOfTheLogComeOutInOneStep(t *testing.T) {
	log := &yielding{}
	s, cl := testSystem(t, Config{Log: slog.New(log)})
	const clients, rounds = 8, 200
	var group sync.WaitGroup
	for c := range clients {
		d, cl := newDesk(t, cl), s.Client()
		group.Go(func() {
			for r := range rounds {
				mustNot(t, d.await(cl, func(cx *Cx, _ *desk) {
					for range 2 {
						cx.Log(fmt.Sprint(c, " ", r))
					}
				}))
			}
		})
	}
	group.Wait()
	if len(log.lines) != 2*clients*rounds {
		t.Fatalf("the log has %d lines, not %d", len(log.lines), 2*clients*rounds)
	}
	for i := 0; i < len(log.lines); i += 2 {
		if log.lines[i] != log.lines[i+1] {
			t.Fatalf("lines %d and %d of the log are of two events", i, i+1)
		}
	}
}
