// Package tidy holds the rules of style and of import direction in CONTRIBUTING.md
// that a machine can check. Its test applies them to the repository; each rule is
// proved on a small tree that breaks it.
package tidy

import (
	"cmp"
	"fmt"
	"slices"
)

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

// Check applies all rules to the module in the directory root. A tree without
// packages or Go files is an error, and so is anything that go list or the
// parser refuses: a rule that sees nothing must not pass.
func Check(root string) (*Report, error) {
	r := &Report{}
	if err := r.checkImports(root); err != nil {
		return nil, err
	}
	if err := r.checkFiles(root); err != nil {
		return nil, err
	}
	if r.Packages == 0 || r.Files == 0 {
		return nil, fmt.Errorf("tidy: there are %d packages and %d Go files to check", r.Packages, r.Files)
	}
	slices.SortFunc(r.Violations, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Text, b.Text))
	})
	r.Violations = slices.Compact(r.Violations)
	return r, nil
}

func (r *Report) add(rule, place, format string, args ...any) {
	r.Violations = append(r.Violations, Violation{Rule: rule, Place: place, Text: fmt.Sprintf(format, args...)})
}
