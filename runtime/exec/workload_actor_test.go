package exec

import (
	"runtime"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/trace"
	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/aeon-lang/aeon/runtime/value"
)

// The actors of the random workload: nodes of one self-recursive class that own other
// nodes, and run small scripts on themselves, on nodes that they own, and on arguments. A
// script notes what it saw; workload_model_test.go replays it and compares.

type wnode struct {
	order.Self
	value int64
	kids  value.Vector[wref]
}

type wref struct{ order.Ref }

func (n *wnode) set(cx *Cx, v int64) {
	undo.Field(cx.UndoLog(), &n.Self, 0, &n.value)
	n.value = v
}

// What a traced run records.
type (
	traced    = trace.Event
	traceFunc = trace.Func
)

// wop is one step of a script.
type wop uint8

const (
	wAdd      wop = iota // value += n
	wGet                 // note value
	wCall                // sync call of run on kid k
	wAsync               // async call of run on kid k
	wEmit                // sub-event run on kid k
	wAdopt               // kids.push(ref)
	wDrop                // kids.remove(k)
	wNew                 // kids.push(new, with value n)
	wNewLoose            // new, not stored
	wDelete              // delete kid k
	wAbort
	wFault   // index out of range
	wPause   // let other goroutines run
	wCallRef // sync call of run on ref
	wMove    // kids[k] = kids[k+1]: units move
	wRandom  // note a random number
	// What follows from the commit, see workload_follow_test.go.
	wEmitNamed // sub-event run on the actor called name
	wAfter     // sub-event run on kid k, or on itself, after n ms; name may be empty
	wEvery     // the same every n ms
	wCancel    // cancel timer name
	wShow      // callback to screen
	wShowAfter // the same after n ms
	// The last step of an event, see workload_tail_test.go.
	wTail // tail call of run on kid k, or on itself
	wKeep // tail call of run on this
)

type wstep struct {
	op   wop
	k    int
	n    int64
	ref  wref
	sub  []wstep
	hook func() // of a pause
	name string
	to   *wscreen
}

// wargs are the arguments and the observations of one call of run.
type wargs struct {
	steps []wstep
	// What the last attempt saw.
	notes []int64
	calls []*wargs // sync and async calls made, in program order
	made  []*order.Handle
	outs  []*wout          // what is to follow, in program order
	lane  [2]*order.Handle // of what runs as a sub-event: issuer and target
	// Arguments that were read from a store stand for those that were written there.
	number uint64
	of     *wargs
	// A request of a durable session. A repetition stands for the first, too.
	asked bool
}

var (
	classNode = Class{Shape: order.Shape{
		Package:       "w",
		Name:          "Node",
		SelfRecursive: true,
		Fields:        []order.Field{{Name: "value", Type: "int"}, {Name: "kids", Owning: true, Type: "vector<actor w.Node?>"}},
	}}

	touchNodes = []order.ClassMode{{Shape: &classNode.Shape, Mode: order.Write}}
	readNodes  = []order.ClassMode{{Shape: &classNode.Shape, Mode: order.Read}}

	// methodScript may do anything at all: lazy locking.
	methodScript = Method{Class: &classNode, Name: "script", Effects: order.Effects{Self: order.Write, Below: order.Any, BelowMode: order.Write, Touches: touchNodes}}
	// methodLocal runs scripts without calls below.
	methodLocal = Method{Class: &classNode, Name: "local", Effects: order.Effects{Self: order.Write}}
	// methodPeek reads the target alone.
	methodPeek = Method{Class: &classNode, Name: "peek", Effects: order.Effects{Self: order.Read, ReadOnly: true}}
	// methodKids reads the target and writes listed kids.
	methodKids = Method{Class: &classNode, Name: "kids", Effects: order.Effects{Self: order.Read, Below: order.Exact, BelowMode: order.Write, Touches: touchNodes}}
	// methodLook reads the target and all kids.
	methodLook = Method{Class: &classNode, Name: "look", Effects: order.Effects{Self: order.Read, Below: order.Exact, BelowMode: order.Read, Touches: readNodes, ReadOnly: true}}
	// methodWalk reads the whole tree.
	methodWalk = Method{Class: &classNode, Name: "walk", Effects: order.Effects{Self: order.Read, Below: order.Any, BelowMode: order.Read, Touches: readNodes, ReadOnly: true}}
	// methodPair writes the target and the arguments.
	methodPair = Method{Class: &classNode, Name: "pair", Effects: order.Effects{Self: order.Write}}
	// methodAdopt writes the target, which becomes an owner of the arguments.
	methodAdopt = Method{Class: &classNode, Name: "adopt", Effects: order.Effects{Self: order.Write}}

	nodeMethods = []*Method{&methodScript, &methodLocal, &methodPeek, &methodKids, &methodLook, &methodWalk, &methodPair, &methodAdopt}
)

