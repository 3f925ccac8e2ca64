package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/aeon-lang/aeon/typecheck"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"aeonc": main})
}

// onEmptyCache is the script that comes first, alone. After it Go has compiled the runtime for this cache, so that the
// scripts that run at once need not compile it, each for itself.
var onEmptyCache = filepath.FromSlash("testdata/script/concurrent.txtar")

// longest are the scripts that take longest, of which the last takes longest of all. They stand at the end, as of parallel tests Go begins
// the last first: what begins late leaves processors idle.
var longest = []string{"dead", "snapshot_actor", "go", "nodes", "cluster", "survive", "stores"}

// TestScripts runs the command lines in testdata/script and compares what they
// print, write and return. Every script has a directory, and a home, of its own;
// the cache is shared, because each new one costs compiling the runtime, and so are
// Go's.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("there are no scripts: %v", err)
	}
	cache := t.TempDir()
	goCache := os.Getenv("GOCACHE")
	if goCache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		goCache = filepath.Join(base, "go-build")
	}
	modules, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	// A program with packages of the user's Go module is compiled in a workspace, for which Go reads go.mod files that compiling this
	// module does not need.
	if out, err := exec.Command("go", "list", "-m", "all").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	aeond := t.TempDir()
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", aeond, "../aeond").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	programs, err := findPrebuilt(scripts, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	params := testscript.Params{
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           condition,
		Cmds:                map[string]func(ts *testscript.TestScript, neg bool, args []string){"prebuilt": programs.command, "reserved": reserved, "health": health, "ports": ports},
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", env.Getenv("PATH")+string(filepath.ListSeparator)+aeond)
			env.Setenv("AEONC", filepath.Join(filepath.SplitList(env.Getenv("PATH"))[0], "aeonc")) // for scripts that change PATH
			env.Setenv("AEONCACHE", cache)
			env.Setenv("GOCACHE", goCache)
			env.Setenv("GOMODCACHE", strings.TrimSpace(string(modules)))
			env.Setenv("GOPROXY", "off")
			env.Setenv("GOFLAGS", "-mod=vendor") // settings of a user that must not matter
			env.Setenv("GOWORK", filepath.Join(env.WorkDir, "nowhere", "go.work"))
			env.Setenv("GO111MODULE", "off")
			env.Setenv("NO_COLOR", "1")
			env.Setenv("GOGC", "400") // a tenth less time for compilers and linkers
			// As aeonc compiles programs without modules of the user: with C, Go compiles all that imports net a second time.
			env.Setenv("CGO_ENABLED", "0")
			if filepath.Base(env.WorkDir) == "script-"+surviving {
				return fromReadme(env.WorkDir)
			}
			return nil
		},
	}
	run := func(t *testing.T, files ...string) {
		p := params
		p.Files = files
		testscript.Run(t, p)
	}
	i := slices.Index(scripts, onEmptyCache)
	if i < 0 {
		t.Fatalf("there is no script %s", onEmptyCache)
	}
	t.Run("empty", func(t *testing.T) { run(t, onEmptyCache) })
	scripts = slices.Delete(scripts, i, i+1)
	for _, name := range longest {
		script := filepath.Join("testdata", "script", name+".txtar")
		scripts = append(slices.DeleteFunc(scripts, func(s string) bool { return s == script }), script)
	}
	run(t, scripts...)
}

// surviving is the script with the program that survives in the README.
const surviving = "survive"

// fromReadme writes this program, and what is done to it there; and, in fewer, the same program with fewer steps.
func fromReadme(dir string) error {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		return err
	}
	_, after, _ := strings.Cut(string(text), "**9. It survives.**")
	write := func(name, body string) error {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		return os.WriteFile(name, []byte(body), 0o666)
	}
	for _, f := range []struct{ name, begin string }{{"relay/relay.aeon", "```aeon\n"}, {"survive.sh", "```sh\naeonc build -o runner relay"}} {
		_, body, ok := strings.Cut(after, f.begin)
		body, _, ended := strings.Cut(body, "```")
		if !ok || !ended {
			return fmt.Errorf("the README has no block for %s", f.name)
		}
		if f.name == "survive.sh" {
			_, body, _ = strings.Cut(body, "\n") // the first line is built by the script
		} else if err := write("fewer/relay.aeon", strings.ReplaceAll(body, "1000000", "300000")); err != nil {
			return err
		}
		if err := write(f.name, body); err != nil {
			return err
		}
	}
	return nil
}

// condition knows [root]: permissions do not bind that user; and [tmpfs]: a small file system can be mounted.
func condition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Getuid() == 0, nil
	case "tmpfs":
		return exec.Command("unshare", "-Urm", "sh", "-c", "mount -t tmpfs tmpfs /tmp").Run() == nil, nil
	}
	return false, fmt.Errorf("there is no condition %q", cond)
}

// health asks the program that has said where it listens for its health, by gRPC.
func health(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: health LOG")
	}
	found := regexp.MustCompile(`listening on http://(\S+)`).FindStringSubmatch(ts.ReadFile(args[0]))
	if found == nil {
		ts.Fatalf("%s does not say where the program listens", args[0])
	}
	conn, err := grpc.NewClient(found[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	ts.Check(err)
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	state, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{})
	ts.Check(err)
	if state.Status != healthv1.HealthCheckResponse_SERVING {
		ts.Fatalf("the health is %v", state.Status)
	}
}

// ports sets PORT to the first of so many ports in a row that nothing listens at. They lie below those that the system gives to connections.
func ports(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(strings.Join(args, " "))
	if neg || err != nil {
		ts.Fatalf("usage: ports NUMBER")
	}
	const from, to = 10000, 20000
	for {
		first := from + rand.IntN(to-from)
		free := 0
		for ; free < n; free++ {
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first+free)))
			if err != nil {
				break
			}
			ts.Check(l.Close())
		}
		if free == n {
			ts.Setenv("PORT", strconv.Itoa(first))
			return
		}
	}
}

// reserved compares the flags of every program in its help with those that the compiler keeps for them.
func reserved(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: reserved HELP")
	}
	_, help, _ := strings.Cut(ts.ReadFile(args[0]), "Flags of every program:")
	found := []string{"h", "help"}
	for _, m := range regexp.MustCompile(`(?m)^\s+--([a-z-]+)`).FindAllStringSubmatch(help, -1) {
		found = append(found, m[1])
	}
	slices.Sort(found)
	if !slices.Equal(found, typecheck.ReservedFlags) {
		ts.Fatalf("the flags of every program are %v; typecheck.ReservedFlags are %v", found, typecheck.ReservedFlags)
	}
}
