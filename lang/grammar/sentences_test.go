package grammar_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/format"
	"github.com/aeon-lang/aeon/lang/grammar"
)

// writer writes random programs by the productions of the page. What the page
// says in prose is in prose and hooks.
type writer struct {
	g      ebnf
	height map[string]int // of the lowest derivation of a production
	r      *rand.Rand
	out    strings.Builder
	budget int // productions that may still be chosen freely

	class     string // the class whose members are written
	modifiers map[string]bool
	defaults  int  // cases of the switch that are the default
	inString  int  // interpolations that are open: no line break
	local     bool // the next token starts the declaration of a local
	timed     bool // a clause of an event, outside of brackets
	generic   bool // a name may be followed by type arguments
}

const endless = 1 << 20

// limits bounds what one of a production may take of the budget, so that there
// is some left for what stands behind it.
var limits = map[string]int{"Type": 8, "Expr": 40, "Stmt": 150, "Member": 200, "Decl": 300}

// newWriter prepares the page for writing: it finds how low every production
// can stay, so that writing ends.
func newWriter(g ebnf) *writer {
	w := &writer{g: g, height: map[string]int{}}
	for changed := true; changed; {
		changed = false
		for name, r := range g {
			if h := w.heightOf(r) + 1; h < endless && (w.height[name] == 0 || h < w.height[name]) {
				w.height[name], changed = h, true
			}
		}
	}
	return w
}

func (w *writer) heightOf(r rule) int {
	switch r := r.(type) {
	case choice:
		lowest := endless
		for _, x := range r {
			lowest = min(lowest, w.heightOf(x))
		}
		return lowest
	case sequence:
		highest := 0
		for _, x := range r {
			highest = max(highest, w.heightOf(x))
		}
		return highest
	case ref:
		if h := w.height[string(r)]; h > 0 {
			return h
		}
		return endless
	}
	return 0
}

// sentence returns a program that is made of about n productions.
func (w *writer) sentence(seed uint64, n int) string {
	w.r = rand.New(rand.NewPCG(seed, 7))
	w.out.Reset()
	w.budget, w.class, w.inString, w.timed = n, "", 0, false
	w.write(ref("File"))
	return w.out.String()
}

// write writes a rule of tokens.
func (w *writer) write(r rule) {
	switch r := r.(type) {
	case terminal:
		w.token(string(r))
	case ref:
		w.production(string(r))
	case choice:
		w.write(w.pick(r))
	case sequence:
		for _, x := range r {
			w.write(x)
		}
	case optional:
		if w.budget > 0 && w.r.IntN(2) == 0 {
			w.write(r.of)
		}
	case repeated:
		c, _ := r.of.(choice)
		for range 4 {
			if w.budget <= 0 || w.r.IntN(3) == 0 || len(c) > 0 && !slices.ContainsFunc(c, func(x rule) bool { return !w.forbidden(x) }) {
				break
			}
			w.write(r.of)
		}
	}
}

// pick chooses an alternative: any while the budget lasts, then a lowest.
func (w *writer) pick(c choice) rule {
	allowed := slices.DeleteFunc(slices.Clone(c), w.forbidden)
	if w.budget > 0 {
		return allowed[w.r.IntN(len(allowed))]
	}
	return slices.MinFunc(allowed, func(a, b rule) int { return w.heightOf(a) - w.heightOf(b) })
}

// forbidden reports whether prose rules out an alternative here.
func (w *writer) forbidden(r rule) bool {
	switch r := r.(type) {
	case terminal:
		return w.modifiers[string(r)] || r == "default" && w.defaults > 0 || r == "void" && w.local
	case ref:
		return w.timed && r == "Decorated"
	}
	return false
}

// production writes one production, with what prose says about it.
func (w *writer) production(name string) {
	if limit := limits[name]; limit > 0 && limit < w.budget {
		before := w.budget
		w.budget = limit
		defer func() { w.budget += before - limit }()
	}
	w.budget--
	if isLexical(name) {
		w.token(w.word(name))
		return
	}
	outer := *w
	restore := func() {
		w.modifiers, w.defaults, w.timed, w.generic, w.class = outer.modifiers, outer.defaults, outer.timed, outer.generic, outer.class
	}
	switch name {
	case "ClassDecl":
		w.class = w.word("identifier")
		w.declare(w.g[name].(sequence))
		restore()
		return
	case "CtorDecl":
		w.token(w.class)
		for _, x := range w.g[name].(sequence)[1:] {
			w.write(x)
		}
		return
	case "Signature", "ExternFunc":
		w.modifiers = map[string]bool{}
	case "Type":
		w.modifiers = nil
	case "LocalDecl":
		w.local = true
	case "Switch", "Match":
		w.defaults = 0
	case "Timer":
		w.timed = true
	case "Args", "Paren", "VectorLit", "MapLit", "Index", "Slice", "ActorRef", "InterpolatedString", "Block":
		w.timed = false
	case "Ident", "NamedType":
		w.generic = true
	}
	w.write(w.g[name])
	defaults := w.defaults
	restore()
	if name == "SwitchCase" || name == "MatchCase" {
		w.defaults = defaults
	}
}

