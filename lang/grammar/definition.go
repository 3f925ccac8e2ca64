package grammar

import (
	"fmt"
	"io"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/aeon-lang/aeon/lang/ast"
)

// definition is the lexer as participle knows it: the scanner without comments
// and errors. Productions are parsed from the token table instead (see view),
// so that a file is scanned once.
type definition struct{}

// symbols names every kind of token for the productions. Participle keeps -1
// for the end of the input.
var symbols = func() map[string]lexer.TokenType {
	m := map[string]lexer.TokenType{"EOF": lexer.EOF}
	for k, text := range kindText {
		if k > 0 && text != "" {
			m[text] = lexer.TokenType(k)
		}
	}
	return m
}()

// Symbols implements lexer.Definition.
func (definition) Symbols() map[string]lexer.TokenType { return symbols }

// Lex implements lexer.Definition.
func (d definition) Lex(filename string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return d.LexString(filename, string(text))
}

// LexString implements lexer.StringDefinition.
func (definition) LexString(filename, text string) (lexer.Lexer, error) {
	src := ast.NewSource(filename, text)
	toks, _ := Scan(src)
	t := newTable(src, toks)
	var list tokenLexer
	for i := range t.sig {
		list = append(list, t.token(i))
	}
	return &list, nil
}

// table is the token table with an index of what is not a comment.
type table struct {
	src  *ast.Source
	toks []Token
	sig  []int32 // indices in toks of the tokens that are not comments
}

func newTable(src *ast.Source, toks []Token) *table {
	n := 0
	for _, t := range toks {
		if t.Kind != Comment {
			n++
		}
	}
	t := &table{src: src, toks: toks, sig: make([]int32, 0, n)}
	for i, tok := range toks {
		if tok.Kind != Comment {
			t.sig = append(t.sig, int32(i))
		}
	}
	return t
}

// tokenLexer hands a slice of tokens to participle.
type tokenLexer []lexer.Token

// Next implements lexer.Lexer.
func (l *tokenLexer) Next() (lexer.Token, error) {
	if len(*l) == 0 {
		return lexer.EOFToken(lexer.Position{}), nil
	}
	tok := (*l)[0]
	*l = (*l)[1:]
	return tok, nil
}

// token returns the token with an index in sig as participle has it. The
// offset of its position is that index: all a production needs to find its place.
func (t *table) token(i int) lexer.Token {
	tok := t.toks[t.sig[i]]
	return lexer.Token{Type: lexer.TokenType(tok.Kind), Value: t.src.Text[tok.Start:tok.End], Pos: lexer.Position{Offset: i}}
}

// view is participle's copy of the tokens of one declaration. Its memory is
// used again for the next one, which a lexer that is upgraded anew would not
// do: that copied every token three times on average.
type view struct {
	lex  *lexer.PeekingLexer
	room int // tokens that lex has memory for, without the end
}

// keepMax bounds the tokens that a view of an idle parser has memory for.
const keepMax = 1 << 14

// of returns a lexer of the tokens [from, to) of t. What was returned before
// is no longer valid.
func (v *view) of(t *table, from, to int) *lexer.PeekingLexer {
	n := to - from
	if n > v.room || v.lex == nil {
		v.room = max(2*v.room, n, 256)
		blank := make(tokenLexer, v.room)
		lex, err := lexer.Upgrade(&blank)
		if err != nil {
			panic(fmt.Sprintf("grammar: blank tokens failed to read: %v", err))
		}
		v.lex = lex
	}
	toks := v.lex.Range(0, lexer.RawCursor(n+1))
	for i := range n {
		toks[i] = t.token(from + i)
	}
	toks[n] = lexer.EOFToken(lexer.Position{Offset: to})
	lex := *v.lex
	return &lex
}

// release forgets the text of the tokens.
func (v *view) release() {
	if v.room > keepMax {
		*v = view{}
	}
	if v.lex != nil {
		clear(v.lex.Range(0, lexer.RawCursor(v.room)))
	}
}
