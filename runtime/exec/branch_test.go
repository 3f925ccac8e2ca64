package exec

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// A call is compared with the branches that run, not with all that there have been.
func TestEndedBranchesAreNotKept(t *testing.T) {
	const workers = 3
	_, cl := testSystem(t, Config{BranchWorkers: workers})
	r := newDesk(t, cl)
	var kids [500]deskRef
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) {
		for i := range kids {
			kids[i] = d.hire(cx)
		}
	}))
	most := 0
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) {
		for _, k := range kids {
			Async(cx, k.Ref, &methodAlone, work(func(cx *Cx, d *desk) { d.setN(cx, d.n+1) }))
			most = max(most, branchesOf(cx))
		}
	}))
	if most > workers+1 { // those that run, and one that has ended since
		t.Errorf("%d branches are kept, where %d can run", most, workers)
	}
	for _, k := range kids {
		if n := k.see(t, cl); n != 1 {
			t.Fatalf("a branch has left %d", n)
		}
	}
}

// Branches of one event that create actors at the same time give each another id.
func TestBranchesCreateDifferentActors(t *testing.T) {
	_, cl := testSystem(t, Config{BranchWorkers: 4})
	r := newDesk(t, cl)
	const each = 1000
	var kids [3]deskRef
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) {
		for i := range kids {
			kids[i] = d.hire(cx)
		}
	}))
	var made [len(kids)][each]deskRef
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) {
		for b, k := range kids {
			Async(cx, k.Ref, &methodAlone, work(func(cx *Cx, d *desk) {
				for i := range each {
					made[b][i] = d.hire(cx)
				}
			}))
		}
	}))
	seen := make(map[event.ActorID]bool)
	for _, list := range made {
		for _, k := range list {
			if seen[k.ID()] {
				t.Fatalf("two actors have the id %v", k.ID())
			}
			seen[k.ID()] = true
		}
	}
}

// What the code of one actor creates in an event ascends by creation, as keys do, whichever branches it runs in.
func TestActorsOfOneCreatorAscend(t *testing.T) {
	_, cl := testSystem(t, Config{BranchWorkers: 4})
	r := newDesk(t, cl)
	var kid deskRef
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) { kid = d.hire(cx) }))
	var made []event.ActorID
	hire := func(cx *Cx, d *desk) { made = append(made, d.hire(cx).ID()) }
	branches := 0
	mustNot(t, r.await(cl, func(cx *Cx, _ *desk) {
		for range 3 {
			kid.do(cx, hire)
			Async(cx, kid.Ref, &methodAlone, work(hire))
			branches += branchesOf(cx)
			kid.do(cx, hire)
		}
	}))
	if branches != 3 {
		t.Errorf("%d calls ran in branches, not 3", branches)
	}
	if !slices.IsSortedFunc(made, func(a, b event.ActorID) int { return cmp.Compare(a.Serial, b.Serial) }) {
		t.Errorf("the ids %v do not ascend", made)
	}
}

// interval is when a call ran, by a count of all that begins and ends, and what it may touch.
type interval struct {
	from, to int64
	touches  map[int]order.Mode
	text     string
}

// TestBranchesWaitForWhatConflicts compares when branches run with the naive rule: a call begins when all earlier calls that
// conflict with it have ended. Two calls conflict if they may touch one actor, and one of them may write to it. Branches leave
// the state and report the failure that calls without async do.
func TestBranchesWaitForWhatConflicts(t *testing.T) {
	together := 0
	for seed := range uint64(60) {
		together += branchRound(t, rand.New(rand.NewPCG(seed, 7)), fmt.Sprintf("seed %d", seed))
	}
	if together == 0 {
		t.Error("no two branches ever ran at once: the test checks nothing")
	}
}

