package span

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/internal/spantree"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/metrics"
	"go.uber.org/goleak"
)

// TestMain runs the tests, after which nothing may still run.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	traceText  = "0af7651916cd43dd8448eb211c80319c"
	parentText = "b7ad6b7169203331"
)

// What names a span is what W3C Trace Context says, and nothing else.
func TestTraceparents(t *testing.T) {
	good := "00-" + traceText + "-" + parentText + "-01"
	for text, sampled := range map[string]bool{
		good: true, "00-" + traceText + "-" + parentText + "-00": false, "00-" + traceText + "-" + parentText + "-03": true, "00-" + traceText + "-" + parentText + "-02": false,
		"cc-" + traceText + "-" + parentText + "-01-what.the.future": true, "cc-" + traceText + "-" + parentText + "-01": true,
	} {
		c := Parse([]string{text}, []string{"a=1", "b=2"})
		if c.Trace.String() != traceText || c.Span.String() != parentText || c.Sampled != sampled || c.State != "a=1,b=2" {
			t.Errorf("%s: %v", text, c)
		}
	}
	for _, list := range [][]string{
		nil, {""}, {good, good}, {good + "-"}, {good + "-00"}, {good[:54]}, {" " + good[1:]}, {strings.ToUpper(good)},
		{"ff" + good[2:]}, {"cc" + good[2:] + "."}, {"0g" + good[2:]}, {"00-" + strings.Repeat("0", 32) + "-" + parentText + "-01"},
		{"00-" + traceText + "-" + strings.Repeat("0", 16) + "-01"}, {"00-" + traceText + "_" + parentText + "-01"}, {good[:53] + "0x"},
	} {
		if c := Parse(list, []string{"a=1"}); c != (Context{}) {
			t.Errorf("%q: %v", list, c)
		}
	}
	for _, state := range []string{strings.Repeat("a", stateMax+1), "a=\x00", "a=\xff"} {
		if c := Parse([]string{good}, []string{state}); !c.Valid() || c.State != "" {
			t.Errorf("state %q: %v", state, c)
		}
	}
}

// FuzzTraceparent: what is read is what was sent, to the letter, or nothing.
func FuzzTraceparent(f *testing.F) {
	f.Add("00-"+traceText+"-"+parentText+"-01", "a=1")
	f.Add("cc-"+traceText+"-"+parentText+"-01-x", "")
	f.Add("00-"+traceText+"-"+strings.Repeat("0", 16)+"-01", "a=\xff")
	f.Fuzz(func(t *testing.T, parent, state string) {
		c := Parse([]string{parent}, []string{state})
		if !c.Valid() {
			if c != (Context{}) {
				t.Fatalf("%q: half of %v was read", parent, c)
			}
			return
		}
		if want := "-" + c.Trace.String() + "-" + c.Span.String() + "-"; parent[2:53] != want || c.Span == (ID{}) {
			t.Fatalf("%q is read as %s", parent, want)
		}
		if c.State != "" && c.State != state {
			t.Fatalf("state %q is read as %q", state, c.State)
		}
	})
}

// The ids of an event are the same in each process with the store, and those of another store and another event are others.
func TestIDsFollowFromTheEvent(t *testing.T) {
	seen := map[string]bool{}
	for _, store := range []string{"", "a", "b", "ab", "ba"} {
		x := newIDs(store)
		for origin := range uint64(20) {
			for seq := range uint64(20) {
				e := event.EventID{Origin: origin, Seq: seq}
				id := x.trace(e).String() + x.span(e).String()
				if y := newIDs(store); seen[id] || y.trace(e).String()+y.span(e).String() != id {
					t.Fatalf("%v of %q: %s", e, store, id)
				}
				seen[id] = true
			}
		}
	}
}

// A share of the traces is sampled, the caller's decision is kept, and 0 and 1 are none and all.
func TestSampling(t *testing.T) {
	for _, share := range []float64{0, 0.25, 1} {
		tr := &Tracer{cfg: Config{Sample: share}, ids: newIDs("s")}
		n := 0
		for i := range uint64(4000) {
			if tr.Begin(event.EventID{Origin: 7, Seq: i}, nil, 0, 0) != nil {
				n++
			}
		}
		if got := float64(n) / 4000; got < share-0.05 || got > share+0.05 || share == 0 && n != 0 || share == 1 && n != 4000 {
			t.Errorf("%v of the traces are sampled, want %v", got, share)
		}
		for _, sampled := range []bool{false, true} {
			c := Context{Trace: TraceID{1}, Span: ID{2}, Sampled: sampled}
			if e := tr.Begin(event.EventID{Seq: 1}, &Origin{Parent: c}, 0, 0); (e != nil) != sampled {
				t.Errorf("a caller says %v: %v", sampled, e)
			}
			call := tr.Serve("GET", c)
			if e := tr.Begin(event.EventID{Seq: 2}, call.Origin(), 0, 0); (e != nil) != sampled {
				t.Errorf("a caller at a door says %v: %v", sampled, e)
			}
		}
	}
}

