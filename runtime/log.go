package runtime

import (
	"io"
	"log/slog"
	"strings"
)

// newLog returns the log of a program or test: lines of text, with places in the
// program as users write them. A test runs in simulated time, so its log has no
// real time.
func newLog(w io.Writer, withTime bool) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) > 0 {
			return a
		}
		if a.Key == slog.TimeKey && !withTime {
			return slog.Attr{}
		}
		switch v := a.Value.Any().(type) {
		case Frame:
			a.Value = slog.StringValue(place(v))
		case []Frame:
			a.Value = slog.StringValue(strings.Join(places(v), " < "))
		}
		return a
	}}))
}