func branchRound(t *testing.T, rnd *rand.Rand, label string) (together int) {
	_, cl := testSystem(t, Config{BranchWorkers: 1 + rnd.IntN(6)})
	r := newDesk(t, cl)
	desks := make([]deskRef, 4+rnd.IntN(12))
	below := make([][]int, len(desks)) // the desks that each owns, itself among them
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) {
		for i := range desks {
			below[i] = []int{i}
			if boss := rnd.IntN(len(desks)); boss < i && rnd.IntN(2) == 0 {
				desks[boss].do(cx, func(cx *Cx, d *desk) { desks[i] = d.hire(cx) })
				for b := range i {
					if slices.Contains(below[b], boss) {
						below[b] = append(below[b], i)
					}
				}
				continue
			}
			desks[i] = d.hire(cx)
		}
	}))
	want := make([]int64, len(desks))
	var clock atomic.Int64
	spans := make([]interval, 30+rnd.IntN(60))
	type step struct {
		method *Method
		target int
		args   func(s *interval) order.Args
		fails  bool
		sync   bool
	}
	var steps []step
	failure := ""
	failing := rnd.IntN(3) == 0
	for i := range spans {
		x, y := rnd.IntN(len(desks)), rnd.IntN(len(desks))
		st := step{target: x, fails: failing && rnd.IntN(20) == 0}
		s := &spans[i]
		pause := rnd.IntN(20)
		add := int64(1 + rnd.IntN(5))
		inside := func(cx *Cx, f func()) {
			s.from = clock.Add(1)
			for range pause {
				runtime.Gosched()
			}
			f()
			s.to = clock.Add(1)
			if st.fails {
				Abort(cx, fmt.Sprint("call ", i))
			}
		}
		s.touches = map[int]order.Mode{}
		written := []int{x}
		switch rnd.IntN(3) {
		case 0: // the desk alone
			s.text = fmt.Sprintf("alone %d", x)
			s.touches[x] = order.Write
			st.sync = rnd.IntN(3) == 0
			st.method = &methodAlone
			st.args = func(*interval) order.Args {
				return work(func(cx *Cx, d *desk) { inside(cx, func() { d.setN(cx, d.n*3+add) }) })
			}
		case 1: // the desk and all below
			s.text = fmt.Sprintf("below %d", x)
			for _, k := range below[x] {
				s.touches[k] = order.Write
			}
			if kid := below[x][rnd.IntN(len(below[x]))]; kid != x {
				written = []int{kid}
				st.args = func(*interval) order.Args {
					return work(func(cx *Cx, _ *desk) {
						inside(cx, func() { desks[kid].do(cx, func(cx *Cx, d *desk) { d.setN(cx, d.n*3+add) }) })
					})
				}
			} else {
				st.args = func(*interval) order.Args {
					return work(func(cx *Cx, d *desk) { inside(cx, func() { d.setN(cx, d.n*3+add) }) })
				}
			}
			st.method = &methodWork
		case 2: // the desk, and another that it is given
			s.text = fmt.Sprintf("use %d with %d", x, y)
			s.touches[x], s.touches[y] = order.Write, order.Write
			written = []int{y}
			st.method = &methodHooked
			st.args = func(*interval) order.Args {
				return &hookedArgs{r: desks[y], hook: func(cx *Cx) {
					inside(cx, func() { desks[y].do(cx, func(cx *Cx, d *desk) { d.setN(cx, d.n*3+add) }) })
				}}
			}
		}
		for _, k := range written {
			if failure == "" {
				want[k] = want[k]*3 + add
			}
		}
		if st.fails && failure == "" {
			failure = fmt.Sprint("call ", i)
		}
		steps = append(steps, st)
	}
	before := make([]int64, len(desks))
	for i, d := range desks {
		before[i] = d.see(t, cl)
	}
	err := r.await(cl, func(cx *Cx, _ *desk) {
		for i := range steps {
			st := &steps[i]
			spans[i].from, spans[i].to = 0, 0
			if st.sync {
				h := desks[st.target].Ref
				d, _ := Enter[*desk](cx, h, st.method)
				st.method.Run(cx, d, st.args(&spans[i]))
				cx.Leave()
				continue
			}
			Async(cx, desks[st.target].Ref, st.method, st.args(&spans[i]))
		}
	})
	if failure != "" {
		if err == nil || err.Error() != failure {
			t.Errorf("%s: the failure is %v, want %s", label, err, failure)
		}
		want = before
	} else {
		mustNot(t, err)
	}
	for i, d := range desks {
		if n := d.see(t, cl); n != want[i] {
			t.Errorf("%s: desk %d has %d, want %d", label, i, n, want[i])
		}
	}
	for j := range spans {
		b := &spans[j]
		if b.from == 0 {
			continue // a failure came before
		}
		for i := range spans[:j] {
			a := &spans[i]
			if a.from < b.to && b.from < a.to && a.from > 0 {
				together++
			}
			if overlap(a.touches, b.touches) && (a.to == 0 || a.to > b.from) && failure == "" {
				t.Errorf("%s: call %d (%s) began at %d, before call %d (%s) ended at %d", label, j, b.text, b.from, i, a.text, a.to)
			}
		}
	}
	return together
}

