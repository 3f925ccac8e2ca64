// Command aeonc compiles, runs, tests and formats aeon programs. `aeonc help`
// tells how.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// The exit codes of aeonc, as `aeonc help exit-codes` documents them. A program
// that `run` has started decides its own.
const (
	exitClean       = 0
	exitDiagnostics = 1 // errors in the program, failed tests, orders not covered, files that are not formatted
	exitUsage       = 2 // the command line is wrong
	exitEnvironment = 3 // no Go toolchain, no cache, a file that cannot be read or written
	exitBug         = 4 // aeonc itself is wrong
)

// environment is what a command may use of the world.
type environment struct {
	stdin  io.Reader
	stdout *output
	stderr io.Writer
}

// output is standard output. It keeps the first error: what was asked for and could not be
// written, on a full disk, is not to end as if it had been.
type output struct {
	to  io.Writer // given as it is to programs that are run
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// say writes a line of progress to standard error.
func (e *environment) say(format string, args ...any) {
	fmt.Fprintf(e.stderr, "aeonc: "+format+"\n", args...)
}

func main() {
	os.Exit(run(os.Args[1:], &environment{stdin: os.Stdin, stdout: &output{to: os.Stdout}, stderr: os.Stderr}))
}

// run executes one command line and returns the exit code. A panic is a bug of
// the compiler, and said to be one.
func run(args []string, env *environment) (code int) {
	defer func() {
		if p := recover(); p != nil {
			env.say("internal error: %v", p)
			env.say("this is a bug in aeonc, not in the program; please report it with the stack below\n%s", debug.Stack())
			code = exitBug
		}
	}()
	code = dispatch(args, env)
	if env.stdout.err != nil && code < exitEnvironment {
		env.say("%v", env.stdout.err)
		return exitEnvironment
	}
	return code
}
