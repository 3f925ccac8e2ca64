package exec

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/value"
)

// A request whose chain is left to the next opening is not over. A repetition that gets its target's lock while the
// system is closed does not perform the request once more.
func TestARequestThatIsLeftIsNotPerformedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, Config{Clock: sched.RealClock{}, SessionExpiry: time.Millisecond})
		a, kid := n.parent()
		hold := func(r wref) (leave chan struct{}) {
			leave = make(chan struct{})
			n.cl.Issue(r.Ref, &methodLocal, &wargs{steps: []wstep{{op: wPause, hook: func() { <-leave }}}})
			synctest.Wait()
			return leave
		}
		leaveKid := hold(kid)
		n.run(a, &methodLocal, wstep{op: wEmit, sub: []wstep{{op: wAdd, n: 10}}}) // begins, and waits for that
		x := n.begin("phone")
		var errs [2]error
		var end sync.WaitGroup
		ask := func(i int) {
			end.Go(func() {
				errs[i] = x.Await(1, 0, a.Ref, &methodLocal, &wargs{steps: []wstep{{op: wAdd, n: 1}, {op: wTail, sub: []wstep{{op: wAdd, n: 100}}}}})
			})
			synctest.Wait()
		}
		ask(0)
		leaveA := hold(a)
		ask(1)
		end.Go(n.sys.Close)
		synctest.Wait()
		close(leaveKid)
		synctest.Wait()
		time.Sleep(time.Second)
		if _, err := n.sys.Session("phone"); err != nil {
			t.Error(err) // its chain goes on
		}
		close(leaveA)
		end.Wait()
		for i, err := range errs {
			if err != event.ErrPostponed {
				t.Errorf("%d has ended with %v", i, err)
			}
		}
		n.reopen()
		x = n.begin("phone")
		mustNot(t, x.Await(1, 0, n.again(a).Ref, &methodLocal, &wargs{}))
		n.cl.Settle()
		if x, y := n.value(n.again(a)), n.value(n.again(kid)); x != 1 || y != 110 {
			t.Errorf("the values are %d and %d", x, y)
		}
		n.close()
	})
}

// A client that awaits a chain which is left to the next opening gets ErrPostponed when the first steps are durable, since
// the error says that they have happened; if the disk fails it gets an *UnknownError. The chain is never a dead letter.
func TestAChainThatIsLeftIsToldWhenItIsDurable(t *testing.T) {
	onward := []wstep{{op: wAdd, n: 1}, {op: wTail, sub: []wstep{{op: wAdd, n: 100}}}}
	for name, ask := range map[string]func(n *node, a wref, x *Session) error{
		"awaited": func(n *node, a wref, _ *Session) error { return n.cl.Await(a.Ref, &methodLocal, &wargs{steps: onward}) },
		"issued": func(n *node, a wref, _ *Session) error {
			return n.cl.Issue(a.Ref, &methodLocal, &wargs{steps: onward}).Wait()
		},
		"a request": func(_ *node, a wref, x *Session) error {
			return x.Await(1, 0, a.Ref, &methodLocal, &wargs{steps: onward})
		},
		"a repetition": func(_ *node, a wref, x *Session) error {
			return x.Await(2, 0, a.Ref, &methodLocal, &wargs{steps: onward})
		},
	} {
		for _, fails := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, fails: %v", name, fails), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					t.Cleanup(writtenArgs.Clear)
					e := &stalled{Engine: replicatest.New()}
					st := openStore(t, e, func(error) {})
					s, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet})
					mustNot(t, err)
					n := &node{t: t, store: st, sys: s, cl: s.Client()}
					a, kid := n.parent()
					x := n.begin("phone")
					leave := make(chan struct{})
					n.cl.Issue(kid.Ref, &methodLocal, &wargs{steps: []wstep{{op: wPause, hook: func() { <-leave }}}})
					synctest.Wait()
					n.run(a, &methodLocal, wstep{op: wEmit}) // begins, and waits for that
					goOn := e.stall()
					var told atomic.Bool
					var end sync.WaitGroup
					if name == "a repetition" {
						end.Go(func() { _ = ask(n, a, x) })
						synctest.Wait()
					}
					end.Go(func() {
						err := ask(n, a, x)
						if unknown := new(event.UnknownError); !fails && err != event.ErrPostponed || fails && !errors.As(err, &unknown) {
							t.Errorf("it has ended with %v", err)
						}
						told.Store(true)
					})
					n.cl.Send(a.Ref, &methodLocal, &wargs{steps: onward})
					synctest.Wait()
					end.Go(n.sys.Close)
					synctest.Wait()
					close(leave)
					synctest.Wait()
					if told.Load() {
						t.Error("told before the sync")
					}
					if fails {
						e.Fail(errors.New("no space left"))
					}
					goOn()
					end.Wait()
					if got := n.sys.DeadLetters(); len(got) > 0 {
						t.Errorf("a chain that goes on is said to have failed: %v", got)
					}
					_ = st.Close()
				})
			})
		}
	}
}

