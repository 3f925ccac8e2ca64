package exec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/snapshot"
)

// Snapshots of the node and of the bank are taken while clients transfer money. Each has all
// of the money, and no half of a transfer.
func TestSnapshotsAreConsistentWhileEventsRun(t *testing.T) {
	n := startNode(t, Config{})
	b, _ := openBank(t, n.sys, "one", 10)
	ctx, to := context.Background(), snapshot.Dir(t.TempDir())
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			r, cl := rand.New(rand.NewPCG(uint64(i), 1)), n.sys.Client()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := b.Transfer(cl, fmt.Sprint("a", r.IntN(10)), fmt.Sprint("a", r.IntN(10)), int64(r.IntN(5))); err != nil && !isAbort(err) {
					t.Error(err)
					return
				}
			}
		})
	}
	var list []*snapshot.Saved
	for i := range 10 {
		take := n.archive().Snapshot
		if i%2 == 1 {
			take = func(ctx context.Context, to snapshot.Target) (*snapshot.Saved, error) {
				return n.archive().SnapshotActor(ctx, to, b.Ref)
			}
		}
		s, err := take(ctx, to)
		mustNot(t, err)
		list = append(list, s)
	}
	close(stop)
	wg.Wait()
	n.close()
	different := map[int64]bool{}
	for _, s := range list {
		var rows taken
		mustNot(t, snapshot.Read(ctx, to, &s.Manifest, rows.keep))
		back := elsewhere(t, rows)
		if sum := back.audit("one"); sum != 10_000 {
			t.Errorf("%s has %d", s.Name, sum)
		}
		balance, err := accountAt(t, back, "one", "a0").Balance(back.cl)
		mustNot(t, err)
		different[balance] = true
		back.close()
	}
	if len(different) < 2 {
		t.Error("all snapshots show the same: nothing ran beside them")
	}
	if last := list[len(list)-1]; last.Kind != snapshot.Actor || last.Actor != "bank.Bank/one" || last.Actors != 11 || last.Number != 10 {
		t.Errorf("the last manifest is %+v", last.Manifest)
	}
}

func isAbort(err error) bool {
	var a *event.AbortError
	return errors.As(err, &a)
}

func TestSnapshotNeedsAStore(t *testing.T) {
	s, _ := testSystem(t, Config{})
	if _, err := s.Archive(); !errors.Is(err, ErrNoStore) {
		t.Errorf("Archive: %v", err)
	}
}
