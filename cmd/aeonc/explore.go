package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/gocall"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/spec"
	"github.com/aeon-lang/aeon/spec/explore"
)

func exploreCommand() *cli.Command {
	return &cli.Command{
		Name:  "explore",
		Args:  "[--run REGEXP] [--main] [--max-states N] [--timeout D] [--replay CODE] [--json] [PACKAGES]",
		Short: "run tests in every order of their events",
		Long: `
Explore runs each test in every order in which its events can happen, and proves its
assertions for all of them, or shows the shortest order that breaks one. It does not
compile the program but interprets it by the rules of the language, one event at a time;
events issued by events, timers and callbacks included.

	aeonc explore                         the tests in this directory
	aeonc explore --run transfer ./bank    those whose names match
	aeonc explore --main ./bank           main instead of the tests
	aeonc explore --run transfer --replay 1021 ./bank
	                                      one order again, step by step

	all   two payments in opposite directions do not deadlock: 70 orders, 29 states (0.01s)
	      every order ends well. Orders that differ only in steps that do not meet are one.
	FAIL  …, and the steps of the order that fails
	part  a bound was reached first: what was covered ends well, the rest is unknown

Up to about eight events at once are covered in no time; each one more multiplies the
orders. Keep the tests that you explore small: two actors and three events show most
mistakes. What one client or actor issues to one actor has one order, that of issue: let
several issue what is to meet there. A test also fails if a callback fails, or an event that
no client awaits, for whatever reason; main if that reason is an assert. In main, time
passes only when nothing else can happen, from one timer or sleep to the next, until no
one-shot timer is left. random() draws the numbers of one seed. Go functions that the program
binds run in a process of their own, each call once. Actors are numbered in the order of the
events that make them: where the program runs, those of two events may come in either order
as keys of a container.

A package is ok if all its tests are, else FAIL if an order fails, and part if none did. The
exit code is 0 if every order of every test was covered and none failed, else 1.

In what --json writes, \udc80 to \udcff stand for bytes that are not UTF-8.`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			var o exploreOptions
			fs.StringVar(&o.filter, "run", "", "explore only tests whose name matches `regexp`")
			fs.BoolVar(&o.main, "main", false, "explore main instead of the tests")
			fs.IntVar(&o.statesMax, "max-states", 200_000, "give up on a test after this `number` of states")
			fs.DurationVar(&o.timeMax, "timeout", time.Minute, "give up on a test after this `duration`")
			fs.StringVar(&o.replay, "replay", "", "run one order again, by the `code` that a failure shows")
			fs.BoolVar(&o.json, "json", false, "write a line of JSON for each test")
			return func(env *cli.Env, args []string) error { return exploreAll(env, args, o) }
		},
	}
}

// exploreOptions are the flags of explore.
type exploreOptions struct {
	filter, replay string
	main, json     bool
	statesMax      int
	timeMax        time.Duration
}

func (o exploreOptions) check() error {
	if _, err := regexp.Compile(o.filter); err != nil {
		return cli.Usagef("--run: %v", err)
	}
	switch {
	case o.main && o.filter != "":
		return cli.Usagef("--run selects tests, and --main leaves them out")
	case o.statesMax < 1:
		return cli.Usagef("--max-states: there is at least 1, not %d", o.statesMax)
	case o.timeMax <= 0:
		return cli.Usagef("--timeout: %v is not a time that a search can take", o.timeMax)
	case o.replay != "" && o.json:
		return cli.Usagef("--replay has no JSON output: it takes no --json")
	}
	if _, err := explore.Decode(o.replay); err != nil {
		return cli.Usagef("--replay: %v", err)
	}
	return nil
}

// exploration is one test, or main, that is to be explored.
type exploration struct {
	program *spec.Program
	entry   spec.Entry
	of      *load.Package
}

func exploreAll(env *cli.Env, args []string, o exploreOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.json {
		env.Quiet()
	}
	loader, named, err := env.Load(args)
	if err != nil {
		return err
	}
	if err := env.Diagnose(loader.Packages(), "human"); err != nil {
		return err
	}
	x := &explorer{env: env, opts: o, args: args}
	if x.goFuncs, err = gocall.Start(context.Background(), named...); err != nil {
		return err
	}
	defer x.goFuncs.Close()
	for _, p := range named {
		list, err := x.entries(p)
		if err != nil {
			return err
		}
		if o.replay != "" {
			x.list = append(x.list, list...)
			continue
		}
		x.pack(shownName(p), list)
	}
	if o.replay != "" {
		return x.replay()
	}
	return x.end()
}

func shownName(p *load.Package) string {
	if name := filepath.ToSlash(load.Relative(p.Dir)); name != "." {
		return name
	}
	return p.Name()
}