// A repetition that waits for a request learns that its outcome is unknown, if the store fails.
func TestARepetitionOfAnUnknownOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &stalled{Engine: replicatest.New()}
		st := openStore(t, e, func(error) {})
		s, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet})
		mustNot(t, err)
		_, list := openBank(t, s, "main", 1)
		x, err := s.BeginSession("phone")
		mustNot(t, err)
		goOn := e.stall()
		var errs [2]error
		var end sync.WaitGroup
		for i := range errs {
			end.Go(func() { _, errs[i] = deposit(x, 1, 0, list[0].Ref, 5) })
			synctest.Wait()
		}
		e.Fail(errors.New("no space left"))
		goOn()
		end.Wait()
		for i, err := range errs {
			if unknown := new(event.UnknownError); !errors.As(err, &unknown) {
				t.Errorf("%d: %v", i, err)
			}
		}
		s.Close()
		_ = st.Close()
	})
}

// deepArgs take a result that cannot be stored.
type deepArgs struct{ depositArgs }

func (x *deepArgs) EncodeResult(e *codec.Encoder) { value.Fail(codec.MsgDepth) }

// A result that nests too deeply to be stored fails its request, which is an outcome like any other.
func TestAResultThatCannotBeStored(t *testing.T) {
	n := startNode(t, Config{})
	_, list := openBank(t, n.sys, "main", 1)
	deep := methodDeposit
	deep.Run = func(cx *Cx, self any, args order.Args) { self.(*account).deposit(cx, args.(*deepArgs).amount) }
	x := n.begin("phone")
	for range 2 {
		err := x.Await(1, 0, list[0].Ref, &deep, &deepArgs{depositArgs{amount: 5}})
		if abort := new(event.AbortError); !errors.As(err, &abort) || abort.Msg != codec.MsgDepth || !abort.Fault {
			t.Errorf("it has ended with %v", err)
		}
	}
	if got, err := list[0].Balance(n.cl); err != nil || got != 1000 {
		t.Errorf("the balance is %d, %v", got, err)
	}
	n.close()
}

// unsentArgs cannot be encoded.
type unsentArgs struct{ depositArgs }

func (x *unsentArgs) Encode(e *codec.Encoder) { value.Fail(codec.MsgDepth) }

// An argument that nests too deeply fails a call with a key, which needs its bytes.
func TestArgumentsThatHaveNoFingerprint(t *testing.T) {
	n := startNode(t, Config{})
	_, list := openBank(t, n.sys, "main", 1)
	_, err := n.sys.Perform(&Call{Target: list[0].Ref, Method: &methodDeposit, Args: &unsentArgs{depositArgs{amount: 5}}, Key: "once"})
	if abort := new(event.AbortError); !errors.As(err, &abort) || abort.Msg != codec.MsgDepth || !abort.Fault {
		t.Errorf("it has ended with %v", err)
	}
	n.close()
}

// The name of a session has to fit into keys.
func TestANameOfASessionThatIsTooLong(t *testing.T) {
	n := startNode(t, Config{})
	_, list := openBank(t, n.sys, "main", 1)
	long := strings.Repeat("x", row.SessionNameMax)
	if _, err := n.sys.BeginSession(long + "x"); err == nil || !strings.Contains(err.Error(), "65535") {
		t.Errorf("one byte more: %v", err)
	}
	if _, err := deposit(n.begin(long), 1, 0, list[0].Ref, 5); err != nil {
		t.Error(err)
	}
	n.reopen()
	if got, err := deposit(n.begin(long), 1, 0, n.sys.Resolve(list[0].ID()), 5); err != nil || got != 1005 {
		t.Errorf("the request gave %d, %v", got, err)
	}
	n.close()
}
