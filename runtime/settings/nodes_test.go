package settings_test

import (
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/settings"
)

func TestNodesThatAreSimulated(t *testing.T) {
	for _, test := range []struct{ flags, args, passed, want string }{
		{"", "--data d", "", ""},
		{"--nodes 1", "--data d", "", ""},
		{"--nodes 3", "--seed 7 --summary a-value", "--nodes 3", ""},
		{"--nodes 64", "", "--nodes 64", ""},
		{"--nodes 0", "", "", "a simulated cluster has 1 to 64 nodes, not 0"},
		{"--nodes 65", "", "", "1 to 64 nodes, not 65"},
		{"--nodes 3", "-data=d", "", `--data does not go with --nodes: a simulated cluster keeps its state in memory; leave out one of them, or run a real cluster by "aeond dev --nodes 3 --data DIR"`},
		{"--nodes 3", "--summary --snapshots s", "", "--snapshots does not go with --nodes"},
		{"--nodes 4", "--static s", "", `and takes no calls; leave out one of them, or run a real cluster by "aeond dev --nodes 4 --listen ADDRESS"`},
		{"--nodes 3", "--grpc", "", "--grpc does not go with --nodes"},
		{"--nodes 3", "--serve", "", "--serve does not go with --nodes"},
		{"--nodes 3", "--join x", "", "--join is about a node of a real cluster, and --nodes simulates one"},
		{"--nodes 3", "--trace t --trace-states", "--nodes 3", ""},
		{"--nodes 3", "--spans s", "", "--spans does not go with --nodes"},
	} {
		var n settings.Nodes
		fs := flag.NewFlagSet("program", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		n.Flags(fs)
		if err := fs.Parse(strings.Fields(test.flags)); err != nil {
			t.Fatal(err)
		}
		err := n.Check(strings.Fields(test.args))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s, %s: %v, want %q", test.flags, test.args, err, test.want)
		}
		if passed := strings.Join(n.Arguments(), " "); err == nil && passed != test.passed {
			t.Errorf("%s is passed on as %q", test.flags, passed)
		}
	}
}
