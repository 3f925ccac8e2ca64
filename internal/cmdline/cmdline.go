// Package cmdline reads the flags of command lines as users write them, and words errors about
// them and help on them, for aeonc, aeond and compiled programs alike.
package cmdline

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/internal/similar"
)

// Parse parses flags wherever they stand among the arguments, and returns the others; behind
// "--", and with trailing behind the first argument, nothing is a flag. The errors are
// flag.ErrHelp, *UnknownError, and others to be shown as they are.
func Parse(fs *flag.FlagSet, args []string, trailing bool) (positional []string, err error) {
	fs.SetOutput(io.Discard) // the caller reports
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			return nil, reword(fs, err)
		}
		rest := fs.Args()
		ended := len(rest) < len(args) && args[len(args)-len(rest)-1] == "--"
		if ended || len(rest) == 0 || trailing {
			return append(positional, rest...), nil
		}
		positional = append(positional, rest[0])
		args = rest[1:]
	}
	return positional, nil
}

// UnknownError says that there is no such flag.
type UnknownError struct {
	Name string // without dashes
	hint string
}

// Error implements error.
func (e *UnknownError) Error() string { return "unknown flag " + dashed(e.Name) + e.hint }

// What the flag package says, in all versions of Go so far.
const (
	unknownPrefix = "flag provided but not defined: -"
	missingPrefix = "flag needs an argument: -"
)

var invalidValue = regexp.MustCompile(`(?s)^invalid (?:boolean )?value (".*") for (?:flag )?-([^:]+): (.*)$`)

// reword words what the flag package found.
func reword(fs *flag.FlagSet, err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	text := err.Error()
	if name, ok := strings.CutPrefix(text, unknownPrefix); ok {
		var names []string
		fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		return &UnknownError{name, didYouMean(name, names, dashed)}
	}
	if name, ok := strings.CutPrefix(text, missingPrefix); ok {
		return fmt.Errorf("%s needs a value%s", dashed(name), kindOf(fs, name, ": ", ""))
	}
	if m := invalidValue.FindStringSubmatch(text); m != nil {
		value, name, why := m[1], m[2], m[3]
		switch why {
		case "parse error":
			return fmt.Errorf("%s: %s is %s", dashed(name), value, kindOf(fs, name, "no ", "neither true nor false"))
		case "value out of range":
			return fmt.Errorf("%s: %s is out of range", dashed(name), value)
		}
		return fmt.Errorf("%s: %s", dashed(name), why)
	}
	return err
}

// kindOf returns what a flag takes, behind a prefix, or switched for one that is on or off.
func kindOf(fs *flag.FlagSet, name, prefix, switched string) string {
	if f := fs.Lookup(name); f != nil {
		if kind, _ := flag.UnquoteUsage(f); kind != "" {
			return prefix + kind
		}
	}
	return switched
}

// Given reports whether the user has given a flag.
func Given(fs *flag.FlagSet, name string) (given bool) {
	fs.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// NotEmpty returns an error if one of the named flags was given without a value: a script whose variable is
// not set must not do what it does without the flag.
func NotEmpty(fs *flag.FlagSet, names ...string) (err error) {
	fs.Visit(func(f *flag.Flag) {
		if slices.Contains(names, f.Name) && f.Value.String() == "" {
			err = fmt.Errorf("%s: its value is empty; give it one, or leave the flag out", dashed(f.Name))
		}
	})
	return err
}

// dashed returns a flag as help shows it.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// WriteFlags writes a line for each flag, behind a heading if there are any.
func WriteFlags(w io.Writer, heading string, fs *flag.FlagSet) {
	heading = "\n" + heading + ":\n\n"
	fs.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(w, "%s\t%-22s %s\n", heading, strings.TrimSpace(dashed(f.Name)+" "+value), usage)
		heading = ""
	})
}

// DidYouMean returns ", did you mean …?" for the name nearest to a mistyped one, or "" if none is near.
func DidYouMean(typed string, names []string) string {
	return didYouMean(typed, names, func(name string) string { return name })
}

// Choices is DidYouMean with all names behind it: ", did you mean svg? the formats are svg, dot", what being "the formats are".
func Choices(typed string, names []string, what string) string {
	hint := DidYouMean(typed, names)
	if hint == "" {
		hint = ";"
	}
	return hint + " " + what + " " + strings.Join(names, ", ")
}

// didYouMean shows the nearest name as shown returns it.
func didYouMean(typed string, names []string, shown func(string) string) string {
	nearest := similar.Nearest(typed, func(yield func(string)) {
		for _, n := range names {
			yield(n)
		}
	})
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %s?", shown(nearest))
}
