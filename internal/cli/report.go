package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/load"
)

// The exit codes of the tools, as their help documents them. A program that a tool has
// started decides its own.
const (
	ExitClean       = 0
	ExitProblem     = 1 // errors in the program, failed tests, damage: what was looked at is not as it should be
	ExitUsage       = 2 // the command line is wrong; see Tool.UsageCode
	ExitEnvironment = 3 // no Go toolchain, no cache, a file or a directory that cannot be used
	ExitBug         = 4 // the tool itself is wrong

	exitInterrupted = 128 + 2
)

// UsageError says that the command line is wrong.
type UsageError struct{ msg string }

func (e UsageError) Error() string { return e.msg }

// Usagef makes a UsageError.
func Usagef(format string, args ...any) error { return UsageError{fmt.Sprintf(format, args...)} }

// Code ends the tool with a code; what is to be said has been said.
type Code int

func (e Code) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// report says what went wrong and turns it into an exit code.
func (t *Tool) report(c *Command, err error, env *Env) int {
	var (
		code      Code
		rejected  *gobuild.ProgramError
		usage     UsageError
		missing   *load.NotFoundError
		generated *gobuild.GeneratedCodeError
	)
	switch {
	case err == nil:
		return ExitClean
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &rejected):
		env.Say("%v", err)
		return ExitProblem
	case errors.As(err, &usage):
		env.Say("%s: %v\n\t%s\n\t`%s help %s` tells more", c.Name, err, t.usage(c), t.Name, c.Name)
		return t.usageCode()
	case errors.As(err, &missing):
		env.Say("%s: %v", c.Name, err)
		return t.usageCode()
	case errors.As(err, &generated):
		env.Say("%v", err)
		return ExitBug
	case errors.Is(err, context.Canceled):
		env.Say("interrupted")
		return exitInterrupted
	default:
		env.Say("%s: %v", c.Name, err)
		return ExitEnvironment
	}
}

// Word writes a word of a command line for a shell.
func Word(s string) string {
	if strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./:_-", r)
	}) < 0 && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Path writes a word that names a file or a directory, which is no flag.
func Path(name string) string {
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	return Word(name)
}
