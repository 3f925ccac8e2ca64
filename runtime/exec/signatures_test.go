package exec

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/history"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// A class in several versions: one version reads calls that another has left.

type clerk struct {
	order.Self
	sum  int64
	note string
}

func (c *clerk) SaveField(w *image.Writer, field int) {
	switch field {
	case 0:
		w.Row().Int(c.sum)
	case 1:
		w.Row().String(c.note)
	}
}

func (c *clerk) LoadFields(r *image.Reader) {
	if d := r.Row(0); d != nil {
		c.sum = d.Int()
	}
	if d := r.Row(1); d != nil {
		c.note = d.String()
	}
}

// pair are the arguments of every version. They do not show that the types have changed.
type pair struct{ a, b, ret int64 }

func (x *pair) Encode(e *codec.Encoder)       { e.Int(x.a); e.Int(x.b) }
func (x *pair) Decode(d *codec.Decoder)       { x.a, x.b = d.Int(), d.Int() }
func (x *pair) EncodeResult(e *codec.Encoder) { e.Int(x.ret) }
func (x *pair) DecodeResult(d *codec.Decoder) { x.ret = d.Int() }

// edition is one version of a program with the class.
type edition struct {
	class       Class
	do, add, at Method
	start       time.Time
}

// newEdition returns a version: the first one, with what change changes.
func newEdition(change func(*edition)) *edition {
	v := &edition{start: time.Unix(1000, 0), class: Class{Shape: order.Shape{Package: "v", Name: "Clerk", Fields: []order.Field{{Name: "sum", Type: "int"}, {Name: "note", Type: "string"}}}}}
	v.class.New = func() order.Object { return &clerk{} }
	v.do = Method{Class: &v.class, Name: "do", Signature: "(work)", Effects: order.Effects{Self: order.Write}}
	v.do.Run = func(cx *Cx, self any, args order.Args) {
		c := self.(*clerk)
		undo.Field(cx.UndoLog(), &c.Self, 1, &c.note)
		c.note = "done"
		args.(func(*Cx, order.Ref))(cx, c.Ref())
	}
	v.add = Method{Class: &v.class, Name: "add", Signature: "(int8,int):int8", Effects: order.Effects{Self: order.Write}, NewArgs: func() order.Args { return &pair{} }}
	v.at = Method{Class: &v.class, Name: "at", Signature: "()", Effects: order.Effects{Self: order.Write}, NewArgs: func() order.Args { return nil }, Run: func(*Cx, any, order.Args) {}}
	v.add.Run = func(cx *Cx, self any, args order.Args) {
		c, x := self.(*clerk), args.(*pair)
		undo.Field(cx.UndoLog(), &c.Self, 0, &c.sum)
		c.sum += x.a * x.b
		x.ret = c.sum
	}
	v.class.Construct = &Method{Class: &v.class, Name: "Clerk", Effects: order.Effects{Self: order.Write}, NewArgs: func() order.Args { return nil }, Run: func(*Cx, any, order.Args) {}}
	v.class.Methods = []*Method{&v.do, &v.add, &v.at}
	change(v)
	return v
}

// as is a change of the signature of add.
func as(signature string) func(*edition) {
	return func(v *edition) { v.add.Signature = signature }
}

func unchanged(*edition) {}

func (v *edition) recover(st *store.Store) (*System, error) {
	return Recover(Config{Store: st, Classes: []*Class{&v.class}, Log: quiet, Clock: sched.NewSimClock(v.start)})
}

// left runs an event of the first version that issues a call of add, and returns what a crash leaves
// before the call has run.
func left(t *testing.T, change func(*edition), issue func(v *edition, cx *Cx, self order.Ref)) (waits replicatest.Engine) {
	t.Helper()
	v, e := newEdition(change), replicatest.New()
	st := openStore(t, e, nil)
	s, err := v.recover(st)
	mustNot(t, err)
	failpoint = func(name string) {
		if name == "appended/client" && waits == nil {
			waits = e.Crash(all)
		}
	}
	defer func() { failpoint = nil }()
	mustNot(t, s.Client().Await(Named(s.Client(), &v.class, "ann"), &v.do, func(cx *Cx, self order.Ref) { issue(v, cx, self) }))
	s.Close()
	mustNot(t, st.Close())
	return waits
}

// waitingCalls are all ways in which a call can wait.
func waitingCalls(t *testing.T) map[string]replicatest.Engine { return waitingCallsOf(t, unchanged) }

