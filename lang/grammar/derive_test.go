package grammar_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/grammar"
)

// deriver decides whether the page derives a program, by Earley's algorithm over
// kinds of token: it takes any grammar and shares nothing with the parser.
type deriver struct {
	rules   [][]symbol // right-hand sides
	of      map[string][]int
	nothing map[string]bool // productions that derive nothing at all
}

// symbol is a kind of token, or a production if it has a name.
type symbol struct {
	name  string
	kind  grammar.Kind
	glued bool   // no white space before the token: the second half of >>
	text  string // that the token must have, if it is not empty
}

// tokenKinds gives the kinds of the productions of characters.
var tokenKinds = map[string]grammar.Kind{
	"int_lit": grammar.Int, "float_lit": grammar.Float, "duration_lit": grammar.Duration, "char_lit": grammar.Char,
	"string_lit": grammar.String, "raw_string_lit": grammar.RawString, "string_head": grammar.StrHead, "string_mid": grammar.StrMid,
	"string_tail": grammar.StrTail, "identifier": grammar.Ident,
}

func newDeriver(tb testing.TB, g ebnf) *deriver {
	d := &deriver{of: map[string][]int{}, nothing: map[string]bool{}}
	for name, r := range g {
		if !isLexical(name) || name == "contextual" {
			d.add(tb, name, r)
		}
	}
	for changed := true; changed; {
		changed = false
		for name, rules := range d.of {
			for _, r := range rules {
				if !d.nothing[name] && d.derivesNothing(d.rules[r]) {
					d.nothing[name], changed = true, true
				}
			}
		}
	}
	return d
}

func (d *deriver) derivesNothing(list []symbol) bool {
	for _, s := range list {
		if s.name == "" || !d.nothing[s.name] {
			return false
		}
	}
	return true
}

// add adds the right-hand sides of a production.
func (d *deriver) add(tb testing.TB, name string, r rule) {
	alternatives, ok := r.(choice)
	if !ok {
		alternatives = choice{r}
	}
	for i, x := range alternatives {
		list := d.symbols(tb, name+string(rune('a'+i)), x)
		d.of[name] = append(d.of[name], len(d.rules))
		d.rules = append(d.rules, list)
	}
}

// symbols flattens a rule; what is nested becomes a production called within.
func (d *deriver) symbols(tb testing.TB, within string, r rule) []symbol {
	switch r := r.(type) {
	case sequence:
		var list []symbol
		for i, x := range r {
			list = append(list, d.symbols(tb, within+string(rune('0'+i)), x)...)
		}
		return list
	case ref:
		if kind, ok := tokenKinds[string(r)]; ok {
			return []symbol{{kind: kind}}
		}
		return []symbol{{name: string(r)}}
	case terminal:
		var list []symbol
		toks, _ := grammar.Scan(ast.NewSource("t", string(r)))
		for i, tok := range toks {
			s := symbol{kind: tok.Kind, glued: i > 0}
			if tok.Kind == grammar.Ident {
				s.text = string(r)
			}
			list = append(list, s)
		}
		return list
	case choice:
		d.add(tb, within, r)
	case optional:
		d.add(tb, within, choice{r.of, sequence{}})
	case repeated:
		d.add(tb, within, choice{sequence{ref(within), r.of}, sequence{}})
	default:
		tb.Fatalf("%s holds %v", within, r)
	}
	return []symbol{{name: within}}
}

// item is a right-hand side that has been matched up to dot since token start.
type item struct{ rule, dot, start int }

// column holds the items that end before one token.
type column struct {
	list    []item
	seen    map[item]bool
	waiting map[string][]item // the items that want a production, by its name
	asked   map[string]bool
}

func newColumn() *column {
	return &column{seen: map[item]bool{}, waiting: map[string][]item{}, asked: map[string]bool{}}
}

func (c *column) add(it item) {
	if !c.seen[it] {
		c.seen[it] = true
		c.list = append(c.list, it)
	}
}