// funcSink is a Sink.
type funcSink func(ctx context.Context, request []byte) (int, error)

func (f funcSink) Export(ctx context.Context, request []byte) (int, error) { return f(ctx, request) }

// one exports a span of a name.
func one(t *Tracer, name string) {
	c := t.Serve(name, Context{Trace: TraceID{1}, Span: ID{2}, Sampled: true})
	c.End()
}

// counted returns the figures: exported, dropped, failed.
func counted(t *Tracer) string {
	var w metrics.Writer
	t.WriteMetrics(&w, "aeon_spans")
	var b bytes.Buffer
	_, _ = w.WriteTo(&b) // a buffer takes all
	var n []string
	for line := range strings.Lines(b.String()) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); !strings.HasPrefix(name, "#") {
			n = append(n, value)
		}
	}
	return strings.Join(n, " ")
}

var quiet = slog.New(slog.DiscardHandler)

// A collector that hangs delays nothing: what does not fit is dropped and counted, and Close ends within its time.
func TestAHangingCollectorDelaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		tr := Open(Config{Sink: funcSink(func(ctx context.Context, _ []byte) (int, error) {
			<-ctx.Done()
			return 0, &LaterError{Err: ctx.Err()}
		}), Log: quiet})
		one(tr, "first")
		time.Sleep(batchAge)
		synctest.Wait() // it hangs
		for range spansMax + 3 {
			one(tr, "more")
		}
		if took := time.Since(began); took != batchAge {
			t.Errorf("the program was delayed by %v", took-batchAge)
		}
		tr.Close()
		if took := time.Since(began) - batchAge; took != CloseMax || counted(tr) != fmt.Sprintf("0 3 %d", spansMax+1) {
			t.Errorf("closed after %v; exported, dropped, failed: %s", took, counted(tr))
		}
		one(tr, "late")
		if !strings.HasPrefix(counted(tr), "0 4 ") {
			t.Errorf("after the end: %s", counted(tr))
		}
	})
}

// A sink that heeds no context does not hold up the end of the program.
func TestASinkThatNeverReturnsHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan bool)
		tr := Open(Config{Sink: funcSink(func(context.Context, []byte) (int, error) { <-release; return 0, nil }), Log: quiet})
		one(tr, "a")
		began := time.Now()
		tr.Close()
		if took := time.Since(began); took > 2*CloseMax {
			t.Errorf("closed after %v", took)
		}
		close(release)
	})
}

// What may be taken later is sent again, with twice the time between tries, or as late as the collector asks for; then it is given up. What is
// refused for good is not sent again.
func TestTriesAreBounded(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		fails int // how often
		at    string
		want  string
	}{
		{"well", nil, 0, "1s", "1 0 0"},
		{"twice", &LaterError{Err: errors.New("503")}, 2, "1s 1.5s 2.5s", "1 0 0"},
		{"always", &LaterError{Err: errors.New("503")}, 99, "1s 1.5s 2.5s 4.5s 8.5s", "0 0 1"},
		{"asks for time", &LaterError{Err: errors.New("503"), After: 3 * time.Second}, 1, "1s 4s", "1 0 0"},
		{"asks for too much", &LaterError{Err: errors.New("503"), After: time.Hour}, 1, "1s 11s", "1 0 0"},
		{"refuses", errors.New("400"), 99, "1s", "0 0 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var at []string
				tr := Open(Config{Log: quiet, Sink: funcSink(func(context.Context, []byte) (int, error) {
					at = append(at, time.Since(began).String())
					if len(at) <= c.fails {
						return 0, c.err
					}
					return 0, nil
				})})
				one(tr, "a")
				time.Sleep(time.Minute)
				tr.Close()
				if got := strings.Join(at, " "); got != c.at || counted(tr) != c.want {
					t.Errorf("sent at %s, want %s; exported, dropped, failed: %s, want %s", got, c.at, counted(tr), c.want)
				}
			})
		})
	}
}

