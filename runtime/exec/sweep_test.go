package exec

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/store"
)

// heldJournal holds up one Append, the one after a send to next, until letGo is closed.
type heldJournal struct {
	*store.Store
	next  chan struct{} // has one: the next is held up
	letGo chan struct{}
}

func (j *heldJournal) Append(b store.Batch) store.Position {
	select {
	case <-j.next:
		<-j.letGo
	default:
	}
	return j.Store.Append(b)
}

// Requests whose outcomes have gone do not run again. The watermark up to which requests of a session are over never goes
// back, in whatever order the batches of several requests get into the journal.
func TestTheWatermarkOfASessionNeverGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := replicatest.New()
		j := &heldJournal{Store: openStore(t, engine, nil), next: make(chan struct{}, 1), letGo: make(chan struct{})}
		s, err := Recover(Config{Store: j.Store, Classes: testClasses, Log: quiet, journal: j})
		mustNot(t, err)
		n := &node{t: t, store: j.Store, sys: s, cl: s.Client()}
		_, list := openBank(t, s, "main", 2)
		x := n.begin("phone")
		ask := func(seq, ack uint64, to order.Ref) {
			if _, err := deposit(x, seq, ack, to, 1); err != nil {
				t.Error(err)
			}
		}
		seq := uint64(0)
		for range outbox.SweepMin {
			seq++
			ask(seq, 0, list[0].Ref)
		}
		seq++
		slow, early, late := seq, seq/2, seq-1
		j.next <- struct{}{}
		var end sync.WaitGroup
		end.Go(func() { ask(slow, early, list[1].Ref) })
		synctest.Wait()
		for range 3 * outbox.SweepMin {
			seq++
			ask(seq, late, list[0].Ref)
		}
		close(j.letGo)
		end.Wait()
		left := engine.Crash(all)
		n.close()
		n = &node{t: t, engine: left}
		n.start(left)
		to := n.sys.Resolve(list[0].Ref.ID())
		before, err := accountRef{to}.Balance(n.cl)
		mustNot(t, err)
		x = n.begin("phone")
		for again := uint64(1); again <= late; again++ {
			if _, err := deposit(x, again, 0, to, 1); err != nil && !errors.Is(err, event.ErrAcknowledged) {
				t.Errorf("request %d, again: %v", again, err)
			}
		}
		if after, err := (accountRef{to}).Balance(n.cl); err != nil || after != before {
			t.Errorf("requests that are over have run again: the balance was %d, and is %d, %v", before, after, err)
		}
		n.close()
	})
}

// An acknowledgement that a crash takes back costs nothing but space. The request does not run again. Its outcome goes
// with others, however often a crash comes before there are enough of them.
func TestAForgottenAcknowledgementCostsSpaceOnly(t *testing.T) {
	n := startNode(t, Config{})
	_, list := openBank(t, n.sys, "main", 1)
	to, seq := list[0].Ref, uint64(0)
	most := 0
	for range 20 {
		x := n.begin("phone")
		for range outbox.SweepMin / 4 {
			seq++
			got, err := deposit(x, seq, seq-1, to, 1)
			if err != nil || got != 1000+int64(seq) {
				t.Fatalf("request %d: %d, %v", seq, got, err)
			}
		}
		most = max(most, n.rows(store.Outcomes))
		n.crash(all)
		to, x = n.sys.Resolve(to.ID()), n.begin("phone")
		for again := uint64(1); again <= seq; again++ {
			if got, err := deposit(x, again, 0, to, 1); !errors.Is(err, event.ErrAcknowledged) && (err != nil || got != 1000+int64(again)) {
				t.Fatalf("request %d, again: %d, %v", again, got, err)
			}
		}
	}
	if most > outbox.SweepMin+1 || most < outbox.SweepMin/2 {
		t.Errorf("there were up to %d outcomes, of which one was needed", most)
	}
	n.close()
}
