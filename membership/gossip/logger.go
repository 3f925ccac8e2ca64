package gossip

import (
	"context"
	"log/slog"
	"strings"
)

// logWriter hands on the lines that memberlist logs as details: most of them are about one probe of one node. The message of each record is
// "gossip", and memberlist's own is its text.
type logWriter struct{ to *slog.Logger }

var logLevels = []struct {
	prefix string
	level  slog.Level
}{
	{"[DEBUG] ", slog.LevelDebug - 4},
	{"[INFO] ", slog.LevelDebug},
	{"[WARN] ", slog.LevelDebug},
	{"[ERR] ", slog.LevelDebug},
	{"[ERROR] ", slog.LevelDebug},
}

// Write implements io.Writer.
func (w logWriter) Write(b []byte) (int, error) {
	text, level := strings.TrimSpace(string(b)), slog.LevelDebug
	for _, l := range logLevels {
		if rest, ok := strings.CutPrefix(text, l.prefix); ok {
			text, level = rest, l.level
		}
	}
	w.to.Log(context.Background(), level, "gossip", "text", strings.TrimPrefix(text, "memberlist: "))
	return len(b), nil
}
