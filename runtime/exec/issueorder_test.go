package exec

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// The events that a client issues to one actor take effect in the order of issue, awaited or not, also where an
// attempt of one of them is withdrawn. Every third event reaches for an actor that it did not enter with.
func TestIssueOrder(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			s, cl := testSystem(t, Config{Scheduled: seed > 3, Seed: seed})
			a, b := newDesk(t, cl), newDesk(t, cl)
			const events = 60
			var futures []*Future
			for n := range events {
				x := work(func(cx *Cx, d *desk) {
					if n%3 == 1 {
						b.do(cx, func(cx *Cx, d *desk) { d.setN(cx, int64(n)) })
					}
					if last := d.names.Lookup("last"); last != int64(n) {
						Abort(cx, fmt.Sprintf("event %d ran after %d others", n, last))
					}
					undo.MapSet(cx.UndoLog(), &d.Self, 5, &d.names, "last", int64(n)+1)
				})
				switch n % 7 {
				case 3:
					mustNot(t, cl.Await(a.Ref, &methodWork, x))
				case 5:
					cl.Send(a.Ref, &methodWork, x)
				default:
					futures = append(futures, cl.Issue(a.Ref, &methodWork, x))
				}
			}
			for _, f := range futures {
				mustNot(t, f.Wait())
			}
			if places, lines := clientOf(cl).lines.Counts(); places != 0 || lines != 0 {
				t.Errorf("%d places are not over, in %d lines", places, lines)
			}
			if list := s.DeadLetters(); len(list) != 0 {
				t.Errorf("dead letters: %v", list)
			}
		})
	}
}

// Events to other actors and events of other clients do not wait for the line. A cancelled event leaves the line.
func TestIssueOrderIsOfOneClientAndTarget(t *testing.T) {
	s, cl := testSystem(t, Config{})
	a, b := newDesk(t, cl), newDesk(t, cl)
	inside, leave := make(chan struct{}), make(chan struct{})
	plus := work(func(cx *Cx, d *desk) { d.setN(cx, d.n+1) })
	first := cl.Issue(a.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
		close(inside)
		<-leave
		plus(cx, d)
	}))
	<-inside
	second := cl.Issue(a.Ref, &methodAlone, plus)
	third := cl.Issue(a.Ref, &methodAlone, plus)
	mustNot(t, cl.Await(b.Ref, &methodAlone, plus))
	second.Cancel()
	if err := second.Wait(); err == nil || err.Error() != "cancelled" {
		t.Errorf("the cancelled event ended with %v", err)
	}
	other := s.Client().Issue(a.Ref, &methodAlone, plus)
	close(leave)
	for _, f := range []*Future{first, third, other} {
		mustNot(t, f.Wait())
	}
	if n := a.see(t, cl); n != 3 {
		t.Errorf("%d events have taken effect, not 3", n)
	}
}

// The next of a line waits until the event before it is committed, and not for the disk.
func TestIssueOrderDoesNotWaitForTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &stalled{Engine: replicatest.New()}
		st, err := store.Open(disk, store.Options{Program: "test", Partitions: 4, Log: quiet})
		mustNot(t, err)
		s, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet})
		mustNot(t, err)
		cl := s.Client()
		d := newDesk(t, cl)
		goOn := disk.stall()
		var ran []int
		var futures []*Future
		for n := range 5 {
			futures = append(futures, cl.Issue(d.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
				d.setN(cx, int64(n))
				ran = append(ran, n)
			})))
		}
		synctest.Wait()
		if !slices.Equal(ran, []int{0, 1, 2, 3, 4}) {
			t.Errorf("while the disk stalls, these have run: %v", ran)
		}
		for n, f := range futures {
			select {
			case <-futureOf(f).done:
				t.Errorf("event %d was answered before it was durable", n)
			default:
			}
		}
		goOn()
		for _, f := range futures {
			mustNot(t, f.Wait())
		}
		s.Close()
		mustNot(t, st.Close())
	})
}
