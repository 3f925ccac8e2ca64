package activation

import (
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// box is an actor as codegen would write it.
type box struct {
	order.Self
	n     int64
	inner order.Ref // owned
}

var (
	classBox   = Class{Shape: order.Shape{Package: "p", Name: "Box", Fields: []order.Field{{Name: "n"}, {Name: "inner", Owning: true}}, SelfRecursive: true}}
	methodBox  = Method{Class: &classBox, Name: "Box", Effects: order.Effects{Self: order.Write}}
	methodAdd  = Method{Class: &classBox, Name: "add", Effects: order.Effects{Self: order.Write}}
	methodFill = Method{Class: &classBox, Name: "fill", Effects: order.Effects{Self: order.Write, Below: order.Any, BelowMode: order.Write, Touches: []order.ClassMode{{Shape: &classBox.Shape, Mode: order.Write}}}}
)

func init() {
	classBox.New = func() order.Object { return &box{} }
	methodBox.Run = func(*Cx, any, order.Args) {}
	methodAdd.Run = func(cx *Cx, self any, _ order.Args) { self.(*box).add(cx) }
	methodFill.Run = func(cx *Cx, self any, args order.Args) { self.(*box).fill(cx, args.(string)) }
}

func (b *box) add(cx *Cx) {
	undo.Field(cx.UndoLog(), &b.Self, 0, &b.n)
	b.n++
	cx.Print("add")
}

// fill makes a box within this one, has it add, and adds itself. It fails then if there is a reason.
func (b *box) fill(cx *Cx, why string) {
	in := New[*box](cx, &classBox)
	Constructed(cx)
	undo.FieldOwned(cx.UndoLog(), &b.Self, 1, &b.inner, in.Self.Ref())
	b.inner = in.Self.Ref()
	Async(cx, b.inner, &methodAdd, nil)
	cx.Print("fill")
	b.add(cx)
	Require(cx, why == "", why)
}

// runs has what runs need, and no system around.
type runs struct {
	t        *testing.T
	host     order.Host
	workers  sched.Workers
	ids      event.Serials
	reroutes atomic.Uint64
	system   System
	seq      uint64
}

func newRuns(t *testing.T) *runs {
	s := &runs{t: t}
	s.workers.Open(2, nil)
	s.host.Init(order.HostConfig{Partitions: 2, Workers: &s.workers, DepthMax: 1 << 20, MoveID: func() event.EventID { return event.EventID{} }})
	s.system = System{Host: &s.host, Workers: &s.workers, Clock: sched.RealClock{}, Log: slog.New(slog.DiscardHandler), IDs: &s.ids, DepthMax: 100, FuelMax: 1000}
	t.Cleanup(func() {
		s.host.StopMoves()
		s.workers.Close()
	})
	return s
}

// run executes m on target, or as the constructor of a new actor, and leaves the run as it is then.
func (s *runs) run(target *order.Handle, m *Method, args order.Args) (*Run, Outcome) {
	s.t.Helper()
	r := &Run{}
	r.Open(&s.host, nil)
	r.Use(&s.system)
	s.seq++
	r.ID = event.EventID{Origin: 1, Seq: s.seq}
	r.Target, r.Effects, r.Work, r.Args, r.Reroutes = target, &m.Effects, m, args, &s.reroutes
	if target == nil {
		r.Makes = &classBox.Shape
	}
	r.Start()
	if err := r.Enter(); err != nil {
		s.t.Fatal(err)
	}
	return r, r.Execute(m)
}

// settle makes what a run did final, and lets go of its locks.
func (s *runs) settle(r *Run) {
	s.t.Helper()
	if err := r.ApplyChanges(); err != nil {
		s.t.Fatal(err)
	}
	for _, h := range r.Born {
		h.Set(order.Created)
	}
	r.Release(false)
	r.Reset()
}

func said(ops []Op) (list []string) {
	for i := range ops {
		switch o := &ops[i]; o.Kind {
		case OpBranch:
			list = append(list, said(o.Branch.Ops())...)
		case OpPrint:
			list = append(list, o.Name)
		default:
			assert.Unreachable("an op of kind %v", o.Kind)
		}
	}
	return list
}

// A run has no event around it: the test that executes it makes final what it did, or takes it back.
func TestRunLeavesWhatItDidToOthers(t *testing.T) {
	s := newRuns(t)
	r, out := s.run(nil, &methodBox, nil)
	if out.Kind != Ended {
		t.Fatalf("the constructor has ended as %+v", out)
	}
	h := r.Target
	s.settle(r)
	outer := h.Object.(*box)

	r, out = s.run(h, &methodFill, "no room")
	if out.Kind != Aborted || out.Err.Msg != "no room" || out.Err.Fault {
		t.Errorf("it has ended as %+v", out)
	}
	if outer.n != 1 || outer.inner.IsNull() {
		t.Errorf("the run has taken back what it did: %d, %v", outer.n, outer.inner)
	}
	r.Undo()
	r.Release(true)
	if outer.n != 0 || !outer.inner.IsNull() {
		t.Errorf("what the run did is there: %d, %v", outer.n, outer.inner)
	}

	r, out = s.run(h, &methodFill, "")
	if out.Kind != Ended {
		t.Fatalf("it has ended as %+v", out)
	}
	if got := said(r.Root.Ops); len(got) != 3 || got[0] != "add" || got[1] != "fill" || got[2] != "add" {
		t.Errorf("it has issued %q, in another order than that of the program", got)
	}
	s.settle(r)
	if in := order.HandleOf(outer.inner).Object.(*box); outer.n != 1 || in.n != 1 {
		t.Errorf("the boxes have %d and %d", outer.n, in.n)
	}
}

// Code that touches an actor which the attempt does not cover is withdrawn; the outcome has what the next attempt needs.
func TestRunIsWithdrawnFromWhatItDoesNotCover(t *testing.T) {
	s := newRuns(t)
	var boxes [2]*order.Handle
	for i := range boxes {
		r, out := s.run(nil, &methodBox, nil)
		if out.Kind != Ended {
			t.Fatalf("the constructor has ended as %+v", out)
		}
		boxes[i] = r.Target
		s.settle(r)
	}
	stray := Method{Class: &classBox, Name: "stray", Effects: order.Effects{Self: order.Write}}
	stray.Run = func(cx *Cx, self any, _ order.Args) {
		self.(*box).add(cx)
		other, _ := Enter[*box](cx, order.RefOf(boxes[1]), &methodAdd)
		other.add(cx)
		cx.Leave()
	}
	r, out := s.run(boxes[0], &stray, nil)
	if out.Kind != Withdrawn {
		t.Fatalf("it has ended as %+v", out)
	}
	r.Undo()
	r.Retry(*out.Withdrawal)
	r.Clear()
	if err := r.Enter(); err != nil {
		t.Fatal(err)
	}
	if out := r.Execute(&stray); out.Kind != Ended {
		t.Fatalf("it has ended as %+v", out)
	}
	s.settle(r)
	for i, h := range boxes {
		if n := h.Object.(*box).n; n != 1 {
			t.Errorf("box %d has %d", i, n)
		}
	}
}
