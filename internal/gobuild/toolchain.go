package gobuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// ToolchainError says that there is no usable Go toolchain, and the remedy.
type ToolchainError struct{ Msg string }

// Error implements error.
func (e *ToolchainError) Error() string { return e.Msg }

// toolchain is the go command that the PATH leads to.
type toolchain struct {
	path    string // absolute
	id      string // changes when the command, or a variable it obeys, changes
	version string // of its root, as in "go1.26.8"; "" if that is not known without running it
	goos    string // the system that it compiles for
}

// goVariables are those that decide what `go build` makes.
var goVariables = []string{"GOOS", "GOARCH", "GO386", "GOAMD64", "GOARM", "GOARM64", "GOMIPS", "GOMIPS64",
	"GOPPC64", "GORISCV64", "GOWASM", "GOEXPERIMENT", "GODEBUG", "GOROOT", "GOFIPS140"}

// findGo finds the go command. It runs nothing: a cached program must start at once.
func findGo(wantVersion string) (toolchain, error) {
	path, err := exec.LookPath("go")
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return toolchain{}, &ToolchainError{fmt.Sprintf(
			"no Go toolchain found: aeonc compiles programs with Go %s or newer\n\tinstall it from https://go.dev/dl/ and make sure that `go` is on your PATH", wantVersion)}
	}
	if path, err = filepath.Abs(path); err != nil {
		return toolchain{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return toolchain{}, err
	}
	parts := []string{path, strconv.FormatInt(info.Size(), 10), strconv.FormatInt(info.ModTime().UnixNano(), 10)}
	// The command may be a small front that leads to another root: what
	// `go version` reads is that root's VERSION file.
	version, root := "", os.Getenv("GOROOT")
	if real, err := filepath.EvalSymlinks(path); err == nil {
		own := filepath.Dir(filepath.Dir(real))
		file, _ := os.ReadFile(filepath.Join(own, "VERSION"))
		parts = append(parts, real, string(file))
		if root == "" || filepath.Clean(root) == own {
			version, _, _ = strings.Cut(string(file), "\n")
			root = own
		}
	}
	variable := goEnv(root)
	for _, v := range goVariables {
		parts = append(parts, v+"="+variable(v))
	}
	return toolchain{path, digest(parts...), version, cmp.Or(variable("GOOS"), runtime.GOOS)}, nil
}

// goEnv returns what a go command with this root takes variables to be: what the environment says, else what
// `go env -w` has written, else what the root says. It reads the files itself, as findGo runs nothing.
func goEnv(root string) func(name string) string {
	files, user := []string{filepath.Join(root, "go.env")}, os.Getenv("GOENV")
	if dir, err := os.UserConfigDir(); user == "" && err == nil {
		user = filepath.Join(dir, "go", "env")
	}
	if user != "off" {
		files = append(files, user)
	}
	written := make(map[string]string)
	for _, name := range files {
		text, _ := os.ReadFile(name) // most users have none
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
				written[name] = value
			}
		}
	}
	return func(name string) string { return cmp.Or(os.Getenv(name), written[name]) }
}

func (t toolchain) exeSuffix() string {
	if t.goos == "windows" {
		return ".exe"
	}
	return ""
}

// checkVersion fails unless the toolchain is at least Go `want`, as in "1.26".
func (t toolchain) checkVersion(ctx context.Context, c *Cache, want string) error {
	have := t.version
	if have == "" {
		out, err := t.command(ctx, c, "env", "GOVERSION").Output()
		if err != nil {
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				err = errors.New(strings.TrimSpace(string(exit.Stderr)))
			}
			return &ToolchainError{fmt.Sprintf("the Go toolchain %s does not work: %v", t.path, err)}
		}
		have = strings.TrimSpace(string(out))
	}
	if !atLeast(have, want) {
		return &ToolchainError{fmt.Sprintf(
			"%s is %s, and aeonc needs Go %s or newer\n\tinstall it from https://go.dev/dl/ and put it first on your PATH", t.path, have, want)}
	}
	return nil
}

