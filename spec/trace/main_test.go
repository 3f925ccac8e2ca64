package trace

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	aeonexec "github.com/aeon-lang/aeon/runtime/exec"
)

var long = flag.Bool("long", false, "run the long tests: more programs, more events, more histories")

// plantEnv names the bug that a child of TestPlantedBugsShow runs with, and fileEnv the
// trace that it writes.
const (
	plantEnv = "AEON_TRACE_PLANT"
	fileEnv  = "AEON_TRACE_FILE"
)

// TestMain runs the tests, or a traced system with a bug.
func TestMain(m *testing.M) {
	if name := os.Getenv(plantEnv); name != "" {
		os.Exit(runPlanted(name, os.Getenv(fileEnv)))
	}
	os.Exit(m.Run())
}

const exitPorcupine = 3 // porcupine has found no order

func runPlanted(bug, file string) int {
	if bug != "none" {
		aeonexec.Plant(bug)
	}
	for seed := range uint64(20) {
		ops, err := traceCells(seed, 2000, fmt.Sprintf("%s.%d", file, seed), true)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		if porcupine.CheckOperationsTimeout(bank, ops, 5*time.Second) == porcupine.Illegal {
			fmt.Println("porcupine: illegal with seed", seed)
			return exitPorcupine
		}
	}
	return 0
}

// TestPlantedBugsShow runs systems with bugs and expects that their traces tell.
func TestPlantedBugsShow(t *testing.T) {
	for bug, rules := range map[string][]Rule{
		"none":         nil,
		"skipLock":     {Read},
		"releaseEarly": {Read},
		"forgetUndo":   {State},
	} {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			file := t.TempDir() + "/trace"
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), plantEnv+"="+bug, fileEnv+"="+file)
			out, err := cmd.CombinedOutput()
			found := map[Rule]int{}
			first := ""
			for seed := range 20 {
				name := fmt.Sprintf("%s.%d", file, seed)
				if _, err := os.Stat(name); err != nil {
					break
				}
				rep := checkFile(t, name)
				for _, v := range rep.Sections[0].First {
					found[v.Rule]++
				}
				if first == "" && rep.Violated() > 0 {
					first = fmt.Sprintf("seed %d:\n%s", seed, said(t, rep))
				}
			}
			t.Logf("%v, %v %s\n%s", found, err, strings.TrimSpace(string(out)), first)
			for _, r := range rules {
				if found[r] == 0 {
					t.Errorf("no violation of %s", r)
				}
			}
			if bug == "none" && (first != "" || err != nil) {
				t.Error("the sound system is accused")
			}
		})
	}
}

func checkFile(t *testing.T, name string) *Report {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	rep, err := Check(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rep
}
