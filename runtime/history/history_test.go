package history

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/trace"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// last is a recorder that keeps a line of the last event, and nothing of the event itself.
type last struct {
	trace.Recorder
	line string
}

func (l *last) Ended(e *trace.Event) {
	l.line = fmt.Sprintf("%s %v of %d: r", e.Method, e.Origin.Kind, e.Origin.Client)
	for _, list := range [][]trace.Access{e.Reads, e.Writes} {
		for _, a := range list {
			l.line += fmt.Sprintf(" %s=%d", a.Label, a.Version)
			if a.Deleted {
				l.line += "†"
			}
		}
		l.line += ";"
	}
	if e.Err != nil {
		l.line += " " + e.Err.Error()
	}
}

func (*last) Transient() {}

func newTracer() (*Tracer, *last) {
	l := &last{Recorder: trace.Func(func(*trace.Event) {})}
	return New(l, false), l
}

var shape = order.Shape{Package: "p", Name: "Node"}

type object struct{ order.Self }

// nodes returns n actors that exist.
func nodes(n int) (list []*order.Handle) {
	for i := range n {
		h := &order.Handle{ID: event.SerialActor(0, uint64(i+1)), Shape: &shape, Object: &object{}}
		order.Bind(h.Object, h)
		h.Set(order.Created)
		list = append(list, h)
	}
	return list
}

type name string

func (n name) String() string { return string(n) }

func attempt(on *order.Handle) *order.Attempt {
	return &order.Attempt{ID: event.EventID{Origin: 1, Seq: 1}, Wants: order.Wants{Target: on, Work: name("work")}}
}

// end runs the rest of an event whose writes are in log.
func end(t *Tracer, r *Record, a *order.Attempt, log *undo.Log, err error) {
	if err == nil {
		t.Wrote(r, a, log)
	}
	t.Complete(r, a, err)
	t.Enter(r)
	t.Ended(r, nil)
	t.Leave()
	t.Answered(r, 0)
}

// The record of an event has each actor once, also if the event has read and written so many actors that an index is
// used.
func TestEachActorIsNotedOnce(t *testing.T) {
	for _, count := range []int{1, scanMax, scanMax + 1, scanMax + 2, 10 * scanMax} {
		tracer, rec := newTracer()
		list := nodes(count)
		for round := range 3 {
			var want [2]string
			log := &undo.Log{}
			a := attempt(list[0])
			r := tracer.Begin(a, nil, 7)
			for range 2 {
				for _, h := range list {
					tracer.Read(r, h)
					var field int64
					undo.Field(log, h.Object.ActorSelf(), 0, &field)
				}
			}
			for _, h := range list {
				want[0] += fmt.Sprintf(" p.Node:%v=%d", h.ID, round)
				want[1] += fmt.Sprintf(" p.Node:%v=%d", h.ID, round+1)
			}
			end(tracer, r, a, log, nil)
			if want := "work client of 7: r" + want[0] + ";" + want[1] + ";"; rec.line != want {
				t.Fatalf("%d actors, round %d:\n%s\nwant\n%s", count, round, rec.line, want)
			}
		}
	}
}

// What a withdrawn attempt has read does not count, nor do writes of an event that is undone.
func TestOnlyTheLastAttemptCounts(t *testing.T) {
	tracer, rec := newTracer()
	list := nodes(2)
	log := &undo.Log{}
	var field int64
	undo.Field(log, list[1].Object.ActorSelf(), 0, &field)
	a := attempt(list[0])
	r := tracer.Begin(a, nil, 7)
	tracer.Read(r, list[1])
	r.Forget()
	tracer.Read(r, list[0])
	end(tracer, r, a, log, order.ErrGone)
	if want := fmt.Sprintf("work client of 7: r p.Node:%v=0;; the target was deleted", list[0].ID); rec.line != want {
		t.Errorf("%s\nwant\n%s", rec.line, want)
	}
	again := tracer.Begin(a, nil, 8) // in the memory of the first
	if again.Start == 0 || again.Order != 0 || again.Err != nil || len(again.Reads)+len(again.notes) > 0 {
		t.Errorf("a new record begins as %+v", again.Event)
	}
}

// Actors that have had one name, one after the other, are told apart, and a deletion is the last version of its actor.
func TestLabelsOfOneName(t *testing.T) {
	tracer, rec := newTracer()
	var labels []string
	for n := range uint32(3) {
		h := &order.Handle{ID: event.NamedActor("p.Node", "n", n, 1), Shape: &shape, Named: &order.Naming{Name: "n", Incarnation: n}}
		labels = append(labels, tracer.Label(h))
		a := attempt(h)
		r := tracer.Begin(a, nil, 7)
		tracer.Read(r, h)
		a.Deletes = []*order.Handle{h}
		end(tracer, r, a, &undo.Log{}, nil)
		if want := fmt.Sprintf("work client of 7: r %s=0; %s=1†;", labels[len(labels)-1], labels[len(labels)-1]); rec.line != want {
			t.Errorf("%s\nwant\n%s", rec.line, want)
		}
	}
	if got := fmt.Sprint(labels, tracer.Label(nil)); got != "[p.Node/n p.Node@2/n p.Node@3/n]" {
		t.Errorf("labels %s", got)
	}
	if s := (*Tracer)(nil).Source(trace.Sub, event.EventID{}, nil, 1); s != nil {
		t.Errorf("without a tracer the source is %v", s)
	}
}

