package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
)

// seenBatch is a batch that notes what it changes among letters and calls that wait.
type seenBatch struct {
	store.Batch
	letters, removed int
}

// sectionOf returns the section of a row: it stands behind the partition.
func sectionOf(key []byte) store.Section {
	return store.Section(key[len(store.AppendSection(nil, 0, 0))-1])
}

// Set implements store.Batch.
func (b *seenBatch) Set(key, value []byte) {
	if sectionOf(key) == store.DeadLetters {
		b.letters++
	}
	b.Batch.Set(key, value)
}

// Delete implements store.Batch.
func (b *seenBatch) Delete(key []byte) {
	if slices.Contains([]store.Section{store.Outbox, store.Timers, store.Continuations}, sectionOf(key)) {
		b.removed++
	}
	b.Batch.Delete(key)
}

// seeingEngine notes the batches that are applied, of those that have a letter or remove a call that waits.
type seeingEngine struct {
	replicatest.Engine
	mu struct {
		sync.Mutex
		batches []string
	}
}

// NewBatch implements store.Engine.
func (e *seeingEngine) NewBatch() store.Batch { return &seenBatch{Batch: e.Engine.NewBatch()} }

// Apply implements store.Engine.
func (e *seeingEngine) Apply(of store.Batch) error {
	b := of.(*seenBatch)
	if b.letters+b.removed > 0 {
		e.mu.Lock()
		e.mu.batches = append(e.mu.batches, fmt.Sprintf("%d letters, %d rows removed", b.letters, b.removed))
		e.mu.Unlock()
	}
	return e.Engine.Apply(b.Batch)
}

// A dead letter is in the batch that removes the row of what has failed, whatever that was: no crash comes between the two.
func TestALetterIsInTheBatchThatRemovesItsRow(t *testing.T) {
	const both, moved = "1 letters, 1 rows removed", "0 letters, 1 rows removed"
	v := newSending(func(context.Context, int) error { return errors.New("torn") })
	fail := &Method{Class: &v.class, Name: "fail", Signature: "()", Effects: order.Effects{Self: order.Write}, NewArgs: func() order.Args { return nil },
		Run: func(cx *Cx, _ any, _ order.Args) { Abort(cx, "no") }}
	step := func(name string, tail func(cx *Cx, self order.Ref)) *Method {
		return &Method{Class: &v.class, Name: name, Signature: "()", Effects: order.Effects{Self: order.Write}, NewArgs: func() order.Args { return nil },
			Run: func(cx *Cx, self any, _ order.Args) { tail(cx, self.(*clerk).Ref()) }}
	}
	here := step("here", func(cx *Cx, self order.Ref) { cx.TailThis(self, fail, nil) })
	there := step("there", func(cx *Cx, _ order.Ref) { cx.Tail(Named(cx, &v.class, "bob"), fail, nil) })
	v.class.Methods = append(v.class.Methods, fail, here, there)
	for _, c := range []struct {
		what  string
		issue func(cx *Cx, self order.Ref)
		want  []string
	}{
		{"a sub-event", func(cx *Cx, self order.Ref) { cx.Emit(self, fail, nil) }, []string{both}},
		{"a timer", func(cx *Cx, self order.Ref) { cx.EmitAfter(self, fail, nil, time.Second, "") }, []string{moved, both}},
		{"a step on the same actor", func(cx *Cx, self order.Ref) { cx.Emit(self, here, nil) }, []string{moved, both}},
		{"a step on another actor", func(cx *Cx, self order.Ref) { cx.Emit(self, there, nil) }, []string{moved, both}},
		{"a call of a Go function", func(cx *Cx, _ order.Ref) { cx.Go(&v.quiet, v.send(1)) }, []string{both}},
	} {
		e := &seeingEngine{Engine: replicatest.New()}
		st := openStore(t, e, nil)
		s, err := Recover(Config{Store: st, Classes: []*Class{&v.class}, Log: quiet, Clock: sched.NewSimClock(time.Unix(1000, 0))})
		mustNot(t, err)
		cl := s.Client()
		mustNot(t, cl.Await(Named(cl, &v.class, "ann"), &v.do, c.issue))
		cl.Settle()
		cl.Advance(2 * time.Second)
		s.Close()
		mustNot(t, st.Close())
		if !slices.Equal(e.mu.batches, c.want) {
			t.Errorf("%s: the batches are %q, want %q", c.what, e.mu.batches, c.want)
		}
	}
}
