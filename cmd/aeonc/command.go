package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/aeon-lang/aeon/build"
	"github.com/aeon-lang/aeon/compiler"
	"github.com/aeon-lang/aeon/program"
)

// command is one verb of aeonc.
type command struct {
	name  string
	args  string // what follows the name in the usage line
	short string // one line for the overview
	long  string // paragraphs, then examples
	// setup declares the flags and returns what runs the command.
	setup func(fs *flag.FlagSet) action
	// trailing: everything behind the first argument belongs to the program
	// that is run, not to aeonc.
	trailing bool
}

// action runs a command with its arguments; flags have been parsed.
type action func(env *environment, args []string) error

// commands returns all commands in the order of the overview.
func commands() []*command {
	return []*command{
		initCommand(), checkCommand(), runCommand(), testCommand(), exploreCommand(), fmtCommand(),
		buildCommand(), genCommand(), compatCommand(), graphCommand(), traceCommand(), explainCommand(), versionCommand(), cleanCommand(),
	}
}

func findCommand(name string) *command {
	for _, c := range commands() {
		if c.name == name {
			return c
		}
	}
	return nil
}

// usageError says that the command line is wrong.
type usageError struct{ msg string }

func (e usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// codeError ends aeonc with a code; what is to be said has been said.
type codeError int

func (e codeError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// dispatch finds the command, parses its flags and runs it.
func dispatch(args []string, env *environment) int {
	if len(args) == 0 {
		overview(env.stderr)
		return exitUsage
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		return help(rest, env)
	case "-version", "--version", "-V":
		name = "version"
	}
	c := findCommand(name)
	if c == nil {
		names := []string{"help"}
		for _, c := range commands() {
			names = append(names, c.name)
		}
		if strings.HasSuffix(name, program.Extension) {
			env.say("unknown command %q; to run a program: aeonc run %s", name, name)
		} else {
			env.say("unknown command %q%s\n\t`aeonc help` lists the commands", name, didYouMean(name, names, ""))
		}
		return exitUsage
	}
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are reported below
	act := c.setup(fs)
	positional, err := parseFlags(fs, rest, c.trailing)
	if errors.Is(err, flag.ErrHelp) {
		c.help(env.stdout)
		return exitClean
	}
	if err == nil {
		err = act(env, positional)
	}
	return c.report(err, env)
}

// report says what went wrong and turns it into an exit code.
func (c *command) report(err error, env *environment) int {
	var (
		code      codeError
		rejected  *compiler.ProgramError
		usage     usageError
		missing   *program.NotFoundError
		generated *build.GeneratedCodeError
	)
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &rejected):
		env.say("%v", err)
		return exitDiagnostics
	case errors.As(err, &usage):
		env.say("%s: %v\n\tusage: aeonc %s %s\n\t`aeonc help %s` tells more", c.name, err, c.name, c.args, c.name)
		return exitUsage
	case errors.As(err, &missing):
		env.say("%s: %v", c.name, err)
		return exitUsage
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

// parseFlags parses flags wherever they stand among the arguments; behind "--",
// and with trailing behind the first argument, nothing is a flag.
func parseFlags(fs *flag.FlagSet, args []string, trailing bool) (positional []string, err error) {
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			return nil, flagError(fs, err)
		}
		rest := fs.Args()
		ended := len(rest) < len(args) && args[len(args)-len(rest)-1] == "--"
		if ended || len(rest) == 0 || trailing {
			return append(positional, rest...), nil
		}
		positional = append(positional, rest[0])
		args = rest[1:]
	}
	return positional, nil
}

// flagError words what the flag package found.
func flagError(fs *flag.FlagSet, err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	const unknown = "flag provided but not defined: "
	if name, ok := strings.CutPrefix(err.Error(), unknown); ok {
		name = strings.TrimLeft(name, "-")
		var names []string
		fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		return usagef("unknown flag --%s%s", name, didYouMean(name, names, "--"))
	}
	return usageError{err.Error()}
}
