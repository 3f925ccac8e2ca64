package metrics_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/metrics"
)

// What is written is read by Prometheus' own parser as what it was, whatever the values of labels are.
func TestTheParserOfPrometheusReadsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		label, help := rapid.String().Draw(t, "label"), rapid.String().Draw(t, "help")
		n, m := rapid.Uint64Max(1<<53).Draw(t, "n"), rapid.Int64Range(-1<<53, 1<<53).Draw(t, "m")
		var h metrics.Histogram
		sum := 0.0
		durations := rapid.SliceOf(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(20*time.Second)).Draw(t, "ns"))
		})).Draw(t, "durations")
		for _, d := range durations {
			h.Observe(d)
			sum += d.Seconds()
		}
		var w metrics.Writer
		w.Counter("a_total", help, n)
		w.Counters("b_total", "b")
		w.Sample("b_total", 1, "code", "200", "label", label)
		w.Sample("b_total", 2, "code", "404", "label", label)
		w.Gauge("c", "c", m, "label", label)
		w.Histogram("d_seconds", "d", &h)
		var text bytes.Buffer
		if _, err := w.WriteTo(&text); err != nil {
			t.Fatal(err)
		}
		p := expfmt.NewTextParser(model.LegacyValidation)
		got, err := p.TextToMetricFamilies(bytes.NewReader(text.Bytes()))
		if err != nil || len(got) != 4 {
			t.Fatalf("%v\n%s", err, text.Bytes())
		}
		if v := got["a_total"].GetMetric()[0].GetCounter().GetValue(); v != float64(n) {
			t.Errorf("a_total is %v, want %d", v, n)
		}
		b := got["b_total"].GetMetric()
		if len(b) != 2 || b[1].GetCounter().GetValue() != 2 || b[1].GetLabel()[0].GetValue() != "404" || b[1].GetLabel()[1].GetValue() != strings.ToValidUTF8(label, "\ufffd") {
			t.Errorf("b_total is %v", b)
		}
		if v := got["c"].GetMetric()[0].GetGauge().GetValue(); v != float64(m) {
			t.Errorf("c is %v, want %d", v, m)
		}
		d := got["d_seconds"].GetMetric()[0].GetHistogram()
		if d.GetSampleCount() != uint64(len(durations)) || math.Abs(d.GetSampleSum()-sum) > 1e-6 {
			t.Errorf("d_seconds is %v, want %v", d, durations)
		}
		for _, bucket := range d.GetBucket() {
			want := uint64(0)
			for _, took := range durations {
				if took.Seconds() <= bucket.GetUpperBound() {
					want++
				}
			}
			if bucket.GetCumulativeCount() != want {
				t.Errorf("%d took at most %v s, want %d", bucket.GetCumulativeCount(), bucket.GetUpperBound(), want)
			}
		}
	})
}

// A quantile is in the bucket of the duration that has its rank, and counts what came since.
func TestQuantile(t *testing.T) {
	var h metrics.Histogram
	if q := h.Counts().Quantile(0.99, metrics.Counts{}); q != 0 {
		t.Errorf("of nothing it is %v", q)
	}
	h.Observe(9 * time.Second)
	was := h.Counts()
	for range 98 {
		h.Observe(2 * time.Millisecond)
	}
	h.Observe(80 * time.Millisecond)
	h.Observe(time.Minute)
	now := h.Counts()
	for share, want := range map[float64][2]time.Duration{0.5: {time.Millisecond, 2500 * time.Microsecond}, 0.985: {50 * time.Millisecond, 100 * time.Millisecond}, 1: {10 * time.Second, 10 * time.Second}} {
		if q := now.Quantile(share, was); q < want[0] || q > want[1] {
			t.Errorf("the quantile of %v is %v, expected %v", share, q, want)
		}
	}
}

// What is written of several things, each with labels of its own, stands together by metrics.
func TestLabelsOfAll(t *testing.T) {
	var w metrics.Writer
	var h metrics.Histogram
	h.Observe(time.Millisecond)
	for _, store := range []string{"0", "2"} {
		w.Label("store", store)
		w.Counter("a_total", "a", 7)
		w.Gauges("b", "b")
		w.Sample("b", 1, "kind", "x")
		w.Histogram("c_seconds", "c", &h)
	}
	w.Label()
	w.Gauge("d", "d", 1)
	var text bytes.Buffer
	if _, err := w.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	p := expfmt.NewTextParser(model.LegacyValidation)
	got, err := p.TextToMetricFamilies(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, text.Bytes())
	}
	for name, labels := range map[string]int{"a_total": 1, "b": 2, "c_seconds": 1} {
		list := got[name].GetMetric()
		if len(list) != 2 || len(list[1].GetLabel()) != labels || list[1].GetLabel()[0].GetValue() != "2" {
			t.Errorf("%s is %v", name, list)
		}
	}
	if d := got["d"].GetMetric(); len(d) != 1 || len(d[0].GetLabel()) != 0 {
		t.Errorf("d is %v", d)
	}
}
