package driver_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/replica"
)

// A leader is asked whether it leads, and the answers of the others are on their way while one of them is removed. It confirms that as soon as a majority
// of those that remain has answered, and not before: at once if it is alone.
func TestAQuestionOutlivesAChangeOfMembers(t *testing.T) {
	for _, before := range []int{2, 3} {
		t.Run(fmt.Sprintf("%d members", before), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lost atomic.Bool
				cfg := quick(three()[:before]...)
				cfg.Loses = func(m replica.Message) bool { return lost.Load() && m.Raft.GetType().String() == "MsgHeartbeatResp" }
				c := open(t, cfg)
				id, e := lead(t, c)
				if err := put(e, "a", "1"); err != nil {
					t.Fatal(err)
				}
				lost.Store(true)
				asked := make(chan error, 1)
				go func() { asked <- e.Confirm() }()
				synctest.Wait()
				if len(asked) > 0 {
					t.Fatalf("the question is answered by the leader alone: %v", <-asked)
				}
				if before == 2 {
					follow(t, c, id, id)
				} else {
					follow(t, c, id, id, id%3+1)
					synctest.Wait()
					if len(asked) > 0 {
						t.Fatalf("the question is answered by one of two: %v", <-asked)
					}
					lost.Store(false)
				}
				select {
				case err := <-asked:
					if err != nil {
						t.Error(err)
					}
				case <-time.After(20 * time.Second):
					t.Fatal("the question is not answered")
				}
				if err := e.Confirm(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
