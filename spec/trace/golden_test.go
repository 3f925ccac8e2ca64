package trace

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the reports into the golden files")

// TestReports checks the traces in testdata: each file has a trace and what is to be said
// of it.
func TestReports(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("there are no traces: %v", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Files) != 2 || a.Files[0].Name != "trace" || a.Files[1].Name != "report" {
				t.Fatal("the file must have a trace and a report")
			}
			in := a.Files[0].Data
			if bytes.HasSuffix(in, []byte("<torn>\n")) { // txtar ends every file with a line feed
				in = bytes.TrimSuffix(in, []byte("<torn>\n"))
			}
			var got bytes.Buffer
			if rep, err := Check(bytes.NewReader(in)); err != nil {
				got.WriteString("error: " + err.Error() + "\n")
			} else if err := rep.Write(&got); err != nil {
				t.Fatal(err)
			}
			if *update {
				a.Files[1].Data = got.Bytes()
				if err := os.WriteFile(name, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(a.Files[1].Data), got.String()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// FuzzCheck feeds the reader and the checker with anything.
func FuzzCheck(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		f.Fatalf("there are no traces: %v", err)
	}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rep, err := Check(bytes.NewReader(data))
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		_ = rep.Write(&first)
		rep, err = Check(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if _ = rep.Write(&second); first.String() != second.String() {
			t.Error("the second report differs from the first")
		}
	})
}
