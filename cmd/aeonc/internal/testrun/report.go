package testrun

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
)

// reporter turns events into what the user sees, and counts.
type reporter struct {
	cfg     Config
	result  Result
	running event    // of the test that runs: tells where it is declared
	output  []string // of that test
	packs   map[int]*pack
}

// pack is what is known of a package.
type pack struct {
	tests, failed int
	took          time.Duration
	closed        bool
}

func newReporter(cfg Config) *reporter { return &reporter{cfg: cfg, packs: map[int]*pack{}} }

func (r *reporter) pack(unit int) *pack {
	if r.packs[unit] == nil {
		r.packs[unit] = &pack{}
	}
	return r.packs[unit]
}

func (r *reporter) name(unit int) string {
	if unit < 0 || unit >= len(r.cfg.Packages) {
		return "?"
	}
	return r.cfg.Packages[unit]
}

// event takes one event of the executable.
func (r *reporter) event(e event) {
	unit := e.id().unit
	e.Package = bytejson.Text(r.name(unit))
	switch {
	case e.Test == "" && e.Action == "start":
		if r.pack(unit).tests > 0 {
			return // a second process goes on with the package
		}
	case e.Test == "":
		r.closePackage(unit)
		return
	case e.Action == "run":
		r.running, r.output = e, nil
		if r.cfg.Verbose && !r.cfg.JSON {
			fmt.Fprintf(r.cfg.Stdout, "=== RUN   %s\n", e.Test)
		}
	case e.Action == "output":
		r.output = append(r.output, string(e.Output))
	case e.Action == "pass" || e.Action == "fail":
		if e.Action == "fail" && e.Seed != 0 && r.cfg.Again != nil {
			out := r.running
			out.Action, out.File, out.Line = "output", "", 0
			out.Output = bytejson.Text("to run it again: " + r.cfg.Again(unit, string(e.Test), e.Seed) + "\n")
			r.event(out)
		}
		r.ended(e)
	}
	r.json(e)
}

// ended counts and shows a test.
func (r *reporter) ended(e event) {
	p := r.pack(e.id().unit)
	p.tests++
	took := time.Duration(*orZero(e.Elapsed) * float64(time.Second))
	p.took += took
	if e.Stores != nil {
		if r.result.Stores == nil {
			r.result.Stores = &Stores{}
		}
		r.result.Stores.Add(e.Stores)
	}
	verdict := "PASS"
	if e.Action == "fail" {
		p.failed++
		r.result.Failed++
		verdict = "FAIL"
	} else {
		r.result.Passed++
	}
	if r.cfg.JSON || verdict == "PASS" && !r.cfg.Verbose {
		return
	}
	fmt.Fprintf(r.cfg.Stdout, "--- %s: %s (%s) (%.2fs)\n", verdict, e.Test, r.place(r.running), took.Seconds())
	for line := range strings.Lines(strings.Join(r.output, "")) {
		fmt.Fprintf(r.cfg.Stdout, "    %s\n", strings.TrimRight(line, "\n"))
	}
}

func orZero(f *float64) *float64 {
	if f == nil {
		return new(float64)
	}
	return f
}

func (r *reporter) place(e event) string {
	file := string(e.File)
	if r.cfg.Place != nil {
		file = r.cfg.Place(file)
	}
	return fmt.Sprintf("%s:%d", file, e.Line)
}

// died reports a test that ended its process.
func (r *reporter) died(run event, why string) {
	for line := range strings.Lines(strings.TrimRight(why, "\n") + "\n") {
		out := run
		out.Action, out.Output = "output", bytejson.Text(line)
		r.event(out)
	}
	run.Action = "fail"
	r.event(run)
}

// closePackage writes the line of a package.
func (r *reporter) closePackage(unit int) {
	p := r.pack(unit)
	if p.closed {
		return
	}
	p.closed = true
	action, elapsed := "pass", p.took.Seconds()
	switch {
	case p.failed > 0:
		action = "fail"
	case p.tests == 0:
		action = "skip"
	}
	if r.cfg.JSON {
		r.json(event{Action: action, Package: bytejson.Text(r.name(unit)), Elapsed: &elapsed, Unit: &unit})
		return
	}
	switch {
	case p.failed > 0:
		fmt.Fprintf(r.cfg.Stdout, "FAIL\t%s\t%.2fs\n", r.name(unit), elapsed)
	case p.tests == 0 && r.cfg.Filter != "":
		fmt.Fprintf(r.cfg.Stdout, "ok  \t%s\t%.2fs [no tests to run]\n", r.name(unit), elapsed)
	case p.tests == 0:
		fmt.Fprintf(r.cfg.Stdout, "?   \t%s\t[no tests]\n", r.name(unit))
	default:
		fmt.Fprintf(r.cfg.Stdout, "ok  \t%s\t%.2fs\n", r.name(unit), elapsed)
	}
}

// totals writes the last line.
func (r *reporter) totals() {
	if r.cfg.JSON {
		return
	}
	packages := "packages"
	if len(r.cfg.Packages) == 1 {
		packages = "package"
	}
	fmt.Fprintf(r.cfg.Stdout, "%d passed, %d failed in %d %s (%.2fs)%s\n", r.result.Passed, r.result.Failed, len(r.cfg.Packages), packages, r.result.Took.Seconds(), r.result.Stores)
}

// Add adds what other tests have done.
func (s *Stores) Add(o *Stores) {
	s.Events += o.Events
	s.Withdrawn += o.Withdrawn
}

// String tells it behind what else there is to say; a nil Stores tells nothing.
func (s *Stores) String() string {
	if s == nil {
		return ""
	}
	events := "events"
	if s.Events == 1 {
		events = "event"
	}
	return fmt.Sprintf("; over several stores: %d %s, %d withdrawn", s.Events, events, s.Withdrawn)
}

// json passes an event on.
func (r *reporter) json(e event) {
	if !r.cfg.JSON {
		return
	}
	e.Time = time.Now()
	e.Unit, e.Index = nil, nil
	if line, err := json.Marshal(e); err == nil {
		fmt.Fprintf(r.cfg.Stdout, "%s\n", line)
	}
}
