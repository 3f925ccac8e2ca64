package grammar_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/grammar"
)

// roots are where a reader of the page starts: programs, what may stand between
// tokens, and the words that are no identifiers.
var roots = []string{"File", "comment", "white_space", "keyword"}

// Every production that is used is defined, and every one that is defined can
// be reached.
func TestPageIsComplete(t *testing.T) {
	g := readPage(t)
	reached := map[string]bool{}
	var reach func(string)
	reach = func(name string) {
		if reached[name] {
			return
		}
		reached[name] = true
		if g[name] == nil {
			t.Errorf("%s is not defined", name)
			return
		}
		walk(g[name], func(r rule) {
			if r, ok := r.(ref); ok {
				reach(string(r))
			}
		})
	}
	for _, name := range roots {
		reach(name)
	}
	for name := range g {
		if !reached[name] {
			t.Errorf("%s cannot be reached", name)
		}
	}
}

// The terminals of the syntax are tokens of the table, or made of them, and
// every token of the table is one.
func TestPageHasTheTokens(t *testing.T) {
	used := map[string]bool{}
	for name, r := range readPage(t) {
		if isLexical(name) && name != "contextual" {
			continue
		}
		walk(r, func(r rule) {
			text, ok := r.(terminal)
			if !ok {
				return
			}
			toks, diags := grammar.Scan(ast.NewSource("t", string(text)))
			for _, tok := range toks {
				used[tok.Kind.String()] = true
				if tok.Kind < grammar.LParen && text != "error" && text != "key" && text != "index" && text != "snapshot" && text != "type" {
					t.Errorf("%s uses %q, which is no token", name, text)
				}
			}
			if len(diags) > 0 {
				t.Errorf("%s uses %q: %v", name, text, diags)
			}
		})
	}
	for k := grammar.LParen; k <= grammar.Vector; k++ {
		if text := k.String(); text != "" && !used[text] {
			t.Errorf("no production uses %q", text)
		}
	}
}

// The words are the scanner's.
func TestPageHasTheWords(t *testing.T) {
	g := readPage(t)
	reserved, contextual := grammar.Keywords()
	for name, want := range map[string][]string{"keyword": reserved, "contextual": contextual} {
		var got []string
		walk(g[name], func(r rule) {
			if text, ok := r.(terminal); ok {
				got = append(got, string(text))
			}
		})
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s lists %q, the scanner has %q", name, got, want)
		}
	}
}

// matches returns what the first group of a pattern matches in the Go files of
// a folder. It fails if there is nothing.
func matches(t *testing.T, dir, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no Go files in %s: %v", dir, err)
	}
	var found []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			found = append(found, m[1])
		}
	}
	if len(found) == 0 {
		t.Fatalf("nothing matches %s in %s", pattern, dir)
	}
	return found
}

// Every node has a production of its name, and every participle production
// names the ones of the page that it reads.
func TestPageHasTheNodesAndProductions(t *testing.T) {
	g := readPage(t)
	except := map[string]string{"Binary": "Or", "Comment": "comment", "CommentGroup": "comment"}
	for _, name := range nodeNames(t) {
		if other := except[name]; other != "" {
			name = other
		}
		if g[name] == nil {
			t.Errorf("the page has no production for the node %s", name)
		}
	}
	structs := matches(t, ".", `(\w+Prod) +struct \{`)
	named := matches(t, ".", `(\w+Prod +struct \{ // [A-Z].*)`)
	if len(structs) != len(named) {
		t.Errorf("%d of %d participle productions name the one of the page that they read", len(named), len(structs))
	}
	for _, line := range named {
		_, comment, _ := strings.Cut(line, "// ")
		names, _, _ := strings.Cut(comment, ";")
		for _, name := range strings.Split(names, ", ") {
			if g[name] == nil {
				t.Errorf("%s: the page has no production %s", line, name)
			}
		}
	}
}

// nodeNames returns the names of the nodes that correct programs are made of.
func nodeNames(t *testing.T) []string {
	names := matches(t, "../ast", `type (\w+) struct \{(?://.*)?\n\tLoc\n`)
	names = append(names, matches(t, "../ast", `\t?(\w+) +struct\s*\{ *Loc *\}`)...)
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "Bad") })
}

// kindOf returns the name of a node's type.
func kindOf(n ast.Node) string { return strings.TrimPrefix(reflect.TypeOf(n).String(), "*ast.") }
