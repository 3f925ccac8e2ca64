package exec

import "testing"

// BenchmarkSteps compares what comes next by itself: as an awaited event each, as a step that keeps its actor, and as a
// step on another actor.
func BenchmarkSteps(b *testing.B) {
	s := Open(Config{Log: quiet})
	defer s.Close()
	cl := s.Client()
	var desks [2]deskRef
	for i := range desks {
		r, err := cl.New(&classDesk, &methodDesk, work(nil))
		mustNot(b, err)
		desks[i] = deskRef{r}
	}
	left := 0
	b.Run("awaited", func(b *testing.B) {
		b.ReportAllocs()
		f := work(func(cx *Cx, d *desk) { d.setN(cx, d.n+1) })
		for b.Loop() {
			mustNot(b, cl.Await(desks[0].Ref, &methodAlone, f))
		}
	})
	run := func(b *testing.B, tail func(cx *Cx, next deskRef, f work)) {
		b.ReportAllocs()
		at := 0
		var step work
		step = func(cx *Cx, d *desk) {
			d.setN(cx, d.n+1)
			if left--; left > 0 {
				at = 1 - at
				tail(cx, desks[at], step)
			}
		}
		const steps = 1000
		for b.Loop() {
			left, at = steps, 0
			mustNot(b, cl.Await(desks[0].Ref, &methodAlone, step))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/steps, "ns/step")
	}
	b.Run("kept", func(b *testing.B) {
		run(b, func(cx *Cx, _ deskRef, f work) { cx.TailThis(desks[0].Ref, &methodAlone, f) })
	})
	b.Run("elsewhere", func(b *testing.B) {
		run(b, func(cx *Cx, next deskRef, f work) { cx.Tail(next.Ref, &methodAlone, f) })
	})
}
