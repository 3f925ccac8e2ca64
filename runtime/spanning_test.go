package runtime

import (
	"bytes"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/span"
)

// fillsUp is a file on a disk that was full when the first line came: it has one byte of that.
type fillsUp struct{ bytes.Buffer }

func (f *fillsUp) Write(p []byte) (n int, err error) {
	if f.Len() == 0 {
		p, err = p[:1], syscall.ENOSPC
	}
	n, _ = f.Buffer.Write(p) // it always takes all
	return n, err
}

// The parts of a node write one file, which is opened once, and closed behind the last of them: a line that one of them has torn ends before that of the next one.
func TestThePartsOfANodeWriteOneFile(t *testing.T) {
	f := &fillsUp{}
	opened, closed := 0, 0
	n := &NodeSpans{Spans: settings.Spans{Place: "file", Sample: 1}, program: "demo", log: slog.New(slog.DiscardHandler), open: func(string) (SpanPlace, error) {
		opened++
		return SpanPlace{Sink: &span.Lines{To: f}, Close: func() error {
			closed++
			return nil
		}}, nil
	}}
	const parts = 3
	for i := range parts {
		part, err := n.Begin(1, "store", "")
		if err != nil {
			t.Fatal(err)
		}
		part.Serve("call", span.Context{}).End()
		if i == parts-1 {
			n.close()
		} else if n.End(part); closed != 0 {
			t.Error("the file is closed while others write it")
		}
	}
	lines := strings.Split(f.String(), "\n")
	if len(lines) != parts+1 || lines[0] != "{" || !strings.HasPrefix(lines[1], "{") || !strings.HasPrefix(lines[2], "{") {
		t.Errorf("the file has %d lines: %s", len(lines)-1, f.String())
	}
	if opened != 1 || closed != 1 {
		t.Errorf("the file was opened %d times, and closed %d times", opened, closed)
	}
}
