// Package plants proves the suites: it plants bugs into the compiler, the runtime and the tools, one at
// a time, and requires that a suite catches each.
//
//	go test ./spec/plants -plants -v -timeout 4h -parallel 4
//
// plants.md says which suite has caught which bug.
package plants

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

var (
	run  = flag.Bool("plants", false, "plant each bug and run the suites that are to catch it; a suite that has caught one runs once without any; takes about an hour")
	only = flag.String("plant", "", "plant those bugs alone whose names match")
)

// plant is a bug. Each of the suites in by must catch it; if it names none, one of suites.
type plant struct {
	name  string
	edits []edit
	by    []string // arguments of go test
}

// edit makes of the text from, which occurs once in file, the text to.
type edit struct{ file, from, to string }

func bug(name, file, from, to string, by ...string) plant {
	return plant{name, []edit{{file, from, to}}, by}
}

// and adds an edit, of another file or of what the edits before have made of one.
func (p plant) and(file, from, to string) plant {
	p.edits = append(p.edits, edit{file, from, to})
	return p
}

var plants = slices.Concat(ofCompiler, ofSemantics, ofOrder, ofLock, ofRun, ofFollow, ofStore, ofLook, ofTool, ofDoor, ofSpan, ofReplica, ofTransport, ofMembers, ofCommit, ofAcross, ofOperators)

// suites are those of the semantics, and tried in this order.
var suites = []string{
	"./spec/explore -run TestSearchAgreesWithEveryOrder -explore.naive 100",
	"./spec/golden -run TestGoldenPrograms",
	"./spec/generate", // ill-typed programs, too
	"./spec/differ -programs 5 -stores 2",
	"./spec/trace",
}

// TestPlantedBugsAreCaught plants each bug, by an overlay that the Go command compiles instead of the file, and says at
// the end what has caught it.
func TestPlantedBugsAreCaught(t *testing.T) {
	if !*run {
		t.Log("only with -plants")
		return
	}
	filter := regexp.MustCompile(*only)
	if !slices.ContainsFunc(plants, func(p plant) bool { return filter.MatchString(p.name) }) {
		t.Fatalf("-plant: no bug has a name that matches %q; plants.md lists them", *only)
	}
	var mu sync.Mutex
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	t.Cleanup(func() { // when the parallel tests have ended
		w.Flush()
		t.Logf("bug, caught by, seconds:\n%s", &table)
	})
	all, err := newSchema(plants)
	if err != nil {
		t.Fatal(err)
	}
	all.write(t, t.TempDir())
	t.Logf("%d of %d bugs are in one program", len(all.numbers), len(plants))
	for _, p := range plants {
		if filter.MatchString(p.name) {
			t.Run(strings.ReplaceAll(p.name, " ", "-"), func(t *testing.T) {
				t.Parallel() // much of each is spent in linkers, which have one goroutine
				began := time.Now()
				by := p.caughtBy(t, all)
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintf(w, "%s\t%s\t%.0f s\n", p.name, strings.Join(by, "; "), time.Since(began).Seconds())
			})
		}
	}
}

// caughtBy plants the bug and returns the suites that have caught it. What the schema does not catch may be its fault, and is tried with the bug alone.
func (p plant) caughtBy(t *testing.T, all *schema) (by []string) {
	left := p.suites()
	if _, ok := all.numbers[p.name]; ok {
		by, left = p.caughtWith(t, left, all.tester(p.name))
	}
	if len(left) > 0 {
		more, missed := p.caughtWith(t, left, p.tester(t))
		by, left = append(by, more...), missed
	}
	for _, s := range left {
		t.Errorf("%s: missed by %s", p.name, s)
	}
	return by
}

// tester runs suites with a bug and without.
type tester struct {
	with    func(*testing.T, string) string // until a test fails; the result is what it has said then, "" if the suite passes
	without func(*testing.T, string) string // once
}

// caughtWith returns which suites catch the bug, with the tests that fail, and which are left: none if one of all is enough and has caught it.
func (p plant) caughtWith(t *testing.T, list []string, run tester) (by, left []string) {
	for _, s := range list {
		text := run.with(t, s)
		if text == "" {
			left = append(left, s)
			continue
		}
		failed := failedIn(text)
		if failed == "" {
			t.Logf("%s: %s did not run:\n%s", p.name, s, text)
			left = append(left, s)
			continue
		}
		if out := run.without(t, s); out != "" {
			t.Logf("%s: %s fails without the bug, too, and so catches nothing:\n%s", p.name, s, out)
			left = append(left, s)
			continue
		}
		t.Logf("%s: %s", s, failed)
		by = append(by, s+": "+failed)
		if p.by == nil {
			return by, nil
		}
	}
	return by, left
}

