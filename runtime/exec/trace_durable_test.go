package exec

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/history"
	"github.com/aeon-lang/aeon/runtime/trace"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// neverFlushed is a recorder with a bug: it relies on its buffer being full at times.
type neverFlushed struct{ *trace.Writer }

func (neverFlushed) Flush() {}

// orders finds the events in a trace.
var orders = regexp.MustCompile(`(?m)^\{"order":(\d+),.*\}$`)

// killed is what a killed process leaves: all that was written, synced or not.
type killed struct {
	fs    *vfs.MemFS
	trace []byte
}

// killedMax bounds the stores that are left of a run: beyond it every other one is dropped, and of the moments to come every other one is taken. So they are
// of the whole run, however often its engine writes.
const killedMax = 40

// missing kills a traced system at many moments while events run. It returns how many stores are left, and how many of them
// have an event that the trace has not.
func missing(t *testing.T, record func(*trace.Writer) trace.Recorder) (stores, without int) {
	name := filepath.Join(t.TempDir(), "t.jsonl")
	w, err := trace.Create(name, trace.Stored, false)
	mustNot(t, err)
	w.Begin(trace.Header{Program: "test"})
	d := pebbleDisk{fs: vfs.NewCrashableMem()}
	var on atomic.Bool
	var mu sync.Mutex
	var left []killed
	writes, every := 0, 1
	engine, err := d.open(func() {
		mu.Lock()
		defer mu.Unlock()
		if !on.Load() {
			return
		}
		if writes++; writes%every != 0 {
			return
		}
		k := killed{fs: d.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(uint64(len(left)), 0))})}
		if k.trace, err = os.ReadFile(name); err != nil { // after the store: it may have more, and never less
			t.Error(err)
		}
		if left = append(left, k); len(left) == killedMax {
			for i := range killedMax / 2 {
				left[i] = left[2*i+1]
			}
			left, every = left[:killedMax/2], 2*every
		}
	})
	mustNot(t, err)
	st := openStore(t, engine, nil)
	s, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet, Trace: record(w)})
	mustNot(t, err)
	nodes, err := workload{nodes: 4}.plant(s)
	mustNot(t, err)
	on.Store(true)
	var wg sync.WaitGroup
	for _, r := range nodes {
		wg.Go(func() {
			cl := s.Client()
			for range 100 {
				_ = cl.Await(r.Ref, &methodLocal, &wargs{steps: []wstep{{op: wAdd, n: 1}, {op: wEmitNamed, name: "ann", sub: []wstep{{op: wAdd, n: 1}}}}})
			}
		})
	}
	wg.Wait()
	s.Close()
	on.Store(false)
	mustNot(t, st.Close())
	mustNot(t, w.Close())
	for _, k := range left {
		engine, err := pebbleDisk{fs: k.fs}.open(func() {})
		mustNot(t, err)
		st := openStore(t, engine, nil)
		last, err := history.LastTraced(st)
		mustNot(t, err)
		mustNot(t, st.Close())
		found := int64(0)
		for _, m := range orders.FindAllSubmatch(k.trace, -1) {
			if found, err = strconv.ParseInt(string(m[1]), 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		if found < last {
			without++
		}
	}
	return len(left), without
}

// Every event that a killed process leaves in its store is in its trace, too, though the trace is not written at each event.
func TestTheTraceHasWhatTheStoreHas(t *testing.T) {
	if stores, without := missing(t, func(w *trace.Writer) trace.Recorder { return w }); stores < killedMax/2 || without > 0 {
		t.Errorf("of %d stores %d have events that the trace has not", stores, without)
	}
	if testing.Short() {
		return
	}
	if stores, without := missing(t, func(w *trace.Writer) trace.Recorder { return neverFlushed{w} }); without == 0 {
		t.Errorf("of %d stores none has events that the trace has not, though it was not written in time", stores)
	}
}

// Events that no client awaits do not wait for the disk. Their ends are recorded once they are durable.
func TestEndsAreRecordedWhenTheyAreDurable(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.jsonl")
	w, err := trace.Create(name, trace.Stored, false)
	mustNot(t, err)
	w.Begin(trace.Header{Program: "test"})
	engine := &stalled{Engine: replicatest.New()}
	st := openStore(t, engine, nil)
	s, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet, Trace: w})
	mustNot(t, err)
	nodes, err := workload{nodes: 1}.plant(s)
	mustNot(t, err)
	goOn := engine.stall()
	const subs = 20
	var steps []wstep
	for range subs {
		steps = append(steps, wstep{op: wEmitNamed, name: "ann", sub: []wstep{{op: wAdd, n: 1}}})
	}
	s.Client().Send(nodes[0].Ref, &methodLocal, &wargs{steps: steps})
	until(func() bool { return s.tracer.Unanswered() == subs })
	goOn()
	s.Close()
	if n := s.tracer.Unanswered(); n != 0 {
		t.Errorf("the ends of %d events are not recorded", n)
	}
	w.End("closed")
	mustNot(t, st.Close())
	mustNot(t, w.Close())
	text, err := os.ReadFile(name)
	mustNot(t, err)
	events, answers := len(orders.FindAll(text, -1)), 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, `{"answers"`) {
			answers += strings.Count(line, "[") - 1
		}
	}
	if events < subs+1 || answers != events {
		t.Errorf("%d events and %d answers are recorded:\n%s", events, answers, text)
	}
}

// A run goes on with the versions of the run before. A traced run after one that was not traced begins anew.
func TestVersionsAreThoseOfOneTrace(t *testing.T) {
	var id event.ActorID
	var found []uint64
	rec := trace.Func(func(e *trace.Event) {
		for _, a := range e.Reads {
			if a.Actor == id {
				found = append(found, a.Version)
			}
		}
	})
	n := startNode(t, Config{Trace: rec})
	r := n.fresh()
	id = r.ID()
	for _, recorder := range []trace.Recorder{rec, rec, nil, rec, rec} {
		n.cfg.Trace = recorder
		n.reopen()
		r = n.again(r)
		n.run(r, &methodLocal, wstep{op: wAdd, n: 1})
	}
	n.close()
	if want := []uint64{1, 2, 0, 1}; !slices.Equal(found, want) {
		t.Errorf("versions %d, want %d", found, want)
	}
}
