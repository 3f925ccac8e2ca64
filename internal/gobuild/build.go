package gobuild

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/internal/atomicfile"
)

// File is a generated file. Name is relative, with slashes.
type File struct {
	Name string
	Data []byte
}

// Package is one generated Go package.
type Package struct {
	Name  string // the Go package name
	Dir   string // absolute directory of its sources: gives the package its identity from one build to the next
	Files []File // names without directories
	// Shared: other executables, which may be built at this moment, have the same package. Once forgets the others alone.
	Shared bool
	Place  *Place // where in a module of the user's it is compiled; nil: it imports nothing of one
}

// ImportPath returns the path under which other generated code of the build imports the package.
func (p Package) ImportPath() string {
	if p.Place != nil {
		return p.Place.below(packageDir(p.Dir, p.Name))
	}
	return ImportPath(p.Dir, p.Name)
}

// Kind says what an executable does.
type Kind uint8

// The kinds of executable.
const (
	Program Kind = iota // runs main of its one package
	Tests               // runs the tests of all its packages
)

// Request describes one executable.
type Request struct {
	Kind     Kind
	Packages []Package // what is started; exactly one for Program unless Main is set
	Imported []Package // what those import, directly or not
	Name     string    // base name of the executable
	Debug    bool      // keep what a debugger needs: the link takes longer
	Main     []byte    // source of the main package, which may import all of the above by ImportPath; nil: as Kind says
	Quick    bool      // the generated code is compiled in little time rather than to run fast
	Store    bool      // compiled with the store, so that a Program can keep its state on disk; Main may then use its modules
	GRPC     bool      // compiled with gRPC, too; only with Store
	Cluster  bool      // compiled so that it can be a node of a cluster; only with Store
	Nodes    bool      // compiled so that it can run on several stores in its process; only without Store
	Once     bool      // of what was compiled nothing stays in Go's build cache; Result.Remove takes the rest
}

// GeneratedCodeError says that Go refused what aeonc generated: always a bug of aeonc.
type GeneratedCodeError struct {
	Dir    string // where the generated code was kept; "" if it was not
	Output string // what the Go compiler said
}

// Error implements error.
func (e *GeneratedCodeError) Error() string {
	if e.Dir == "" {
		return "go vet objects to the generated Go; this is a bug in aeonc, not in the program\n" + strings.TrimRight(e.Output, "\n")
	}
	return fmt.Sprintf("the generated Go does not compile; this is a bug in aeonc, not in the program\n"+
		"\tplease report it with the generated code, which is kept in %s\n%s", e.Dir, strings.TrimRight(e.Output, "\n"))
}

// Result is an executable in the cache.
type Result struct {
	Path   string
	Cached bool          // it was there already
	Took   time.Duration // what making it took
}

// Remove deletes the executable and its sources from the cache.
func (r Result) Remove() error { return os.RemoveAll(entryOf(r.Path)) }

// executable returns where the entry dir has its executable: apart from what else it has, as programs may have any name.
func executable(dir, name string) string { return filepath.Join(dir, "bin", name) }

// entryOf returns the entry that has an executable.
func entryOf(exe string) string { return filepath.Dir(filepath.Dir(exe)) }

// First says what is compiled for the first time beside a program, and so takes longer.
type First struct {
	Runtime bool
	Store   bool // takes about a minute, and modules from the network if Go's module cache lacks them
}

// Builder makes executables. Its fields are set before use and not changed;
// any goroutine may then call Build.
type Builder struct {
	Cache   *Cache
	Runtime aeon.Runtime // what programs are compiled against: aeon.RuntimeSource()
	// Progress, if set, is called before a program is compiled.
	Progress func(First)
}

