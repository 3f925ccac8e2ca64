package settings_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/settings"
)

func parseCluster(t *testing.T, args ...string) (settings.Cluster, error) {
	t.Helper()
	var c settings.Cluster
	s, l := settings.State{}, settings.Listen{}
	fs := flag.NewFlagSet("program", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	c.Flags(fs)
	s.Flags(fs)
	l.Flags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return c, c.Check(&s, &l)
}

func TestAddressesOfANode(t *testing.T) {
	const store = "--data d --listen :0"
	for flags, want := range map[string]string{
		"--cluster-listen 10.0.0.1:7000":                                  "10.0.0.1:7000",
		"--cluster-listen 0.0.0.0:7000 --cluster-advertise 10.0.0.1:7001": "10.0.0.1:7001",
		"--cluster-listen :7000 --cluster-advertise a.example:7000":       "a.example:7000",
		"--cluster-listen 10.0.0.1:7000 --adopt old --stores 4":           "10.0.0.1:7000",
		"--cluster-listen 10.0.0.1:7000 --join @token":                    "10.0.0.1:7000",
	} {
		c, err := parseCluster(t, strings.Fields(store+" "+flags)...)
		if err != nil || c.Address() != want {
			t.Errorf("%s: reached at %s, %v", flags, c.Address(), err)
		}
		if again := strings.Join(c.Arguments(), " "); again != flags {
			t.Errorf("%s is passed on as %s", flags, again)
		}
	}
	for flags, want := range map[string]string{
		"--cluster-listen 7000":                                    `"7000" is no address`,
		"--cluster-listen :7000":                                   "--cluster-listen: \":7000\" is no address that other nodes can dial; write HOST:PORT, as in 10.0.0.1:7000, or say with --cluster-advertise where they reach it",
		"--cluster-listen 10.0.0.1:0":                              "is no address that other nodes can dial",
		"--cluster-listen 0.0.0.0:7000":                            "cannot dial 0.0.0.0; write the address of this machine, or say with --cluster-advertise",
		"--cluster-listen 0.0.0.0:7000 --cluster-advertise :7000":  "--cluster-advertise: \":7000\" is no address",
		"--cluster-listen 0.0.0.0:1 --cluster-advertise 0.0.0.0:1": "--cluster-advertise: other nodes cannot dial",
		"--cluster-advertise 10.0.0.1:7000":                        "--cluster-advertise is about a node of a cluster; say with --cluster-listen",
		"--join x":                                                 "--join is about a node of a cluster",
		"--cluster-listen 10.0.0.1:7000 --join x":                  "--join: the token has no HOST:PORT behind it, as when it was cut: write all of TOKEN@HOST:PORT",
		"--cluster-listen 10.0.0.1:7000 --join x@":                 "as when it was cut",
		"--cluster-listen 10.0.0.1:7000 --join x@10.0.0.1":         "as when it was cut",
		"--cluster-listen 10.0.0.1:7000 --join x@a:1,b:":           "as when it was cut",
		"--cluster-listen 10.0.0.1:7000 --join x@a:1,y@b:2":        "--join: there is more than one TOKEN@HOST:PORT",
		"--stores 4": "--stores is about a node of a cluster",
		"--stores 0": "--stores is about a node of a cluster",
		"--cluster-listen 10.0.0.1:7000 --stores 0":              "--stores: a cluster has 1 to 64 stores, not 0",
		"--cluster-listen 10.0.0.1:7000 --stores 65":             "--stores: a cluster has 1 to 64 stores, not 65",
		"--cluster-listen 10.0.0.1:7000 --join x@a:1 --stores 2": "--stores is about a new cluster",
	} {
		if _, err := parseCluster(t, strings.Fields(store+" "+flags)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", flags, err, want)
		}
	}
}

// A token that a file has is not on the command line. What is wrong with the file does not tell the token.
func TestAFileHasTheToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	const cut = " [] FILE: the token has no HOST:PORT behind it, as when it was cut: write all of TOKEN@HOST:PORT, as \"aeond join-token\" does, or @FILE with that"
	const empty = " [] FILE is empty, as when the command has failed that was to write it: have \"aeond join-token\" write a token there"
	const many = " [] FILE: there is more than one TOKEN@HOST:PORT, or white space within it; give each node a token, and a file, of its own"
	for text, want := range map[string]string{
		"aeon-join-x@a:1,b:2\n":              "aeon-join-x [a:1 b:2] <nil>",
		"":                                   empty,
		" \n":                                empty,
		"aeon-join-x\n":                      cut,
		"aeon-join-x@\n":                     cut,
		"aeon-join-x@10.0.0.1\n":             cut,
		"aeon-join-x@a:1,b:\n":               cut,
		"@a:1\n":                             " [] FILE: no token stands before the @: write all of TOKEN@HOST:PORT, as \"aeond join-token\" does, or @FILE with that",
		"aeon-join-x@a:1\naeon-join-y@b:2\n": many, // written with >> twice
		"aeon-join-x@a:1,aeon-join-y@b:2":    many,
		"aeon-join-x@a:1, b:2":               many,
		"aeon-\njoin-x@a:1":                  many,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		token, members, err := (&settings.Cluster{Join: "@" + file}).JoinBy()
		if got := strings.Replace(fmt.Sprint(token, " ", members, " ", err), file, "FILE", 1); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	if _, _, err := (&settings.Cluster{Join: "@" + file + "s"}).JoinBy(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if token, members, err := (&settings.Cluster{Join: "aeon-join-x@a:1"}).JoinBy(); token != "aeon-join-x" || len(members) != 1 || err != nil {
		t.Errorf("without a file: %s, %v, %v", token, members, err)
	}
}
