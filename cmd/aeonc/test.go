package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/cmd/aeonc/internal/testrun"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/runtime/settings"
)

func testCommand() *cli.Command {
	return &cli.Command{
		Name:  "test",
		Args:  "[--run REGEXP] [--nodes N] [--seed N] [--schedules N] [--parallel] [--trace FILE] [-v] [--json] [PACKAGES]",
		Short: "run the tests of packages",
		Long: `
Test runs the test blocks of packages, each on a fresh and empty system, and tells
the result as go test does. The packages are compiled together.

	aeonc test                          the tests in this directory
	aeonc test ./...                    and everything below it
	aeonc test --run 'refused|undone'   those whose names match
	aeonc test --schedules 100          each under 100 schedules
	aeonc test --seed 7 --run refused   again as it failed with seed 7
	aeonc test --nodes 3                on a cluster of three nodes, simulated
	aeonc test --parallel               events in parallel, as in production
	aeonc test --json ./...             in the format of go test -json
	aeonc test --trace t.jsonl          and record every event, for aeonc trace

A test runs one event step at a time, and its seed chooses whose step is next: wherever an
event begins, waits for a lock, goes down to another, issues a branch or ends, and before
every callback. So a seed is one schedule: a test that fails says its seed, and fails in
the same way whenever it is run with it. With --parallel the machine chooses, several
events run at once, and a failure need not come again. Go code that waits for another
event of the test needs that.

With --nodes N each test runs on a cluster of N nodes that is simulated in one process. Each
new actor is on a node that the seed draws, and what nodes tell each other arrives in an order
that it draws. Each node has a store: the last line tells how many events were over several
stores, and how many attempts at events were withdrawn, to be made again; with --json it is
Stores at the end of each test. Golden files run compiled on so many nodes.

Golden files (.txtar, or a folder of them) are programs with all outcomes that the
orders of their events allow. The reference interpreter runs each in every order, and
the compiled program runs with many seeds: an outcome that no order gives is a failure.
Golden files take no --parallel, --timeout or --trace.

	aeonc test testdata/semantics         all golden files of a folder
	aeonc test --update new.txtar         write down what may come out; read it

Such a file is text: a comment, "-- main.aeon --" and a package with a main or one test,
and what --update adds, "-- outcomes --" with what may be printed and fail, "---" between
two: a program that prints a line "---" is none for a golden file. A program that is to
be refused has "-- errors --" instead, which --update fills, and which holds warnings
beside outcomes. "-- bank/bank.aeon --" is of a package in a folder, which the program
imports as "./bank". A file that cannot be run fails by itself.

A test fails if its block fails, or a callback, or an event that no client awaits. A test
that expects an event to fail awaits it in try … catch. What a test prints is shown if it
fails, or with -v. The exit code is 1 if a test failed.

In what --json writes, \udc80 to \udcff stand for bytes that are not UTF-8.`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			var o testOptions
			fs.StringVar(&o.filter, "run", "", "run only tests whose name matches `regexp`")
			o.nodes.Flags(fs)
			fs.StringVar(&o.seed, "seed", "", "seed of the first schedule; a `number` (default: random)")
			fs.IntVar(&o.schedules, "schedules", 1, "run each test with this `number` of seeds, one after the other")
			fs.BoolVar(&o.parallel, "parallel", false, "run events in parallel; the seed then does not fix the schedule")
			fs.DurationVar(&o.max, "timeout", testMax, "how long one schedule of a test may take, a `duration`")
			fs.BoolVar(&o.verbose, "v", false, "show passed tests and what they print")
			fs.BoolVar(&o.json, "json", false, "write JSON, in the format of go test -json")
			o.trace.flags(fs)
			fs.BoolVar(&o.update, "update", false, "write the outcomes of golden files into them; read them before you keep them")
			return func(env *cli.Env, args []string) error {
				fs.Visit(func(f *flag.Flag) { o.timed = o.timed || f.Name == "timeout" })
				return testPackages(env, args, o)
			}
		},
	}
}

// testMax is how long one schedule of a test may take if --timeout does not say so.
const testMax = time.Minute