func (p plant) suites() []string {
	if p.by == nil {
		return suites
	}
	return p.by
}

var (
	// failures are the tests that failed, the names of the goldens, say; and what ended the process.
	failures = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	crash    = regexp.MustCompile(`(?m)^(?:panic|fatal error): .*`)
)

// shown is how many failures of a suite the table has.
const shown = 3

// quick has Go leave out the tables of debuggers, and compile the functions of a package one after the other: half of the time goes into compilers, and
// several of them run as it is.
const quick = "-gcflags=github.com/aeon-lang/aeon/...=-dwarf=false -c=1"

// tester plants the bug, by an overlay that the Go command compiles instead of the files.
func (p plant) tester(t *testing.T) tester {
	t.Helper()
	texts, err := p.files()
	if err != nil {
		t.Fatal(err)
	}
	overlay := writeOverlay(t, t.TempDir(), texts)
	return tester{func(t *testing.T, suite string) string { return testAlone(t, suite, overlay) }, once(&unplanted, func(t *testing.T, suite string) string { return testAlone(t, suite, "") })}
}

// testAlone runs a suite, with a bug if there is an overlay, until a test fails, and returns what it has said then, "" if it passes.
func testAlone(t *testing.T, suite, overlay string) string {
	args := append([]string{"test", "-vet=off", "-count=1", "-failfast", quick}, strings.Fields(suite)...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	if overlay != "" {
		cmd.Env = append(os.Environ(), "GOFLAGS=-overlay="+overlay) // no argument: what the tests build has the bug, too
	}
	return said(cmd)
}

// said runs a command and returns what it says if it fails.
func said(cmd *exec.Cmd) string {
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%s%v", out, err)
}

// unplanted are the suites that ran alone without a bug.
var unplanted sync.Map

// once runs a suite once for all bugs.
func once(ran *sync.Map, run func(*testing.T, string) string) func(*testing.T, string) string {
	return func(t *testing.T, suite string) string {
		f, _ := ran.LoadOrStore(suite, sync.OnceValue(func() string { return run(t, suite) }))
		return f.(func() string)()
	}
}

// failedIn returns the tests that have failed by what a suite has said, "" if it did not run.
func failedIn(text string) string {
	var list []string
	for _, n := range failures.FindAllStringSubmatch(text, -1) {
		if !slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, n[1]+"/") }) {
			list = slices.DeleteFunc(list, func(s string) bool { return strings.HasPrefix(n[1], s+"/") }) // its cases say more
			list = append(list, n[1])
		}
	}
	if list == nil {
		list = crash.FindAllString(text, 1)
	}
	if strings.Contains(text, "[build failed]") || strings.Contains(text, "go refuses generated code") {
		return ""
	}
	if len(list) > shown {
		list = append(list[:shown], fmt.Sprintf("and %d more", len(list)-shown))
	}
	for i, name := range list {
		list[i] = name[strings.LastIndexByte(name, '/')+1:]
	}
	return strings.Join(list, ", ")
}

// files returns the texts of the files that p edits, with the bug.
func (p plant) files() (map[string]string, error) {
	texts := map[string]string{}
	for _, e := range p.edits {
		if _, ok := texts[e.file]; !ok {
			text, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return nil, err
			}
			texts[e.file] = string(text)
		}
		if n := strings.Count(texts[e.file], e.from); n != 1 {
			return nil, fmt.Errorf("%q occurs %d times in %s, and has to occur once", e.from, n, e.file)
		}
		texts[e.file] = strings.Replace(texts[e.file], e.from, e.to, 1)
	}
	return texts, nil
}

var root = filepath.Join("..", "..")

// writeOverlay writes files, by their names in the repository, into dir and returns the path of the overlay that shows them to the Go command.
func writeOverlay(t *testing.T, dir string, texts map[string]string) string {
	t.Helper()
	replace := map[string]string{}
	for name, text := range texts {
		file, err := filepath.Abs(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		replace[file] = filepath.Join(dir, fmt.Sprintf("bug%d.go", len(replace)))
		write(t, replace[file], []byte(text))
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	write(t, overlay, list)
	return overlay
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}
