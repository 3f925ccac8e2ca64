package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/spec"
	"github.com/aeon-lang/aeon/spec/explore"
)

// write reports on one test for users.
func (x *explorer) write(e exploration, r *explore.Result) {
	w := x.env.Stdout
	switch {
	case r.Complete:
		fmt.Fprintf(w, "all   %s: %s, %s (%.2fs)\n", e.entry.Name, count(r.Orders.String(), "order"), count(fmt.Sprint(r.States), "state"), r.Took.Seconds())
	case r.Failing == nil:
		fmt.Fprintf(w, "part  %s: %s; what it has covered ends well, the rest is unknown (%.2fs)\n", e.entry.Name, r.Incomplete, r.Took.Seconds())
		if strings.HasPrefix(r.Incomplete, "stopped ") {
			fmt.Fprintf(w, "      the tests that are explored should be small; or allow more with --max-states and --timeout\n")
		}
	default:
		fmt.Fprintf(w, "FAIL  %s (%s), in this order:\n", e.entry.Name, place(e.entry))
		for i, s := range r.Failing.Steps {
			fmt.Fprintf(w, "  %5d  %s\n", i+1, s)
			writeUndone(w, r.Failing, i, "         ")
		}
		writeFailure(w, r.Failing, "      ")
		if r.Failing.Output != "" {
			fmt.Fprintf(w, "      it printed:\n")
			for line := range strings.Lines(r.Failing.Output) {
				fmt.Fprintf(w, "         %s", line)
			}
		}
		if r.Shortest {
			fmt.Fprintf(w, "      No order with fewer steps fails. To run it again:\n")
		} else {
			fmt.Fprintf(w, "      A shorter order may fail, too. To run this one again:\n")
		}
		fmt.Fprintf(w, "         %s\n", x.again(e, r.Code))
	}
}

// again is the command that makes a failing run again.
func (x *explorer) again(e exploration, code string) string {
	words := []string{"aeonc", "explore"}
	for _, name := range naming(x.args, e.of) {
		words = append(words, cli.Path(name))
	}
	if x.opts.main {
		words = append(words, "--main")
	} else {
		words = append(words, "--run", cli.Word("^"+regexp.QuoteMeta(e.entry.Name)+"$"))
	}
	return strings.Join(append(words, "--replay", cli.Word(code)), " ")
}

func count(n, what string) string {
	if n == "1" {
		return n + " " + what
	}
	return n + " " + what + "s"
}

// writeFailure says how a run has failed.
func writeFailure(w io.Writer, out *spec.Outcome, indent string) {
	message, path := describe(out)
	fmt.Fprintf(w, "%s%s\n", indent, strings.ReplaceAll(message, "\n", "\n"+indent))
	for _, p := range path {
		fmt.Fprintf(w, "%s   at %s\n", indent, p)
	}
}

// writeUndone says why the event of step i has left no trace, if it has failed: without
// that, a reader looks for what it has done.
func writeUndone(w io.Writer, out *spec.Outcome, i int, indent string) {
	if i < len(out.Undone) && out.Undone[i] != "" {
		fmt.Fprintf(w, "%sundone: %s\n", indent, strings.ReplaceAll(out.Undone[i], "\n", "\n"+indent))
	}
}

// describe returns the message of a failure and the places that it came through, innermost first.
func describe(out *spec.Outcome) (message string, path []string) {
	switch {
	case out.Bug != "":
		return "this is a bug of aeonc, not of the program; please report it: " + out.Bug, nil
	case out.Failure != nil:
		for i, p := range out.Failure.Path {
			if i == 0 || p != out.Failure.Path[i-1] {
				path = append(path, fmt.Sprintf("%s:%d %s", relativeFile(p.Pos.File()), p.Pos.Line(), p.Func))
			}
		}
		return out.Failure.Msg, path
	case out.Stuck:
		return "the client waits for something that never comes", nil
	}
	return out.Exhausted, nil
}

// exploredTest is the JSON of one test.
type exploredTest struct {
	Package bytejson.Text `json:"package"`
	Test    bytejson.Text `json:"test"`
	Place   bytejson.Text `json:"place"`
	Result  string        `json:"result"` // all, fail or part
	Why     bytejson.Text `json:"why,omitempty"`
	States  int           `json:"states"`
	Steps   int           `json:"steps"`
	Orders  string        `json:"orders"` // a decimal number: it may be large
	Seconds float64       `json:"seconds"`
	Failure *failedOrder  `json:"failure,omitempty"`
}

// failedOrder is the JSON of an order that fails.
type failedOrder struct {
	Message  bytejson.Text   `json:"message"`
	Path     []bytejson.Text `json:"path,omitempty"`
	Order    []bytejson.Text `json:"order"`
	Undone   []bytejson.Text `json:"undone"` // for each step of the order why it was undone; empty if it was not
	Output   bytejson.Text   `json:"output,omitempty"`
	Replay   string          `json:"replay"`
	Shortest bool            `json:"shortest"`
}

func (x *explorer) writeJSON(e exploration, r *explore.Result) {
	t := exploredTest{Package: bytejson.Text(shownName(e.of)), Test: bytejson.Text(e.entry.Name), Place: bytejson.Text(place(e.entry)), Result: "all", Why: bytejson.Text(r.Incomplete),
		States: r.States, Steps: r.Steps, Orders: r.Orders.String(), Seconds: r.Took.Seconds()}
	switch {
	case r.Failing != nil:
		t.Result = "fail"
		message, path := describe(r.Failing)
		f := &failedOrder{Message: bytejson.Text(message), Path: bytejson.Texts(path), Order: bytejson.Texts(r.Failing.Steps),
			Undone: bytejson.Texts(r.Failing.Undone), Output: bytejson.Text(r.Failing.Output), Replay: r.Code, Shortest: r.Shortest}
		t.Failure = f
	case !r.Complete:
		t.Result = "part"
	}
	if line, err := json.Marshal(t); err == nil {
		fmt.Fprintf(x.env.Stdout, "%s\n", line)
	}
}