// atLeast compares a version as `go env GOVERSION` prints it ("go1.26.8",
// "go1.27rc1", "devel go1.27-abc") with "major.minor".
func atLeast(have, want string) bool {
	i := strings.Index(have, "go")
	if i < 0 {
		return false
	}
	haveMajor, haveMinor, ok := majorMinor(have[i+2:])
	wantMajor, wantMinor, wantOK := majorMinor(want)
	return ok && wantOK && (haveMajor > wantMajor || haveMajor == wantMajor && haveMinor >= wantMinor)
}

func majorMinor(v string) (major, minor int, ok bool) {
	head, rest, _ := strings.Cut(v, ".")
	digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if digits >= 0 {
		rest = rest[:digits]
	}
	major, err1 := strconv.Atoi(head)
	minor, err2 := strconv.Atoi(rest)
	return major, minor, err1 == nil && err2 == nil
}

// command returns the go command with an environment in which nothing is
// downloaded, no module or workspace of the user takes part, and no C compiler
// is needed. Go's own build cache is the user's, so that the standard library
// is compiled once for all.
func (t toolchain) command(ctx context.Context, c *Cache, args ...string) *exec.Cmd {
	cmd := t.fetching(ctx, c, args...)
	cmd.Env = append(cmd.Env, "GOPROXY=off")
	return cmd
}

// tags are those that Go compiles all programs with. Without the traces of gRPC nothing of a program looks methods up by their names, so the
// linker leaves out those that are never called, a fifth of a program; and gRPC adds no pages to Go's own HTTP server.
const tags = "grpcnotrace"

// fetching returns the same command, except that Go may take modules from where the user
// lets it. Their sums are known beforehand, so no database of sums is asked.
func (t toolchain) fetching(ctx context.Context, c *Cache, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.path, args...)
	cmd.Env = append(os.Environ(),
		"GOFLAGS=-mod=readonly -tags="+tags, "GOSUMDB=off", "GOWORK=off", "GO111MODULE=on", "GOTOOLCHAIN=local", "CGO_ENABLED=0")
	if dir := c.ownGoCache(); dir != "" {
		cmd.Env = append(cmd.Env, "GOCACHE="+dir)
	}
	if os.Getenv("GOPATH") == "" && os.Getenv("GOMODCACHE") == "" {
		if home, err := os.UserHomeDir(); err != nil || home == "" {
			cmd.Env = append(cmd.Env, "GOPATH="+filepath.Join(c.dir, "gopath")) // go insists on one, and leaves it empty
		}
	}
	return cmd
}

// asUser returns a go command in dir with the environment of the user, except that nothing is downloaded.
func (t toolchain) asUser(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(t.path, args...)
	cmd.Env = append(os.Environ(), "GOPROXY=off")
	return in(cmd, dir)
}

// in has a command, whose environment is set, run in dir. Go names the directory as PWD does, if that is a name of it: by another one, where a
// link leads there, neither what an overlay replaces would be in it, nor would it be in its module.
func in(cmd *exec.Cmd, dir string) *exec.Cmd {
	cmd.Dir, cmd.Env = dir, append(cmd.Env, "PWD="+dir)
	return cmd
}

// ownGoCache returns a Go build cache inside ours if Go could not tell where
// the user's is; otherwise "".
func (c *Cache) ownGoCache() string {
	if os.Getenv("GOCACHE") != "" {
		return ""
	}
	if _, err := os.UserCacheDir(); err == nil {
		return ""
	}
	return filepath.Join(c.dir, "go-build")
}

// DescribeToolchain says in one line which go command would compile programs,
// or why none can.
func DescribeToolchain(wantVersion string) string {
	golang, err := findGo(wantVersion)
	if err != nil {
		return "missing: " + strings.ReplaceAll(err.Error(), "\n\t", "; ")
	}
	if err := golang.checkVersion(context.Background(), &Cache{os.TempDir()}, wantVersion); err != nil {
		return "unusable: " + strings.ReplaceAll(err.Error(), "\n\t", "; ")
	}
	out, err := golang.command(context.Background(), &Cache{os.TempDir()}, "version").Output()
	if err != nil {
		return fmt.Sprintf("unusable: %v", err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "go version ") + " (" + golang.path + ")"
}
