package testrun

import (
	"io"
	"time"
)

// Config says what to run and how to report it.
type Config struct {
	Executable string
	// Packages are the names to report, in the order in which the executable has them.
	Packages []string
	Filter   string   // a regular expression that the names of the tests must match; "" runs all
	Seed     string   // "" lets the executable choose
	Repeat   int      // how many schedules each test is run with
	Parallel bool     // events run in parallel, in an order that the machine decides; seeds do not replay then
	Further  []string // flags of the executable
	// TestMax is how long one schedule of a test may take before the test is killed and fails.
	TestMax time.Duration
	JSON    bool // write the format of `go test -json`
	Verbose bool // show passed tests and their output, too
	Stdout  io.Writer
	// Progress, if set, is called when a schedule of a test begins, with which of them it is.
	Progress func(pkg, test string, schedule int)
	// Again, if set, returns the command that runs a test of a package once more, with a seed that has failed.
	Again func(pkg int, test string, seed uint64) string
	// Place shortens the name of a file for users; nil leaves it as it is.
	Place func(file string) string
}

// Result counts the tests.
type Result struct {
	Passed, Failed int
	Stores         *Stores // what they have done over several stores; nil: there is one
	Took           time.Duration
}