// Build returns the executable for req, from the cache if it was made before
// from the same input. The errors are *CacheError, *ToolchainError,
// *GeneratedCodeError, *StoreModulesError, *ModuleCacheError, and ctx's.
func (b *Builder) Build(ctx context.Context, req Request) (Result, error) {
	assert.That(req.Kind == Program || req.Main != nil || !req.Store, "tests are run in memory")
	assert.That(req.Store || !req.GRPC && !req.Cluster, "calls by gRPC, and a cluster, need a store")
	assert.That(!req.Store || !req.Nodes, "several stores in one process keep nothing")
	assert.That(req.Kind == Tests || req.Main != nil || len(req.Packages) == 1, "a program has one package, not %d", len(req.Packages))
	start := time.Now()
	rt := b.Runtime
	golang, err := findGo(rt.GoVersion)
	if err != nil {
		return Result{}, err
	}
	lay := layOut(req)
	identity := append(lay.identity(), golang.id, rt.Hash)
	dir := filepath.Join(b.Cache.dir, "build", digest(identity...)[:32])
	exe := executable(dir, req.Name+golang.exeSuffix())
	if len(lay.places) == 0 && isFile(exe) {
		b.Cache.touch(dir)
		return Result{Path: exe, Cached: true, Took: time.Since(start)}, nil
	}
	if err := golang.checkVersion(ctx, b.Cache, rt.GoVersion); err != nil {
		return Result{}, err
	}
	storeMark := b.Cache.storeMark(rt, golang)
	if b.Progress != nil && (len(lay.places) == 0 || !isDir(dir)) {
		b.Progress(First{Runtime: !isDir(b.Cache.runtimeDir(rt)), Store: req.Store && !isDir(storeMark)})
	}
	module, err := b.Cache.install(rt)
	if err != nil {
		return Result{}, err
	}
	if err := b.keepSource(dir, lay, module); err != nil {
		return Result{}, err
	}
	unlock, err := b.Cache.lock(ctx, dir)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	cached := false
	switch {
	case len(lay.places) > 0:
		exe, cached, err = b.compileInModules(ctx, golang, dir, module, lay, identity)
	case isFile(exe): // another build has made it meanwhile
		cached = true
	default:
		err = b.compile(ctx, golang, dir, exe, module, lay)
	}
	if err != nil {
		return Result{}, err
	}
	if req.Store {
		b.Cache.mark(storeMark)
	}
	b.Cache.trim(time.Now())
	return Result{Path: exe, Cached: cached, Took: time.Since(start)}, nil
}

// keepSource stores the generated files and their overlay, so that a compile
// error can be looked at and a debugger finds the Go beside the executable.
func (b *Builder) keepSource(dir string, lay layout, module string) error {
	replace := map[string]string{}
	b.Cache.overlay(b.Runtime, replace)
	for _, f := range lay.files {
		shown := filepath.Join(module, filepath.FromSlash(f.Name))
		if place := lay.placed[f.Name]; place != nil {
			shown = filepath.Join(place.dir, programModule, filepath.FromSlash(f.Name))
		}
		replace[shown] = filepath.Join(dir, "src", filepath.FromSlash(f.Name))
	}
	if len(lay.places) > 0 && lay.node != "" { // a workspace knows no -modfile
		replace[filepath.Join(module, "go.mod")] = filepath.Join(module, storeMod)
		replace[filepath.Join(module, "go.sum")] = filepath.Join(module, storeSum)
	}
	overlay, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	assert.That(err == nil, "an overlay of strings marshals: %v", err)
	files := []File{{"overlay.json", overlay}}
	for _, f := range lay.files {
		files = append(files, File{"src/" + f.Name, f.Data})
	}
	return b.Cache.store(dir, files)
}

