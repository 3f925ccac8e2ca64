package grammar_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// The expressions of spec/grammar.md.
type (
	rule     interface{}
	choice   []rule
	sequence []rule
	optional struct{ of rule }
	repeated struct{ of rule }
	terminal string
	ref      string
	charsOf  struct{ from, to rune }
	inWords  string // what the notation cannot say
)

// ebnf holds the productions of the page by name.
type ebnf map[string]rule

// readPage reads the EBNF blocks of spec/grammar.md.
func readPage(tb testing.TB) ebnf {
	tb.Helper()
	text, err := os.ReadFile("../../spec/grammar.md")
	if err != nil {
		tb.Fatal(err)
	}
	g := ebnf{}
	for i, part := range strings.Split(string(text), "```") {
		block, isEBNF := strings.CutPrefix(part, "ebnf\n")
		if i%2 == 0 || !isEBNF {
			continue
		}
		if err := g.read(block); err != nil {
			tb.Fatal(err)
		}
	}
	if len(g) == 0 {
		tb.Fatal("the page has no productions")
	}
	return g
}

// read adds the productions of a text.
func (g ebnf) read(text string) error {
	r := &ebnfReader{text: text}
	for r.next(); r.token != ""; r.next() {
		name := r.token
		if r.next(); r.token != "=" || !isName(name) {
			return fmt.Errorf("found %q behind %q instead of =", r.token, name)
		}
		r.next()
		body, err := r.choice()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if r.token != "." {
			return fmt.Errorf("%s ends in %q", name, r.token)
		}
		if g[name] != nil {
			return fmt.Errorf("%s is defined twice", name)
		}
		g[name] = body
	}
	return nil
}

type ebnfReader struct{ text, token string }

// next takes one token; it is empty at the end.
func (r *ebnfReader) next() {
	r.text = strings.TrimSpace(r.text)
	n := strings.IndexFunc(r.text, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) })
	switch {
	case r.text == "":
		n = 0
	case r.text[0] == '"':
		quoted, err := strconv.QuotedPrefix(r.text)
		n = len(quoted)
		if err != nil {
			n = len(r.text)
		}
	case r.text[0] == '?':
		n = 1 + strings.IndexByte(r.text[1:], '?') + 1
	case n < 0:
		n = len(r.text)
	case n == 0:
		_, n = utf8.DecodeRuneInString(r.text)
	}
	r.token, r.text = r.text[:n], r.text[n:]
}

func isName(token string) bool {
	first, _ := utf8.DecodeRuneInString(token)
	return first == '_' || unicode.IsLetter(first)
}

func (r *ebnfReader) choice() (rule, error) {
	var c choice
	for {
		s, err := r.sequence()
		if err != nil {
			return nil, err
		}
		c = append(c, s)
		if r.token != "|" {
			break
		}
		r.next()
	}
	if len(c) == 1 {
		return c[0], nil
	}
	return c, nil
}

func (r *ebnfReader) sequence() (rule, error) {
	var s sequence
	for {
		switch t := r.token; {
		case isName(t):
			s = append(s, ref(t))
		case strings.HasPrefix(t, `"`):
			text, err := strconv.Unquote(t)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t, err)
			}
			s = append(s, terminal(text))
		case strings.HasPrefix(t, "?"):
			s = append(s, inWords(t))
		case t == "…":
			r.next()
			to, err := strconv.Unquote(r.token)
			from, ok := s[len(s)-1].(terminal)
			if err != nil || !ok {
				return nil, fmt.Errorf("a range from %v to %s", s[len(s)-1], r.token)
			}
			s[len(s)-1] = charsOf{[]rune(string(from))[0], []rune(to)[0]}
		case t == "(" || t == "[" || t == "{":
			r.next()
			x, err := r.choice()
			if err != nil {
				return nil, err
			}
			if want := map[string]string{"(": ")", "[": "]", "{": "}"}[t]; r.token != want {
				return nil, fmt.Errorf("found %q instead of %q", r.token, want)
			}
			s = append(s, map[string]rule{"(": x, "[": optional{x}, "{": repeated{x}}[t])
		case len(s) == 0:
			return nil, fmt.Errorf("nothing stands before %q", t)
		default:
			if len(s) == 1 {
				return s[0], nil
			}
			return s, nil
		}
		r.next()
	}
}

// walk calls f for a rule and all that it is made of.
func walk(r rule, f func(rule)) {
	f(r)
	switch r := r.(type) {
	case choice:
		for _, x := range r {
			walk(x, f)
		}
	case sequence:
		for _, x := range r {
			walk(x, f)
		}
	case optional:
		walk(r.of, f)
	case repeated:
		walk(r.of, f)
	}
}

// isLexical reports whether a production is one of characters.
func isLexical(name string) bool { return unicode.IsLower(rune(name[0])) }
