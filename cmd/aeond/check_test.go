package main

import (
	"bytes"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// makeStore makes a store with some damaged rows, and returns its directory.
func makeStore(t *testing.T, damaged ...[]byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	e, err := pebbledb.Open(dir, store.EngineOptions{Program: "bank"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(e, store.Options{Program: "bank"})
	if err != nil {
		t.Fatal(err)
	}
	b := s.NewBatch()
	for _, key := range damaged {
		b.Set(key, []byte("no row at all"))
	}
	s.Append(b)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// checked is what check says of a directory.
func checked(t *testing.T, dir string) (text string, code error) {
	t.Helper()
	var out bytes.Buffer
	err := check(&cli.Env{Tool: "aeond", Stdout: cli.NewOutput(&out), Stderr: &out}, dir)
	return out.String(), err
}

// Damage is reported before the content of the store, which it may explain.
func TestCheckSaysFirstWhatIsDamaged(t *testing.T) {
	if text, err := checked(t, makeStore(t)); err != nil || strings.Contains(text, "DAMAGED") {
		t.Errorf("a whole one: %v\n%s", err, text)
	}
	header := append(store.AppendSection(nil, 1, store.Headers), 0, 1, 0, 0, 0, 0, 0, 0, 0, 1)
	text, err := checked(t, makeStore(t, store.SchemaKey("bank.Account"), header))
	if !errors.Is(err, cli.Code(cli.ExitProblem)) || strings.Count(text, "DAMAGED") != 2 {
		t.Errorf("%v\n%s", err, text)
	}
	lines := strings.Split(text, "\n")
	for i, begins := range []string{"program ", "store ", "rows ", "DAMAGED ", "DAMAGED "} {
		if !strings.HasPrefix(lines[i], begins) {
			t.Errorf("line %d is %q, want %s", i, lines[i], begins)
		}
	}
}

// Status and check say that a cluster goes on with what a directory has: it is no longer how things are.
func TestADirectorySaysThatItWasAdopted(t *testing.T) {
	dir := makeStore(t)
	says := func(want string) {
		t.Helper()
		var out bytes.Buffer
		env := &cli.Env{Tool: "aeond", Stdout: cli.NewOutput(&out), Stderr: &out}
		for name, look := range map[string]func(*cli.Env, string) error{"status": directoryStatus, "check": check} {
			out.Reset()
			err := look(env, dir)
			if _, text, _ := strings.Cut(out.String(), "\nadopted "); err != nil || !strings.HasPrefix(text, want) || want == "" && text != "" {
				t.Errorf("%s: %v\n%s", name, err, out.String())
			}
		}
	}
	says("")
	if err := archive.Adopt(archive.AdoptedError{Dir: dir, Cluster: "0123456789", Node: "/var/lib/bank node"}); err != nil {
		t.Fatal(err)
	}
	says("   by the node in /var/lib/bank node: the actors go on there, in cluster 01234567, and are here as they were then\n")
	changes := func() map[string]error {
		_, forgotten := forgetUnused(dir, url.Values{"all": {"true"}})
		return map[string]error{
			"dead --forget": forgotten,
			"restore":       restoreActor(nil, &snapshot.Manifest{Program: "bank", Root: "12:3f"}, dir, nil),
		}
	}
	for command, err := range changes() {
		if was := new(archive.AdoptedError); !errors.As(err, &was) || was.Cluster != "0123456789" {
			t.Errorf("%s changes a directory that a cluster has adopted: %v", command, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "ADOPTED"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	says("   " + filepath.Join(dir, "ADOPTED") + " does not say which cluster")
}

// Of a snapshot of several stores the directory above says that a cluster has adopted them. So do they all, and none is used as if that had not been.
func TestRestoredStoresSayThatTheyWereAdopted(t *testing.T) {
	root := t.TempDir()
	place, dir := filepath.Join(root, "place"), filepath.Join(root, "dir")
	saveStores(t, place, 1, 2, map[int]string{0: "node1", 1: "node2"})
	var out bytes.Buffer
	env := &cli.Env{Tool: "aeond", Stdout: cli.NewOutput(&out), Stderr: &out}
	if err := restore(env, place, dir, snapshot.Wanted{}); err != nil {
		t.Fatal(err)
	}
	part := archive.StoreDir(dir, 1)
	if text, err := checked(t, part); err != nil || strings.Contains(text, "adopted") {
		t.Errorf("a store that nothing has adopted: %v\n%s", err, text)
	}
	if err := archive.Adopt(archive.AdoptedError{Dir: dir, Cluster: "0123456789", Node: "/var/lib/bank node"}); err != nil {
		t.Fatal(err)
	}
	t.Chdir(part)
	for _, dir := range []string{part, "."} {
		if text, err := checked(t, dir); err != nil || !strings.Contains(text, "\nadopted    by the node in /var/lib/bank node: ") {
			t.Errorf("one of the stores, as %s: %v\n%s", dir, err, text)
		}
	}
	was := new(archive.AdoptedError)
	if _, err := openToLook(dir); !errors.As(err, &was) || was.Node != "/var/lib/bank node" {
		t.Errorf("all of them: %v", err)
	}
}

// The files of another store of the same program are not taken for those of the directory.
func TestCheckComparesStores(t *testing.T) {
	mine, other := makeStore(t), makeStore(t)
	if err := errors.Join(os.RemoveAll(filepath.Join(mine, "db")), os.Rename(filepath.Join(other, "db"), filepath.Join(mine, "db"))); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{mine, withRowOf(t, store.NewStoreID())} {
		text, err := checked(t, dir)
		if !errors.Is(err, cli.Code(cli.ExitProblem)) || !strings.Contains(text, "DAMAGED") || !strings.Contains(text, "it is that of store ") {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

// withRowOf makes a store in which only a row says that it is another one: the files of an older version say nothing.
func withRowOf(t *testing.T, other string) (dir string) {
	t.Helper()
	dir = makeStore(t)
	e, err := pebbledb.Open(dir, store.EngineOptions{Program: "bank"})
	if err != nil {
		t.Fatal(err)
	}
	key, b := store.MetaKey("store"), e.NewBatch()
	b.Set(key, store.AppendRow(nil, key, []byte(other+" bank")))
	if err := errors.Join(e.Apply(b), e.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}
