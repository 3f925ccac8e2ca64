package exec_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// The tests of this file are outside of package exec, as generated code is: the package's own frames
// are left out of call paths.

type clerk struct {
	order.Self
	next order.Ref
}

var (
	classClerk  = exec.Class{Shape: order.Shape{Package: "p", Name: "Clerk", Fields: []order.Field{{Name: "next", Owning: true}}, SelfRecursive: true}}
	methodPass  = exec.Method{Class: &classClerk, Name: "pass", Effects: order.Effects{Self: order.Write, Below: order.Any, BelowMode: order.Write, Touches: []order.ClassMode{{Shape: &classClerk.Shape, Mode: order.Write}}}}
	methodClerk = exec.Method{Class: &classClerk, Name: "Clerk", Effects: order.Effects{Self: order.Write}}
)

func init() {
	classClerk.New = func() order.Object { return &clerk{} }
	methodClerk.Run = func(cx *exec.Cx, self any, _ order.Args) { self.(*clerk).build(cx) }
	methodPass.Run = func(cx *exec.Cx, self any, args order.Args) { self.(*clerk).pass(cx, args.(bool)) }
}

func (c *clerk) build(cx *exec.Cx) {
	n := exec.New[*clerk](cx, &classClerk)
	exec.Constructed(cx)
	undo.FieldOwned(cx.UndoLog(), &c.Self, 0, &c.next, n.Self.Ref())
	c.next = n.Self.Ref()
}

func (c *clerk) pass(cx *exec.Cx, async bool) {
	if c.next.IsNull() {
		c.refuse(cx)
	}
	if async {
		exec.Async(cx, c.next, &methodPass, async)
		return
	}
	n, _ := exec.Enter[*clerk](cx, c.next, &methodPass)
	n.pass(cx, async)
	cx.Leave()
}

func (c *clerk) refuse(cx *exec.Cx) { exec.Abort(cx, "nobody left") }

func TestFailurePathLeadsAcrossActors(t *testing.T) {
	s := exec.Open(exec.Config{Log: slog.New(slog.DiscardHandler), BranchWorkers: 2})
	defer s.Close()
	cl := s.Client()
	r, err := cl.New(&classClerk, &methodClerk, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, async := range []bool{false, true} {
		err := cl.Await(r, &methodPass, async)
		var abort *event.AbortError
		if !errors.As(err, &abort) || abort.Msg != "nobody left" || abort.Fault {
			t.Fatalf("async %v: %v", async, err)
		}
		if pos := abort.Pos(); !strings.HasSuffix(pos.File, "position_test.go") || !strings.HasSuffix(pos.Func, "refuse") {
			t.Errorf("async %v: position %v", async, pos)
		}
		if n := strings.Count(abort.Trace(), "(*clerk).pass"); n != 2 {
			t.Errorf("async %v: %d calls of pass in the path, want one per actor\n%s", async, n, abort.Trace())
		}
		if strings.Contains(abort.Trace(), "runtime/exec.") {
			t.Errorf("async %v: the path shows the runtime\n%s", async, abort.Trace())
		}
	}
}
