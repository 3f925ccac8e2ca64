package settings

import (
	"errors"
	"flag"
	"fmt"
	"strconv"

	"github.com/aeon-lang/aeon/internal/cmdline"
)

// Spans says where a program exports spans to. The zero value exports none.
type Spans struct {
	Place  string  // the URL of a collector, or a file; "": nowhere
	Sample float64 // the share of the traces that are recorded, from 0 to 1

	sample string // as given, "" if not
	flags  *flag.FlagSet
}

// spanNames are the names that Spans.Flags declares.
var spanNames = []string{"spans", "spans-sample"}

// Flags declares the flags.
func (s *Spans) Flags(fs *flag.FlagSet) {
	s.flags = fs
	fs.StringVar(&s.Place, "spans", "", "export what events do as spans of OpenTelemetry to `PLACE`, a collector as http://localhost:4318, or a file (docs/spans.md)")
	fs.StringVar(&s.sample, "spans-sample", "", "with --spans: record this `SHARE` of the traces, from 0 to 1, where the caller has not decided it; 1 if not given")
}

// Check completes the fields from the flags that were parsed. Its error is one of usage.
func (s *Spans) Check() (err error) {
	if s.flags != nil {
		if err := cmdline.NotEmpty(s.flags, spanNames...); err != nil {
			return err
		}
	}
	s.Sample = 1
	switch {
	case s.sample == "":
		return nil
	case s.Place == "":
		return errors.New("--spans-sample needs --spans PLACE, which says where they go")
	}
	if s.Sample, err = strconv.ParseFloat(s.sample, 64); err != nil || !(s.Sample >= 0 && s.Sample <= 1) {
		return fmt.Errorf("--spans-sample: %q is no share; write a number from 0 to 1, as 0.1", s.sample)
	}
	return nil
}

// Arguments returns the flags as they are to be passed on.
func (s *Spans) Arguments() []string {
	var args []string
	for i, v := range []string{s.Place, s.sample} {
		if v != "" {
			args = append(args, "--"+spanNames[i], v)
		}
	}
	return args
}
