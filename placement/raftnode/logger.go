package raftnode

import (
	"context"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// logger hands on what package raft logs as details: raft reports each change of a role, and several times a second each node that does
// not answer, which serves the search for a fault alone. The message of each record is "raft"; raft's own is its text.
type logger struct {
	to   *slog.Logger
	name string
	args []any
}

var _ hclog.Logger = logger{}

var levels = map[hclog.Level]slog.Level{hclog.Trace: slog.LevelDebug - 4, hclog.Debug: slog.LevelDebug - 4,
	hclog.Info: slog.LevelDebug, hclog.Warn: slog.LevelDebug, hclog.Error: slog.LevelDebug}

// Log implements hclog.Logger.
func (l logger) Log(level hclog.Level, text string, args ...any) {
	if to := levels[level]; l.to.Enabled(context.Background(), to) {
		attrs := []any{"text", text}
		for _, a := range args {
			if f, ok := a.(hclog.Format); ok && len(f) > 0 {
				a = fmt.Sprintf(fmt.Sprint(f[0]), f[1:]...)
			}
			attrs = append(attrs, a)
		}
		l.to.Log(context.Background(), to, "raft", attrs...)
	}
}

func (l logger) Trace(text string, args ...any) { l.Log(hclog.Trace, text, args...) }
func (l logger) Debug(text string, args ...any) { l.Log(hclog.Debug, text, args...) }
func (l logger) Info(text string, args ...any)  { l.Log(hclog.Info, text, args...) }
func (l logger) Warn(text string, args ...any)  { l.Log(hclog.Warn, text, args...) }
func (l logger) Error(text string, args ...any) { l.Log(hclog.Error, text, args...) }

func (l logger) is(level hclog.Level) bool {
	return l.to.Enabled(context.Background(), levels[level])
}

func (l logger) IsTrace() bool { return l.is(hclog.Trace) }
func (l logger) IsDebug() bool { return l.is(hclog.Debug) }
func (l logger) IsInfo() bool  { return l.is(hclog.Info) }
func (l logger) IsWarn() bool  { return l.is(hclog.Warn) }
func (l logger) IsError() bool { return l.is(hclog.Error) }

// ImpliedArgs implements hclog.Logger.
func (l logger) ImpliedArgs() []any { return l.args }

// With implements hclog.Logger.
func (l logger) With(args ...any) hclog.Logger {
	return logger{l.to.With(args...), l.name, append(l.args[:len(l.args):len(l.args)], args...)}
}

// Name implements hclog.Logger.
func (l logger) Name() string { return l.name }

// Named implements hclog.Logger.
func (l logger) Named(name string) hclog.Logger { return logger{l.to, l.name + name, l.args} }

// ResetNamed implements hclog.Logger.
func (l logger) ResetNamed(name string) hclog.Logger { return logger{l.to, name, l.args} }

// SetLevel implements hclog.Logger: the level is that of the slog.Logger.
func (l logger) SetLevel(hclog.Level) {}

// GetLevel implements hclog.Logger.
func (l logger) GetLevel() hclog.Level {
	for _, level := range []hclog.Level{hclog.Trace, hclog.Debug, hclog.Info, hclog.Warn, hclog.Error} {
		if l.is(level) {
			return level
		}
	}
	return hclog.Off
}

// StandardLogger implements hclog.Logger.
func (l logger) StandardLogger(*hclog.StandardLoggerOptions) *stdlog.Logger {
	return slog.NewLogLogger(l.to.Handler(), slog.LevelDebug)
}

// StandardWriter implements hclog.Logger.
func (l logger) StandardWriter(o *hclog.StandardLoggerOptions) io.Writer {
	return l.StandardLogger(o).Writer()
}
