package cmdline_test

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/cmdline"
)

func flags() *flag.FlagSet {
	fs := flag.NewFlagSet("program", flag.ContinueOnError)
	fs.Bool("q", false, "say nothing")
	fs.String("data", "", "the directory `DIR`")
	fs.Uint64("seed", 0, "a `number`")
	fs.Duration("timeout", time.Minute, "a `duration`")
	fs.Func("format", "the `format`", func(s string) error { return fmt.Errorf("there is no format %s", s) })
	return fs
}

func TestErrorsShowFlagsAsUsersWriteThem(t *testing.T) {
	for args, want := range map[string]string{
		"--dta x":                        "unknown flag --dta, did you mean --data?",
		"-dta=x":                         "unknown flag --dta, did you mean --data?",
		"--unlike-all":                   "unknown flag --unlike-all",
		"-x":                             "unknown flag -x",
		"a --dta":                        "unknown flag --dta, did you mean --data?",
		"--data":                         "--data needs a value: DIR",
		"--seed many":                    `--seed: "many" is no number`,
		"--seed=-1":                      `--seed: "-1" is no number`,
		"--timeout 5":                    `--timeout: "5" is no duration`,
		"-q=perhaps":                     `-q: "perhaps" is neither true nor false`,
		"--format x":                     "--format: there is no format x",
		"--seed 1e:x-y":                  `--seed: "1e:x-y" is no number`,
		"--seed 99999999999999999999999": `--seed: "99999999999999999999999" is out of range`,
		"---data":                        "bad flag syntax: ---data",
	} {
		_, err := cmdline.Parse(flags(), strings.Fields(args), false)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	var unknown *cmdline.UnknownError
	if _, err := cmdline.Parse(flags(), []string{"-nosuch"}, false); !errors.As(err, &unknown) || unknown.Name != "nosuch" {
		t.Errorf("%#v", err)
	}
	if _, err := cmdline.Parse(flags(), []string{"-h"}, false); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}

func TestFlagsStandAnywhere(t *testing.T) {
	for _, c := range []struct {
		args     string
		trailing bool
		want     string
	}{
		{"a --data d b -q", false, "a b"},
		{"a -- --data d", false, "a --data d"},
		{"--data d a --seed 1", true, "a --seed 1"},
		{"--data d", false, ""},
		{"", false, ""},
	} {
		got, err := cmdline.Parse(flags(), strings.Fields(c.args), c.trailing)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, error %v", c.args, got, err)
		}
	}
}

func TestHelpShowsFlagsAsUsersWriteThem(t *testing.T) {
	var b strings.Builder
	cmdline.WriteFlags(&b, "Flags", flags())
	const want = `
Flags:

	--data DIR             the directory DIR
	--format format        the format
	-q                     say nothing
	--seed number          a number
	--timeout duration     a duration
`
	if b.String() != want {
		t.Errorf("got %s, want %s", b.String(), want)
	}
	b.Reset()
	if cmdline.WriteFlags(&b, "Flags", flag.NewFlagSet("none", flag.ContinueOnError)); b.Len() > 0 {
		t.Errorf("no flags: %q", b.String())
	}
}
