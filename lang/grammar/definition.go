package grammar

import (
	"io"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/aeon-lang/aeon/lang/ast"
)

// definition is the lexer as participle knows it: the scanner without comments
// and errors. Productions are parsed from the token table instead (see
// declLexer), so that a file is scanned once.
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
	return &declLexer{table: t, end: len(t.sig)}, nil
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

// declLexer hands the tokens [next, end) of the table to participle. The
// offset of a participle position is the index of the token in table.sig: that
// is all a production needs to find its place.
type declLexer struct {
	table     *table
	next, end int
}

// Next implements lexer.Lexer.
func (l *declLexer) Next() (lexer.Token, error) {
	pos := lexer.Position{Offset: l.next}
	if l.next >= l.end {
		return lexer.EOFToken(pos), nil
	}
	tok := l.table.toks[l.table.sig[l.next]]
	l.next++
	return lexer.Token{Type: lexer.TokenType(tok.Kind), Value: l.table.src.Text[tok.Start:tok.End], Pos: pos}, nil
}
