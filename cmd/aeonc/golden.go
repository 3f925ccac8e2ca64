package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/cmd/aeonc/internal/testrun"
	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/spec/golden"
)

// goldenSeeds is how often a golden program runs compiled if --schedules does not say so:
// often enough that most of its orders come up.
const goldenSeeds = 20

// goldenPaths returns the golden files that the arguments of test name: .txtar files, or
// folders that contain some and no sources. ok is false if they name packages.
func goldenPaths(args []string) (paths []string, ok bool, err error) {
	packages := 0
	for _, arg := range args {
		if !namesGolden(arg) {
			packages++
			continue
		}
		found, err := golden.Find([]string{arg})
		if err != nil {
			return nil, false, cli.Usagef("%v", err)
		}
		paths = append(paths, found...)
	}
	if packages > 0 && len(paths) > 0 {
		return nil, false, cli.Usagef("golden files (%s) and packages are tested by separate commands", golden.Extension)
	}
	return paths, packages == 0 && len(paths) > 0, nil
}

func namesGolden(arg string) bool {
	if filepath.Ext(arg) == golden.Extension {
		return true
	}
	files, err := golden.Find([]string{arg})
	if err != nil || len(files) == 0 {
		return false
	}
	_, err = load.Find([]string{arg})
	return err != nil // it has sources as well: then they are meant
}

// checkGolden returns an error of usage if the flags ask for what golden files do not have.
func (o *testOptions) checkGolden() error {
	switch {
	case o.trace.file != "":
		return cli.Usagef("--trace is for tests of packages; the runs of golden files are not recorded")
	case o.parallel:
		return cli.Usagef("--parallel is for tests of packages; golden files run in parallel with every other seed anyway, unless --nodes is given")
	case o.timed:
		return cli.Usagef("--timeout is for tests of packages; golden files run until all orders of their events are known")
	}
	return nil
}

// testGolden runs golden files and reports them as tests.
func testGolden(env *cli.Env, paths []string, o testOptions) error {
	if err := o.checkGolden(); err != nil {
		return err
	}
	filter := regexp.MustCompile(o.filter)
	var cases []*golden.Case
	for _, p := range paths {
		c := golden.Load(p)
		if filter.MatchString(c.Name()) {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		env.Say("no golden file matches %q", o.filter)
		return cli.Code(cli.ExitProblem) // a name that is misspelt in a script must not pass
	}
	opts := golden.Options{Seeds: o.schedules, Update: o.update, Nodes: o.nodes.Number, Doing: env.Doing}
	if o.schedules == 1 && o.seed == "" {
		opts.Seeds = goldenSeeds
	}
	if o.seed != "" {
		opts.First, _ = strconv.ParseUint(o.seed, 10, 64) // o.check has parsed it
	}
	env.Inform("running %s in every order, and compiled with %s", cli.Count(len(cases), "program"), cli.Count(opts.Seeds, "seed"))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	results, err := golden.Run(ctx, cases, opts)
	if err != nil {
		return err
	}
	r := goldenReport{out: env.Stdout, json: o.json, verbose: o.verbose, opts: &o}
	if o.nodes.Several() {
		r.stores = &testrun.Stores{}
	}
	for i := range results {
		if err := r.result(&results[i]); err != nil {
			return err
		}
	}
	return r.end()
}

// goldenReport writes results as `aeonc test` does.
type goldenReport struct {
	out                  io.Writer
	json, verbose        bool
	passed, failed       int
	orders, states, runs int
	packages             []string
	opts                 *testOptions
	stores               *testrun.Stores // what the runs have done over several stores; nil: there is one
}

func (r *goldenReport) result(g *golden.Result) error {
	r.orders += g.Orders
	r.states += g.States
	r.runs += g.Runs
	dir := filepath.ToSlash(load.Relative(filepath.Dir(g.Case.Path)))
	if !slices.Contains(r.packages, dir) {
		r.packages = append(r.packages, dir)
	}
	failed := len(g.Problems) > 0
	if failed {
		r.failed++
	} else {
		r.passed++
	}
	if g.Written != "" && !r.json {
		fmt.Fprintf(r.out, "wrote\t%s\t%s\n", load.Relative(g.Case.Path), g.Written)
	}
	said := strings.Join(g.Problems, "\n")
	if g.Failed != nil {
		said = fmt.Sprintf("%s\nto run it again: %s", strings.TrimSuffix(said, "\n"), r.opts.again(*g.Failed, "", load.Relative(g.Case.Path)))
	}
	var stores *testrun.Stores
	if r.stores != nil {
		stores = &testrun.Stores{Events: g.Across.Committed, Withdrawn: g.Across.Withdrawn}
		r.stores.Add(stores)
	}
	switch {
	case r.json:
		return r.events(dir, g.Case.Name(), said, failed, stores)
	case failed:
		path := load.Relative(g.Case.Path)
		fmt.Fprintf(r.out, "FAIL\t%s\n%s\n", path, said)
		if g.Compiles && g.Case.Outcomes == nil {
			fmt.Fprintf(r.out, "the file does not say what may come out; `aeonc test --update %s` writes it down\n", cli.Path(path))
		}
	case r.verbose:
		fmt.Fprintf(r.out, "ok  \t%s\t%s\n", load.Relative(g.Case.Path), g.Summary())
	}
	return nil
}

// events writes one test in the format of go test -json.
func (r *goldenReport) events(dir, name, said string, failed bool, stores *testrun.Stores) error {
	type event struct {
		Action        string
		Package, Test bytejson.Text
		Output        bytejson.Text   `json:",omitempty"`
		Stores        *testrun.Stores `json:",omitempty"`
	}
	enc := json.NewEncoder(r.out)
	pkg, test := bytejson.Text(dir), bytejson.Text(name)
	list := []event{{Action: "run", Package: pkg, Test: test}}
	end := "pass"
	if failed {
		list, end = append(list, event{Action: "output", Package: pkg, Test: test, Output: bytejson.Text(said + "\n")}), "fail"
	}
	for _, e := range append(list, event{Action: end, Package: pkg, Test: test, Stores: stores}) {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

func (r *goldenReport) end() error {
	if !r.json {
		fmt.Fprintf(r.out, "%d passed, %d failed: %s, %s, %s%s\n", r.passed, r.failed,
			cli.Count(r.orders, "serial order"), cli.Count(r.states, "state"), cli.Count(r.runs, "compiled run"), r.stores)
	}
	if r.failed > 0 {
		return cli.Code(cli.ExitProblem)
	}
	return nil
}
