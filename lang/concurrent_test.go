package lang_test

import (
	"os"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
)

// Files are parsed at the same time by many goroutines, and a parser that has
// met an error is as good as new afterwards.
func TestParseConcurrently(t *testing.T) {
	text, err := os.ReadFile("../testdata/lang/everything.aeon")
	if err != nil {
		t.Fatal(err)
	}
	want, _ := lang.Parse("a.aeon", text)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if _, diags := lang.Parse("b.aeon", text[:len(text)/2]); len(diags) == 0 {
					t.Error("half a file has no error")
				}
				file, diags := lang.Parse("a.aeon", text)
				if len(diags) > 0 || !ast.Equal(file, want) {
					t.Errorf("got %v", diags)
				}
			}
		})
	}
	wg.Wait()
}