// waitingCallsOf are the calls that a version has left.
func waitingCallsOf(t *testing.T, change func(*edition)) map[string]replicatest.Engine {
	args := func() *pair { return &pair{a: 2, b: 3} }
	list := map[string]replicatest.Engine{}
	for name, issue := range map[string]func(v *edition, cx *Cx, self order.Ref){
		"sub-event": func(v *edition, cx *Cx, self order.Ref) { cx.Emit(self, &v.add, args()) },
		"timer":     func(v *edition, cx *Cx, self order.Ref) { cx.EmitAfter(self, &v.add, args(), time.Second, "") },
		"every": func(v *edition, cx *Cx, self order.Ref) {
			cx.EmitAfterEvery(self, &v.add, args(), time.Second, time.Hour, "")
		},
		"tail call":    func(v *edition, cx *Cx, self order.Ref) { cx.Tail(self, &v.add, args()) },
		"continuation": func(v *edition, cx *Cx, self order.Ref) { cx.TailThis(self, &v.add, args()) },
	} {
		list[name] = left(t, change, issue)
	}
	return list
}

// content is what an engine holds.
func content(t *testing.T, e store.Reader) map[string]string {
	t.Helper()
	rows := map[string]string{}
	it := e.Scan([]byte{}, []byte{0xff})
	for it.Next() {
		rows[string(it.Key())] = string(it.Value())
	}
	mustNot(t, it.Close())
	return rows
}

// sum lets the waiting calls run, and returns what they have left in the actor.
func (v *edition) sum(t *testing.T, e replicatest.Engine) (sum int64, note string) {
	t.Helper()
	st := openStore(t, e, nil)
	s, err := v.recover(st)
	mustNot(t, err)
	cl := s.Client()
	cl.Settle()
	cl.Advance(2 * time.Second)
	mustNot(t, cl.Await(Named(cl, &v.class, "ann"), &v.at, nil))
	read := Method{Class: &v.class, Name: "read", Effects: order.Effects{Self: order.Read, ReadOnly: true}, Run: func(_ *Cx, self any, _ order.Args) {
		sum, note = self.(*clerk).sum, self.(*clerk).note
	}}
	mustNot(t, cl.Await(Named(cl, &v.class, "ann"), &read, nil))
	s.Close()
	mustNot(t, st.Close())
	return sum, note
}

// A version that would read a waiting call as a different call is refused, and leaves the store as it was: the
// version before finds all of it. A version that reads the call correctly goes on.
func TestWaitingCallsMeetAnotherVersion(t *testing.T) {
	gone := func(v *edition) { v.class.Methods = []*Method{&v.do, &v.at} }
	changes := []struct {
		name   string
		change func(*edition)
		want   string // nothing: the call runs
	}{
		{"nothing", unchanged, ""},
		{"wider integers", as("(int16,int):int8"), ""},
		{"another result", as("(int8,int):string"), ""},
		{"other types", as("(duration,time):int8"), "of which 1 call waits, is now add(duration, time): int8: parameter 1: values of type int8 are no values of type duration; run the version before"},
		{"narrower integers", as("(int8,int32):int8"), "parameter 2: values of type int are no values of type int32"},
		{"the other way round", as("(int,int8):int8"), "parameter 2"},
		{"a parameter less", as("(int8):int8"), "it had 2 parameters and has 1"},
		{"a parameter more", as("(int8,int,bool):int8"), "it had 2 parameters and has 3"},
		{"optional", as("(int8?,int):int8"), "as the type of an actor's field only"},
		{"method gone", gone, "method v.Clerk.add(int8, int): int8, of which 1 call waits, is not in the program any more; run the version before"},
		{"renamed", func(v *edition) { v.add.Name = "plus" }, "is not in the program any more"},
	}
	for how, waits := range waitingCalls(t) {
		for _, c := range changes {
			t.Run(how+"/"+c.name, func(t *testing.T) {
				e := waits.Crash(all)
				if c.want == "" {
					if sum, note := newEdition(c.change).sum(t, e); sum != 6 || note != "done" {
						t.Errorf("the sum is %d, the note %q", sum, note)
					}
					return
				}
				next := newEdition(c.change)
				next.class.Fields = next.class.Fields[:1] // what is gone is gone for ever, if the version starts
				st := openStore(t, e, nil)
				before := content(t, st)
				_, err := next.recover(st)
				var wrong *store.CallError
				if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) || wrong.Waiting != 1 {
					t.Errorf("Recover gave %v\nwant %s", err, c.want)
				}
				if after := content(t, st); !maps.Equal(before, after) {
					t.Errorf("the refused store has changed from\n%q\nto\n%q", before, after)
				}
				mustNot(t, st.Close())
				if sum, note := newEdition(unchanged).sum(t, e.Reopen()); sum != 6 || note != "done" {
					t.Errorf("back in the version before, the sum is %d, the note %q", sum, note)
				}
			})
		}
	}
}

