package diag

import (
	"fmt"
	"slices"
)

// Code names one kind of diagnostic for ever: AE and four digits. Codes are
// declared append-only, one table per phase; a code that is retired stays.
//
//	AE0000         a bug of the compiler
//	AE0001-AE0099  syntax              codes_syntax.go
//	AE0101-AE0999  types and ownership codes_check.go
//	AE1001-AE1099  two versions of one program: aeonc compat, codes_compat.go
type Code string

// Info documents a code. `aeonc explain` shows it, docs/errors has a page for
// it, and a test compiles both examples.
type Info struct {
	Code        Code
	Title       string // what is wrong, as a short noun phrase or sentence without final stop
	Explanation string // why it is an error and what to do; Markdown paragraphs
	Bad         string // a program that gets exactly this code, and once
	Good        string // the same program, corrected
	// BadGen makes the program where its text would be too large to print
	// (Bad is then an excerpt for readers).
	BadGen func() string
}

// BadProgram returns the program that gets the code.
func (i Info) BadProgram() string {
	if i.BadGen != nil {
		return i.BadGen()
	}
	return i.Bad
}

// phase is one range of codes with its table.
type phase struct {
	name        string
	first, last Code
	codes       []Info
}

// phases lists every table; a new phase adds its line here.
func phases() []phase {
	return []phase{
		{"internal", "AE0000", "AE0000", internalCodes},
		{"syntax", "AE0001", "AE0099", syntaxCodes},
		{"check", "AE0101", "AE0999", checkCodes},
		{"compat", "AE1001", "AE1099", compatCodes},
	}
}

// Lookup returns the documentation of a code.
func Lookup(code Code) (Info, bool) {
	for _, p := range phases() {
		if i := slices.IndexFunc(p.codes, func(i Info) bool { return i.Code == code }); i >= 0 {
			return p.codes[i], true
		}
	}
	return Info{}, false
}

// All returns the documentation of every code in ascending order.
func All() []Info {
	var all []Info
	for _, p := range phases() {
		all = append(all, p.codes...)
	}
	return all
}

// Phase returns the codes of one phase, "internal", "syntax", "check" or "compat", in ascending order.
func Phase(name string) []Info {
	for _, p := range phases() {
		if p.name == name {
			return p.codes
		}
	}
	panic(fmt.Sprintf("diag: no phase %q", name))
}
