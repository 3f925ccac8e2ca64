package exec

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/callpath"
	"github.com/aeon-lang/aeon/runtime/event"
)

// watchFor fails the test if the system stops progressing, and checks the graph at the end.
func watchFor(t testing.TB, s *System) (finish func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		s.Watch(5*time.Second, stop, func(waits string) { panic("no progress:\n" + waits) })
	}()
	return func() {
		close(stop)
		<-done
		s.Close()
		if err := s.host.Graph.Validate(); err != nil {
			t.Error(err)
		}
		if n := s.Waiting(); n != 0 {
			t.Errorf("%d events are still waiting", n)
		}
	}
}

func TestTransferMovesMoneyOrNothing(t *testing.T) {
	s := Open(Config{})
	defer watchFor(t, s)()
	cl := s.Client()
	b, _ := openBank(t, s, "main", 3)
	mustNot(t, b.Transfer(cl, "a0", "a1", 300))
	err := b.Transfer(cl, "a0", "a1", 5000)
	if err == nil || err.Error() != "not enough money" {
		t.Fatalf("overdraft: %v", err)
	}
	if sum, err := b.Audit(cl); err != nil || sum != 3000 {
		t.Errorf("audit: %d, %v", sum, err)
	}
	if st := s.Stats(); st.Aborts != 1 || st.Withdrawals != 0 {
		t.Errorf("stats: %+v", st)
	}
}

// Each await of a failed event gets its own error, as the fields of an error can be written.
func TestEachAwaitGetsItsOwnError(t *testing.T) {
	s := Open(Config{})
	defer watchFor(t, s)()
	cl := s.Client()
	b, _ := openBank(t, s, "main", 3)
	await := func(f *Future) *event.AbortError {
		var e *event.AbortError
		if err := f.Wait(); !errors.As(err, &e) {
			t.Fatalf("the overdraft has ended with %v", err)
		}
		return e
	}
	f := cl.Issue(b.Ref, &methodTransfer, &transferArgs{from: "a0", to: "a1", amount: 5000})
	_ = f.Wait()
	futureOf(f).err.(*event.AbortError).Path = []callpath.Frame{{File: "bank.aeon", Line: 7}} // code of this package has no places
	first := await(f)
	want := *first
	first.Msg = "changed"
	first.Path[0].Line = -1
	if got := await(f); got.Msg != want.Msg || got.Pos().Line != 7 {
		t.Errorf("the next one gets %q at %v, as the first has changed the error", got.Msg, got.Pos())
	}
}

func TestConcurrentTransfersConserveMoney(t *testing.T) {
	s := Open(Config{})
	defer watchFor(t, s)()
	b, list := openBank(t, s, "main", 10)
	other, list2 := openBank(t, s, "other", 10)
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			cl := s.Client()
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			for range 500 {
				i, j := rng.IntN(10), rng.IntN(10)
				switch rng.IntN(4) {
				case 0:
					_ = cl.Await(list[i].Ref, &methodPay, &payArgs{to: list2[j], amount: 1})
				case 1:
					_ = cl.Await(list2[i].Ref, &methodPay, &payArgs{to: list[j], amount: 1})
				case 2:
					_ = b.Transfer(cl, "a"+itoa(i), "a"+itoa(j), 1)
				default:
					if i == 0 {
						if sum, err := b.Audit(cl); err != nil || sum < 0 {
							t.Errorf("audit: %d %v", sum, err)
						}
					}
					_ = other.Transfer(cl, "a"+itoa(i), "a"+itoa(j), 1)
				}
			}
		})
	}
	wg.Wait()
	cl := s.Client()
	s1, _ := b.Audit(cl)
	s2, _ := other.Audit(cl)
	if s1+s2 != 20000 {
		t.Errorf("sum is %d", s1+s2)
	}
	t.Logf("%+v", s.Stats())
}
