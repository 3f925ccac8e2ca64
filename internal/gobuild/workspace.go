package gobuild

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/internal/load"
)

// compileInModules makes the executable of a program that has packages of the user's modules. Go alone knows what those are made of:
// it compiles all packages, which costs little if none has changed, and the executable is named by what has come of it.
func (b *Builder) compileInModules(ctx context.Context, golang toolchain, dir, module string, lay layout, identity []string) (exe string, cached bool, err error) {
	staged, err := b.Cache.stage()
	if err != nil {
		return "", false, err
	}
	defer os.RemoveAll(staged)
	work, sums := workFile(lay.places, b.Runtime, module, b.Cache.virtualDir())
	if err := writeTree(staged, []File{{"go.work", work}, {"go.work.sum", sums}}); err != nil {
		return "", false, &CacheError{b.Cache.dir, err}
	}
	run := func(args ...string) (string, error) {
		cmd := golang.inWorkspace(ctx, b.Cache, lay, staged, append(append(args, lay.buildFlags(filepath.Join(dir, "overlay.json"))...), "./"+lay.mainDir)...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := in(cmd, module).Run()
		switch said := stderr.String(); {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err == nil:
			return stdout.String(), nil
		case lay.blames(said):
			return "", &GeneratedCodeError{Dir: filepath.Join(dir, "src"), Output: said}
		default:
			return "", refusedByModules(lay, said)
		}
	}
	ids, err := run("list", "-export", "-deps", "-f", "{{.ImportPath}} {{.BuildID}}")
	if err != nil {
		return "", false, err
	}
	exe = executable(filepath.Join(b.Cache.dir, "build", digest(append(identity, ids)...)[:32]), lay.exe+golang.exeSuffix())
	if isFile(exe) {
		b.Cache.touch(entryOf(exe))
		return exe, true, nil
	}
	out := filepath.Join(staged, filepath.Base(exe))
	if _, err := run("build", "-o", out); err != nil {
		return "", false, err
	}
	return exe, false, b.Cache.keepExecutable(out, exe)
}

// blames is blamesGenerated for a program that has code in modules of the user's, one of which may be that of the runtime.
func (l *layout) blames(output string) bool {
	for line := range strings.Lines(output) {
		name, ok := strings.CutPrefix(line, "# ")
		if ok && slices.ContainsFunc(l.places, func(p *Place) bool { return strings.HasPrefix(name, p.below("")+"/") }) {
			return true
		}
	}
	own := slices.ContainsFunc(l.places, func(p *Place) bool { return p.aeon })
	return blamesGenerated(output) && !own
}

// workFile returns the go.work of a program that is compiled in these places, and its go.work.sum.
func workFile(places []*Place, rt aeon.Runtime, program, virtual string) (work, sums []byte) {
	all := Place{goVersion: rt.GoVersion, uses: []string{program}}
	for line := range strings.Lines(string(rt.Requirements)) { // of the store
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "go "); ok {
			all.wants(v)
		}
	}
	for _, p := range places {
		all.wants(p.goVersion)
		all.uses = append(all.uses, p.uses...)
		all.replaces = append(all.replaces, p.replaces...)
		all.aeon = all.aeon || p.aeon
		sums = append(sums, p.sums...)
	}
	if !all.aeon {
		all.replaces = append(all.replaces, fmt.Sprintf("%q => %q", aeon.ModulePath, virtual))
	}
	work = fmt.Appendf(nil, "go %s\n\n", all.goVersion)
	for _, kind := range []struct {
		verb string
		args []string
	}{{"use", quoted(all.uses)}, {"replace", all.replaces}} {
		slices.Sort(kind.args)
		for _, arg := range slices.Compact(kind.args) {
			work = fmt.Appendf(work, "%s %s\n", kind.verb, arg)
		}
	}
	return work, sums
}

func quoted(list []string) (out []string) {
	for _, s := range list {
		out = append(out, fmt.Sprintf("%q", s))
	}
	return out
}

// inWorkspace returns a command by which Go works in the workspace that is in the directory work, with the user's environment
// wherever that decides what the packages of the user's modules are.
func (t toolchain) inWorkspace(ctx context.Context, c *Cache, lay layout, work string, args ...string) *exec.Cmd {
	command := t.command
	if lay.node != "" {
		command = t.fetching
	}
	flags := "GOFLAGS=-mod=readonly -tags=" + tags
	for _, p := range lay.places {
		if p.tags != "" {
			flags += "," + p.tags
		}
	}
	cmd := command(ctx, c, args...)
	cmd.Env = append(cmd.Env, flags, "GOWORK="+filepath.Join(work, "go.work"))
	for _, name := range []string{"CGO_ENABLED", "GOSUMDB"} { // the user's own, or Go's default
		cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd
}

// refusedByModules is the error for a program that Go does not build with the modules of the user.
func refusedByModules(lay layout, output string) error {
	var names, lines []string
	for _, p := range lay.places {
		names = append(names, fmt.Sprintf("%s (in %s)", p.module, load.Relative(p.uses[0])))
	}
	for line := range strings.Lines(output) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "go: downloading ") {
			lines = append(lines, line)
		}
	}
	slices.Sort(names)
	remedy := "`go build` and `go vet` of that module say whether its own packages compile"
	switch off := strings.Contains(output, "GOPROXY=off"); {
	case off && lay.node != "": // the user has said so
		remedy = "Go lacks modules of the store or of that module, and GOPROXY=off keeps Go from fetching them: build it once with a network, and they stay"
	case off, strings.Contains(output, "missing go.sum entry"):
		remedy = "aeonc downloads nothing for it: `go mod download` in that module does"
	}
	return &ProgramError{fmt.Errorf("the program does not build with the Go module %s\n\t%s\n\tGo said: %s",
		strings.Join(slices.Compact(names), " and "), remedy, strings.Join(lines, "\n\t"))}
}
