package typecheck

import (
	"os"
	"path/filepath"
	"testing"
)

// Listing 3.1 of the dissertation and the examples have no diagnostics.
func TestListingAndExamplesAreClean(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "examples", "*", "*.aeon"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples (%v)", err)
	}
	for _, file := range append(files, filepath.Join("..", "testdata", "lang", "steakhouse.aeon")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, diags := checkText(t, file, string(text), Options{}); len(diags) > 0 {
			t.Errorf("%s gets\n%s", file, show(diags))
		}
	}
}
