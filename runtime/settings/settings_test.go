package settings_test

import (
	"flag"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/settings"
)

func parse(t *testing.T, args ...string) (settings.State, error) {
	t.Helper()
	var s settings.State
	fs := flag.NewFlagSet("program", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	s.Flags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return s, s.Check()
}

func TestStateIsOnDiskOnlyIfADirectoryIsNamed(t *testing.T) {
	for _, c := range []struct {
		args   string
		mode   string
		memory int64
	}{
		{"", "memory", 0},
		{"--durability memory", "memory", 0},
		{"--data d", "sync", 0},
		{"--data d --durability sync", "sync", 0},
		{"--data d --durability relaxed", "relaxed=10ms", 0},
		{"--data d --durability relaxed=1s --memory 512MB", "relaxed=1s", 512_000_000},
	} {
		s, err := parse(t, strings.Fields(c.args)...)
		if err != nil || s.Durability.String() != c.mode || s.MemoryMax != c.memory {
			t.Errorf("%q: %v, %d bytes, error %v", c.args, s.Durability, s.MemoryMax, err)
		}
		again, err := parse(t, s.Arguments()...)
		if err != nil || again.Dir != s.Dir || again.Durability != s.Durability || again.MemoryMax != s.MemoryMax {
			t.Errorf("%q passed on as %q: %+v, error %v", c.args, s.Arguments(), again, err)
		}
	}
}

func TestWhatIsSaidOfSnapshotsIsPassedOn(t *testing.T) {
	s, err := parse(t, "--data", "d", "--snapshots", "s", "--snapshot-actor", "Shop/main", "--snapshot-every", "2m", "--snapshot-keep", "7")
	again, aerr := parse(t, s.Arguments()...)
	if err != nil || aerr != nil || again.Snapshots != "s" || again.SnapshotActor != "Shop/main" || again.SnapshotEvery != 2*time.Minute || again.SnapshotKeep != 7 {
		t.Errorf("passed on as %q: %+v, errors %v, %v", s.Arguments(), again, err, aerr)
	}
}

func TestContradictionsSayWhatToDo(t *testing.T) {
	for args, want := range map[string]string{
		"--data d --durability memory":                 "leave out one of the two",
		"--data=":                                      "--data: its value is empty",
		"--data d --snapshots ./d/s":                   "would be lost with it",
		"--data d --snapshots=":                        "--snapshots: its value is empty",
		"--durability sync":                            "name it with --data",
		"--durability relaxed":                         "name it with --data",
		"--memory 1GB":                                 "name it with --data",
		"--snapshots s":                                "name it with --data",
		"--data d --snapshot-every 1h":                 "which says where they go",
		"--data d --snapshot-keep 3":                   "which says where they go",
		"--data d --snapshot-actor A/b":                "which says where they go",
		"--data d --snapshots s --snapshot-actor=":     "--snapshot-actor: its value is empty",
		"--data d --snapshots s --snapshot-every soon": "write 15m or 1h",
		"--data d --snapshots s --snapshot-every 1ms":  "shorter than a second",
		"--data d --snapshots s --snapshot-keep 0":     "from 1 on",
		"--data d --durability often":                  "none of sync",
		"--data d --durability relaxed=1h":             "relaxed takes a time",
		"--drop-fields p.A.f":                          "name it with --data",
		"--data d --drop-fields=":                      "--drop-fields: its value is empty",
		"--data d --drop-fields p.A.f,note":            `"note" is no field; write package.Class.field`,
		"--data d --memory much":                       "write 512MB or 2GiB",
		"--data d --memory 10":                         "at least 1MB",
		"--data d --memory 99999999999999G":            "no size",
	} {
		if _, err := parse(t, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "1kB": 1000, "1KiB": 1024, "512MB": 512_000_000, "2GiB": 2 << 30, "1.5 gib": 3 << 29, "1TB": 1e12, "7B": 7,
	} {
		if got, err := settings.ParseSize(text); err != nil || got != want {
			t.Errorf("%q: %d, error %v", text, got, err)
		}
	}
	for _, text := range []string{"", "MB", "-1MB", "1e3", "0x10", "1PB", "inf", "nan", "1MBMB", "1_000", "9999999999TB"} {
		if got, err := settings.ParseSize(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestAmongFindsFlagsHoweverTheyAreWritten(t *testing.T) {
	for args, want := range map[string]bool{
		"": false, "--data d": true, "-data=d": true, "--seed 1 --durability=sync": true, "data": false, "--database d": false, "--memory": true,
	} {
		if got := settings.Among(strings.Fields(args)); got != want {
			t.Errorf("%q: %v", args, got)
		}
	}
	if !settings.IsFlag("data") || settings.IsFlag("seed") || slices.Contains((&settings.State{}).Arguments(), "") {
		t.Error("the flags are not the ones declared")
	}
}