// A class that is gone is refused before anything is written, too.
func TestAClassThatIsGoneChangesNothing(t *testing.T) {
	e := left(t, unchanged, func(v *edition, cx *Cx, self order.Ref) {})
	next := newEdition(func(v *edition) { v.class.Name = "Official" })
	st := openStore(t, e, nil)
	before := content(t, st)
	if _, err := next.recover(st); !errors.Is(err, state.ErrClass) || !strings.Contains(err.Error(), "v.Clerk, of which actors are stored (1); bring it back") {
		t.Errorf("Recover gave %v", err)
	}
	if after := content(t, st); !maps.Equal(before, after) {
		t.Error("the refused store has changed")
	}
	mustNot(t, st.Close())
}

// A refused run does not end a trace: a trace that goes on afterwards knows what was before the refused run.
func TestARefusedRunLeavesTheTrace(t *testing.T) {
	v, e := newEdition(unchanged), replicatest.New()
	st := openStore(t, e, nil)
	s, err := Recover(Config{Store: st, Classes: []*Class{&v.class}, Log: quiet, Clock: sched.NewSimClock(v.start), Trace: traceFunc(func(*traced) {})})
	mustNot(t, err)
	mustNot(t, s.Client().Await(Named(s.Client(), &v.class, "ann"), &v.do, func(cx *Cx, self order.Ref) {
		cx.EmitAfter(self, &v.add, &pair{}, time.Hour, "")
	}))
	s.Close()
	mustNot(t, st.Close())
	for _, c := range []struct {
		change func(*edition)
		stays  bool
	}{{as("()"), true}, {unchanged, false}} {
		e = e.Reopen()
		st := openStore(t, e, nil)
		s, err := newEdition(c.change).recover(st)
		if (err != nil) != c.stays {
			t.Errorf("Recover gave %v", err)
		}
		if err == nil {
			s.Close()
		}
		if last, err := history.LastTraced(st); err != nil || last > 0 != c.stays {
			t.Errorf("the last traced event is %d, %v", last, err)
		}
		mustNot(t, st.Close())
	}
}

// The error names every signature of which calls wait, and how many wait. Once none waits the version starts, and only its
// own calls wait from then on.
func TestVersionsFollowEachOther(t *testing.T) {
	first := newEdition(unchanged)
	e := left(t, unchanged, func(v *edition, cx *Cx, self order.Ref) {
		for i := range 3 {
			cx.EmitAfter(self, &v.add, &pair{a: 1, b: int64(i)}, time.Second, "")
		}
		cx.EmitAfter(self, &v.at, nil, time.Second, "")
	})
	second := newEdition(func(v *edition) {
		v.add.Signature = "(duration,time)"
		v.at.Name = "later"
	})
	st := openStore(t, e, nil)
	_, err := second.recover(st)
	if got := strings.Count(err.Error(), "\n"); got != 1 || !strings.Contains(err.Error(), "v.Clerk.add(int8, int): int8, of which 3 calls wait, is now") ||
		!strings.Contains(err.Error(), "v.Clerk.at(), of which 1 call waits, is not in the program any more") {
		t.Errorf("Recover gave %v", err)
	}
	mustNot(t, st.Close())
	e = e.Reopen()
	if sum, _ := first.sum(t, e); sum != 3 {
		t.Errorf("the sum is %d", sum)
	}
	st = openStore(t, e.Reopen(), nil)
	s, err := second.recover(st)
	mustNot(t, err)
	cl := s.Client()
	ann := Named(cl, &second.class, "ann")
	mustNot(t, cl.Await(ann, &second.do, func(cx *Cx, self order.Ref) {
		cx.EmitAfter(self, &second.add, &pair{a: 1, b: 4}, time.Second, "")
	}))
	s.Close()
	mustNot(t, st.Flush(t.Context()))
	waits, err := store.WaitingCalls(st)
	mustNot(t, err)
	mustNot(t, st.Close())
	if len(waits) != 1 {
		t.Errorf("calls wait by signature: %v", waits)
	}
}

