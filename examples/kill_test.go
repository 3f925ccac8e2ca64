package examples

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var kills = flag.Int("kills", 5, "how often each example is killed")

// TestExamplesSurviveKills kills examples that keep their state, at random moments, starts
// them again until they end by themselves, and compares what they have come to with what an
// undisturbed run comes to.
func TestExamplesSurviveKills(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{"wordcount": "fish: 8\nmore: 4\nthe: 4\nyou: 4\n", "philosophers": "meals: 50\n"} {
		program := filepath.Join(dir, name)
		if out, err := exec.Command(aeonc, "build", "-o", program, name).CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", name, err, out)
		}
		undisturbed := run(t, program, filepath.Join(dir, name+".undisturbed"), 0)
		if undisturbed.err != nil || !strings.HasSuffix(undisturbed.out, want) {
			t.Fatalf("%s: %v\n%s%s", name, undisturbed.err, undisturbed.out, undisturbed.log)
		}
		data := filepath.Join(dir, name+".data")
		killed, late := 0, 0
		for killed < *kills && late < 50 {
			r := run(t, program, data, time.Duration(rand.Int64N(int64(undisturbed.took/2))))
			if r.killed {
				killed++
				continue
			}
			late++ // it has ended before: there is nothing left to be killed in
			if !strings.HasSuffix(r.out, want) {
				t.Errorf("%s, killed %d times on the way: %s%s", name, killed, r.out, r.log)
			}
			if err := os.RemoveAll(data); err != nil {
				t.Fatal(err)
			}
		}
		last := run(t, program, data, 0)
		if last.err != nil || !strings.HasSuffix(last.out, want) {
			t.Errorf("%s, killed %d times: %v\n%s%s", name, killed, last.err, last.out, last.log)
		}
		if killed == 0 {
			t.Errorf("%s was never killed", name)
		}
		t.Logf("%s: killed %d times", name, killed)
	}
}

// ran is one run of a program.
type ran struct {
	out, log string
	took     time.Duration
	killed   bool
	err      error
}

// run runs a program on a data directory, and kills it after some time unless that is 0.
func run(t *testing.T, program, data string, after time.Duration) (r ran) {
	t.Helper()
	var out, log bytes.Buffer
	cmd := exec.Command(program, "--data", data)
	cmd.Stdout, cmd.Stderr = &out, &log
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // it may have ended
		defer timer.Stop()
	}
	r.err = cmd.Wait()
	r.killed = r.err != nil && cmd.ProcessState.ExitCode() == -1
	r.out, r.log, r.took = out.String(), log.String(), time.Since(start)
	if r.err != nil && !r.killed {
		t.Errorf("%s: %v\n%s%s", filepath.Base(program), r.err, r.out, r.log)
	}
	return r
}
