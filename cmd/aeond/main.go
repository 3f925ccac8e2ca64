// Command aeond runs programs as servers that keep their state, and looks into the
// directories in which they keep it. `aeond help` tells how.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/aeon-lang/aeon/build"
	"github.com/aeon-lang/aeon/compiler"
	"github.com/aeon-lang/aeon/program"
)

// The exit codes of aeond, as `aeond help` documents them. A program that start has
// started decides its own.
const (
	exitClean       = 0
	exitProblem     = 1 // damage was found, or the program has errors
	exitUsage       = 2 // the command line is wrong
	exitEnvironment = 3 // the directory cannot be used, no Go toolchain, and so on
	exitBug         = 4 // generated Go that does not compile
)

// environment is what a command may use of the world.
type environment struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// say writes a line of progress to standard error.
func (e *environment) say(format string, args ...any) {
	fmt.Fprintf(e.stderr, "aeond: "+format+"\n", args...)
}

// command is one verb of aeond.
type command struct {
	name, args, short, long string
	// setup declares the flags and returns what runs the command.
	setup func(fs *flag.FlagSet) func(env *environment) error
}

// commands returns all commands in the order of the overview.
func commands() []*command {
	return []*command{startCommand(), statusCommand(), checkCommand(), snapshotCommand(), snapshotsCommand(), restoreCommand()}
}

// usageError says that the command line is wrong.
type usageError struct{ msg string }

func (e usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// codeError ends aeond with a code; what is to be said has been said.
type codeError int

func (e codeError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func main() {
	os.Exit(run(os.Args[1:], &environment{os.Stdin, os.Stdout, os.Stderr}))
}

func run(args []string, env *environment) int {
	if len(args) == 0 {
		overview(env.stderr)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		return help(args[1:], env)
	}
	c := findCommand(args[0])
	if c == nil {
		env.say("unknown command %q\n\t`aeond help` lists the commands", args[0])
		return exitUsage
	}
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are reported below
	act := c.setup(fs)
	switch err := fs.Parse(args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		c.help(env.stdout)
		return exitClean
	case err != nil:
		return c.report(usageError{err.Error()}, env)
	case fs.NArg() > 0:
		return c.report(usagef("there are no arguments, but %q was given", fs.Arg(0)), env)
	}
	return c.report(act(env), env)
}

func findCommand(name string) *command {
	for _, c := range commands() {
		if c.name == name {
			return c
		}
	}
	return nil
}

// report says what went wrong and turns it into an exit code.
func (c *command) report(err error, env *environment) int {
	var (
		code      codeError
		usage     usageError
		rejected  *compiler.ProgramError
		missing   *program.NotFoundError
		generated *build.GeneratedCodeError
	)
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		env.say("%s: %v\n\tusage: aeond %s %s\n\t`aeond help %s` tells more", c.name, err, c.name, c.args, c.name)
		return exitUsage
	case errors.As(err, &missing):
		env.say("%s: %v", c.name, err)
		return exitUsage
	case errors.As(err, &rejected):
		env.say("%v", err)
		return exitProblem
	case errors.As(err, &generated):
		env.say("%v", err)
		return exitBug
	case errors.Is(err, context.Canceled):
		env.say("interrupted")
		return 128 + 2
	default:
		env.say("%s: %v", c.name, err)
		return exitEnvironment
	}
}

func overview(w io.Writer) {
	fmt.Fprint(w, "aeond runs aeon programs as servers that keep their state, and looks into the directories\nin which they keep it.\n\nusage: aeond COMMAND [flags]\n\nThe commands are:\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "\t%-10s %s\n", c.name, c.short)
	}
	fmt.Fprint(w, `
"aeond help COMMAND" tells more about a command. A flag may have one dash or two.

Exit codes: 0 all is well; 1 damage was found, or the program has errors; 2 the command line
is wrong; 3 the directory cannot be used, or there is no Go toolchain; 4 a bug of aeon. A
program that was started decides its own: 74 if its disk has failed, 128+N after signal N.
`)
}

func help(args []string, env *environment) int {
	if len(args) == 0 {
		overview(env.stdout)
		return exitClean
	}
	if c := findCommand(args[0]); c != nil {
		c.help(env.stdout)
		return exitClean
	}
	env.say("there is no help on %q\n\t`aeond help` lists the commands", args[0])
	return exitUsage
}

// help writes everything there is to know about a command.
func (c *command) help(w io.Writer) {
	fmt.Fprintf(w, "usage: aeond %s %s\n\n%s\n\nFlags:\n\n", c.name, c.args, strings.TrimSpace(c.long))
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	c.setup(fs)
	fs.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(w, "\t%-22s %s\n", strings.TrimSpace("--"+f.Name+" "+value), usage)
	})
}
