// Package tidy holds the rules of style and of import direction in CONTRIBUTING.md
// that a machine can check. Its test applies them to the repository; each rule is
// proved on a small tree that breaks it.
package tidy

import (
	"cmp"
	"fmt"
	"slices"
)

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
