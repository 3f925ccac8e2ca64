package replica

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/aeon-lang/aeon/internal/assert"
)

// logger hands on what package raft logs, a level lower: raft reports each change of a role as information, which serves the search for a
// fault alone.
type logger struct {
	to    *slog.Logger // nil: nothing is logged
	group Group
}

func (l logger) log(level slog.Level, text func() string) {
	if l.to != nil && l.to.Enabled(context.Background(), level) {
		l.to.Log(context.Background(), level, "raft", "group", l.group, "text", strings.TrimSpace(text()))
	}
}

func (l logger) print(level slog.Level, v []any) {
	l.log(level, func() string { return fmt.Sprintln(v...) })
}

func (l logger) printf(level slog.Level, format string, v []any) {
	l.log(level, func() string { return fmt.Sprintf(format, v...) })
}

func (l logger) Debug(v ...any)                   { l.print(slog.LevelDebug, v) }
func (l logger) Debugf(format string, v ...any)   { l.printf(slog.LevelDebug, format, v) }
func (l logger) Info(v ...any)                    { l.print(slog.LevelDebug, v) }
func (l logger) Infof(format string, v ...any)    { l.printf(slog.LevelDebug, format, v) }
func (l logger) Warning(v ...any)                 { l.print(slog.LevelInfo, v) }
func (l logger) Warningf(format string, v ...any) { l.printf(slog.LevelInfo, format, v) }
func (l logger) Error(v ...any)                   { l.print(slog.LevelWarn, v) }
func (l logger) Errorf(format string, v ...any)   { l.printf(slog.LevelWarn, format, v) }

// Fatal and Panic are called when an invariant of raft does not hold.

func (l logger) Fatal(v ...any)                 { l.Panic(v...) }
func (l logger) Fatalf(format string, v ...any) { l.Panicf(format, v...) }
func (l logger) Panic(v ...any) {
	assert.Unreachable("raft, group %d: %s", l.group, strings.TrimSpace(fmt.Sprintln(v...)))
}
func (l logger) Panicf(format string, v ...any) {
	assert.Unreachable("raft, group %d: %s", l.group, fmt.Sprintf(format, v...))
}
