package trace

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// scratch is removed after the last test.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "trace"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch) // of the system's directory for such files
	os.Exit(code)
}

// compiler builds aeonc once.
var compiler = sync.OnceValues(func() (exe string, err error) {
	exe = filepath.Join(scratch, "aeonc")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", exe, "../../cmd/aeonc").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building aeonc: %w\n%s", err, out)
	}
	return exe, nil
})

// buildCompiler builds aeonc and returns a function that runs it.
func buildCompiler(t *testing.T) (aeonc func(args ...string)) {
	run := tryCompiler(t)
	return func(args ...string) {
		t.Helper()
		if out, err := run(args...); err != nil {
			t.Fatalf("aeonc %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// tryCompiler is buildCompiler for commands that are expected to fail.
func tryCompiler(t *testing.T) (aeonc func(args ...string) (out string, err error)) {
	t.Helper()
	exe, err := compiler()
	if err != nil {
		t.Fatal(err)
	}
	return func(args ...string) (string, error) {
		out, err := exec.Command(exe, args...).CombinedOutput()
		return string(out), err
	}
}

// busy is a program of which every part of the record is full: sub-events, async
// branches, timers, callbacks, aborts, deletions, names used again.
const busy = `package busy

client class Guest {
	int heard = 0;

	void hear(int n) {
		heard += n;
	}
}

actorclass Leaf {
	int n;

	Leaf(int start) {
		n = start;
	}

	int add(int k) {
		n += k;
		require(n < 1000, "full");
		return n;
	}

	ro int get() {
		return n;
	}
}

actorclass Tree {
	vector<Leaf> leaves;
	int ticks = 0;

	Tree() {
		for (int i = 0 upto 4) {
			leaves.push(new Leaf(i));
		}
		event this.tick() every 20us as "tick";
	}

	void tick() {
		ticks++;
		if (ticks >= 20) {
			cancel "tick";
		}
	}

	void shake(Guest g, int k) {
		for (Leaf l : leaves) {
			async l.add(k);
		}
		event g.hear(k);
		event this.grow(g, k);
		event this.grow(g, k + 1);
	}

	void grow(Guest g, int k) {
		if (k %% 5 == 0) {
			Leaf old = leaves[0];
			leaves.remove(0);
			delete old;
			leaves.push(new Leaf(k));
		}
		event g.hear(1);
	}

	void fell() {
		cancel "tick";
		delete this;
	}

	ro int sum() {
		int s = 0;
		for (Leaf l : leaves) {
			s += l.get();
		}
		return s;
	}
}

void main() {
	Guest g = new Guest();
	for (int i = 0 upto %d) {
		Tree t = actor<Tree>("t{i %% 3}");
		event t.shake(g, i %% 40);
		event t.sum();
		if (i %% 50 == 40) {
			settle();
		}
		if (i %% 50 == 49) {
			event t.fell();
		}
	}
	settle();
}
`

// TestProgramsLeaveSoundTraces runs the examples, their tests on several schedules, and a
// program that has everything, as users do, and checks what they have recorded.
func TestProgramsLeaveSoundTraces(t *testing.T) {
	aeonc := buildCompiler(t)
	dir := t.TempDir()
	rounds, schedules, turns := 2, "5", 400
	if *long {
		rounds, schedules, turns = 3, "50", 20_000
	}
	if err := os.WriteFile(dir+"/busy.aeon", fmt.Appendf(nil, busy, turns), 0o666); err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob("../../examples/*/*.aeon")
	var programs []string
	for _, s := range sources {
		programs = append(programs, filepath.Dir(s))
	}
	if programs = slices.Compact(programs); err != nil || len(programs) < 5 {
		t.Fatalf("there are no examples: %v %v", programs, err)
	}
	total := Counts{}
	for i := range rounds {
		for _, program := range append(programs, dir+"/busy.aeon") {
			args := []string{"run", "-q", "--trace", dir + "/trace", program}
			if i%2 == 0 {
				args = append([]string{"run", "-q", "--trace-states"}, args[2:]...)
			}
			aeonc(args...)
			n := sound(t, dir+"/trace", program)
			total.add(&n)
			if strings.HasSuffix(program, "busy.aeon") && (n.Aborts == 0 || n.Timers == 0 || n.Callbacks == 0 || n.Subs == 0) {
				t.Errorf("the busy program was not so busy: %+v", n)
			}
		}
	}
	aeonc("test", "--trace", dir+"/trace", "--trace-states", "--schedules", schedules, "../../examples/...")
	n := sound(t, dir+"/trace", "the tests of the examples")
	total.add(&n)
	t.Logf("%+v", total)
}

func sound(t *testing.T, name, what string) Counts {
	t.Helper()
	rep := checkFile(t, name)
	n := Counts{}
	for i := range rep.Sections {
		n.add(&rep.Sections[i].Counts)
		if how := rep.Sections[i].How; how != "closed" {
			t.Errorf("%s: section %d has ended %q", what, i, how)
		}
	}
	if rep.Violated() > 0 || rep.Torn > 0 || n.Answers != n.Events {
		t.Errorf("%s: %+v\n%s", what, n, said(t, rep))
	}
	return n
}

// TestRandomWorkloadLeavesSoundTraces runs the random suite of runtime/exec, with actors
// that move in the ownership graph, and checks what it has recorded.
func TestRandomWorkloadLeavesSoundTraces(t *testing.T) {
	dir := t.TempDir()
	suite := filepath.Join(dir, "exec.test")
	if out, err := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-o", suite, "../../runtime/exec").CombinedOutput(); err != nil {
		t.Fatalf("building the suite: %v\n%s", err, out)
	}
	count, events, wanted := "1", "40", 20_000
	if *long {
		count, events, wanted = "20", "100", 50_000
	}
	traces := t.TempDir()
	cmd := exec.Command(suite, "-test.run", "^TestRandomWorkloadIsStrictlySerialisable$", "-test.count", count, "-workload.events", events)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "AEON_EXEC_TRACE="+traces)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the suite: %v\n%s", err, out)
	}
	files, err := filepath.Glob(traces + "/*")
	if err != nil || len(files) < 5 {
		t.Fatalf("the suite has recorded %v", files)
	}
	total := Counts{}
	for _, name := range files {
		n := sound(t, name, filepath.Base(name))
		total.add(&n)
	}
	if total.Events < wanted || total.Subs == 0 || total.Aborts == 0 {
		t.Errorf("the suite was not so busy: %+v", total)
	}
	t.Logf("%+v", total)
}

// TestKilledProgramLeavesAPrefix kills a program again and again; what it has left is
// sound as far as it goes.
func TestKilledProgramLeavesAPrefix(t *testing.T) {
	aeonc := buildCompiler(t)
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/busy.aeon", fmt.Appendf(nil, busy, 100_000_000), 0o666); err != nil {
		t.Fatal(err)
	}
	aeonc("build", "--memory-only", "-o", dir+"/busy", dir+"/busy.aeon")
	rounds := 2
	if *long {
		rounds = 20
	}
	for i := range rounds {
		name := dir + "/trace" + strconv.Itoa(i)
		cmd := exec.Command(dir+"/busy", "-trace", name, "-trace-states")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool {
			info, err := os.Stat(name)
			return err == nil && info.Size() > 300_000
		})
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		rep := checkFile(t, name)
		s := rep.Sections[0]
		if rep.Violated() > 0 || s.How != "" || s.Counts.Events == 0 {
			t.Errorf("%+v\n%s", s.Counts, said(t, rep))
		}
		// Whatever byte it ends at, the rest is sound, and nothing but the last line is torn.
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for cut := range 300 {
			rep, err := Check(bytes.NewReader(data[:len(data)-cut*7]))
			if err != nil || rep.Violated() > 0 || rep.Torn > 1 {
				t.Fatalf("cut %d bytes off: %v %+v", cut*7, err, rep)
			}
			if cut > 20 && !*long {
				break
			}
		}
	}
}

// waitFor returns when cond holds.
func waitFor(t *testing.T, cond func() bool) {
	t.Helper()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	end := time.After(time.Minute)
	for !cond() {
		select {
		case <-poll.C:
		case <-end:
			t.Fatal("it did not come about within a minute")
		}
	}
}
