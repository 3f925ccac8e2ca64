package exec

import (
	"path/filepath"
	"testing"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// BenchmarkTracedSubEvents compares sub-events on a disk that are recorded with sub-events that are not.
func BenchmarkTracedSubEvents(b *testing.B) {
	const burst = 50
	begin := func(traced bool) func() {
		engine, err := pebbledb.Open(b.TempDir(), store.EngineOptions{Program: "test", Log: quiet})
		mustNot(b, err)
		st := openStore(b, engine, nil)
		cfg := Config{Store: st, Classes: testClasses, Log: quiet}
		if traced {
			w, err := trace.Create(filepath.Join(b.TempDir(), "t.jsonl"), trace.Stored, false)
			mustNot(b, err)
			w.Begin(trace.Header{Program: "test"})
			cfg.Trace = w
			b.Cleanup(func() { mustNot(b, w.Close()) })
		}
		s, err := Recover(cfg)
		mustNot(b, err)
		b.Cleanup(func() { s.Close(); mustNot(b, st.Close()) })
		nodes, err := workload{nodes: 2}.plant(s)
		mustNot(b, err)
		cl := s.Client()
		mustNot(b, cl.Await(nodes[0].Ref, &methodAdopt, &wargs{steps: []wstep{{op: wAdopt, ref: nodes[1]}}}))
		var steps []wstep
		for range burst {
			steps = append(steps, wstep{op: wEmit, sub: []wstep{{op: wAdd, n: 1}}})
		}
		return func() {
			mustNot(b, cl.Await(nodes[0].Ref, &methodScript, &wargs{steps: steps}))
			cl.Settle()
		}
	}
	plain := begin(false)
	traced := begin(true)
	var took [2]float64
	for b.Loop() {
		for i, f := range []func(){plain, traced} {
			before := b.Elapsed()
			for range 4 {
				f()
			}
			took[i] += (b.Elapsed() - before).Seconds()
		}
	}
	each := float64(b.N * 4 * burst)
	b.ReportMetric(each/took[0], "plain/s")
	b.ReportMetric(each/took[1], "traced/s")
	b.ReportMetric(took[1]/took[0], "traced/plain")
}