func (b *Builder) compile(ctx context.Context, golang toolchain, dir, exe, module string, lay layout) error {
	staged, err := b.Cache.stage()
	if err != nil {
		return err
	}
	defer os.RemoveAll(staged)
	out := filepath.Join(staged, filepath.Base(exe))
	overlay := filepath.Join(dir, "overlay.json")
	args := lay.buildFlags(overlay)
	command := golang.command
	if lay.node != "" {
		command = golang.fetching
		args = append(args, "-modfile="+filepath.Join(module, storeMod))
	}
	cmd := command(ctx, b.Cache, append([]string{"build", "-o", out}, append(args, "./"+lay.mainDir)...)...)
	if lay.quick {
		cmd.Env = append(cmd.Env, "GOGC=400") // collecting takes a fifth of the compiler's time
	}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err = in(cmd, module).Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		if err := b.Cache.keepExecutable(out, exe); err != nil {
			return err
		}
		if lay.once {
			return b.forget(command(ctx, b.Cache, append([]string{"list", "-export", "-deps", "-f", archives}, append(args, "./"+lay.mainDir)...)...), module, lay.shared)
		}
		return nil
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && blamesGenerated(output.String()) {
		return &GeneratedCodeError{Dir: filepath.Join(dir, "src"), Output: output.String()}
	}
	if lay.node != "" {
		if err := b.missingModules(ctx, golang, lay.node, module, overlay, output.String()); err != nil {
			return err
		}
	}
	return &ToolchainError{fmt.Sprintf("go build failed: %v\n%s", err, strings.TrimRight(output.String(), "\n"))}
}

// buildFlags returns the flags of go build and go list.
func (l *layout) buildFlags(overlay string) []string {
	args := []string{"-overlay", overlay, "-buildvcs=false"}
	var flags []string
	if l.quick {
		flags = append(flags, "-N", "-l")
	}
	if !l.debug { // tables of the debugger only: positions in failures stay
		flags = append(flags, "-dwarf=false")
		args = append(args, "-ldflags=-s -w")
	}
	args = append(args, "-gcflags="+programModule+"/...="+strings.Join(flags, " "))
	for _, p := range l.places {
		args = append(args, "-gcflags="+p.below("...")+"="+strings.Join(flags, " "))
	}
	return args
}

// archives is the template by which go list prints where the archives of the generated packages are.
const archives = `{{if .Export}}{{.ImportPath}}{{"\t"}}{{.Export}}{{end}}`

// forget removes the archives of generated packages that are not shared from Go's build cache, which keeps them for days: some tens of
// megabytes for an executable that is made of many programs. To Go it is as if they had never been there.
func (b *Builder) forget(list *exec.Cmd, module string, shared map[string]bool) error {
	out, err := in(list, module).Output()
	if err != nil {
		return &ToolchainError{fmt.Sprintf("go list failed: %v", err)}
	}
	for line := range strings.Lines(string(out)) {
		if name, file, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && strings.HasPrefix(name, programModule+"/") && !shared[name] {
			if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return &CacheError{filepath.Dir(file), err}
			}
		}
	}
	return nil
}

// blamesGenerated tells a compile error from a toolchain that is broken, out of
// disk or misconfigured: go prints "# package" in front of what the compiler or
// linker says about a package.
func blamesGenerated(output string) bool {
	return strings.HasPrefix(output, "# "+programModule) || strings.Contains(output, "\n# "+programModule) ||
		strings.HasPrefix(output, "# "+aeon.ModulePath) || strings.Contains(output, "\n# "+aeon.ModulePath)
}

// CopyTo copies the executable to name, as a whole.
func (r Result) CopyTo(name string) error {
	src, err := os.Open(r.Path)
	if err != nil {
		return err
	}
	defer src.Close()
	return atomicfile.Write(name, src, 0o755)
}

// layout is where the files of a request lie in the program module.
type layout struct {
	files   []File // named relative to the module, sorted
	mainDir string // the main package, relative to the module
	debug   bool
	quick   bool
	node    string // the package of the store and the doors; "": there is none
	once    bool
	shared  map[string]bool // import paths of the packages that are Shared
	exe     string
	places  []*Place          // of the packages that have one
	placed  map[string]*Place // by the name of the file
}

