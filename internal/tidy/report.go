package tidy

import "fmt"

// Violation is one place where a rule is broken.
type Violation struct {
	Rule  string // the name of the rule, as in the tables of this package
	Place string // a path inside the tree, with line where there is one, or an import path
	Text  string
}

// String returns the violation in one line.
func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Place, v.Rule, v.Text) }

// Report is what Check finds.
type Report struct {
	Violations []Violation
	// Long lists files that are longer than LinesAim and no violation yet, as
	// "path: n lines".
	Long     []string
	Packages int // of the module, seen by go list
	Files    int // Go files read
}

func (r *Report) add(rule, place, format string, args ...any) {
	r.Violations = append(r.Violations, Violation{Rule: rule, Place: place, Text: fmt.Sprintf(format, args...)})
}
