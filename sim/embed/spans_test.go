package embed_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/aeontest"
	"github.com/aeon-lang/aeon/internal/spantree"
	"github.com/aeon-lang/aeon/sim/embed/hall"
)

const (
	traceText  = "0af7651916cd43dd8448eb211c80319c"
	parentText = "b7ad6b7169203331"
	parent     = "00-" + traceText + "-" + parentText + "-01"
)

// The calls of a program in Go are spans, below those of its own that it names, and all of them are written when it is closed.
func TestSpans(t *testing.T) {
	var lines bytes.Buffer
	db, err := hall.Open(t.Context(), aeon.InMemory(), aeon.Spans(&lines))
	mustNot(t, err)
	h := db.Hall("main")
	mustNot(t, h.Hold(t.Context(), "a1", "ann", aeon.Traceparent(parent)))
	if err := h.Hold(t.Context(), "a1", "bob", aeon.Once("k"), aeon.Traceparent(parent)); !errors.Is(err, aeon.ErrAborted) {
		t.Fatal(err)
	}
	if err := h.Hold(t.Context(), "a1", "bob", aeon.Traceparent("no")); !errors.Is(err, aeon.ErrAborted) {
		t.Fatal(err)
	}
	var figures bytes.Buffer
	mustNot(t, db.WriteMetrics(&figures))
	if !bytes.Contains(figures.Bytes(), []byte("\naeon_spans_dropped_total 0\n")) {
		t.Errorf("the figures are %s", &figures)
	}
	mustNot(t, db.Close())
	of := parentText + " of " + traceText + "\n"
	want := "Hall.hold <- Hall.hold\n" + // the timer may fire in a later run
		"Hall.hold Hall/main failed: a1 is held\n" + of + "  Hall.hold Hall/main\n    Hall.Hall Hall/main\n" + of + "  Hall.hold Hall/main failed: a1 is held\n"
	list := slices.DeleteFunc(spantree.Read(t, lines.Bytes()), func(s *spantree.Span) bool { return s.GetName() == "wait for durability" })
	if got := spantree.Trees(list); got != want {
		t.Errorf("the spans are\n%s\nwant\n%s", got, want)
	}
}

// In a test spans have the simulated time, and a seed repeats them.
func TestSpansOfASeed(t *testing.T) {
	run := func(seed uint64) string {
		var lines bytes.Buffer
		p := aeontest.New(t, seed)
		db, h := open(t, p, aeon.Spans(&lines))
		began := p.Now()
		mustNot(t, h.Hold(t.Context(), "a1", "ann"))
		mustNot(t, h.Both(t.Context(), db.Hall("a"), db.Hall("b")))
		p.Advance(10 * time.Minute)
		mustNot(t, db.Close())
		list := spantree.Read(t, lines.Bytes())
		text := spantree.Trees(list)
		var at []string
		for _, s := range list {
			at = append(at, s.GetName()+fmt.Sprint(time.Unix(0, int64(s.GetStartTimeUnixNano())).Sub(began)))
		}
		slices.Sort(at)
		return text + fmt.Sprint(at)
	}
	first := run(1)
	for _, want := range []string{"timer Hall/main <- Hall.hold\n", "Hall.expire Hall/main <- timer\n", "Hall.expire10m0s"} {
		if !bytes.Contains([]byte(first), []byte(want)) {
			t.Errorf("the spans are\n%s\nwithout %s", first, want)
		}
	}
	for range 5 {
		if again := run(1); again != first {
			t.Fatalf("a seed has the spans\n%s\nand then\n%s", first, again)
		}
	}
}
