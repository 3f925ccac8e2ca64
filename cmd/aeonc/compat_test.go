package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

func writeProgram(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shop.aeon"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// compared runs aeonc compat and returns the codes it reports, and its exit code.
func compared(t *testing.T, old, now string) (codes []string, exit int, text string) {
	t.Helper()
	var stderr bytes.Buffer
	exit = tool().Run([]string{"compat", "--format=short", old, now}, &cli.Env{Tool: "aeonc", Stdout: cli.NewOutput(&stderr), Stderr: &stderr})
	for line := range strings.Lines(stderr.String()) {
		if parts := strings.SplitN(line, ": ", 3); len(parts) == 3 {
			codes = append(codes, parts[1])
		}
	}
	return codes, exit, stderr.String()
}

// Every code of compat is shown by its example, once and alone, and the corrected example
// can follow what was before.
func TestCompatCodesHaveTestedExamples(t *testing.T) {
	old := writeProgram(t, diag.CompatBefore)
	for _, info := range diag.Phase("compat") {
		codes, exit, text := compared(t, old, writeProgram(t, info.BadProgram()))
		want := 1
		if slices.Contains([]diag.Code{diag.CompatField, diag.CompatCall, diag.CompatInitial, diag.CompatOther}, info.Code) { // a warning
			want = 0
		}
		if !slices.Equal(codes, []string{string(info.Code)}) || exit != want {
			t.Errorf("%s: exit code %d\n%s", info.Code, exit, text)
		}
		if _, exit, text := compared(t, old, writeProgram(t, info.Good)); exit != 0 || text != "" {
			t.Errorf("%s, corrected: exit code %d\n%s", info.Code, exit, text)
		}
	}
}

// A data directory is compared by the schema in it, and left as it was.
func TestCompatWithADataDirectory(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	engine, err := pebbledb.Open(data, store.EngineOptions{Program: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(engine, store.Options{Program: "shop", Durability: store.Durability{}})
	if err != nil {
		t.Fatal(err)
	}
	schema := store.NewSchema()
	if err := schema.Adopt([]store.Class{{Name: "shop.Ware", Fields: []store.ClassField{{Name: "price", Type: "int"}, {Name: "name", Type: "string"}}},
		{Name: "shop.Shelf", Fields: []store.ClassField{{Name: "labels", Type: "set<string>"}}}}); err != nil {
		t.Fatal(err)
	}
	st.WriteSchema(schema)
	b := st.NewBatch()
	header := row.Header{Layout: schema.Layout("shop.Ware").Number, Top: true}
	b.Set(header.Encode(event.ActorID{Serial: 1}))
	st.Append(b)
	if codes, exit, text := compared(t, data, writeProgram(t, diag.CompatBefore)); exit == 0 || !strings.Contains(text, "is open in this process already") {
		t.Errorf("an open directory: %v, exit code %d\n%s", codes, exit, text)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	before := contents(t, data)
	if codes, exit, text := compared(t, data, writeProgram(t, diag.CompatBefore)); exit != 0 || text != "" {
		t.Errorf("the program of the data: %v, exit code %d\n%s", codes, exit, text)
	}
	info, _ := diag.Lookup(diag.CompatType)
	if codes, exit, text := compared(t, data, writeProgram(t, info.BadProgram())); exit != 1 || !slices.Equal(codes, []string{"AE1001"}) {
		t.Errorf("a changed type: %v, exit code %d\n%s", codes, exit, text)
	}
	if after := contents(t, data); after != before {
		t.Errorf("the directory was\n%s\nand is\n%s", before, after)
	}
}

// A field of a value class that takes an event to compute is zero in stored values, as one of an actor class is.
func TestCompatOfValuesThatAreLeftZero(t *testing.T) {
	program := func(fields string) string {
		return writeProgram(t, "package shop\n\nclass Line { int n; "+fields+"}\n\nclass Order { vector<Line> lines; }\n\nactorclass Shop {\n\tmap<int, Order> orders;\n\tOrder? last;\n}\n")
	}
	codes, exit, text := compared(t, program(""), program("int q = 7; float lot = random(); time at = now(); "))
	if !slices.Equal(codes, []string{"AE1006", "AE1006"}) || exit != 0 || !strings.Contains(text, "shop.aeon:3:38: AE1006: warning: field lot of class shop.Line is new: values that are stored get its zero value") {
		t.Errorf("exit code %d\n%s", exit, text)
	}
}

// A field that both versions have gets the new initial value where it was never stored, by a change of the initialiser or without one.
func TestCompatOfInitialisers(t *testing.T) {
	program := func(limit, q string) string {
		return writeProgram(t, "package shop\n\nclass Line { int n; int q"+q+"; }\n\nactorclass Shop {\n\tmap<int, Line> lines;\n\tint limit"+limit+";\n\tShop() { limit = 1; }\n}\n")
	}
	old := program(" = 100", " = 7")
	for _, c := range []struct {
		limit, q string
		fields   []string
	}{{" = 100", " = 7", nil}, {"", " = 7", []string{"limit of class shop.Shop"}}, {" = 101", " = 8", []string{"limit of class shop.Shop", "q of class shop.Line"}}} {
		codes, exit, text := compared(t, old, program(c.limit, c.q))
		for _, f := range c.fields {
			if !strings.Contains(text, "AE1007: warning: field "+f+" has another initial value") {
				t.Errorf("limit%s, q%s: no warning of %s", c.limit, c.q, f)
			}
		}
		if len(codes) != len(c.fields) || exit != 0 {
			t.Errorf("limit%s, q%s: exit code %d\n%s", c.limit, c.q, exit, text)
		}
	}
}

// The directory of a node is read by the node alone, and one with the stores of a cluster has several: compat says what to compare instead.
func TestCompatWithACluster(t *testing.T) {
	for file, want := range map[string]string{
		filepath.FromSlash(status.IdentityFile): "%s is the directory of a node of a cluster, which the node alone can read: compare the sources of the two versions, " +
			"or each store of a snapshot that `aeond restore` has brought to another directory\n",
		"STORES": "%s has the 2 stores of a cluster: compare with each of them, the first one by `aeonc compat %[1]s" + string(filepath.Separator) + "store0 NEW`\n",
	} {
		dir := t.TempDir()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o777), os.WriteFile(filepath.Join(dir, file), []byte("stores 2\n"), 0o666)); err != nil {
			t.Fatal(err)
		}
		if _, exit, text := compared(t, dir, writeProgram(t, diag.CompatBefore)); exit == 0 || !strings.HasSuffix(text, fmt.Sprintf(want, dir)) {
			t.Errorf("%s: exit code %d\n%s", file, exit, text)
		}
	}
}

// A data directory of another format is refused as such.
func TestCompatWithAnotherFormat(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	engine, err := pebbledb.Open(data, store.EngineOptions{Program: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	key := store.MetaKey("format")
	b := engine.NewBatch()
	b.Set(key, store.AppendRow(nil, key, []byte{store.Format - 1}))
	if err := errors.Join(engine.Apply(b), engine.Sync(), engine.Close()); err != nil {
		t.Fatal(err)
	}
	if _, exit, text := compared(t, data, writeProgram(t, diag.CompatBefore)); exit == 0 || !strings.Contains(text, data+" was written by an older version of aeon") {
		t.Errorf("exit code %d\n%s", exit, text)
	}
}

// contents lists the files below a directory with their sizes.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			fmt.Fprintln(&b, path, info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCompatSaysThatAllIsWell checks that a comparison without findings says so, in one line.
func TestCompatSaysThatAllIsWell(t *testing.T) {
	old := writeProgram(t, diag.CompatBefore)
	for format, want := range map[string]string{"human": old + ": shop reads all that is stored\n", "short": ""} {
		var stderr bytes.Buffer
		exit := tool().Run([]string{"compat", "--format", format, old, old}, &cli.Env{Tool: "aeonc", Stdout: cli.NewOutput(&stderr), Stderr: &stderr})
		if exit != 0 || stderr.String() != want {
			t.Errorf("%s: exit code %d\n%s", format, exit, stderr.String())
		}
	}
}
