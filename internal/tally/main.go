// Command tally reads what `go test -json` and `aeonc test -json` print, shows
// the packages as they end and the output of what failed, and adds the numbers
// of passed and failed tests to a file. What had begun and not ended when the
// input ends, because go test was killed, has failed. It exits with 1 if anything
// failed or if nothing was tested.
//
//	go test -json ./... | tally COUNTS
//	tally -total COUNTS
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// event is a line of `go test -json` (go doc test2json).
type event struct {
	Action     string
	Package    string
	ImportPath string // of build output
	Test       string
	Elapsed    float64
	Output     string
}

// counts are numbers of tests; a package that fails without a failed test, such
// as one that does not compile, counts as a failed test.
type counts struct{ passed, failed int }

// tally collects the events of one run.
type tally struct {
	counts
	out      io.Writer
	output   map[string][]string // by package and test, until it has ended
	running  map[string]event    // packages and tests that have begun and not ended, by the same key
	failedIn map[string]bool     // packages with a failed test
}

func newTally(out io.Writer) *tally {
	return &tally{out: out, output: map[string][]string{}, running: map[string]event{}, failedIn: map[string]bool{}}
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "-total" {
		c, err := readCounts(os.Args[2])
		fatal(err)
		fmt.Printf("%d passed, %d failed\n", c.passed, c.failed)
		return
	}
	if len(os.Args) != 2 {
		fatal(errors.New("usage: tally [-total] COUNTS"))
	}
	t := newTally(os.Stdout)
	fatal(t.read(os.Stdin))
	before, err := readCounts(os.Args[1])
	fatal(err)
	fatal(os.WriteFile(os.Args[1], fmt.Appendf(nil, "%d %d\n", before.passed+t.passed, before.failed+t.failed), 0o666))
	fmt.Printf("  %d passed, %d failed\n", t.passed, t.failed)
	if t.failed > 0 || t.passed == 0 {
		os.Exit(1)
	}
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
}

func readCounts(name string) (c counts, err error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		_, err = fmt.Sscan(string(data), &c.passed, &c.failed)
	}
	return c, err
}

func (t *tally) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if strings.TrimSpace(line) != "" {
			t.line(line)
		}
		if errors.Is(err, io.EOF) {
			t.unfinished()
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tally) line(line string) {
	var e event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		fmt.Fprint(t.out, line) // go itself complains in plain text
		return
	}
	key := e.Package + "\x00" + e.Test
	switch e.Action {
	case "start", "run":
		t.running[key] = e
		return
	case "output", "build-output":
		if e.Action == "build-output" {
			fmt.Fprint(t.out, e.Output)
			return
		}
		t.output[key] = append(t.output[key], e.Output)
		return
	case "pass", "skip":
		if e.Test != "" && e.Action == "pass" {
			t.passed++
		}
	case "fail":
		t.fail(e, key)
	default:
		return
	}
	if e.Test == "" && e.Package != "" {
		fmt.Fprintf(t.out, "  %-6s %s %.2fs\n", e.Action, e.Package, e.Elapsed)
	}
	delete(t.output, key)
	delete(t.running, key)
}

// unfinished reports what was killed: a package after its tests.
func (t *tally) unfinished() {
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(t.running))) {
		t.output[key] = append(t.output[key], "    it had not ended\n")
		t.fail(t.running[key], key)
	}
}

func (t *tally) fail(e event, key string) {
	if e.Test == "" && t.failedIn[e.Package] {
		return // its tests have been counted and shown
	}
	t.failed++
	t.failedIn[e.Package] = true
	name := e.Package
	if e.Test != "" {
		name += " " + e.Test
	}
	fmt.Fprintf(t.out, "--- FAIL: %s\n%s", name, strings.Join(t.output[key], ""))
}
