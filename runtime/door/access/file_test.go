package access

import (
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/door"
)

// FuzzParse: whatever the file has, its callers can be told apart, and no error has a token.
func FuzzParse(f *testing.F) {
	token := New()
	line, err := Line("ann", token, []string{"*"})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{line, line + "\r\n# bob\n\n" + line, "ann " + token + " *", token, line + " Shop.find p.Shop.*", "ann sha256:00 *", "\xff\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tokens, err := parse("tokens", text, new(door.Program))
		if (tokens == nil) != (err != nil) {
			t.Fatalf("tokens %v, error %v", tokens, err)
		}
		if err != nil {
			for line := range strings.Lines(text) {
				line, _, _ = strings.Cut(line, "#")
				for _, field := range strings.Fields(line) {
					if isToken(field) && len(field) > len(prefix) && strings.Contains(err.Error(), field) {
						t.Fatalf("%q is in the error %v", field, err)
					}
				}
			}
			return
		}
		names := map[string]*Caller{}
		for _, h := range tokens.hashes {
			if before := names[h.of.Name]; before != nil && before != h.of || h.of.Name == "" || len(h.of.Name) > door.CallerMax || strings.ContainsRune(h.of.Name, 0) {
				t.Fatalf("a caller %q", h.of.Name)
			}
			names[h.of.Name] = h.of
			if !h.of.May(nil, nil) { // the program has no class, so that each has the right to everything
				t.Fatalf("%s has a right to nothing that is there", h.of.Name)
			}
		}
		if c := tokens.Find(token); c != nil && !strings.Contains(strings.ToLower(text), line[len("ann  "):len(line)-len("  *")]) {
			t.Fatalf("%q knows a token whose hash it does not have", text)
		}
	})
}