// A tick of an `every` keeps the signature with which its timer was set, whatever version moves the row.
func TestATickKeepsItsSignature(t *testing.T) {
	e := left(t, unchanged, func(v *edition, cx *Cx, self order.Ref) {
		cx.EmitAfterEvery(self, &v.add, &pair{a: 2, b: 3}, time.Second, time.Second, "")
	})
	wider := newEdition(as("(int,int):int8"))
	if sum, _ := wider.sum(t, e); sum != 12 {
		t.Errorf("after two ticks the sum is %d", sum)
	}
	back := newEdition(func(v *edition) { v.start = time.Unix(1002, 0) })
	if sum, _ := back.sum(t, e.Reopen()); sum != 24 { // the wider version has left no call that the narrower one could not read
		t.Errorf("after four ticks the sum is %d", sum)
	}
}

// An outcome is given again only to a method that returns what it was of. A refusal is no failure of the store: what was
// stored stays, and other requests run.
func TestOutcomesMeetAnotherVersion(t *testing.T) {
	first, e := newEdition(unchanged), replicatest.New()
	st := openStore(t, e, nil)
	s, err := first.recover(st)
	mustNot(t, err)
	ann := Named(s.Client(), &first.class, "ann")
	x, err := s.BeginSession("phone")
	mustNot(t, err)
	mustNot(t, x.Await(1, 0, ann, &first.add, &pair{a: 2, b: 3}))
	mustNot(t, x.Await(2, 0, ann, &first.at, nil))
	s.Close()
	mustNot(t, st.Close())
	for _, c := range []struct {
		name, signature string
		want            string // nothing: 6
	}{
		{"the same", "(int8,int):int8", ""},
		{"wider", "(int8,int):int", ""},
		{"other parameters", "(duration,time):int8", ""},
		{"another result", "(int8,int):string", `request 1 of session "phone" has run, and its outcome, of v.Clerk.add(int8, int): int8, cannot be read as one of v.Clerk.add(int8, int): string: values of type int8 are no values of type string; ask the version before for it, or acknowledge it`},
		{"optional", "(int8,int):int8?", "as the type of an actor's field only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newEdition(as(c.signature))
			st := openStore(t, e.Reopen().Crash(all), nil)
			s, err := v.recover(st)
			mustNot(t, err)
			x, err := s.BeginSession("phone")
			mustNot(t, err)
			ann := Named(s.Client(), &v.class, "ann")
			for range 2 {
				args := &pair{}
				err = x.Await(1, 0, ann, &v.add, args)
				var changed *event.ResultError
				switch {
				case c.want == "" && (err != nil || args.ret != 6):
					t.Errorf("the outcome is %d, %v", args.ret, err)
				case c.want != "" && (!errors.As(err, &changed) || !strings.Contains(err.Error(), c.want) || args.ret != 0):
					t.Errorf("the outcome is %d, %v\nwant %s", args.ret, err, c.want)
				}
			}
			var changed *event.ResultError
			if err := x.Await(2, 0, ann, &v.add, &pair{}); !errors.As(err, &changed) || changed.Reason != "there was no result" {
				t.Errorf("the outcome of another method: %v", err)
			}
			args := &pair{a: 1, b: 1}
			if err := x.Await(3, 2, ann, &v.add, args); err != nil || args.ret != 7 {
				t.Errorf("another request: %d, %v", args.ret, err)
			}
			s.Close()
			mustNot(t, st.Close())
		})
	}
}

// Damage that is found after some calls were read is an error like any other: closing does not wait for these calls.
func TestDamageBehindWaitingCalls(t *testing.T) {
	waits := left(t, unchanged, func(v *edition, cx *Cx, self order.Ref) {
		for range 3 {
			cx.Emit(self, &v.at, nil)
		}
		cx.TailThis(self, &v.at, nil)
	})
	for section, want := range map[store.Section]int{store.Outbox: 3, store.Continuations: 1} {
		rows := 0
		for p := range 4 {
			it := waits.Scan(store.SectionRange(event.PartitionID(p), section))
			for it.Next() {
				for what, payload := range map[string][]byte{"its signature 99 is not in the schema": {99}, "it ends too early": {1}} {
					e := waits.Crash(all)
					b := e.NewBatch()
					b.Set(it.Key(), store.AppendRow(nil, it.Key(), payload))
					mustNot(t, e.Apply(b))
					st := openStore(t, e, nil)
					if _, err := newEdition(unchanged).recover(st); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), what) {
						t.Errorf("%s: Recover gave %v", store.DescribeKey(it.Key()), err)
					}
					mustNot(t, st.Close())
				}
				rows++
			}
			mustNot(t, it.Close())
		}
		if rows != want {
			t.Errorf("%d rows of section %c", rows, section)
		}
	}
}
