// Package gocall calls the Go functions that programs bind, for tools that interpret programs. The functions run in a process of
// their own, made of the packages that the programs name, so that what they do there does not touch the tool.
package gocall

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/gocall/serve"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/runtime/inherit"
)

//go:embed serve/serve.go
var serveSource []byte

// serveDir stands for a directory that need not exist: builds name packages after theirs.
const serveDir = "/aeon/gocall/serve"

// Caller calls functions. The same call gives the same reply: a function is called once for the same arguments, so that a search
// that returns to a call finds what it has found before. Any goroutine may use it.
type Caller struct {
	mu struct {
		sync.Mutex
		replies map[string][]byte // by the request
		dead    error
	}
	cmd      *exec.Cmd
	in, from *os.File
	out      *json.Decoder // of from
}

// Start starts a process with the functions that packages without errors, and what they import, bind. If they bind none it returns
// nil, which may be closed. The errors are those of gobuild.Compile.
func Start(ctx context.Context, packages ...*load.Package) (*Caller, error) {
	made, err := build(ctx, packages)
	if err != nil || made.Path == "" {
		return nil, err
	}
	c := &Caller{cmd: exec.Command(made.Path)}
	c.mu.replies = map[string][]byte{}
	c.cmd.Stdout, c.cmd.Stderr = os.Stderr, os.Stderr // what the functions print
	requests, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, replies, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.in, c.from, c.out = in, out, json.NewDecoder(out)
	return c, inherit.Start(c.cmd, requests, replies)
}

// build returns the executable of the process, whose path is "" if the packages need none.
func build(ctx context.Context, packages []*load.Package) (gobuild.Result, error) {
	req := gobuild.Request{Kind: gobuild.Tests, Name: "gocall", Quick: true,
		Imported: []gobuild.Package{{Name: "serve", Dir: serveDir, Shared: true, Files: []gobuild.File{{Name: "serve.go", Data: serveSource}}}}}
	seen := map[*load.Package]bool{}
	for _, root := range packages {
		for _, p := range root.Closure() {
			if len(p.Info.Package.Bound()) == 0 || seen[p] {
				continue
			}
			seen[p] = true
			place, err := gobuild.PlaceOf(p)
			if err != nil {
				return gobuild.Result{}, err
			}
			req.Imported = append(req.Imported, gobuild.Package{Name: "bound", Dir: p.Dir, Place: place,
				Files: []gobuild.File{{Name: "bound.go", Data: boundBy(p)}}})
		}
	}
	if len(seen) == 0 {
		return gobuild.Result{}, nil
	}
	req.Main = mainOf(req.Imported)
	cache, err := gobuild.DefaultCache()
	if err != nil {
		return gobuild.Result{}, err
	}
	b := gobuild.Builder{Cache: cache, Runtime: aeon.RuntimeSource()}
	return b.Build(ctx, req)
}

// boundBy returns a Go package with the functions that p binds, by path.Name.
func boundBy(p *load.Package) []byte {
	names := map[string][]string{} // by path
	methods := map[string]string{}
	for _, f := range p.Info.Package.Bound() {
		if t := f.Go.Recv; t != nil {
			recv := "(*%s." + t.Name() + ")"
			if t.IsInterface() {
				recv = "%s." + t.Name()
			}
			methods[f.Go.Callee] = recv + "." + f.Name()
		}
		names[f.Go.Path] = append(names[f.Go.Path], f.Go.Callee)
	}
	var imports, entries strings.Builder
	for i, path := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(&imports, "\tg%d %q\n", i, path)
		slices.Sort(names[path])
		for _, name := range slices.Compact(names[path]) {
			code := fmt.Sprintf("g%d.%s", i, name)
			if m := methods[name]; m != "" {
				code = fmt.Sprintf(m, fmt.Sprintf("g%d", i))
			}
			fmt.Fprintf(&entries, "\t%q: %s,\n", path+"."+name, code)
		}
	}
	return fmt.Appendf(nil, "package bound\n\nimport (\n%s)\n\nvar Functions = map[string]any{\n%s}\n", &imports, &entries)
}

// mainOf returns the main package of the process, of packages the first of which is the server.
func mainOf(packages []gobuild.Package) []byte {
	var imports, entries strings.Builder
	fmt.Fprintf(&imports, "\t%q\n", aeon.ModulePath+"/runtime/inherit")
	for i, p := range packages {
		fmt.Fprintf(&imports, "\tp%d %q\n", i, p.ImportPath())
		if i > 0 {
			fmt.Fprintf(&entries, ", p%d.Functions", i)
		}
	}
	return fmt.Appendf(nil, "package main\n\nimport (\n%s)\n\nfunc main() { p0.Main(inherit.Open%s) }\n", &imports, &entries)
}

// Call makes a call, and returns its serve.Reply as JSON. The error says that the process has ended: the function has ended it.
func (c *Caller) Call(call serve.Request) ([]byte, error) {
	req, err := json.Marshal(call)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if reply, ok := c.mu.replies[string(req)]; ok || c.mu.dead != nil {
		return reply, c.mu.dead
	}
	var reply json.RawMessage
	if _, err = c.in.Write(append(req, '\n')); err == nil {
		err = c.out.Decode(&reply)
	}
	if err != nil {
		c.mu.dead = fmt.Errorf("the process in which the Go function %s ran has ended: %w", call.Func, err)
		return nil, c.mu.dead
	}
	c.mu.replies[string(req)] = reply
	return reply, nil
}

// Close ends the process, if there is one.
func (c *Caller) Close() error {
	if c == nil {
		return nil
	}
	_ = c.in.Close()
	defer c.from.Close()
	return c.cmd.Wait()
}
