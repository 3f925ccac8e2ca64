package trace

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/trace"
	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/anishathalye/porcupine"
)

// cell is an actor as codegen would write it: a balance, which must not be negative.
type cell struct {
	order.Self
	balance int64
}

// SaveField writes the balance.
func (c *cell) SaveField(w *image.Writer, field int) { w.Row().Int(c.balance) }

// LoadFields reads the balance.
func (c *cell) LoadFields(r *image.Reader) {
	if d := r.Row(0); d != nil {
		c.balance = d.Int()
	}
}

func (c *cell) add(cx *activation.Cx, n int64) int64 {
	undo.Field(cx.UndoLog(), &c.Self, 0, &c.balance)
	c.balance += n
	runtime.Gosched() // if there is a bug, other goroutines get the chance to show it
	activation.Require(cx, c.balance >= 0, "not enough")
	return c.balance
}

// cellArgs are the arguments and the result of every method of a cell.
type cellArgs struct {
	to  order.Ref
	n   int64
	ret int64
}

var (
	classCell  = activation.Class{Shape: order.Shape{Package: "cells", Name: "Cell", Fields: []order.Field{{Name: "balance"}}}}
	methodCell = activation.Method{Class: &classCell, Name: "Cell", Effects: order.Effects{Self: order.Write}}
	methodGet  = activation.Method{Class: &classCell, Name: "get", Effects: order.Effects{Self: order.Read, ReadOnly: true}}
	methodAdd  = activation.Method{Class: &classCell, Name: "add", Effects: order.Effects{Self: order.Write}}
	methodPay  = activation.Method{Class: &classCell, Name: "pay", Effects: order.Effects{Self: order.Write}}
)

func init() {
	classCell.New = func() order.Object { return &cell{} }
	methodCell.Run = func(*activation.Cx, any, order.Args) {}
	methodGet.Run = func(_ *activation.Cx, self any, args order.Args) {
		args.(*cellArgs).ret = self.(*cell).balance
	}
	methodAdd.Run = func(cx *activation.Cx, self any, args order.Args) {
		x := args.(*cellArgs)
		x.ret = self.(*cell).add(cx, x.n)
	}
	methodPay.ArgRefs = func(args order.Args, f *order.Footprint) { f.Add(args.(*cellArgs).to, order.Write) }
	methodPay.Run = func(cx *activation.Cx, self any, args order.Args) {
		x := args.(*cellArgs)
		to, _ := activation.Enter[*cell](cx, x.to, &methodAdd)
		to.add(cx, x.n)
		cx.Leave()
		x.ret = self.(*cell).add(cx, -x.n)
	}
}

// cellOp is a request of a client with its answer.
type cellOp struct {
	method *activation.Method
	i, j   int
	n, ret int64
	failed bool
}

// bank is a bank of cells as a sequential object: it knows nothing of versions.
var bank = porcupine.Model{
	Init: func() any { return []int64(nil) },
	Step: func(state, input, _ any) (bool, any) {
		old, op := state.([]int64), input.(*cellOp)
		cells := make([]int64, max(len(old), op.i+1, op.j+1))
		copy(cells, old)
		switch op.method {
		case &methodGet:
			return cells[op.i] == op.ret, old
		case &methodAdd:
			cells[op.i] += op.n
		default:
			cells[op.i] -= op.n
			cells[op.j] += op.n
		}
		if op.failed {
			return cells[op.i] < 0, old
		}
		return cells[op.i] >= 0 && cells[op.i] == op.ret, cells
	},
	Equal: func(a, b any) bool { return slices.Equal(a.([]int64), b.([]int64)) },
}

// runCells lets clients work on cells of a traced system and returns what they saw. A nil
// recorder leaves it untraced.
func runCells(seed uint64, clients, cells, events int, rec trace.Recorder, states bool) []porcupine.Operation {
	s := exec.Open(exec.Config{Log: slog.New(slog.DiscardHandler), Trace: rec, TraceStates: states})
	defer s.Close()
	setup := s.Client()
	list := make([]order.Ref, cells)
	for i := range list {
		r, err := setup.New(&classCell, &methodCell, &cellArgs{})
		if err != nil {
			panic(err)
		}
		list[i] = r
	}
	var clock atomic.Int64
	all := make([][]porcupine.Operation, clients)
	var wg sync.WaitGroup
	for id := range clients {
		wg.Go(func() {
			cl := s.Client()
			rng := rand.New(rand.NewPCG(seed, uint64(id)))
			for range events / clients {
				op := &cellOp{i: rng.IntN(cells), n: int64(rng.IntN(20))}
				op.method = [...]*activation.Method{&methodGet, &methodAdd, &methodPay, &methodPay}[rng.IntN(4)]
				for op.j = op.i; op.j == op.i; {
					op.j = rng.IntN(cells)
				}
				x := &cellArgs{to: list[op.j], n: op.n}
				call := clock.Add(1)
				op.failed = cl.Await(list[op.i], op.method, x) != nil
				op.ret = x.ret
				all[id] = append(all[id], porcupine.Operation{ClientId: id, Input: op, Call: call, Return: clock.Add(1)})
			}
		})
	}
	wg.Wait()
	return slices.Concat(all...)
}

// traceCells is runCells into a file.
func traceCells(seed uint64, events int, name string, states bool) ([]porcupine.Operation, error) {
	w, err := trace.Create(name, trace.Memory, false)
	if err != nil {
		return nil, err
	}
	w.Begin(trace.Header{Program: "cells", Seed: seed, States: states})
	ops := runCells(seed, 8, 4, events, w, states)
	w.End("closed")
	return ops, w.Close()
}

// TestRealRunsAgree compares two views of one run: what the clients saw, in values, for
// which porcupine searches an order; and the trace of the run, in versions.
func TestRealRunsAgree(t *testing.T) {
	rounds := uint64(3)
	if *long {
		rounds = 200
	}
	for seed := range rounds {
		name := t.TempDir() + "/trace"
		ops, err := traceCells(seed, 4000, name, seed%2 == 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprintf("trace of seed %d", seed), func(t *testing.T) {
			rep := checkFile(t, name)
			if rep.Violated() > 0 {
				t.Errorf("%s", said(t, rep))
			}
			if n := rep.Sections[0].Counts; n.Events != len(ops)+4 || n.Answers != n.Events || n.Aborts == 0 {
				t.Errorf("%d operations, but %+v", len(ops), n)
			}
		})
		t.Run(fmt.Sprintf("clients of seed %d", seed), func(t *testing.T) {
			if !porcupine.CheckOperations(bank, ops) {
				t.Error("porcupine finds no order")
			}
		})
	}
}

// BenchmarkCheck reads and checks the trace of a run.
func BenchmarkCheck(b *testing.B) {
	name := b.TempDir() + "/trace"
	ops, err := traceCells(1, 100_000, name, false)
	if err != nil {
		b.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	n := 0
	for b.Loop() {
		if rep, err := Check(bytes.NewReader(data)); err != nil || rep.Violated() > 0 {
			b.Fatal(rep, err)
		}
		n += len(ops)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
}
