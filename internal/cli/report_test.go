package cli_test

import (
	"testing"

	"github.com/aeon-lang/aeon/internal/cli"
)

func TestWordsAreThoseOfAShell(t *testing.T) {
	for in, want := range map[string]string{"a/b-1.aeon": "a/b-1.aeon", "p q": "'p q'", "it's": `'it'\''s'`, "": "''", "-o": "-o"} {
		if got := cli.Word(in); got != want {
			t.Errorf("Word(%q) = %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{"a": "a", "-x y": "'./-x y'", "-": "./-"} {
		if got := cli.Path(in); got != want {
			t.Errorf("Path(%q) = %s, want %s", in, got, want)
		}
	}
}