// derives reports whether the page derives a program, and if not the first
// token that no derivation has.
func (d *deriver) derives(src *ast.Source) (bool, string) {
	toks, _ := grammar.Scan(src)
	heads := make(map[int]string, len(d.rules))
	for name, rules := range d.of {
		for _, r := range rules {
			heads[r] = name
		}
	}
	columns := []*column{newColumn()}
	for _, r := range d.of["File"] {
		columns[0].add(item{rule: r})
	}
	end := int32(-1)
	for _, tok := range toks {
		if tok.Kind == grammar.Comment {
			continue
		}
		next := newColumn()
		d.complete(columns, heads)
		for _, it := range columns[len(columns)-1].list {
			list := d.rules[it.rule]
			if it.dot == len(list) || list[it.dot].name != "" {
				continue
			}
			s := list[it.dot]
			if s.kind == tok.Kind && (!s.glued || tok.Start == end) && (s.text == "" || s.text == tok.Text(src)) {
				next.add(item{it.rule, it.dot + 1, it.start})
			}
		}
		if len(next.list) == 0 {
			return false, tok.Text(src)
		}
		columns, end = append(columns, next), tok.End
	}
	d.complete(columns, heads)
	for _, it := range columns[len(columns)-1].list {
		if heads[it.rule] == "File" && it.start == 0 && it.dot == len(d.rules[it.rule]) {
			return true, ""
		}
	}
	return false, "the end"
}

// complete adds to the last column what follows from its items.
func (d *deriver) complete(columns []*column, heads map[int]string) {
	at := len(columns) - 1
	c := columns[at]
	for i := 0; i < len(c.list); i++ {
		it := c.list[i]
		list := d.rules[it.rule]
		if it.dot == len(list) {
			for _, w := range columns[it.start].waiting[heads[it.rule]] {
				c.add(item{w.rule, w.dot + 1, w.start})
			}
			continue
		}
		name := list[it.dot].name
		if name == "" {
			continue
		}
		c.waiting[name] = append(c.waiting[name], it)
		if d.nothing[name] {
			c.add(item{it.rule, it.dot + 1, it.start})
		}
		if !c.asked[name] {
			c.asked[name] = true
			for _, r := range d.of[name] {
				c.add(item{r, 0, at})
			}
		}
	}
}

// mutate deletes, doubles, swaps or replaces a few tokens of a program.
func mutate(r *rand.Rand, src *ast.Source) string {
	toks, _ := grammar.Scan(src)
	for range 1 + r.IntN(2) {
		i, j := r.IntN(len(toks)), r.IntN(len(toks))
		switch r.IntN(4) {
		case 0:
			toks = append(toks[:i:i], toks[i+1:]...)
		case 1:
			toks = append(toks[:i+1:i+1], toks[i:]...)
		case 2:
			toks[i], toks[j] = toks[j], toks[i]
		case 3:
			toks[i] = toks[j]
		}
	}
	var out strings.Builder
	for _, tok := range toks {
		if tok.Kind != grammar.Comment {
			out.WriteString(tok.Text(src) + " ")
		}
	}
	return out.String()
}

// What the parser accepts is derived by the page: correct programs, and such
// as were changed at random.
func TestPageDerivesWhatParses(t *testing.T) {
	g := readPage(t)
	d, w := newDeriver(t, g), newWriter(g)
	for _, pattern := range []string{"../../testdata/lang/*.aeon", "../../examples/*/*.aeon"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("no programs match %s: %v", pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			src := ast.NewSource(path, string(text))
			if _, diags := grammar.Parse(src); err != nil || len(diags) > 0 {
				continue // nothing.aeon
			}
			if ok, at := d.derives(src); !ok {
				t.Errorf("the page does not derive %q in %s", at, path)
			}
		}
	}
	accepted := 0
	for seed := range uint64(1000) {
		text := w.sentence(seed, 10+int(seed%150))
		if ok, at := d.derives(ast.NewSource("s.aeon", text)); !ok {
			t.Fatalf("seed %d: the page does not derive %q of its own sentence\n%s", seed, at, text)
		}
		r := rand.New(rand.NewPCG(seed, 9))
		for range 10 {
			src := ast.NewSource("m.aeon", mutate(r, ast.NewSource("s.aeon", text)))
			if _, diags := grammar.Parse(src); len(diags) > 0 {
				continue
			}
			accepted++
			if ok, at := d.derives(src); !ok {
				t.Fatalf("seed %d: the parser accepts what the page does not derive, at %q:\n%s", seed, at, src.Text)
			}
		}
	}
	if accepted < 300 {
		t.Errorf("only %d changed programs were accepted: the test says little", accepted)
	}
}
