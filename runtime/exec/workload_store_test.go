package exec

import (
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/runtime/codec"
)

// writtenArgs are the arguments that were written to a store, by number. The model knows sub-events
// and timers by their arguments, and arguments that are read again are other objects.
var (
	writtenArgs  sync.Map
	lastWritten  atomic.Uint64
	stepsPerArgs = 64
)

// writtenBase has all numbers take equally many bytes: a run must not depend on how many came before, as a seed repeats it.
const writtenBase = 1 << 40

// written returns the arguments that x was read from.
func (x *wargs) written() *wargs {
	if x.of != nil {
		return x.of
	}
	return x
}

// written is the same for any arguments.
func written(args any) any {
	if x, ok := args.(*wargs); ok && x != nil {
		return x.written()
	}
	return args
}

func (x *wargs) Encode(e *codec.Encoder) {
	if x.number == 0 {
		x.number = writtenBase + lastWritten.Add(1)
		writtenArgs.Store(x.number, x)
	}
	e.Uint(x.number)
	putSteps(e, x.steps)
}

func (x *wargs) Decode(d *codec.Decoder) {
	x.number = d.Uint()
	x.steps = getSteps(d)
	if of, ok := writtenArgs.Load(x.number); ok {
		x.of = of.(*wargs).written()
	}
}

func putSteps(e *codec.Encoder, steps []wstep) {
	e.Uint(uint64(len(steps)))
	for i := range steps {
		st := &steps[i]
		if st.to != nil || st.hook != nil {
			panic("this step lives in one process")
		}
		e.Uint(uint64(st.op))
		e.Int(int64(st.k))
		e.Int(st.n)
		e.String(st.name)
		putRef(e, st.ref.Ref)
		putSteps(e, st.sub)
	}
}

func getSteps(d *codec.Decoder) (steps []wstep) {
	n := d.Uint()
	if n > uint64(stepsPerArgs) {
		d.Fail("%d steps", n)
	}
	for range n {
		if d.Err() != nil {
			return nil
		}
		st := wstep{op: wop(d.Uint()), k: int(d.Int()), n: d.Int(), name: d.String()}
		st.ref = wref{getRef(d)}
		st.sub = getSteps(d)
		steps = append(steps, st)
	}
	return steps
}
