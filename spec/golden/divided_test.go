package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/spec/golden"
)

// A line that a program prints and that divides a golden file is refused, as the file would be read as another one. One that only ends in it, or
// begins so, is a line as any other.
func TestLinesThatDivideAreRefused(t *testing.T) {
	for line, refused := range map[string]bool{
		"---": true, "-- a --": true, "-- outcomes --": true, "-- outcomes -- ": false, "----": false, "a---": false, " ---": false, "--- a": false, "-- a": false, "": false, "--": false,
	} {
		t.Run(line, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.txtar")
			before := fmt.Sprintf("[PRINT] A line.\n-- main.aeon --\npackage p\n\nvoid main() {\n\tprint(\"first\");\n\tprint(%q);\n\tprint(\"last\");\n}\n", line)
			if err := os.WriteFile(file, []byte(before), 0o666); err != nil {
				t.Fatal(err)
			}
			run := func(update bool) []string {
				results, err := golden.Run(t.Context(), []*golden.Case{golden.Load(file)}, golden.Options{Update: update})
				if err != nil {
					t.Fatal(err)
				}
				return results[0].Problems
			}
			problems := run(true)
			after, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if refused {
				if len(problems) != 1 || !strings.Contains(problems[0], fmt.Sprintf("%q", line)) || string(after) != before {
					t.Errorf("the problems are %q, and the file is\n%s", problems, after)
				}
				return
			}
			if problems = append(problems, run(false)...); len(problems) > 0 {
				t.Errorf("the problems are %q, and the file is\n%s", problems, after)
			}
		})
	}
}