// A full batch leaves at once, and Close sends what waits.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		refused := 0
		tr := Open(Config{Log: quiet, Sink: funcSink(func(_ context.Context, request []byte) (int, error) {
			sizes = append(sizes, len(spantree.Read(t, request)))
			return refused, nil
		})})
		for range batchMax + 1 {
			one(tr, "a")
		}
		time.Sleep(batchAge) // the last one may come when the batch has gone
		synctest.Wait()
		if fmt.Sprint(sizes) != fmt.Sprintf("[%d 1]", batchMax) {
			t.Errorf("the batches have %v spans", sizes)
		}
		one(tr, "b")
		refused = 1
		tr.Close()
		tr.Close()
		if len(sizes) != 3 || counted(tr) != fmt.Sprintf("%d 0 1", batchMax+1) {
			t.Errorf("the batches have %v spans; %s", sizes, counted(tr))
		}
	})
}

// What is exported is OTLP for any text.
func TestTextsAreOTLP(t *testing.T) {
	var lines bytes.Buffer
	tr := Open(Config{Program: "p\xff\"", Store: "s", Resource: []string{"deployment.environment", "<test>"}, Sink: &Lines{To: &lines}, Log: quiet})
	c := tr.Serve("\x00\xff \u2028 <a> \U0001F600", Context{Trace: TraceID{1}, Span: ID{2}, Sampled: true, State: "a=1"})
	c.Text("text", strings.Repeat("x", textMax+1))
	c.Text("none", "")
	c.Number("number", -1)
	c.Fail("it \xc3\x28 fails")
	c.End()
	tr.Close()
	list := spantree.Read(t, lines.Bytes())
	if len(list) != 1 {
		t.Fatalf("%d spans: %s", len(list), &lines)
	}
	s := list[0]
	if s.GetName() != "\x00\ufffd \u2028 <a> \U0001F600" || len(s.Attribute("text")) != textMax+len("…") || s.Attribute("number") != "-1" || len(s.GetAttributes()) != 2 ||
		s.GetTraceState() != "a=1" || s.GetStatus().GetMessage() != "it \ufffd( fails" || s.Service != "p\ufffd\"" || s.Parent != "0200000000000000" || s.GetEndTimeUnixNano() < s.GetStartTimeUnixNano() {
		t.Errorf("the span is %v of %s", s, s.Service)
	}
}

// A nil tracer, and what it makes, do nothing.
func TestNothingIsRecordedByNothing(t *testing.T) {
	var tr *Tracer
	c := tr.Serve("", Context{})
	c.Text("a", "b")
	c.Number("a", 1)
	c.Fail("")
	c.End()
	tr.Step(event.EventID{}, 0, nil, "", 0).End(0, "")
	tr.Close()
	if c.Origin() != nil || tr.Issues(nil, event.EventID{}) != nil || tr.Stored(event.EventID{}) != nil || counted(tr) != "" {
		t.Error("something is recorded")
	}
}

// A file keeps its lines, and the half of one that a killed process has left is ended.
func TestFilesGrowByLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	for _, before := range []string{"", "{\"a\":1}\n", "{\"a\":"} {
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = (&Lines{To: f}).Export(t.Context(), []byte("{}"))
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		want := strings.TrimSuffix(before, "\n")
		if want != "" {
			want += "\n"
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want+"{}\n" {
			t.Errorf("%q has become %q, %v", before, got, err)
		}
	}
	if _, err := OpenFile(t.TempDir()); err == nil {
		t.Error("a directory was opened")
	}
}

// shortWriter takes so many bytes of each write, one after the other, and all of further ones.
type shortWriter struct {
	bytes.Buffer
	takes []int
}

func (w *shortWriter) Write(p []byte) (int, error) {
	if len(w.takes) == 0 {
		return w.Buffer.Write(p)
	}
	n, _ := w.Buffer.Write(p[:w.takes[0]]) // it always takes all
	w.takes = w.takes[1:]
	return n, syscall.ENOSPC
}

// A disk that was full has taken a part of a request: the next one has a line of its own.
func TestATornLineEndsBeforeTheNext(t *testing.T) {
	for _, c := range []struct {
		takes []int
		want  string
	}{
		{[]int{0}, "{}\n"}, {[]int{1}, "{\n{}\n"}, {[]int{2}, "{}\n{}\n"}, {[]int{1, 0}, "{\n{}\n"}, {[]int{1, 2}, "{\n{\n{}\n"},
		{[]int{1, 1}, "{\n{}\n"}, // the end of the line alone
	} {
		w := &shortWriter{takes: c.takes}
		l := Lines{To: w}
		for range c.takes {
			if _, err := l.Export(t.Context(), []byte("{}")); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%v: %v", c.takes, err)
			}
		}
		if _, err := l.Export(t.Context(), []byte("{}")); err != nil || w.String() != c.want {
			t.Errorf("%v bytes were taken: the file has %q, want %q, error %v", c.takes, w.String(), c.want, err)
		}
	}
}
