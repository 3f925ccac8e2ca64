package settings_test

import (
	"flag"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/settings"
)

func parseSpans(t *testing.T, args ...string) (settings.Spans, error) {
	t.Helper()
	var s settings.Spans
	fs := flag.NewFlagSet("program", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	s.Flags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return s, s.Check()
}

func TestSpansGoNowhereUnlessSaid(t *testing.T) {
	for args, want := range map[string]float64{"": 1, "--spans f": 1, "--spans http://localhost:4318 --spans-sample 0.25": 0.25, "--spans f --spans-sample 0": 0, "--spans f --spans-sample 1": 1} {
		s, err := parseSpans(t, strings.Fields(args)...)
		if err != nil || s.Sample != want || (s.Place == "") != (args == "") || !slices.Equal(s.Arguments(), strings.Fields(args)) {
			t.Errorf("%q: %+v, passed on as %q, error %v", args, s, s.Arguments(), err)
		}
	}
	if !settings.Among([]string{"--spans=f"}) || !settings.IsFlag("spans-sample") {
		t.Error("the flags are not among those of programs with a store")
	}
}

func TestSharesThatAreNone(t *testing.T) {
	for args, want := range map[string]string{
		"--spans=": "--spans: its value is empty", "--spans-sample 0.5": "needs --spans PLACE", "--spans f --spans-sample 1.1": "from 0 to 1",
		"--spans f --spans-sample -0.1": "from 0 to 1", "--spans f --spans-sample nan": "from 0 to 1", "--spans f --spans-sample 10%": "from 0 to 1",
	} {
		if _, err := parseSpans(t, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