// node returns the package that the main package gets the store from, and the doors; "": none.
func (r *Request) node() string {
	switch {
	case r.Cluster && r.GRPC:
		return aeon.ClusterGRPCPackage
	case r.Cluster:
		return aeon.ClusterPackage
	case r.GRPC:
		return aeon.GRPCPackage
	case r.Store:
		return aeon.StorePackage
	}
	return ""
}

// layOut places every package in a directory named after its source directory,
// and the main package that starts them beside it.
func layOut(req Request) layout {
	lay := layout{debug: req.Debug, quick: req.Quick, node: req.node(), once: req.Once, shared: map[string]bool{}, exe: req.Name, placed: map[string]*Place{}}
	var imports, dirs []string
	for _, p := range slices.Concat(req.Packages, req.Imported) {
		assert.That(token.IsIdentifier(p.Name), "%q is no Go package name", p.Name)
		if p.Shared {
			lay.shared[p.ImportPath()] = true
		}
		if p.Place != nil {
			lay.places = append(lay.places, p.Place)
		}
		for _, f := range p.Files {
			name, data := path.Join(packageDir(p.Dir, p.Name), f.Name), f.Data
			if p.Place != nil { // the module may be written in an older Go
				lay.placed[name], data = p.Place, slices.Concat([]byte("//go:build go"+aeon.RuntimeSource().GoVersion+"\n\n"), data)
			}
			lay.files = append(lay.files, File{name, data})
		}
	}
	for _, p := range req.Packages {
		imports = append(imports, p.ImportPath())
		dirs = append(dirs, p.Dir)
	}
	slices.Sort(dirs)
	lay.mainDir = "m" + digest(append(dirs, fmt.Sprint(req.Kind))...)[:16]
	main := req.Main
	if main == nil {
		linked := lay.node
		if req.Nodes {
			linked = aeon.NodesPackage
		}
		main = mainSource(req.Kind, imports, linked)
	}
	lay.files = append(lay.files, File{lay.mainDir + "/main.go", main})
	slices.SortFunc(lay.files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return lay
}

// ImportPath returns the path under which generated code of one build imports
// the package name that is made from the sources in the absolute directory dir.
func ImportPath(dir, name string) string { return programModule + "/" + packageDir(dir, name) }

// packageDir returns where a package lies in the program module. It depends on
// nothing else, so that Go's build cache knows the package again.
func packageDir(dir, name string) string { return path.Join("p"+digest(dir)[:16], name) }

// identity returns what decides the executable, apart from toolchain and runtime.
func (l layout) identity() []string {
	parts := []string{l.mainDir, l.exe, fmt.Sprint(l.debug, l.quick, l.node), tags}
	for _, f := range l.files {
		parts = append(parts, f.Name, string(f.Data))
	}
	for _, p := range l.places {
		parts = append(parts, p.dir, p.path)
	}
	return parts
}

// mainSource returns the main package: it hands the descriptors of the packages to the runtime, and what it is linked with on
// request; "": nothing.
func mainSource(kind Kind, imports []string, linked string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by aeonc; DO NOT EDIT.\n\npackage main\n\nimport (\n\taeonrt %q\n\n", aeon.ModulePath+"/runtime")
	for i, imp := range imports {
		fmt.Fprintf(&b, "\tp%d %q\n", i, imp)
	}
	if linked != "" {
		fmt.Fprintf(&b, "\t%q\n", linked)
	}
	start := map[Kind]string{Program: "MainOf", Tests: "MainTestOf"}[kind]
	fmt.Fprintf(&b, ")\n\nfunc main() {\n\taeonrt.%s(\n", start)
	for i := range imports {
		fmt.Fprintf(&b, "\t\tp%d.AeonEntry(),\n", i)
	}
	if linked != "" {
		fmt.Fprintf(&b, "\t\t%s.Entry(),\n", path.Base(linked))
	}
	b.WriteString("\t)\n}\n")
	return b.Bytes()
}