// overlap is the naive rule: both touch an actor, and one writes to it.
func overlap(a, b map[int]order.Mode) bool {
	for k, m := range a {
		if n, ok := b[k]; ok && (m == order.Write || n == order.Write) {
			return true
		}
	}
	return false
}

// Two async calls are the first to call an actor, which the footprints of both say they only read: its constructor runs once,
// and no call sees what it has not finished.
func TestOneOfTwoAsyncCallsConstructsAnActor(t *testing.T) {
	_, cl := testSystem(t, Config{BranchWorkers: 4})
	var made atomic.Int64
	vat := Class{Shape: order.Shape{Package: "t", Name: "Vat", New: func() order.Object { return &account{} }}}
	vat.Construct = &Method{Class: &vat, Name: "Vat", Effects: order.Effects{Self: order.Write}, NewArgs: func() order.Args { return nil }, Run: func(cx *Cx, self any, _ order.Args) {
		made.Add(1)
		for range 100 {
			runtime.Gosched()
		}
		self.(*account).setBalance(cx, 7)
	}}
	look := Method{Class: &vat, Name: "look", Effects: order.Effects{Self: order.Read, ReadOnly: true}}
	tap := Method{Class: &classDesk, Name: "tap", Effects: order.Effects{Self: order.Write, Below: order.Any, BelowMode: order.Read, Touches: []order.ClassMode{{Shape: &vat.Shape, Mode: order.Read}}}, Run: methodAlone.Run}
	r := newDesk(t, cl)
	var kids [2]deskRef
	mustNot(t, r.await(cl, func(cx *Cx, d *desk) { kids[0], kids[1] = d.hire(cx), d.hire(cx) }))
	for round := range int64(50) {
		one := Named(cl, &vat, fmt.Sprint(round))
		mustNot(t, r.await(cl, func(cx *Cx, _ *desk) {
			for _, k := range kids {
				Async(cx, k.Ref, &tap, work(func(cx *Cx, d *desk) {
					a, _ := Enter[*account](cx, one, &look)
					d.setN(cx, d.n+a.balance)
					cx.Leave()
				}))
			}
		}))
		if n, x, y := made.Load(), kids[0].see(t, cl), kids[1].see(t, cl); n != round+1 || x != 7*n || y != x {
			t.Fatalf("constructors have run %d times for %d actors, and the calls have seen %d and %d, not 7 each", n, round+1, x, y)
		}
	}
}

// hookedArgs give a method a desk, and what it does.
type hookedArgs struct {
	r    deskRef
	hook func(cx *Cx)
}

// methodHooked touches the desk that it is given, and runs its hook.
var methodHooked = Method{Class: &classDesk, Name: "hooked", Effects: order.Effects{Self: order.Write, Below: order.None}}

func init() {
	methodHooked.ArgRefs = func(args order.Args, f *order.Footprint) { f.Add(args.(*hookedArgs).r.Ref, order.Write) }
	methodHooked.Run = func(cx *Cx, _ any, args order.Args) { args.(*hookedArgs).hook(cx) }
}

// BenchmarkAsync calls all children of a desk by async, and reports how much longer a child takes than by a plain call. The
// figure must not depend on how many children there are.
func BenchmarkAsync(b *testing.B) {
	for _, n := range []int{4, 2400, 24000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := Open(Config{Log: quiet, BranchWorkers: 4})
			defer s.Close()
			cl := s.Client()
			r, err := cl.New(&classDesk, &methodAlone, work(nil))
			mustNot(b, err)
			top, kids := deskRef{r}, make([]deskRef, n)
			mustNot(b, top.await(cl, func(cx *Cx, d *desk) {
				for i := range kids {
					kids[i] = d.hire(cx)
				}
			}))
			one := work(func(cx *Cx, d *desk) { d.setN(cx, d.n+1) })
			time := func(call func(cx *Cx, k deskRef)) (took float64) {
				begun := b.Elapsed()
				mustNot(b, top.await(cl, func(cx *Cx, _ *desk) {
					for _, k := range kids {
						call(cx, k)
					}
				}))
				return (b.Elapsed() - begun).Seconds()
			}
			var plain, async float64
			for b.Loop() {
				plain += time(func(cx *Cx, k deskRef) { k.do(cx, one) })
				async += time(func(cx *Cx, k deskRef) { Async(cx, k.Ref, &methodAlone, one) })
			}
			b.ReportMetric(async/float64(n)/float64(b.N)*1e9, "ns/child")
			b.ReportMetric(async/plain, "plain")
		})
	}
}
