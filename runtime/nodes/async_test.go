package nodes_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// A till is an actor that counts. It has others count, each by an async call.
type till struct {
	aeonrt.Self
	n int64
}

type tillArgs struct {
	by    int64
	of    []aeonrt.Ref
	after time.Duration // before the method does anything
	beat  time.Duration // between two calls
	ret   int64
}

func (x *tillArgs) Encode(e *aeonrt.Encoder) {
	e.Int(x.by)
	e.Int(int64(x.after))
	e.Int(int64(x.beat))
	e.Int(int64(len(x.of)))
	for _, r := range x.of {
		aeonrt.PutRef(e, r)
	}
}

func (x *tillArgs) Decode(d *aeonrt.Decoder) {
	x.by, x.after, x.beat = d.Int(), time.Duration(d.Int()), time.Duration(d.Int())
	for range d.Int() {
		x.of = append(x.of, aeonrt.GetRef(d))
	}
}

func (x *tillArgs) EncodeResult(e *aeonrt.Encoder) { e.Int(x.ret) }
func (x *tillArgs) DecodeResult(d *aeonrt.Decoder) { x.ret = d.Int() }

func (x *till) SaveField(w *aeonrt.Writer, _ int) { w.Row().Int(x.n) }

func (x *till) LoadFields(r *aeonrt.Reader) {
	if d := r.Row(0); d != nil {
		x.n = d.Int()
	}
}

