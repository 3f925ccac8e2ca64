package runtime

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/value"
)

// standIn opens a single system in place of several, which package nodes opens.
func standIn(t *testing.T, stores int) Option {
	return WithNodes(func(cfg Config, _ *Package, sim Simulation) (*Nodes, error) {
		if sim.Stores != stores {
			t.Errorf("%d stores are asked for, not %d", sim.Stores, stores)
		}
		s := Open(cfg)
		return &Nodes{Systems: func() []*System { return []*System{s} }, Counts: func() across.Counts { return across.Counts{Committed: 4, Withdrawn: 1} }, Close: func() error { s.Close(); return nil }}, nil
	})
}

// simulateMain runs body as main on three nodes.
func simulateMain(t *testing.T, body func(*Client), args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = runMain(&Package{Name: "demo", Main: body}, append([]string{"--nodes", "3"}, args...), &out, &err, make(chan os.Signal), standIn(t, 3))
	return code, out.String(), err.String()
}

func TestMainOnSeveralNodes(t *testing.T) {
	code, out, err := simulateMain(t, func(cl *Client) {
		cl.Sleep(3e12) // takes no time
		cl.Print("hello")
	}, "--summary", "--seed", "7")
	if code != 0 || out != "hello\n" {
		t.Errorf("code %d, stdout %q", code, out)
	}
	if !strings.HasPrefix(err, "demo: on 3 nodes, simulated: --nodes 3 --seed 7 runs it again\n") || !strings.HasSuffix(err, "; over several stores: 4 events, 1 withdrawn\n") {
		t.Errorf("stderr %q", err)
	}
}

func TestMainThatFailsOnSeveralNodesNamesTheSeed(t *testing.T) {
	code, _, err := simulateMain(t, func(*Client) { value.Fail("no more steaks") }, "--seed", "0")
	if code != exitFailed || err != "demo: main failed: no more steaks\ndemo: --nodes 3 --seed 0 fails in the same way\n" {
		t.Errorf("code %d, stderr %q", code, err)
	}
	if _, _, err := simulateMain(t, func(*Client) { value.Fail("no more steaks") }); strings.Contains(err, "--seed 0 ") || !strings.Contains(err, "--seed ") {
		t.Errorf("without a seed: stderr %q", err)
	}
}

func TestASignalEndsASimulation(t *testing.T) {
	signals, stop := make(chan os.Signal, 1), make(chan struct{})
	left := make(chan struct{})
	var err bytes.Buffer
	code := runMain(&Package{Name: "demo", Main: func(*Client) {
		defer close(left)
		signals <- syscall.SIGTERM
		<-stop
	}}, []string{"--nodes", "3"}, io.Discard, &err, signals, standIn(t, 3))
	close(stop)
	<-left
	if code != 128+15 || err.String() != "demo: terminated\n" {
		t.Errorf("code %d, stderr %q", code, err.String())
	}
}

func TestNodesThatCannotBeOpened(t *testing.T) {
	var err bytes.Buffer
	broken := WithNodes(func(Config, *Package, Simulation) (*Nodes, error) { return nil, errors.New("no memory") })
	code := runMain(&Package{Name: "demo", Main: func(*Client) {}}, []string{"--nodes", "2"}, io.Discard, &err, make(chan os.Signal), broken)
	if code != exitStore || !strings.Contains(err.String(), "demo: no memory\n") {
		t.Errorf("code %d, stderr %q", code, err.String())
	}
}

func TestTracesOfNodesNeedADirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	ran := false
	code, _, err := simulateMain(t, func(*Client) { ran = true }, "--trace", file)
	if code != exitRefused || ran || !strings.Contains(err, "the trace of a node is a directory, which cannot be written: ") {
		t.Errorf("code %d, stderr %q", code, err)
	}
}

func TestNodesNeedToBeLinked(t *testing.T) {
	if code, _, err := runAsMain(t, func(*Client) {}, "--nodes", "3"); code != exitUsage || !strings.Contains(err, "`aeonc run --nodes N PROGRAM`") {
		t.Errorf("code %d, stderr %q", code, err)
	}
	for _, args := range [][]string{{"--nodes", "0"}, {"--nodes", "65"}} {
		var err bytes.Buffer
		if code := runMain(&Package{Name: "demo", Main: func(*Client) {}}, args, io.Discard, &err, make(chan os.Signal), standIn(t, 3)); code != exitUsage || !strings.Contains(err.String(), "--nodes") {
			t.Errorf("%v: code %d, stderr %q", args, code, err.String())
		}
	}
	var err bytes.Buffer
	own := &Package{Name: "demo", Main: func(*Client) {}, Config: []ConfigField{{Name: "nodes", Flag: "nodes", Type: "int", Value: new(int64)}}}
	if code := runMain(own, nil, io.Discard, &err, make(chan os.Signal), standIn(t, 3)); code != exitUsage || !strings.Contains(err.String(), "--nodes is a flag of every program that is compiled as this one is") {
		t.Errorf("a field of that name: code %d, stderr %q", code, err.String())
	}
}

// A test tells at its end what it has done over several stores, in all its schedules.
func TestTestsOnSeveralNodes(t *testing.T) {
	var out, err bytes.Buffer
	code := runMainTest(testPackages()[:1], []string{"--nodes", "3", "-repeat", "5"}, &out, &err, standIn(t, 3))
	if code != exitFailed || err.Len() > 0 {
		t.Errorf("code %d, stderr %q", code, err.String())
	}
	for _, want := range []string{`"Action":"pass","Unit":0,"Index":0,"Test":"good"`, `"Stores":{"Events":20,"Withdrawn":5}}`, `"Action":"fail"`, `"Stores":{"Events":4,"Withdrawn":1}}`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in\n%s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), "Stores"); n != 2 {
		t.Errorf("%d events have what was done over several stores, not those of the ends alone:\n%s", n, out.String())
	}
	out.Reset()
	if code := runMainTest(testPackages(), []string{"--nodes", "65"}, &out, &err, standIn(t, 3)); code != exitUsage || !strings.Contains(err.String(), "1 to 64 nodes") {
		t.Errorf("65 nodes: code %d, stderr %q", code, err.String())
	}
}