// explorer explores the tests of several packages.
type explorer struct {
	env  *cli.Env
	opts exploreOptions
	args []string
	list []exploration // with --replay

	goFuncs *gocall.Caller

	tests, unproved int
}

// entries returns what is to be explored of a package. What codegen does not compile is no
// program here either.
func (x *explorer) entries(p *load.Package) ([]exploration, error) {
	x.env.Doing("preparing %s", shownName(p))
	for _, q := range p.Closure() {
		if _, err := gobuild.Generate(q, q == p); err != nil {
			return nil, err
		}
	}
	prog := spec.Load(p)
	prog.BindGo(x.goFuncs)
	filter := regexp.MustCompile(x.opts.filter)
	var list []exploration
	if x.opts.main {
		if e, ok := prog.Main(); ok {
			list = append(list, exploration{prog, e, p})
		}
		return list, nil
	}
	for _, e := range prog.Tests() {
		if filter.MatchString(e.Name) {
			list = append(list, exploration{prog, e, p})
		}
	}
	return list, nil
}

// pack explores the entries of one package and reports on them.
func (x *explorer) pack(name string, list []exploration) {
	start := time.Now()
	verdict := "ok  "
	for _, e := range list {
		x.env.Doing("%s: %s", name, e.entry.Name)
		r := explore.Run(e.program, e.entry, explore.Config{StatesMax: x.opts.statesMax, TimeMax: x.opts.timeMax,
			Progress: func(p explore.Progress) {
				now := ""
				if p.Failed {
					now = ", an order fails, looking for the shortest"
				}
				x.env.Doing("%s: %s: %d states, %d steps, %d deep%s", name, e.entry.Name, p.States, p.Steps, p.Depth, now)
			}})
		x.tests++
		if !r.Complete {
			x.unproved++
			if r.Failing != nil {
				verdict = "FAIL"
			} else if verdict != "FAIL" {
				verdict = "part"
			}
		}
		if x.opts.json {
			x.writeJSON(e, r)
		} else {
			x.write(e, r)
		}
	}
	if x.opts.json {
		return
	}
	took := time.Since(start).Seconds()
	switch {
	case len(list) == 0 && x.opts.main:
		fmt.Fprintf(x.env.Stdout, "?   \t%s\t[no main]\n", name)
	case len(list) == 0:
		fmt.Fprintf(x.env.Stdout, "?   \t%s\t[no tests to explore]\n", name)
	default:
		fmt.Fprintf(x.env.Stdout, "%s\t%s\t%.2fs\n", verdict, name, took)
	}
}

// end says what came of it all.
func (x *explorer) end() error {
	if x.tests == 0 && x.opts.filter != "" {
		x.env.Inform("no test matches %q", x.opts.filter)
		return cli.Code(cli.ExitProblem)
	}
	if x.unproved > 0 {
		return cli.Code(cli.ExitProblem)
	}
	return nil
}

// replay runs one order again and shows its steps.
func (x *explorer) replay() error {
	if len(x.list) != 1 {
		var names []string
		for _, e := range x.list {
			names = append(names, "\n\t"+e.entry.Name)
		}
		return cli.Usagef("--replay is for one test, and %d match; choose with --run%s", len(x.list), strings.Join(names, ""))
	}
	e := x.list[0]
	choices, err := explore.Decode(x.opts.replay)
	if err != nil {
		return cli.Usagef("--replay: %v", err)
	}
	chooser := &spec.Replay{Choices: choices}
	out := e.program.Run(e.entry, chooser, spec.Options{StopAtFailure: true})
	if chooser.Wrong {
		return cli.Usagef("--replay: %s is no order of %q; codes change with the program", x.opts.replay, e.entry.Name)
	}
	w := x.env.Stdout
	fmt.Fprintf(w, "%s (%s)\n", e.entry.Name, place(e.entry))
	for i, s := range out.Steps {
		fmt.Fprintf(w, "%5d  %s\n", i+1, s)
		writeUndone(w, out, i, "       ")
		for _, line := range out.Printed[i] {
			fmt.Fprintf(w, "       | %s\n", line)
		}
	}
	if failed(out) {
		writeFailure(w, out, "       ")
		return cli.Code(cli.ExitProblem)
	}
	fmt.Fprintln(w, "       this order ends well")
	return nil
}

func place(e spec.Entry) string {
	return fmt.Sprintf("%s:%d", relativeFile(e.Pos.File()), e.Pos.Line())
}

func relativeFile(file string) string { return filepath.ToSlash(load.Relative(absolute(file))) }

func absolute(file string) string {
	abs, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	return abs
}

// failed reports whether a run did not end well.
func failed(out *spec.Outcome) bool {
	return out.Failure != nil || out.Stuck || out.Bug != "" || out.Exhausted != ""
}
