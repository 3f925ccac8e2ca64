package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/cli"
)

var progressLine = regexp.MustCompile(`(?m)^aeonc: .*, \d+ s$`)

// largeProgram writes a program that takes some time to be read and checked, and has a test of many orders.
func largeProgram(t *testing.T) (dir string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("package large\n\nactorclass Sum {\n\tint n = 0;\n\n\tvoid add(int k) {\n\t\tn = n * 3 + k;\n\t}\n}\n\nactorclass Giver {\n\tvoid give(Sum s, int k) {\n\t\tevent s.add(k);\n\t}\n}\n\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "int f%d(int a, string s) {\n\tint n = a;\n\tfor (int i = 0 upto a) {\n\t\tn += i * %[1]d + s.size();\n\t}\n\treturn n;\n}\n\n", i)
	}
	b.WriteString("test \"many orders\" {\n\tSum s = new Sum();\n")
	for i := range 7 {
		fmt.Fprintf(&b, "\tGiver g%d = new Giver();\n\tevent g%[1]d.give(s, %[1]d);\n", i)
	}
	b.WriteString("}\n")
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "large.aeon"), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// largeTrace writes a trace of many events.
func largeTrace(t *testing.T) (name string) {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("{\"trace\":3,\"program\":\"p\"}\n")
	for i := range 100_000 {
		fmt.Fprintf(&b, "{\"order\":%d,\"event\":\"1-%d\",\"kind\":\"client\",\"client\":1,\"target\":\"A#1\",\"method\":\"m\"}\n", i+1, i+1)
	}
	name = filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// Each command that may take long says what it does, on standard error, and not where a program reads what it writes.
func TestCommandsSayWhatTakesLong(t *testing.T) {
	dir, record := largeProgram(t), largeTrace(t)
	for _, test := range []struct{ command, says string }{
		{"check " + dir, "reading and checking " + dir},
		{"check --format=short " + dir, ""},
		{"check --format=json " + dir, ""},
		{"compat " + dir + " " + dir, "reading and checking " + dir},
		{"compat --format=sarif " + dir + " " + dir, ""},
		{"build " + dir, "reading and checking " + dir},
		{"build -q " + dir, ""},
		{"run " + dir, "reading and checking " + dir},
		{"run -q " + dir, ""},
		{"fmt -l " + dir, "formatting " + dir},
		{"graph " + dir, "reading and checking " + dir},
		{"gen -o " + t.TempDir() + " " + dir, "generating the Go of large"},
		{"explore --timeout 1s " + dir, " steps, "},
		{"explore --timeout 1s --json " + dir, ""},
		{"trace check " + record, "checking " + record + ", at "},
	} {
		var out, diagnostics bytes.Buffer
		code := tool().Run(strings.Fields(test.command), &cli.Env{Tool: "aeonc", Stdout: cli.NewOutput(&out), Stderr: &diagnostics, SilenceMax: 2 * time.Millisecond})
		if code > cli.ExitProblem {
			t.Errorf("aeonc %s: exit code %d\n%s", test.command, code, out.String())
		}
		progress := progressLine.FindAllString(diagnostics.String(), -1)
		told := slices.ContainsFunc(progress, func(line string) bool { return strings.Contains(line, test.says) })
		if told != (test.says != "") {
			t.Errorf("aeonc %s says\n%s\nand is to say %q", test.command, diagnostics.String(), test.says)
		}
		if strings.Contains(out.String(), "aeonc: ") {
			t.Errorf("aeonc %s: progress is on standard output:\n%s", test.command, out.String())
		}
	}
}
