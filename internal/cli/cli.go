// Package cli is what the commands aeonc and aeond have in common: verbs with flags and help, exit
// codes for what goes wrong, and the way from sources to a program that runs.
package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/aeon-lang/aeon/internal/cmdline"
	"github.com/aeon-lang/aeon/internal/load"
)

// Tool is a command with verbs.
type Tool struct {
	Name     string
	About    string            // what it does, in a sentence
	Usage    string            // of the tool, behind its name
	Commands []*Command        // in the order of the overview
	Epilogue string            // of the overview
	Topics   map[string]string // help texts that belong to no command
	// UsageCode is the exit code for a command line that is wrong; 0: ExitUsage. A tool whose process becomes a program
	// that keeps state has another: with ExitUsage Go ends a program that has a bug.
	UsageCode int
}

func (t *Tool) usageCode() int { return cmp.Or(t.UsageCode, ExitUsage) }

// Command is one verb of a tool.
type Command struct {
	Name  string
	Args  string // what follows the name in the usage line
	Short string // one line for the overview
	Long  string // paragraphs, then examples
	// Setup declares the flags and returns what runs the command.
	Setup func(fs *flag.FlagSet) Action
	// Trailing: everything behind the first argument belongs to the program
	// that is run, not to the tool.
	Trailing bool
}

// Action runs a command with its arguments; flags have been parsed.
type Action func(env *Env, args []string) error

// NoArguments is the action of a command that takes flags only.
func NoArguments(act func(env *Env) error) Action {
	return func(env *Env, args []string) error {
		if len(args) > 0 {
			return Usagef("the command takes no arguments, but %q was given", args[0])
		}
		return act(env)
	}
}

// Main runs the command line of this process, and ends it.
func (t *Tool) Main() { os.Exit(t.Run(os.Args[1:], NewEnv(t.Name))) }

// Run executes one command line and returns the exit code. A panic is a bug of
// the tool, and said to be one.
func (t *Tool) Run(args []string, env *Env) (code int) {
	defer func() {
		if p := recover(); p != nil {
			env.Say("internal error: %v", p)
			env.Say("this is a bug in %s, not in the program; please report it with the stack below\n%s", t.Name, debug.Stack())
			code = ExitBug
		}
	}()
	code = t.dispatch(args, env)
	if env.Stdout.err != nil && code < ExitEnvironment {
		env.Say("%v", env.Stdout.err)
		return ExitEnvironment
	}
	return code
}

// dispatch finds the command, parses its flags and runs it.
func (t *Tool) dispatch(args []string, env *Env) int {
	if len(args) == 0 {
		t.overview(env.Stderr)
		return t.usageCode()
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		return t.help(rest, env)
	case "-version", "--version", "-V":
		name = "version"
	}
	c := t.find(name)
	if c == nil {
		hint := cmdline.DidYouMean(name, append(t.names(), "help")) + fmt.Sprintf("\n\t`%s help` lists the commands", t.Name)
		if t.find("run") != nil && strings.HasSuffix(name, load.Extension) {
			hint = fmt.Sprintf("; to run a program: %s run %s", t.Name, name)
		}
		env.Say("unknown command %q%s", name, hint)
		return t.usageCode()
	}
	fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	act := c.Setup(fs)
	positional, err := cmdline.Parse(fs, rest, c.Trailing)
	switch {
	case errors.Is(err, flag.ErrHelp):
		t.Help(env.Stdout, c)
		return ExitClean
	case err != nil:
		err = UsageError{err.Error()}
	default:
		env.watch(c.Name)
		defer env.unwatch()
		err = act(env, positional)
	}
	return t.report(c, err, env)
}

func (t *Tool) find(name string) *Command {
	for _, c := range t.Commands {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func (t *Tool) names() []string {
	var names []string
	for _, c := range t.Commands {
		names = append(names, c.Name)
	}
	return names
}

func (t *Tool) overview(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nusage: %s %s\n\nThe commands are:\n\n", t.About, t.Name, t.Usage)
	width := 0
	for _, c := range t.Commands {
		width = max(width, len(c.Name))
	}
	for _, c := range t.Commands {
		fmt.Fprintf(w, "\t%-*s %s\n", width, c.Name, c.Short)
	}
	fmt.Fprint(w, t.Epilogue)
}

// help is the command help, with what is to be explained.
func (t *Tool) help(args []string, env *Env) int {
	if len(args) == 0 {
		t.overview(env.Stdout)
		return ExitClean
	}
	if text, ok := t.Topics[args[0]]; ok {
		fmt.Fprint(env.Stdout, text)
		return ExitClean
	}
	if c := t.find(args[0]); c != nil {
		t.Help(env.Stdout, c)
		return ExitClean
	}
	names := t.names()
	for topic := range t.Topics {
		names = append(names, topic)
	}
	env.Say("there is no help on %q%s\n\t`%s help` lists the commands", args[0], cmdline.DidYouMean(args[0], names), t.Name)
	return t.usageCode()
}

// Help writes everything there is to know about a command.
func (t *Tool) Help(w io.Writer, c *Command) {
	fmt.Fprintf(w, "%s\n\n%s\n", t.usage(c), strings.TrimSpace(c.Long))
	fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	c.Setup(fs)
	cmdline.WriteFlags(w, "Flags", fs)
}

func (t *Tool) usage(c *Command) string {
	return strings.TrimSpace(fmt.Sprintf("usage: %s %s %s", t.Name, c.Name, c.Args))
}
