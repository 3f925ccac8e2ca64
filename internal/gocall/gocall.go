// Package gocall calls the Go functions that programs bind, for tools that interpret programs. The functions run in a process of
// their own, made of the packages that the programs name, so that what they do there does not touch the tool.
package gocall

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
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
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

// Start starts a process with the functions that packages without errors, and what they import, bind. If they bind none it returns
// nil, which may be closed. The errors are those of gobuild.Compile.
func Start(ctx context.Context, packages ...*load.Package) (*Caller, error) {
	names := map[string][]string{} // by path
	for _, root := range packages {
		for _, p := range root.Closure() {
			if err := gobuild.CheckStandard(p); err != nil {
				return nil, err
			}
			for _, f := range p.Info.Package.Externs {
				if !slices.Contains(names[f.Go.Path], f.Name()) {
					names[f.Go.Path] = append(names[f.Go.Path], f.Name())
				}
			}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	cache, err := gobuild.DefaultCache()
	if err != nil {
		return nil, err
	}
	b := gobuild.Builder{Cache: cache, Runtime: aeon.RuntimeSource()}
	made, err := b.Build(ctx, gobuild.Request{Kind: gobuild.Tests, Name: "gocall", Quick: true, Main: mainOf(names),
		Imported: []gobuild.Package{{Name: "serve", Dir: serveDir, Shared: true, Files: []gobuild.File{{Name: "serve.go", Data: serveSource}}}}})
	if err != nil {
		return nil, err
	}
	c := &Caller{cmd: exec.Command(made.Path)}
	c.mu.replies = map[string][]byte{}
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = json.NewDecoder(out)
	return c, c.cmd.Start()
}

// mainOf returns the main package of the process.
func mainOf(names map[string][]string) []byte {
	var imports, entries strings.Builder
	for i, path := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(&imports, "\n\tg%d %q", i, path)
		for _, name := range slices.Sorted(slices.Values(names[path])) {
			fmt.Fprintf(&entries, "\t\t%q: g%d.%s,\n", path+"."+name, i, name)
		}
	}
	return fmt.Appendf(nil, "package main\n\nimport (\n\t%q\n%s\n)\n\nfunc main() {\n\tserve.Main(map[string]any{\n%s\t})\n}\n",
		gobuild.ImportPath(serveDir, "serve"), imports.String(), entries.String())
}

// Call calls a function, path.Name, with arguments in the form of package serve, and returns its serve.Reply as JSON. The error says
// that the process has ended: the function has ended it.
func (c *Caller) Call(name string, args []json.RawMessage) ([]byte, error) {
	req, err := json.Marshal(serve.Request{Func: name, Args: args})
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
		c.mu.dead = fmt.Errorf("the process in which the Go function %s ran has ended: %w", name, err)
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
	return c.cmd.Wait()
}
