// Package metrics counts durations, and writes figures in the text format of Prometheus (version 0.0.4). The official client
// is not used: what counts is in packages that import the standard library alone.
package metrics

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// ContentType is that of the text format.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// bounds are the upper bounds of the buckets of a histogram; the last bucket has none.
var bounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// Histogram counts durations. The zero value has counted none. Any goroutine may use it.
type Histogram struct {
	buckets [len(bounds) + 1]atomic.Uint64
	sum     atomic.Int64
}

// Observe counts a duration.
func (h *Histogram) Observe(d time.Duration) {
	i := 0
	for i < len(bounds) && d > bounds[i] {
		i++
	}
	h.sum.Add(int64(d))
	h.buckets[i].Add(1)
}

// Sum returns how many durations were counted, and their sum. They are read one after the other, while others may be counted.
func (h *Histogram) Sum() (count uint64, sum time.Duration) {
	for i := range h.buckets {
		count += h.buckets[i].Load()
	}
	return count, time.Duration(h.sum.Load())
}

// Counts are how many durations a histogram has counted in each of its buckets.
type Counts [len(bounds) + 1]uint64

// Counts returns what was counted up to now.
func (h *Histogram) Counts() (c Counts) {
	for i := range h.buckets {
		c[i] = h.buckets[i].Load()
	}
	return c
}

// Quantile returns the duration below which this share lies of what was counted since was, as far as the buckets tell; 0 if nothing was.
func (c Counts) Quantile(share float64, was Counts) time.Duration {
	total := uint64(0)
	for i := range c {
		c[i] -= was[i]
		total += c[i]
	}
	if total == 0 {
		return 0
	}
	rank, below, low := share*float64(total), 0.0, time.Duration(0)
	for i, bound := range bounds {
		if n := float64(c[i]); n > 0 && below+n >= rank {
			return low + time.Duration((rank-below)/n*float64(bound-low))
		}
		below, low = below+float64(c[i]), bound
	}
	return bounds[len(bounds)-1]
}

// Writer writes metrics. Names and the names of labels are those of Prometheus' conventions, and are not checked. A metric may be begun several times, with
// other labels: its samples stand together, as the format has it.
type Writer struct {
	list    []*family
	byName  map[string]*family
	*family          // that was begun last
	labels  []string // of all samples
}

// family is one metric.
type family struct{ b []byte }

// Label gives all samples that follow labels, as in Sample, in place of those that it gave before.
func (w *Writer) Label(labels ...string) { w.labels = labels }

// WriteTo implements io.WriterTo.
func (w *Writer) WriteTo(to io.Writer) (int64, error) {
	var all []byte
	for _, f := range w.list {
		all = append(all, f.b...)
	}
	n, err := to.Write(all)
	return int64(n), err
}

// head begins a metric.
func (w *Writer) head(name, kind, help string) {
	if w.family = w.byName[name]; w.family != nil {
		return
	}
	w.family = &family{b: []byte("# HELP " + name + " " + strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(help) + "\n# TYPE " + name + " " + kind + "\n")}
	if w.list = append(w.list, w.family); w.byName == nil {
		w.byName = make(map[string]*family)
	}
	w.byName[name] = w.family
}

// Counter writes a metric that only grows.
func (w *Writer) Counter(name, help string, n uint64) {
	w.head(name, "counter", help)
	w.Sample(name, n)
}

// Counters begins a counter with labels, the samples of which follow.
func (w *Writer) Counters(name, help string) { w.head(name, "counter", help) }

// Gauge writes a metric that grows and shrinks. Labels are as in Sample.
func (w *Writer) Gauge(name, help string, n int64, labels ...string) {
	w.head(name, "gauge", help)
	w.begin(name, labels)
	w.b = append(strconv.AppendInt(w.b, n, 10), '\n')
}

// Gauges begins a gauge with labels, the samples of which follow.
func (w *Writer) Gauges(name, help string) { w.head(name, "gauge", help) }

// Seconds writes one value of a metric that was begun, as Sample does.
func (w *Writer) Seconds(name string, d time.Duration, labels ...string) {
	w.begin(name, labels)
	w.b = append(append(w.b, formatFloat(d.Seconds())...), '\n')
}

// Sample writes one value of a metric that was begun. Labels are names and values, which alternate.
func (w *Writer) Sample(name string, n uint64, labels ...string) {
	w.begin(name, labels)
	w.b = append(strconv.AppendUint(w.b, n, 10), '\n')
}

// Histogram writes durations, in seconds.
func (w *Writer) Histogram(name, help string, h *Histogram) {
	w.head(name, "histogram", help)
	total := uint64(0)
	for i := range h.buckets {
		bound := math.Inf(1)
		if i < len(bounds) {
			bound = bounds[i].Seconds()
		}
		total += h.buckets[i].Load() // the total is of the same counts, whatever is observed meanwhile
		w.Sample(name+"_bucket", total, "le", formatFloat(bound))
	}
	w.begin(name+"_sum", nil)
	w.b = append(append(w.b, formatFloat(time.Duration(h.sum.Load()).Seconds())...), '\n')
	w.Sample(name+"_count", total)
}

// formatFloat writes a number as Prometheus reads it.
func formatFloat(f float64) string {
	if math.IsInf(f, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// begin writes what stands before a value.
func (w *Writer) begin(name string, labels []string) {
	w.b = append(w.b, name...)
	if len(w.labels) > 0 {
		labels = append(slices.Clone(w.labels), labels...)
	}
	for i := 0; i+1 < len(labels); i += 2 {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		w.b = append(append(w.b, sep), labels[i]+`="`...)
		w.b = append(w.b, strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(strings.ToValidUTF8(labels[i+1], "\ufffd"))...)
		w.b = append(w.b, '"')
	}
	if len(labels) > 0 {
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, ' ')
}
