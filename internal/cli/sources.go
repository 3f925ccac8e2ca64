package cli

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/load"
)

// Load loads the packages that arguments name.
func (e *Env) Load(args []string) (*load.Loader, []*load.Package, error) {
	found, err := load.Find(args)
	if err != nil {
		return nil, nil, err
	}
	loader := gobuild.NewLoader()
	var named []*load.Package
	for _, u := range found {
		e.Doing("reading and checking %s", u.Dir)
		p, err := loader.Load(u)
		if err != nil {
			return nil, nil, err
		}
		named = append(named, p)
	}
	return loader, named, nil
}

// LoadPackage loads the one package that arguments name and reports what is wrong with it.
func (e *Env) LoadPackage(args []string) (*load.Package, error) {
	loader, named, err := e.Load(args)
	if err != nil {
		return nil, err
	}
	if err := e.Diagnose(loader.Packages(), "human"); err != nil {
		return nil, err
	}
	if len(named) != 1 {
		return nil, Usagef("one package at a time, not %d", len(named))
	}
	return named[0], nil
}

// LoadProgram is LoadPackage for one that has a main function.
func (e *Env) LoadProgram(args []string) (*load.Package, error) {
	p, err := e.LoadPackage(args)
	if err == nil && p.Info.Package.Main == nil {
		hint := ""
		if p.Info.Package.Lookup("Main") != nil {
			hint = "\n\tMain is a function like any other: main has a small letter"
		}
		e.Say("package %s has no main function, so there is nothing to run\n\twrite one: void main() { … }; `aeonc test` runs the tests of a package without main%s", p.Name(), hint)
		return nil, Code(ExitProblem)
	}
	return p, err
}

// Compile makes an executable of checked packages: of one program, or of the
// tests of all of them. Ctrl-C ends it.
func (e *Env) Compile(named []*load.Package, o gobuild.Options) (gobuild.Result, error) {
	o.Say = e.Inform
	e.Doing("compiling %s", o.Name)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return gobuild.Compile(ctx, named, o)
}

// Making says how a program is made ready to be started.
type Making struct {
	Load  func(sources []string) (*load.Package, error)
	Store bool // with the store
	GRPC  bool // and with gRPC: --grpc was said; only with Store

	Cluster bool // so that it can be a node of a cluster; only with Store
	Nodes   bool // so that it can run on several nodes in its process: --nodes was said; only without Store
}

// Executable returns the path of a program that can be started: of sources, which are compiled, or of
// an executable as it is.
func (e *Env) Executable(sources []string, m Making) (path string, err error) {
	if len(sources) == 1 && isExecutable(sources[0]) {
		if m.GRPC {
			return "", Usagef("--grpc says how sources are compiled, and %s is an executable: it takes calls by gRPC if \"aeonc build --grpc\" has made it", sources[0])
		}
		if m.Nodes {
			return "", Usagef("--nodes says how sources are compiled, and %s is an executable: name its sources", sources[0])
		}
		return filepath.Abs(sources[0])
	}
	start := time.Now()
	p, err := m.Load(sources)
	if err != nil {
		return "", err
	}
	made, err := e.Compile([]*load.Package{p}, gobuild.Options{Name: p.Name(), Store: m.Store, GRPC: m.GRPC, Cluster: m.Cluster, Nodes: m.Nodes})
	if err != nil {
		return "", err
	}
	how := "compiled in"
	if made.Cached {
		how = "unchanged, ready after"
	}
	e.Inform("running %s (%s %.2f s)", p.Name(), how, time.Since(start).Seconds())
	return made.Path, nil
}

// isExecutable reports whether name is a program already.
func isExecutable(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && filepath.Ext(name) != load.Extension
}

// Start lets a program take the place of this process. It returns only with an error.
func (e *Env) Start(path string, args ...string) error {
	e.Unwatch()
	code, err := become(path, args...)
	if err != nil {
		return err
	}
	return Code(code)
}
