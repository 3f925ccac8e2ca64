package trace

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var long = flag.Bool("long", false, "run the long tests: more programs, more events, more histories")

// checkFile checks the trace in a file.
func checkFile(t *testing.T, name string) *Report {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	rep, err := Check(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rep
}

// said returns the text of a report.
func said(t *testing.T, rep *Report) string {
	t.Helper()
	var b strings.Builder
	if err := rep.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