// testOptions are the flags of test.
type testOptions struct {
	filter, seed  string
	schedules     int
	parallel      bool
	max           time.Duration
	timed         bool // --timeout is given
	verbose, json bool
	update        bool
	trace         traceFlags
	nodes         settings.Nodes
}

func (o *testOptions) check() error {
	if _, err := regexp.Compile(o.filter); err != nil {
		return cli.Usagef("--run: %v", err)
	}
	if o.seed != "" {
		if err := checkSeed(o.seed); err != nil {
			return err
		}
	}
	if o.schedules < 1 {
		return cli.Usagef("--schedules: there is at least 1, not %d", o.schedules)
	}
	if o.max <= 0 {
		return cli.Usagef("--timeout: %v is not a time that a test can take", o.max)
	}
	if err := o.nodes.Check(o.trace.arguments()); err != nil {
		return cli.Usagef("%v", err)
	}
	return o.trace.check()
}

// checkSeed returns an error of usage if the text of --seed is no seed.
func checkSeed(text string) error {
	if _, err := strconv.ParseUint(text, 10, 64); err != nil {
		return cli.Usagef("--seed: %q is not a number from 0 to 2^64-1", text)
	}
	return nil
}

// again is the command that runs a test, or a golden file, with one seed once more, as these flags have it. args name it.
func (o *testOptions) again(seed uint64, test string, args ...string) string {
	words := append([]string{"aeonc", "test"}, o.nodes.Arguments()...)
	words = append(words, "--seed", fmt.Sprint(seed))
	if o.max != testMax {
		words = append(words, "--timeout", o.max.String())
	}
	if test != "" {
		words = append(words, "--run", cli.Word("^"+regexp.QuoteMeta(test)+"$"))
	}
	for _, a := range args {
		words = append(words, cli.Path(a))
	}
	return strings.Join(words, " ")
}

func isSource(arg string) bool { return filepath.Ext(arg) == load.Extension }

// naming returns the arguments that name one package alone, which is among those that args name.
func naming(args []string, p *load.Package) (names []string) {
	if !slices.ContainsFunc(args, isSource) {
		return []string{filepath.ToSlash(load.Relative(p.Dir))}
	}
	for _, f := range p.Files {
		names = append(names, f.Src.Name)
	}
	return names
}

func testPackages(env *cli.Env, args []string, o testOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.json {
		env.Quiet()
	}
	if paths, ok, err := goldenPaths(args); err != nil {
		return err
	} else if ok {
		return testGolden(env, paths, o)
	}
	if o.update {
		return cli.Usagef("--update is for golden files; tests of packages say what they expect")
	}
	loader, named, err := env.Load(args)
	if err != nil {
		return err
	}
	if err := env.Diagnose(loader.Packages(), "human"); err != nil {
		return err
	}
	name := "tests"
	if len(named) == 1 {
		name = named[0].Name() + ".test"
	}
	made, err := env.Compile(named, gobuild.Options{Kind: gobuild.Tests, Name: name, Nodes: o.nodes.Several()})
	if err != nil {
		return err
	}
	cfg := testrun.Config{
		Executable: made.Path, Filter: o.filter, Seed: o.seed, Repeat: o.schedules, Parallel: o.parallel, TestMax: o.max,
		Further: append(o.trace.arguments(), o.nodes.Arguments()...), JSON: o.json, Verbose: o.verbose, Stdout: env.Stdout, Place: load.Relative,
		Progress: func(pkg, test string, schedule int) {
			env.Doing("%s: %s: schedule %d of %d", pkg, test, schedule, o.schedules)
		},
	}
	for _, p := range named {
		name := filepath.ToSlash(load.Relative(p.Dir))
		if name == "." {
			name = p.Name()
		}
		cfg.Packages = append(cfg.Packages, name)
	}
	if !o.parallel { // else no seed repeats a failure
		cfg.Again = func(pkg int, test string, seed uint64) string {
			return o.again(seed, test, naming(args, named[pkg])...)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	result, err := testrun.Run(ctx, cfg)
	if err != nil {
		return err
	}
	if result.Failed > 0 {
		return cli.Code(cli.ExitProblem)
	}
	if result.Passed == 0 && o.filter != "" {
		env.Inform("no test matches %q", o.filter)
		return cli.Code(cli.ExitProblem) // a name that is misspelt in a script must not pass
	}
	return nil
}