// Ticks give each event a start, then a place, and no event a second one.
func TestAnEventTakesOnePlace(t *testing.T) {
	tracer, _ := newTracer()
	a := attempt(nodes(1)[0])
	from := tracer.Issued(7, true)
	first, second := tracer.Begin(a, from, 9), tracer.Begin(a, nil, 9)
	if first.Start != from.Start || second.Start <= from.Start || !first.Origin.Issued || first.Origin.Client != 7 {
		t.Errorf("starts %d and %d, issued at %d by client %d", first.Start, second.Start, from.Start, first.Origin.Client)
	}
	tracer.Enter(second)
	tracer.Leave()
	tracer.Enter(first)
	tracer.Leave()
	if first.Order <= second.Order || second.Order <= second.Start {
		t.Errorf("places %d and %d", first.Order, second.Order)
	}
	defer func() {
		if _, ok := recover().(assert.Failure); !ok {
			t.Error("an event takes a second place")
		}
	}()
	tracer.Enter(first)
}

// The place of an event over several stores is that of the last lock that it has got in any of them. Actors that it reaches with the locks that it has do not move it.
func TestThePlaceIsThatOfTheLastLock(t *testing.T) {
	tracer, _ := newTracer()
	list := nodes(3)
	a := attempt(list[0])
	r := tracer.Begin(a, nil, 7)
	at := func() int64 { return tracer.Reached(r, a) }
	first := at()
	if first <= r.Start {
		t.Errorf("the event starts at %d, and goes out at %d", r.Start, first)
	}
	tracer.Read(r, list[1])
	if again := at(); again != first {
		t.Errorf("it goes out at %d, and again at %d, without a further lock", first, again)
	}
	tracer.Arrived(r, first+100)
	if again := at(); again != first+100 {
		t.Errorf("a thread brings %d, and it goes out at %d", first+100, again)
	}
	a.ReadWithoutLock()
	last := at()
	if last <= first+100 {
		t.Errorf("it gets a lock behind %d, and goes out at %d", first+100, last)
	}
	if tracer.Decided(r, 1, nil); r.Across.At != last {
		t.Errorf("it is decided at %d, and had its last lock at %d", r.Across.At, last)
	}

	part := attempt(list[2])
	p := tracer.BeginPart(part, 1, 1, false)
	tracer.Arrived(p, last+100)
	tracer.Read(p, list[2])
	if again := tracer.Reached(p, part); again != last+100 {
		t.Errorf("a thread comes to a part at %d, and leaves at %d without a further lock", last+100, again)
	}
	part.ReadWithoutLock()
	if again := tracer.Reached(p, part); again <= last+100 {
		t.Errorf("a part gets a lock behind %d, and is left at %d", last+100, again)
	}
}

// clocked is a recorder whose clock goes as a test says.
type clocked struct {
	*last
	now int64
}

func (c *clocked) Now() int64 { return c.now }

// Ticks that are times ascend, also when the clock stands still, or goes back.
func TestTicksOfAClock(t *testing.T) {
	_, l := newTracer()
	rec := &clocked{last: l, now: 1000}
	tracer := New(rec, false)
	var got []int64
	for _, now := range []int64{1000, 1000, 2000, 500, 2001, 2001, 3000} {
		rec.now = now
		got = append(got, tracer.Issued(1, false).Start)
	}
	if want := []int64{1000, 1001, 2000, 2001, 2002, 2003, 3000}; !slices.Equal(got, want) {
		t.Errorf("ticks %d, want %d", got, want)
	}
}

// unread is an engine whose rows cannot be read when it is broken, as those of a replica that does not lead any more.
type unread struct {
	store.Engine
	broken bool
}

func (e *unread) Get(key, buf []byte) ([]byte, bool, error) {
	if e.broken {
		return buf, false, errors.New("it leads no more")
	}
	return e.Engine.Get(key, buf)
}

// A store fails, and the version of an actor that an event reads cannot be read: nothing is told of the event, which would have read a version that never was.
func TestNothingIsToldOfWhatCannotBeRead(t *testing.T) {
	for _, broken := range []bool{false, true} {
		e := &unread{Engine: memengine.New()}
		st, err := store.Open(e, store.Options{Program: "test", Partitions: 4, Log: slog.New(slog.DiscardHandler), Fatal: func(error) {}})
		if err != nil {
			t.Fatal(err)
		}
		tr, told := newTracer()
		tr.Resume(&state.State{Store: st})
		e.broken = broken
		on := nodes(1)[0]
		a := attempt(on)
		r := tr.Begin(a, nil, 7)
		tr.Read(r, on)
		tr.Complete(r, a, errors.New("cancelled"))
		tr.Enter(r)
		tr.Ended(r, &row.Writer{Store: st})
		tr.Leave()
		if broken == (told.line != "") {
			t.Errorf("broken %v: told is %q", broken, told.line)
		}
		_ = st.Close()
	}
}
