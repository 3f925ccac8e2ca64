package gobuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aeon-lang/aeon"
)

// StoreModulesError says that the store cannot be compiled because modules are missing.
type StoreModulesError struct {
	Missing string // a package that is in no module at hand
	Cache   string // Go's module cache
	Proxy   string // where Go was told to take modules from
	Output  string // what Go said
}

// Error implements error; it names the remedy.
func (e *StoreModulesError) Error() string {
	from := "and could not be fetched (GOPROXY=" + e.Proxy + ")"
	if e.Proxy == "off" {
		from = "and GOPROXY=off keeps Go from fetching them"
	}
	return fmt.Sprintf("the store cannot be compiled: its Go modules, such as %s, are not in Go's module cache %s, %s\n"+
		"\tdo this once with a network, and they stay; a program that keeps its state in memory needs none of them\n\tGo said: %s",
		e.Missing, e.Cache, from, strings.ReplaceAll(e.Output, "\n", "\n\t"))
}

// saidMax bounds how many lines of Go's output about missing modules are shown.
const saidMax = 4

// ModuleCacheError says that the store cannot be compiled because Go cannot keep its modules.
type ModuleCacheError struct {
	Cache string // Go's module cache
	Err   error  // why nothing can be written there
}

// Error implements error; it names the remedy.
func (e *ModuleCacheError) Error() string {
	return fmt.Sprintf("the store cannot be compiled: its Go modules are not in Go's module cache %s, and cannot be put there: %v\n"+
		"\tmake that directory writable, or set GOMODCACHE to one that is; a program that keeps its state in memory needs none of them", e.Cache, e.Err)
}

// Unwrap returns the cause.
func (e *ModuleCacheError) Unwrap() error { return e.Err }

// writable returns why nothing can be written to a directory, which need not be there; nil if it can.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".aeonc-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// missingModules returns a *StoreModulesError or a *ModuleCacheError if go build has failed, saying output, because modules
// of the store, which package node imports, are missing: then Go does not find its packages without a network either.
func (b *Builder) missingModules(ctx context.Context, golang toolchain, node, module, overlay, output string) error {
	list := golang.command(ctx, b.Cache, "list", "-e", "-deps", "-overlay", overlay, "-modfile="+filepath.Join(module, storeMod),
		"-f", "{{if .Error}}{{.ImportPath}}{{end}}", node)
	missing, listing := in(list, module).Output()
	if listing == nil && len(missing) == 0 {
		return nil
	}
	values, err := in(golang.fetching(ctx, b.Cache, "env", "GOMODCACHE", "GOPROXY"), module).Output()
	if err != nil {
		return nil // then the toolchain is broken
	}
	cache, proxy, _ := strings.Cut(strings.TrimSpace(string(values)), "\n")
	if err := writable(cache); err != nil {
		return &ModuleCacheError{cache, err}
	}
	if listing != nil {
		return nil
	}
	var said []string
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "go: downloading ") && len(said) < saidMax {
			said = append(said, line)
		}
	}
	return &StoreModulesError{Missing: strings.Fields(string(missing))[0], Cache: cache, Proxy: proxy, Output: strings.Join(said, "\n")}
}

// storeMark returns the name of an entry that exists when the store of rt has been compiled by this toolchain. It is
// only a guess what Go's own cache holds, good enough to tell users how long something takes.
func (c *Cache) storeMark(rt aeon.Runtime, golang toolchain) string {
	return filepath.Join(c.dir, "store", digest(golang.id, string(rt.Requirements))[:32])
}

// mark makes an empty entry, or notes that it is new. It may fail: then users are told once more, or the cache is trimmed once more.
func (c *Cache) mark(name string) {
	_ = os.MkdirAll(name, 0o777)
	c.touch(name)
}