// declare writes a class declaration under the name that its constructor needs.
func (w *writer) declare(s sequence) {
	for _, x := range s {
		if x == ref("Name") {
			w.token(w.class)
			continue
		}
		w.write(x)
	}
}

// token writes a token and what may stand before it.
func (w *writer) token(text string) {
	if w.modifiers != nil && (text == "internal" || text == "ro" || text == "pure" || text == "yield") {
		w.modifiers[text] = true
	}
	if text == "default" {
		w.defaults++
	}
	w.local = false
	if text[0] == '}' && len(text) > 1 { // the string goes on
		w.inString--
	}
	switch n := w.r.IntN(12); {
	case w.out.Len() == 0, w.inString > 0 || text[0] == '}' && len(text) > 1, n > 1:
		w.out.WriteByte(' ')
	case n == 0:
		w.out.WriteString(w.chars(ref("white_space")))
	default:
		comment := w.chars(ref("comment"))
		w.out.WriteString(" " + comment)
		if strings.HasPrefix(comment, "//") {
			w.out.WriteByte('\n')
		}
	}
	w.out.WriteString(text)
	if strings.HasPrefix(text, `"`) && strings.HasSuffix(text, "{") || text[0] == '}' && strings.HasSuffix(text, "{") {
		w.inString++
	}
}

// word returns a token of a lexical production that prose allows.
func (w *writer) word(name string) string {
	for {
		text := w.chars(ref(name))
		reserved, contextual := grammar.Keywords()
		switch {
		case name == "identifier" && (slices.Contains(reserved, text) || slices.Contains(contextual, text)):
		case name == "float_lit" && tooLarge(text):
		case w.generic && (text == "vector" || text == "map" || text == "set" || text == "table"):
		default:
			return text
		}
	}
}

func tooLarge(float string) bool {
	_, err := strconv.ParseFloat(strings.ReplaceAll(float, "_", ""), 64)
	return errors.Is(err, strconv.ErrRange)
}

// chars returns text of a rule of characters.
func (w *writer) chars(r rule) string {
	switch r := r.(type) {
	case terminal:
		return string(r)
	case charsOf:
		return string(r.from + w.r.Int32N(r.to-r.from+1))
	case choice:
		return w.chars(r[w.r.IntN(len(r))])
	case optional:
		if w.r.IntN(2) == 0 {
			return ""
		}
		return w.chars(r.of)
	case sequence:
		var out strings.Builder
		for _, x := range r {
			out.WriteString(w.chars(x))
		}
		return out.String()
	case repeated:
		var out strings.Builder
		for range w.r.IntN(4) {
			out.WriteString(w.chars(r.of))
		}
		return out.String()
	case ref:
		if r == "unicode_escape" {
			return []string{"u00e4", "uFFFD", "U0001F600", "U0010ffff"}[w.r.IntN(4)]
		}
		return w.chars(w.g[string(r)])
	case inWords:
		for {
			c := string([]rune("aZ0 _+*/{}()'\"`\\äß😀\t;")[w.r.IntN(21)])
			if !strings.Contains(string(r), `"`+c+`"`) && !(c == "\\" || c == `"`) && utf8.ValidString(c) {
				return c
			}
		}
	}
	panic("unknown rule")
}

// Programs that are written by the page parse without error, and make every
// kind of node.
func TestSentencesParse(t *testing.T) {
	w := newWriter(readPage(t))
	seen := map[string]bool{"Name": true} // which is part of the nodes that it names
	for seed := range uint64(2000) {
		text := w.sentence(seed, int(seed))
		file, diags := grammar.Parse(ast.NewSource("s.aeon", text))
		if len(diags) > 0 {
			t.Fatalf("seed %d: %v at %v in\n%s", seed, diags[0], diags[0].Span.Pos(), text)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			seen[kindOf(n)] = true
			return true
		})
		if len(file.Comments) > 0 {
			seen["Comment"], seen["CommentGroup"] = true, true
		}
	}
	for _, name := range nodeNames(t) {
		if !seen[name] {
			t.Errorf("no sentence makes a %s", name)
		}
	}
}

// They can be formatted, and formatting again changes nothing.
func TestSentencesAreFormatted(t *testing.T) {
	w := newWriter(readPage(t))
	for seed := range uint64(500) {
		text := w.sentence(seed, int(seed))
		once, _, err := format.Source(ast.NewSource("s.aeon", text))
		if err != nil {
			t.Fatalf("seed %d: %v in\n%s", seed, err, text)
		}
		if twice, _, err := format.Source(ast.NewSource("s.aeon", once)); err != nil || once != twice {
			t.Fatalf("seed %d: %v, formatted once:\n%s\ntwice:\n%s", seed, err, once, twice)
		}
	}
}
