package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/spec/trace"
)

// traceFlags are the flags with which a program writes a trace.
type traceFlags struct {
	file   string
	states bool
}

func (t *traceFlags) flags(fs *flag.FlagSet) {
	fs.StringVar(&t.file, "trace", "", "write a record of every event to `FILE`; with --nodes, to files in the directory FILE")
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
		Args:  "check FILE|DIR...",
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

The nodes of a cluster write a file for each time that one of them begins to lead, each into
its own directory. Name all of these: what belongs to one store, or to the stores of one
cluster, is checked as one history, in which a leader that was replaced without knowing it must not have
answered any more. --clocks says how far the clocks of the nodes were apart.

	aeonc trace check n1/trace n2/trace n3/trace

With --nodes, aeonc run and aeonc test write such files for the nodes that they simulate.

	aeonc run --nodes 3 --faults 20 --trace t examples/bank
	aeonc trace check --clocks 0s t

A program that is killed leaves a record of all but the last moments, which is
checked as far as it goes. The format is described in docs/trace.md. The exit code
is 1 if there is a violation.`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			clocks := fs.Duration("clocks", clocksApart, "of nodes: `how far` their clocks were apart at most")
			return func(env *cli.Env, args []string) error {
				if len(args) == 0 || args[0] != "check" {
					return cli.Usagef("trace has one verb, check: aeonc trace check FILE")
				}
				if len(args) == 1 {
					return cli.Usagef("check which file?")
				}
				return checkTraces(env, args[1:], *clocks)
			}
		},
	}
}

// clocksApart is how far clocks are apart that are set by the network: more than they are mostly.
const clocksApart = 100 * time.Millisecond

// checkTraces checks files, and those in directories, and reports to standard output.
func checkTraces(env *cli.Env, names []string, clocks time.Duration) error {
	list, err := gather(env, names)
	defer func() {
		for _, t := range list {
			for _, f := range t.files {
				_ = f.In.(io.Closer).Close() // it was read only
			}
		}
	}()
	if err != nil {
		return err
	}
	violated := false
	for _, t := range list {
		rep, err := trace.CheckFiles(t.files, clocks)
		if err != nil {
			if len(t.files) == 1 && t.files[0].Name == "" {
				err = fmt.Errorf("%s: %w", t.name, err)
			}
			return err
		}
		if len(list) > 1 {
			if _, err := fmt.Fprintf(env.Stdout, "%s: ", t.name); err != nil {
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

// traced is what is checked as one trace: a file, or all files of a store, or of the stores of a cluster.
type traced struct {
	name  string
	of    string // the id of the store, or of the cluster
	files []trace.File
}

// gather opens the traces that the user has named, of which those of one store, or of one cluster, belong together. The caller closes them, after an error, too.
func gather(env *cli.Env, names []string) (list []*traced, err error) {
	for _, name := range names {
		info, err := os.Stat(name)
		if err == nil && info.IsDir() {
			var in []string
			if in, err = fs.Glob(os.DirFS(name), "*.jsonl"); err == nil && len(in) == 0 { // no pattern of the whole: the user may have named a directory tr[1]
				return list, fmt.Errorf("%s has no trace; a node of a cluster that is started with --trace %s writes some, *.jsonl", name, name)
			}
			for _, file := range in {
				if list, err = add(list, env, filepath.Join(name, file), true); err != nil {
					return list, err
				}
			}
			continue
		}
		if list, err = add(list, env, name, false); err != nil {
			return list, err
		}
	}
	for _, t := range list {
		if len(t.files) == 1 {
			t.files[0].Name = "" // the report need not tell it from others
		}
	}
	return list, nil
}

// add adds a file. One that a node was killed over before it had written anything is left out of its directory.
func add(list []*traced, env *cli.Env, name string, fromDir bool) ([]*traced, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return list, fmt.Errorf("%s does not exist", name)
	}
	if err != nil {
		return list, err
	}
	w := &watchedFile{File: f, env: env}
	part := trace.File{Name: name, In: w}
	h, err := trace.First(w)
	if err == nil && h == nil && fromDir {
		return list, f.Close()
	}
	t := &traced{name: name}
	if h != nil {
		t.of = cmp.Or(h.Cluster, h.Store)
	}
	if i := slices.IndexFunc(list, func(o *traced) bool { return o.of == t.of && t.of != "" }); i >= 0 {
		list[i].files = append(list[i].files, part)
	} else {
		t.files = []trace.File{part}
		list = append(list, t)
	}
	if err == nil {
		_, err = w.Seek(0, io.SeekStart)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return list, err
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