var (
	tillClass   = aeonrt.Class{Shape: aeonrt.Shape{Package: "till", Name: "Till", Fields: []aeonrt.Field{{Name: "n", Type: "int"}}}}
	tillNew     = aeonrt.Method{Class: &tillClass, Name: "new", Signature: "()", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	tillAdd     = aeonrt.Method{Class: &tillClass, Name: "add", Signature: "(int)", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	tillAll     = aeonrt.Method{Class: &tillClass, Name: "all", Signature: "(int)", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	tillEach    = aeonrt.Method{Class: &tillClass, Name: "each", Signature: "(int)", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	tillSee     = aeonrt.Method{Class: &tillClass, Name: "see", Signature: "():int", Effects: aeonrt.Effects{ReadOnly: true, Self: aeonrt.Read}}
	tillDrop    = aeonrt.Method{Class: &tillClass, Name: "drop", Signature: "(int)", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	tillTwo     = aeonrt.Method{Class: &tillClass, Name: "two", Signature: "(int)", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	tillPast    = aeonrt.Method{Class: &tillClass, Name: "past", Signature: "(int)", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	tillLook    = aeonrt.Method{Class: &tillClass, Name: "look", Signature: "()", Effects: aeonrt.Effects{ReadOnly: true, Self: aeonrt.Read}}
	tillPeek    = aeonrt.Method{Class: &tillClass, Name: "peek", Signature: "()", Effects: aeonrt.Effects{ReadOnly: true, Self: aeonrt.Read}}
	tillMay     = aeonrt.Method{Class: &tillClass, Name: "may", Signature: "(int)", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	tillPass    = aeonrt.Method{Class: &tillClass, Name: "pass", Signature: "(int)", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	tillAsk     = aeonrt.Method{Class: &tillClass, Name: "ask", Signature: "(int)", Effects: aeonrt.Effects{Self: aeonrt.Read}}
	tillGive    = aeonrt.Method{Class: &tillClass, Name: "give", Signature: "(int):int", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	tillHave    = aeonrt.Method{Class: &tillClass, Name: "have", Signature: "(int)", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	tillTap     = aeonrt.Method{Class: &tillClass, Name: "tap", Signature: "(int)", Effects: aeonrt.Effects{Self: aeonrt.Write, Below: aeonrt.Any, BelowMode: aeonrt.Read, Touches: []aeonrt.ClassMode{{Shape: &vatClass.Shape, Mode: aeonrt.Read}}}}
	tillTaps    = aeonrt.Method{Class: &tillClass, Name: "taps", Signature: "(int)", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	tillPackage = aeonrt.Package{Name: "till"}

	vatClass = aeonrt.Class{Shape: aeonrt.Shape{Package: "till", Name: "Vat", Fields: []aeonrt.Field{{Name: "n", Type: "int"}}}}
	vatNew   = aeonrt.Method{Class: &vatClass, Name: "Vat", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	vatSee   = aeonrt.Method{Class: &vatClass, Name: "see", Signature: "():int", Effects: aeonrt.Effects{ReadOnly: true, Self: aeonrt.Read}}

	tillWait  = func(time.Duration) {} // in a bubble it waits
	tillAdded = func() {}              // is called when add has changed its till
)

func init() {
	tillClass.New = func() aeonrt.Object { return new(till) }
	tillClass.Methods, tillClass.Ctor = []*aeonrt.Method{&tillAdd, &tillAll, &tillEach, &tillSee, &tillDrop, &tillTwo, &tillPast, &tillLook, &tillPeek, &tillMay, &tillAsk, &tillPass, &tillGive, &tillHave, &tillTap, &tillTaps}, &tillNew
	vatClass.New = tillClass.New
	vatClass.Methods, vatClass.Construct = []*aeonrt.Method{&vatSee}, &vatNew
	for _, m := range append(tillClass.Methods, tillClass.Ctor, &vatNew, &vatSee) {
		m.NewArgs = func() aeonrt.Args { return new(tillArgs) }
	}
	tillNew.Run = func(*aeonrt.Cx, any, aeonrt.Args) {}
	tillAdd.Run = func(cx *aeonrt.Cx, self any, args aeonrt.Args) {
		x := self.(*till)
		tillWait(args.(*tillArgs).after)
		aeonrt.Log(cx, &x.Self, 0, &x.n)
		x.n += args.(*tillArgs).by
		tillAdded()
		aeonrt.Require(cx, x.n%1000 != 3, "too many")
	}
	tillAll.ArgRefs = func(args aeonrt.Args, f *aeonrt.Footprint) {
		for _, r := range args.(*tillArgs).of {
			f.Add(r, aeonrt.Write)
		}
	}
	tillAll.Run = func(cx *aeonrt.Cx, self any, args aeonrt.Args) {
		x := args.(*tillArgs)
		for _, r := range x.of {
			aeonrt.Async(cx, r, &tillAdd, &tillArgs{by: x.by})
		}
		tillAdd.Run(cx, self, args)
	}
	tillEach.ArgRefs = tillAll.ArgRefs
	tillEach.Run = func(cx *aeonrt.Cx, self any, args aeonrt.Args) {
		x := args.(*tillArgs)
		for _, r := range x.of {
			aeonrt.CallRemote(cx, r, &tillAdd, &tillArgs{by: x.by})
		}
		tillAdd.Run(cx, self, args)
	}
	tillDrop.Run = tillAdd.Run
	tillTwo.ArgRefs = tillAll.ArgRefs
	tillTwo.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) { // its async calls take no lock; the second one takes as long as by says, and is not made if that is below 0
		x := args.(*tillArgs)
		for _, r := range x.of {
			aeonrt.CallRemote(cx, r, &tillDrop, &tillArgs{})
		}
		aeonrt.Async(cx, x.of[0], &tillAdd, &tillArgs{by: 1000, after: x.after})
		tillWait(x.beat)
		if x.by >= 0 {
			aeonrt.Async(cx, x.of[1], &tillDrop, &tillArgs{by: 1000, after: time.Duration(x.by)})
		}
	}
	tillPast.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) { // it takes the second actor, which it has not entered with, while the first one runs
		x := args.(*tillArgs)
		aeonrt.Async(cx, x.of[0], &tillAdd, &tillArgs{by: 1000, after: x.after})
		tillWait(x.beat)
		if y, ok := aeonrt.Enter[*till](cx, x.of[1], &tillAdd); ok {
			tillAdd.Run(cx, y, &tillArgs{by: 1000})
			cx.Leave()
		}
	}
	tillSee.Run = func(_ *aeonrt.Cx, self any, args aeonrt.Args) {
		x := args.(*tillArgs)
		tillWait(x.after)
		x.ret = self.(*till).n
	}
	tillPeek.Run = func(*aeonrt.Cx, any, aeonrt.Args) {}
	tillLook.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) { // the first call takes long; the second one is not made if by is below 0
		x := args.(*tillArgs)
		aeonrt.Async(cx, x.of[0], &tillSee, &tillArgs{after: x.after})
		if x.by >= 0 {
			tillWait(x.beat)
			aeonrt.Async(cx, x.of[1], &tillPeek, &tillArgs{})
		}
	}
	tillMay.Run = func(cx *aeonrt.Cx, self any, args aeonrt.Args) { // it writes if by is not 0
		if args.(*tillArgs).by != 0 {
			tillAdd.Run(cx, self, args)
		}
	}
	tillAsk.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
		aeonrt.CallRemote(cx, args.(*tillArgs).of[0], &tillMay, &tillArgs{by: max(args.(*tillArgs).by, 0)})
		if args.(*tillArgs).by < 0 {
			cx.Now()
		}
	}
	tillPass.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
		x := args.(*tillArgs)
		cx.Tail(x.of[0], &tillAdd, &tillArgs{by: x.by, after: x.after})
	}
	tillGive.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
		x := args.(*tillArgs)
		cx.Tail(x.of[0], &tillSee, &tillArgs{after: x.after})
	}
	tillHave.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
		x := args.(*tillArgs)
		cx.Emit(x.of[0], &tillPass, &tillArgs{by: x.by, of: x.of[1:]})
	}
	tillTaps.ArgRefs = tillAll.ArgRefs
	tillTaps.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) { // the last one of the actors is a vat, which its async calls of all others read
		of := args.(*tillArgs).of
		for _, r := range of[:len(of)-1] {
			aeonrt.Async(cx, r, &tillTap, &tillArgs{of: of[len(of)-1:]})
		}
	}
	tillTap.Run = func(cx *aeonrt.Cx, self any, args aeonrt.Args) {
		see := &tillArgs{}
		if y, ok := aeonrt.Enter[*till](cx, args.(*tillArgs).of[0], &vatSee); ok {
			see.ret = y.n
			cx.Leave()
		} else {
			aeonrt.CallRemote(cx, args.(*tillArgs).of[0], &vatSee, see)
		}
		tillAdd.Run(cx, self, &tillArgs{by: see.ret})
	}
	vatSee.Run = tillSee.Run
	vatNew.Run = func(cx *aeonrt.Cx, self any, _ aeonrt.Args) {
		tillAdd.Run(cx, self, &tillArgs{by: 600, after: 5 * time.Millisecond})
		tillAdd.Run(cx, self, &tillArgs{by: 400, after: 5 * time.Millisecond})
	}
	tillPackage.Classes = []*aeonrt.Class{&tillClass, &vatClass}
}

// tills opens a cluster of five stores, whose messages take some time, and returns tills in each, and a client of store 0.
func tills(t *testing.T, each int, delay time.Duration, engine func() store.Engine, changes ...func(*nodes.Config)) (c *nodes.Cluster, in [5][]aeonrt.Ref, cl *aeonrt.Client) {
	cfg := nodes.Config{
		System: aeonrt.Config{Classes: aeonrt.AllClasses(&tillPackage)}, Stores: 5, Partitions: 20, Spread: true, Delay: under(delay),
		Open:  func(event.StoreID) (store.Engine, error) { return engine(), nil },
		Fatal: func(err error) { panic(err) },
	}
	for _, change := range changes {
		change(&cfg)
	}
	c, err := nodes.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cl = c.System(0).Client()
	for full := 0; full < len(in); {
		r, err := cl.New(&tillClass, &tillNew, &tillArgs{})
		if err != nil {
			t.Fatal(err)
		}
		s := c.System(0).Across().StoreOf(r.ID())
		if in[s] = append(in[s], r); len(in[s]) == each {
			full++
		}
	}
	c.Settle()
	return c, in, cl
}

// Async calls of actors in other stores cost one round trip together, however many they are, and one in a branch no less than one elsewhere.
func TestAsyncCallsGoOutAtOnce(t *testing.T) {
	for name, engine := range map[string]func() store.Engine{
		"one replica":    func() store.Engine { return memengine.New() },
		"three replicas": func() store.Engine { return replicated{memengine.New(), 20 * time.Millisecond} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, in, cl := tills(t, 3, 10*time.Millisecond, engine)
				p := &placed{c: c, cl: cl}
				for _, e := range []struct {
					event    string
					of       []aeonrt.Ref
					messages int64
					one      time.Duration // with one replica
					three    time.Duration
				}{
					{"one other store", in[1][:1], 4, 20, 60},
					{"two other stores", []aeonrt.Ref{in[1][0], in[2][0]}, 8, 20, 60},
					{"four other stores", []aeonrt.Ref{in[1][0], in[2][0], in[3][0], in[4][0]}, 16, 20, 60},
					{"two calls in each of two others", []aeonrt.Ref{in[1][0], in[1][1], in[2][0], in[2][1]}, 12, 20, 60},
				} {
					do := func() error { return cl.Await(in[0][0], &tillAll, &tillArgs{by: 1000, of: e.of}) }
					for range 2 { // further ones, so that it is learned which votes with answers are wrong, or missing
						if err := do(); err != nil {
							t.Error(err)
						}
					}
					messages, wait := p.costs(t, do)
					want := e.one
					if name == "three replicas" {
						want = e.three
					}
					t.Logf("async writers, %s: %d messages, %v", e.event, messages, wait)
					if messages != e.messages || wait != want*time.Millisecond {
						t.Errorf("%s: %d messages, and a wait of %v; wanted %d and %v", e.event, messages, wait, e.messages, want*time.Millisecond)
					}
				}
				for s, want := range [5]int64{32, 32, 24, 8, 8} {
					args := &tillArgs{}
					if err := cl.Await(in[s][0], &tillSee, args); err != nil || args.ret != 1000*want {
						t.Errorf("the till in store %d has %d (%v), and not %d", s, args.ret, err, want)
					}
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// An event that fails leaves nothing of what its async calls have done, before and behind the one that has failed, in any store.
func TestAsyncCallsThatFailLeaveNothing(t *testing.T) {
	c, in, cl := tills(t, 2, 0, func() store.Engine { return memengine.New() })
	for i := range 400 {
		var of []aeonrt.Ref
		for s := range in {
			of = append(of, in[s][1], in[(s+i)%len(in)][1], in[(s+i/5)%len(in)][1])
		}
		if err := cl.Await(in[i%len(in)][0], &tillAll, &tillArgs{by: 1, of: of}); err == nil || err.Error() != "too many" {
			t.Fatalf("event %d: %v", i, err)
		}
		for s := range in {
			for k, r := range in[s] {
				args := &tillArgs{}
				if err := cl.Await(r, &tillSee, args); err != nil || args.ret != 0 {
					t.Fatalf("event %d has left %d in till %d of store %d (%v)", i, args.ret, k, s, err)
				}
			}
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A chain that a client has begun, and that fails in another store, is no dead letter: the client is told. One that a sub-event has begun is.
func TestAChainThatFailsElsewhere(t *testing.T) {
	c, in, cl := tills(t, 1, 0, func() store.Engine { return memengine.New() })
	dead := func() (n int) {
		c.Settle()
		for s := range in {
			view, err := c.System(event.StoreID(s)).View(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			list, err := row.DeadLetters(view, 20)
			if err := errors.Join(err, view.Close()); err != nil {
				t.Fatal(err)
			}
			n += len(list)
		}
		return n
	}
	for s := range in {
		args := &tillArgs{by: 3, of: in[(s+1)%len(in)]}
		if err := cl.Await(in[s][0], &tillPass, args); err == nil || err.Error() != "too many" || !err.(*aeonrt.AbortError).Partly {
			t.Errorf("from store %d: %#v", s, err)
		}
		sys := c.System(0)
		there := &tillArgs{by: 3, of: []aeonrt.Ref{sys.Resolve(args.of[0].ID())}}
		for try := range 2 { // of a request with a key
			_, err := sys.Perform(&exec.Call{Target: sys.Resolve(in[s][0].ID()), Method: &tillPass, Args: there, Key: "k"})
			if err == nil || err.Error() != "too many" || !err.(*aeonrt.AbortError).Partly {
				t.Errorf("from store %d with a key, try %d: %#v", s, try, err)
			}
		}
		if n := dead(); n != s {
			t.Errorf("the client is told how the chain of store %d has ended, and there are %d dead letters more", s, n-s)
		}
		if err := cl.Await(in[(s+2)%len(in)][0], &tillHave, &tillArgs{by: 3, of: []aeonrt.Ref{in[s][0], args.of[0]}}); err != nil {
			t.Errorf("from store %d: %v", s, err)
		}
		if n := dead(); n != s+1 {
			t.Errorf("no caller is told how the chain of store %d has ended, and there are %d dead letters more", s, n-s)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A client gets the end of a chain, whatever stores begin anew meanwhile: one that has nothing of the chain, that of the step, and that of the actor that the step calls. If its
// own one does, it is told that the outcome is unknown, and if the chain has failed the log says so.
func TestAChainIsAwaitedOverSessions(t *testing.T) {
	for what, e := range map[string]struct {
		crashes event.StoreID
		method  *aeonrt.Method
		by      int64
		fails   string
		unknown bool
	}{
		"another store begins anew":                       {4, &tillGive, 0, "", false},
		"the store of the step begins anew":               {1, &tillGive, 0, "", false},
		"the store of the callee begins anew":             {2, &tillGive, 0, "", false},
		"another store begins anew, a step fails":         {4, &tillPass, 3, "too many", false},
		"the store of the step begins anew, and it fails": {1, &tillPass, 3, "too many", false},
		"the store of the callee begins anew, it fails":   {2, &tillPass, 3, "too many", false},
		"that of the client begins anew":                  {0, &tillGive, 0, "", true},
		"that of the client begins anew, a step fails":    {0, &tillPass, 3, "too many", true},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer func(wait func(time.Duration)) { tillWait = wait }(tillWait)
				tillWait = time.Sleep
				var said strings.Builder
				c, in, cl := tills(t, 1, 0, func() store.Engine { return memengine.New() }, func(c *nodes.Config) {
					c.System.Log = slog.New(slog.NewTextHandler(&said, nil))
				})
				if err := cl.Await(in[2][0], &tillAdd, &tillArgs{by: 1000}); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Second) // what it has written is durable
				ended, args := make(chan error), &tillArgs{by: e.by, after: time.Second, of: in[2]}
				go func() { ended <- cl.Await(in[1][0], e.method, args) }()
				<-time.After(100 * time.Millisecond)
				if err := c.Crash(e.crashes, losing(allLost)); err != nil {
					t.Fatal(err)
				}
				if e.unknown {
					if err := <-ended; !errors.As(err, new(*event.UnknownError)) {
						t.Errorf("the client gets %v", err)
					}
				}
				if err := c.Restart(e.crashes); err != nil {
					t.Fatal(err)
				}
				var abort *event.AbortError
				switch {
				case e.unknown:
					<-time.After(3 * time.Second)
				case e.fails == "":
					if err := <-ended; err != nil || args.ret != 1000 {
						t.Errorf("the client gets %d, %v", args.ret, err)
					}
				default:
					if err := <-ended; !errors.As(err, &abort) || !abort.Partly || abort.Msg != e.fails {
						t.Errorf("the client gets %v", err)
					} else if e.crashes == 4 && len(abort.Path) < 2 { // where add fails, and here; a row has no call path
						t.Errorf("it failed at %v", abort.Path)
					}
				}
				c.Settle()
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				if told := strings.Contains(said.String(), `msg="a chain has failed whose client has gone"`); told != (e.unknown && e.fails != "") {
					t.Errorf("the log has %s", said.String())
				}
				for s := range in {
					if n := c.System(event.StoreID(s)).Stats().DeadLetters; n != 0 {
						t.Errorf("store %d has %d dead letters", s, n)
					}
				}
			})
		})
	}
}

// What several calls of an event have written in one store is all there when that store begins anew: no vote counts that it has sent while one of them runs, or is on
// its way.
func TestAsyncCallsOfOneStoreAreOneVote(t *testing.T) {
	const ms = time.Millisecond
	defer func(wait func(time.Duration)) { tillWait = wait }(tillWait)
	for name, e := range map[string]struct {
		first, beat time.Duration
		last        int // the call that is thought to be the last one, and has the vote
	}{
		"the other one runs":                 {5 * ms, 0, 2},
		"the other one runs longer":          {5 * ms, 0, 1},
		"the other one is on its way":        {0, 5 * ms, 1},
		"the other one comes with the vote":  {0, 5 * ms, 2},
		"the other one comes after the vote": {0, 25 * ms, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tillWait = time.Sleep
				var engines []*memengine.Engine
				c, in, cl := tills(t, 3, 10*ms, func() store.Engine {
					engines = append(engines, memengine.New())
					return engines[len(engines)-1]
				})
				two := func(first, beat, second time.Duration) {
					if err := cl.Await(in[0][0], &tillTwo, &tillArgs{of: in[1][:2], after: first, beat: beat, by: int64(second)}); err != nil {
						t.Error(err)
					}
				}
				want := [2]int64{1000, 1000}
				for range 3 {
					if want[0] += 1000; e.last == 1 {
						two(0, 0, -1)
						continue
					}
					two(0, 0, 0)
					want[1] += 1000
				}
				two(e.first, e.beat, 9*ms)
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				n := -1
				c, err := nodes.Open(nodes.Config{
					System: aeonrt.Config{Classes: aeonrt.AllClasses(&tillPackage)}, Stores: 5, Partitions: 20, Spread: true,
					Open: func(event.StoreID) (store.Engine, error) {
						n++
						return engines[n].Reopen(), nil
					},
					Fatal: func(err error) { panic(err) },
				})
				if err != nil {
					t.Fatal(err)
				}
				for i := range want {
					r, args := in[1][i], &tillArgs{}
					if err := c.System(1).Client().Await(c.System(1).Resolve(r.ID()), &tillSee, args); err != nil || args.ret != want[i] {
						t.Errorf("till %d has %d (%v), and not %d", i, args.ret, err, want[i])
					}
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// An async call that is under way when its event is withdrawn has ended before what the event has written is taken back.
func TestAsyncCallsEndWithTheirAttempt(t *testing.T) {
	defer func(wait func(time.Duration)) { tillWait = wait }(tillWait)
	synctest.Test(t, func(t *testing.T) {
		tillWait = time.Sleep
		c, in, cl := tills(t, 3, time.Millisecond, func() store.Engine { return memengine.New() })
		for s := range in {
			if err := cl.Await(in[0][0], &tillPast, &tillArgs{of: []aeonrt.Ref{in[s][1], in[0][2]}, after: 20 * time.Millisecond, beat: 5 * time.Millisecond}); err != nil {
				t.Error(err)
			}
			args := &tillArgs{}
			if err := cl.Await(in[s][1], &tillSee, args); err != nil || args.ret != 1000 {
				t.Errorf("the till in store %d has %d (%v), and not 1000", s, args.ret, err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Two async calls are the first to call an actor, in their own store or another one: neither sees what its constructor has not finished.
func TestOneOfTwoAsyncCallsConstructsAnActor(t *testing.T) {
	defer func(wait func(time.Duration)) { tillWait = wait }(tillWait)
	synctest.Test(t, func(t *testing.T) {
		tillWait = time.Sleep
		c, in, cl := tills(t, 3, time.Millisecond, func() store.Engine { return memengine.New() })
		want := [5]int64{}
		for vats := range 25 {
			vat := aeonrt.Named(cl, &vatClass, fmt.Sprint(vats))
			s := vats % len(in)
			if err := cl.Await(in[0][0], &tillTaps, &tillArgs{of: []aeonrt.Ref{in[s][1], in[s][2], vat}}); err != nil {
				t.Error(err)
			}
			want[s] += 1000
			for _, r := range in[s][1:3] {
				args := &tillArgs{}
				if err := cl.Await(r, &tillSee, args); err != nil || args.ret != want[s] {
					t.Errorf("with vat %d of store %d, a till in store %d has %d (%v), and not %d", vats, c.System(0).Across().StoreOf(vat.ID()), s, args.ret, err, want[s])
				}
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
