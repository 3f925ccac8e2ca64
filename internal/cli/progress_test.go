package cli

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// No command is silent for long, whatever it does. Time is simulated.
func TestACommandIsNeverSilentForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := func(act func(env *Env)) string {
			var out, diagnostics bytes.Buffer
			tool := &Tool{Name: "tool", Commands: []*Command{{Name: "work", Setup: func(*flag.FlagSet) Action {
				return NoArguments(func(env *Env) error {
					act(env)
					return nil
				})
			}}}}
			env := &Env{Tool: "tool", Stdout: NewOutput(&out), Stderr: &diagnostics}
			if code := tool.Run([]string{"work"}, env); code != ExitClean {
				t.Errorf("exit code %d", code)
			}
			time.Sleep(time.Hour) // it says nothing any more
			if out.Len() > 0 {
				t.Errorf("standard output is not for progress:\n%s", out.String())
			}
			return diagnostics.String()
		}
		for _, test := range []struct {
			name string
			act  func(env *Env)
			want string
		}{
			{"short", func(env *Env) { time.Sleep(silenceMax - 1) }, ""},
			{"without a word", func(env *Env) { time.Sleep(2*silenceMax + 1) }, "tool: work, 5 s\ntool: work, 10 s\n"},
			{"with something to do", func(env *Env) {
				env.Doing("%d of 2", 1)
				time.Sleep(2)
				env.Doing("%d of 2", 2)
				time.Sleep(silenceMax)
			}, "tool: 2 of 2, 5 s\n"},
			{"that says something", func(env *Env) {
				time.Sleep(3 * time.Second)
				env.Say("half way")
				time.Sleep(4 * time.Second)
				env.Inform("nearly there")
				time.Sleep(6 * time.Second)
			}, "tool: half way\ntool: nearly there\ntool: work, 12 s\n"},
			{"quiet", func(env *Env) {
				env.Quiet()
				env.Doing("something")
				env.Inform("something")
				time.Sleep(time.Minute)
				env.Say("a problem")
			}, "tool: a problem\n"},
			{"whose place a program takes", func(env *Env) {
				if err := env.Start("/there/is/no/such/program"); err == nil || errors.As(err, new(Code)) {
					t.Errorf("it was started: %v", err)
				}
				time.Sleep(time.Minute)
			}, ""},
		} {
			if got := said(test.act); got != test.want {
				t.Errorf("a command %s says\n%swant\n%s", test.name, got, test.want)
			}
		}
	})
}

// A line of progress stands in no other.
func TestLinesOfSeveralGoroutinesStayWhole(t *testing.T) {
	var out bytes.Buffer
	env := &Env{Tool: "tool", Stderr: &out, SilenceMax: 1}
	env.watch("work")
	for range 1000 {
		env.Say("a line")
	}
	env.unwatch()
	for line := range strings.Lines(out.String()) {
		if line != "tool: a line\n" && line != "tool: work, 0 s\n" {
			t.Fatalf("%q", line)
		}
	}
}