func init() {
	classNode.New = func() order.Object { return &wnode{} }
	classNode.Construct = &methodNamed
	for _, m := range nodeMethods {
		m.Signature = "(script)"
		m.NewArgs = func() order.Args { return &wargs{} }
		m.Run = func(cx *Cx, self any, args order.Args) { self.(*wnode).run(cx, args.(*wargs)) }
	}
	refs := func(mode order.Mode) func(order.Args, *order.Footprint) {
		return func(args order.Args, f *order.Footprint) {
			for _, st := range args.(*wargs).steps {
				if order.HandleOf(st.ref.Bare()) != nil {
					f.Add(st.ref.Ref, mode)
				}
			}
		}
	}
	methodPair.ArgRefs = refs(order.Write)
	methodAdopt.ArgRefs = refs(order.Read)
	kids := func(self any, args order.Args, f *order.Footprint) {
		n := self.(*wnode)
		for _, st := range args.(*wargs).steps {
			if size := n.kids.Size(); size > 0 && (st.op == wCall || st.op == wAsync) {
				f.Add(n.kids.At(int64(st.k)%size).Ref, order.Write)
			}
		}
	}
	methodKids.Narrow = kids
	methodLook.Narrow = func(self any, _ order.Args, f *order.Footprint) {
		for _, r := range self.(*wnode).kids.Items() {
			f.Add(r.Ref, order.Read)
		}
	}
}

func (n *wnode) kid(k int) wref {
	if n.kids.Size() == 0 {
		return wref{}
	}
	return n.kids.At(int64(k) % n.kids.Size())
}

func (n *wnode) run(cx *Cx, x *wargs) {
	x.notes, x.calls, x.made, x.outs = nil, nil, nil, nil
	for _, st := range x.steps {
		n.step(cx, x, st)
	}
}

// methodFor returns the method that a call inside of a script calls. It is for the target alone if the steps are simple,
// it only reads if the steps make calls that only read, and it may do anything otherwise.
func methodFor(steps []wstep) *Method {
	m := &methodPeek
	for _, st := range steps {
		switch st.op {
		case wGet, wPause, wRandom:
		case wAdd, wAbort, wFault, wEmitNamed, wAfter, wEvery, wCancel, wShow, wShowAfter:
			switch m {
			case &methodPeek:
				m = &methodLocal
			case &methodWalk:
				return &methodScript
			}
		case wCall:
			if m == &methodLocal || !methodFor(st.sub).ReadOnly {
				return &methodScript
			}
			m = &methodWalk
		default:
			return &methodScript
		}
	}
	return m
}

func (n *wnode) step(cx *Cx, x *wargs, st wstep) {
	kid := n.kid(st.k)
	switch st.op {
	case wAdd:
		n.set(cx, n.value+st.n)
	case wGet:
		x.notes = append(x.notes, n.value)
	case wCall:
		if !kid.IsNull() {
			kid.call(cx, x, st.sub)
		}
	case wCallRef:
		if !st.ref.IsNull() {
			st.ref.call(cx, x, st.sub)
		}
	case wAsync:
		if !kid.IsNull() {
			y := &wargs{steps: st.sub}
			x.calls = append(x.calls, y)
			Async(cx, kid.Ref, methodFor(st.sub), y)
		}
	case wEmit:
		if !kid.IsNull() {
			y := n.out(x, st, kid.Ref)
			cx.Emit(kid.Ref, methodFor(st.sub), y)
		}
	case wAdopt:
		if !st.ref.IsNull() {
			undo.VectorPushOwned(cx.UndoLog(), &n.Self, 1, &n.kids, st.ref)
		}
	case wDrop:
		if n.kids.Size() > 0 {
			undo.VectorRemoveOwned(cx.UndoLog(), &n.Self, 1, &n.kids, int64(st.k)%n.kids.Size())
		}
	case wMove:
		if n.kids.Size() > 1 {
			undo.VectorSetOwned(cx.UndoLog(), &n.Self, 1, &n.kids, int64(st.k)%n.kids.Size(), n.kid(st.k+1))
		}
	case wNew, wNewLoose:
		m := New[*wnode](cx, &classNode)
		m.value = st.n
		Constructed(cx)
		x.made = append(x.made, order.HandleOf(m.Ref()))
		if st.op == wNew {
			undo.VectorPushOwned(cx.UndoLog(), &n.Self, 1, &n.kids, wref{m.Self.Ref()})
		}
	case wDelete:
		if !kid.IsNull() {
			Delete(cx, kid.Ref)
		}
	case wAbort:
		Abort(cx, "abort "+itoa(int(st.n)))
	case wFault:
		n.kids.At(n.kids.Size())
	case wPause:
		if st.hook != nil {
			st.hook()
		} else {
			runtime.Gosched()
			eventOf(cx).sys.scheduler.Yield()
		}
	case wRandom:
		x.notes = append(x.notes, int64(cx.Random()*1e6))
	case wTail, wKeep:
		n.tail(cx, x, st, kid)
	default:
		n.follow(cx, x, st, kid)
	}
}

func (r wref) call(cx *Cx, x *wargs, steps []wstep) {
	y := &wargs{steps: steps}
	x.calls = append(x.calls, y)
	n, _ := Enter[*wnode](cx, r.Ref, methodFor(steps))
	n.run(cx, y)
	cx.Leave()
}
