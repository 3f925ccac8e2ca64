package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/internal/cli"
)

// Newcomers compare what they see with the tour of the README, so what it shows of
// aeonc's output is what aeonc writes; only the times differ.
func TestTheReadmeShowsWhatIsWritten(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	bank, err := filepath.Abs("../../examples/bank")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(bank, "bank.aeon"))
	if err != nil {
		t.Fatal(err)
	}
	const right, wrong = "\t\taccounts[to].deposit(amount);", "event accounts[to].deposit(amount);"
	if strings.Count(string(source), right) != 1 || !strings.Contains(readme, "`"+wrong+"`") {
		t.Fatalf("the mistake that the tour makes in the bank is not %s any more", wrong)
	}
	t.Chdir(t.TempDir())
	write(t, "mybank/bank.aeon", strings.Replace(string(source), right, "\t\t"+wrong, 1))
	write(t, "counter/counter.aeon", block(t, readme, "```aeon\npackage counter"))

	shown := block(t, readme, "```\n$ aeonc explore")
	command, want, _ := strings.Cut(strings.TrimPrefix(shown, "$ aeonc "), "\n")
	code, got := written(t, strings.Fields(command)...)
	if code != cli.ExitProblem || untimed(got) != untimed(want) {
		t.Errorf("aeonc %s: code %d, it writes\n%s\nand the README has\n%s", command, code, got, want)
	}
	again := regexp.MustCompile(`--replay (\w+)`).FindStringSubmatch(want)
	if code, got := written(t, "explore", "mybank", "--run", "audit", "--replay", again[1]); code != cli.ExitProblem || !strings.Contains(got, "found 16, not 20") {
		t.Errorf("run again: code %d\n%s", code, got)
	}

	shown = block(t, readme, "```\n$ aeonc test --nodes 3")
	command, want, _ = strings.Cut(strings.TrimPrefix(shown, "$ aeonc "), "\n")
	code, got = written(t, strings.Fields(command)...)
	if code != cli.ExitProblem || undrawn(got) != undrawn(want) {
		t.Errorf("aeonc %s: code %d, it writes\n%s\nand the README has\n%s", command, code, got, want)
	}
	seed := regexp.MustCompile(`--seed (\d+)`).FindStringSubmatch(got)
	if code, got := written(t, "test", "--nodes", "3", "--seed", seed[1], "--run", "audit", "mybank"); code != cli.ExitProblem || !strings.Contains(got, "found 16, not 20") {
		t.Errorf("run again: code %d\n%s", code, got)
	}

	effects := block(t, readme, "```\nBank.transfer(from, to, amount)")
	if code, got := written(t, "check", "--effects", bank); code != cli.ExitClean || !strings.Contains(got, effects) {
		t.Errorf("aeonc check --effects: code %d, it writes\n%s\nand the README has\n%s", code, got, effects)
	}
	if code, got := written(t, "fmt", "--check", "counter"); code != cli.ExitClean {
		t.Errorf("the counter of the README is not formatted: code %d, %s", code, got)
	}
	if code, _ := written(t, "check", "counter"); code != cli.ExitClean {
		t.Errorf("the counter of the README is wrong: code %d", code)
	}
}

// The README names no flag that no command has.
func TestTheReadmeNamesFlagsThatExist(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var help bytes.Buffer
	for _, c := range tool().Commands {
		tool().Help(&help, c)
	}
	known := append(strings.Fields(help.String()), "--summary", "--app", "--create", "--serve", "--follow", "--nodes", "--at", "--join", "--adopt") // of programs, of aeond: the script survive uses them
	found := regexp.MustCompile("--[a-z][a-z-]*").FindAllString(string(text), -1)
	if len(found) == 0 {
		t.Fatal("no flag found: the test checks nothing")
	}
	for _, f := range found {
		if f != "--help" && !slices.Contains(known, f) {
			t.Errorf("there is no flag %s", f)
		}
	}
}

// block returns the code that begins with the given fence and line.
func block(t *testing.T, text, begin string) string {
	t.Helper()
	_, after, ok := strings.Cut(text, begin)
	body, _, ended := strings.Cut(after, "\n```")
	if !ok || !ended {
		t.Fatalf("the README has no code that begins with %q", begin)
	}
	_, line, _ := strings.Cut(begin, "\n")
	return line + body + "\n"
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// written runs a command line and returns its exit code and what it asked for.
func written(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out, diagnostics bytes.Buffer
	code := tool().Run(args, &cli.Env{Tool: "aeonc", Stdin: strings.NewReader(""), Stdout: cli.NewOutput(&out), Stderr: &diagnostics})
	if diagnostics.Len() > 0 {
		t.Logf("aeonc %s: %s", strings.Join(args, " "), diagnostics.String())
	}
	return code, out.String()
}

// undrawn leaves out what a random seed has drawn, too.
func undrawn(s string) string {
	return regexp.MustCompile(`seed \d+|: \d+ events|\d+ withdrawn`).ReplaceAllString(untimed(s), "")
}

// untimed leaves out how long a run took.
func untimed(s string) string {
	return regexp.MustCompile(`\d+\.\d+s`).ReplaceAllString(s, "")
}
