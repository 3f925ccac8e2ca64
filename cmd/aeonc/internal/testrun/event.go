// Package testrun runs test executables and reports what they say, as a Go
// developer expects it: for people, or in the format of `go test -json`.
package testrun

import (
	"fmt"
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
)

// event is a line of JSON that a test executable writes, and
// that Run passes on with --json. It is an event of `go test -json` with the
// place of the test added.
type event struct {
	Time    time.Time     `json:",omitzero"`
	Action  string        // start, run, seed, output, pass or fail
	Package bytejson.Text `json:",omitempty"`
	Test    bytejson.Text `json:",omitempty"`
	Elapsed *float64      `json:",omitempty"` // seconds; of pass and fail
	Output  bytejson.Text `json:",omitempty"`
	// Unit is the index of the package in the executable, Index that of the test
	// in the package.
	Unit  *int          `json:",omitempty"`
	Index *int          `json:",omitempty"`
	File  bytejson.Text `json:",omitempty"` // of the test's declaration
	Line  int           `json:",omitempty"`
	Seed  uint64        `json:",omitempty"` // of the schedule that begins, or has failed
	// Stores tells at the end of a test what it has done over several stores; nil: there is one.
	Stores *Stores `json:",omitempty"`
}

// Stores is what tests have done over several stores.
type Stores struct {
	Events    int64 // that committed
	Withdrawn int64 // attempts, to be made again
}

// id identifies a test.
func (e event) id() testID {
	id := testID{-1, -1}
	if e.Unit != nil {
		id.unit = *e.Unit
	}
	if e.Index != nil {
		id.index = *e.Index
	}
	return id
}

// testID is the place of a test in an executable; index -1 is the package itself.
type testID struct{ unit, index int }

// String is the form that the executable takes with -after.
func (t testID) String() string { return fmt.Sprintf("%d/%d", t.unit, t.index) }
