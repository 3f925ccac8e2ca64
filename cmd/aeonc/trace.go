package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/spec/trace"
)

// traceFlags are the flags with which a program writes a trace.
type traceFlags struct {
	file   string
	states bool
}

func (t *traceFlags) flags(fs *flag.FlagSet) {
	fs.StringVar(&t.file, "trace", "", "write a record of every event to `FILE`")
	fs.BoolVar(&t.states, "trace-states", false, "with --trace: add hashes of the actors' fields, which takes time")
}

func (t *traceFlags) check() error {
	if t.states && t.file == "" {
		return cli.Usagef("--trace-states adds to a trace; name its file with --trace")
	}
	return nil
}

// arguments returns the flags for an executable that aeonc has made.
func (t *traceFlags) arguments() []string {
	if t.file == "" {
		return nil
	}
	args := []string{"--trace", t.file}
	if t.states {
		args = append(args, "--trace-states")
	}
	return args
}

func traceCommand() *cli.Command {
	return &cli.Command{
		Name:  "trace",
		Args:  "check FILE...",
		Short: "check what a run has recorded",
		Long: `
Trace check reads what programs and tests have recorded with --trace and decides
whether it is strictly serialisable: in the order of the commits every event has
read what was written last, and no event comes before one that had been answered
when it was issued. What events have issued follows them, each once and in order.
The check takes time linear in the length of the file.

	aeonc run --trace t.jsonl examples/bank
	aeonc trace check t.jsonl
	aeonc test --trace t.jsonl --trace-states ./...
	aeonc trace check t.jsonl

With --trace-states the record holds a hash of the fields of every actor that an
event touches, so that the check also finds a change that no event has committed. It
costs encoding these actors at every event.

A program that is killed leaves a record of all but the last moments, which is
checked as far as it goes. The format is described in docs/trace.md. The exit code
is 1 if there is a violation.`,
		Setup: func(*flag.FlagSet) cli.Action {
			return func(env *cli.Env, args []string) error {
				if len(args) == 0 || args[0] != "check" {
					return cli.Usagef("trace has one verb, check: aeonc trace check FILE")
				}
				if len(args) == 1 {
					return cli.Usagef("check which file?")
				}
				return checkTraces(env, args[1:])
			}
		},
	}
}

// checkTraces checks files and reports to standard output.
func checkTraces(env *cli.Env, names []string) error {
	violated := false
	for _, name := range names {
		rep, err := checkTrace(env, name)
		if err != nil {
			return err
		}
		if len(names) > 1 {
			if _, err := fmt.Fprintf(env.Stdout, "%s: ", name); err != nil {
				return err
			}
		}
		if err := rep.Write(env.Stdout); err != nil {
			return err
		}
		violated = violated || rep.Violated() > 0
	}
	if violated {
		return cli.Code(cli.ExitProblem)
	}
	return nil
}

func checkTrace(env *cli.Env, name string) (*trace.Report, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist", name)
	}
	if err != nil {
		return nil, err
	}
	rep, err := trace.Check(&watchedFile{File: f, env: env})
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return rep, errors.Join(err, f.Close())
}

// watchedFile is a trace of which the environment tells how far it has been read.
type watchedFile struct {
	*os.File
	env *cli.Env
	at  int64
}

// Read implements io.Reader.
func (f *watchedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.at += int64(n)
	f.env.Doing("checking %s, at %.1f MB", f.Name(), float64(f.at)/1e6)
	return n, err
}

// Seek implements io.Seeker.
func (f *watchedFile) Seek(offset int64, whence int) (at int64, err error) {
	f.at, err = f.File.Seek(offset, whence)
	return f.at, err
}
