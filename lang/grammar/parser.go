package grammar

import (
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// The limits of what is parsed at all. Input comes from anywhere, and a tree
// that is too deep would overflow the stack of every later pass.
const (
	SourceBytesMax = 4 << 20
	NestingMax     = 1000    // depth of brackets, of the tree, and of else-if chains
	declTokensMax  = 1 << 20 // per top-level declaration
)

// parser reads one file. It is reused for the next file, because building the
// participle productions costs more than most files.
type parser struct {
	*table
	prods productions
	view  view
	file  *ast.File
	diags []diag.Diagnostic

	// The declaration that is read now: its tokens are sig[base:end].
	base, end int
	cur       int // index in sig of the next token; see enter and leave
	lex       *lexer.PeekingLexer
	depth     int             // of the recursion
	height    int             // of the tree that the last expression function returned
	className string          // of the class whose members are read
	reported  int             // index in sig of the last token an error was reported at
	inCases   bool            // `case` ends the statements that are read
	gaveUp    *syntaxError    // the error that the declaration is lost to
	stmtStart int             // index in sig of the statement that is read
	match     []int32         // see matchBraces
	open      []int           // indices in sig of the braces that are open
	bare      braces          // where braces of the declaration are missing
	nullNames map[string]bool // words for null that the declaration uses as names; see nameLocal
}

// idle holds parsers that read nothing. It is no sync.Pool, because that is
// emptied by every garbage collection.
var idle = make(chan *parser, 16)

// acquire returns a parser; release makes it available again.
func acquire() *parser {
	select {
	case p := <-idle:
		return p
	default:
		p := &parser{}
		p.prods = p.build()
		return p
	}
}

func (p *parser) release() {
	p.view.release()
	*p = parser{prods: p.prods, view: p.view}
	select {
	case idle <- p:
	default:
	}
}

// Parse reads a file. The tree is never nil; where the source is wrong it
// holds Bad nodes, and the diagnostics say why, in source order.
func Parse(src *ast.Source) (*ast.File, []diag.Diagnostic) {
	file, _, diags := ParseWithTokens(src)
	return file, diags
}

// ParseWithTokens is Parse and also returns the token table, for tools that
// need comments and layout. Should reading panic, the tree holds nothing but a
// BadDecl and the error is diag.Internal.
func ParseWithTokens(src *ast.Source) (file *ast.File, toks []Token, diags []diag.Diagnostic) {
	whole := ast.At(ast.Span{Src: src, End: int32(len(src.Text))})
	if len(src.Text) > SourceBytesMax {
		d := diag.New(diag.FileTooLarge, ast.Span{Src: src}, "the file has %d bytes; at most %d are compiled", len(src.Text), SourceBytesMax).
			WithHelp("split the file: all files of a directory form one package")
		return &ast.File{Loc: ast.At(ast.Span{Src: src}), Src: src}, nil, []diag.Diagnostic{d}
	}
	defer func() {
		if r := recover(); r != nil {
			file = &ast.File{Loc: whole, Src: src, Decls: []ast.Decl{&ast.BadDecl{Loc: whole}}}
			diags = []diag.Diagnostic{diag.New(diag.Internal, whole.Range.AtStart(), "the compiler failed on this file: %v", r)}
		}
	}()
	toks, diags = Scan(src)
	p := acquire()
	defer p.release()
	*p = parser{prods: p.prods, view: p.view, table: newTable(src, toks), diags: diags, reported: -1}
	if mended, found := mendBraces(p.table); mended != nil {
		p.table = newTable(src, mended)
		p.diags = append(p.diags, found...)
	}
	p.match = p.matchBraces()
	p.file = &ast.File{Loc: whole, Src: src, Comments: comments(src, toks)}
	p.parseFile()
	return p.file, toks, diag.Sort(p.diags)
}

func comments(src *ast.Source, toks []Token) []*ast.Comment {
	var list []*ast.Comment
	for _, t := range toks {
		if t.Kind == Comment {
			list = append(list, &ast.Comment{Loc: ast.At(ast.Span{Src: src, Start: t.Start, End: t.End}), Text: t.Text(src)})
		}
	}
	return list
}

// tok returns the token with an index in sig; behind the declaration it is EOF.
func (p *parser) tok(i int) Token {
	if i < p.end {
		return p.toks[p.sig[i]]
	}
	return Token{Kind: EOF, Start: p.endOf(p.end), End: p.endOf(p.end)}
}

// endOf returns the offset behind the token before index i.
func (p *parser) endOf(i int) int32 {
	if i == 0 {
		return 0
	}
	return p.toks[p.sig[i-1]].End
}

func (p *parser) kind(i int) Kind {
	if i < p.end {
		return p.toks[p.sig[i]].Kind
	}
	return EOF
}

func (p *parser) text(i int) string {
	t := p.tok(i)
	return p.src.Text[t.Start:t.End]
}

// span covers the tokens [from, to).
func (p *parser) span(from, to int) ast.Span {
	start := p.tok(from).Start
	return ast.Span{Src: p.src, Start: start, End: max(start, p.endOf(to))}
}

// at covers one token.
func (p *parser) at(i int) ast.Span {
	t := p.tok(i)
	return ast.Span{Src: p.src, Start: t.Start, End: t.End}
}

// loc covers the tokens from an index up to the current one.
func (p *parser) loc(from int) ast.Loc { return ast.At(p.span(from, p.cur)) }

// startsLine reports whether token i is the first on its line.
func (p *parser) startsLine(i int) bool {
	start := p.tok(i).Start
	for j := p.endOf(i); j < start; j++ {
		if p.src.Text[j] == '\n' {
			return true
		}
	}
	return i == 0
}

// enter takes over from participle: hand-written code then reads at p.cur.
func (p *parser) enter(lex *lexer.PeekingLexer) { p.lex, p.cur = lex, p.base+lex.Cursor() }

// leave hands back to participle, which goes on behind what has been read.
func (p *parser) leave(lex *lexer.PeekingLexer) {
	if p.gaveUp != nil {
		p.cur = p.end // an optional part must not be tried again from where it failed
	}
	for p.base+lex.Cursor() < p.cur {
		lex.Next()
	}
}

// upgrade returns participle's view of the tokens [from, to), which become the
// current declaration.
func (p *parser) upgrade(from, to int) *lexer.PeekingLexer {
	p.base, p.cur, p.end = from, from, to
	return p.view.of(p.table, from, to)
}

// syntaxError carries a diagnostic up to the dispatcher that recovers.
type syntaxError struct {
	diag  diag.Diagnostic
	index int // of the token in sig
}

// Error implements error.
func (e *syntaxError) Error() string { return e.diag.String() }

// fail returns an error about the token with index i.
func (p *parser) fail(i int, d diag.Diagnostic) error { return &syntaxError{diag: d, index: i} }

// report adds the diagnostic of an error, unless it follows from another one:
// of the scanner about the same token, or of the parser about the same token.
func (p *parser) report(e *syntaxError) {
	if p.gaveUp != nil {
		return
	}
	if i := e.index; p.tok(i).Bad || i == p.reported || i > p.base && p.tok(i).Kind == EOF && p.tok(i-1).Bad {
		return
	}
	p.reported = e.index
	p.diags = append(p.diags, e.diag)
}

// note reports d about token i without giving up what is being read.
func (p *parser) note(i int, d diag.Diagnostic) { p.report(&syntaxError{diag: d, index: i}) }

// push counts one level of recursion. Every caller that gets no error calls pop.
func (p *parser) push() error {
	if p.depth++; p.depth > NestingMax {
		p.depth--
		return p.tooDeep(p.cur)
	}
	return nil
}

func (p *parser) pop() { p.depth-- }

func (p *parser) tooDeep(i int) error {
	d := diag.New(diag.NestingTooDeep, p.at(i), "nested more than %d levels deep", NestingMax).
		WithHelp("name parts of it: locals, functions or classes of their own")
	return p.giveUp(&syntaxError{diag: d, index: i})
}

// giveUp makes an error fatal: nothing more is read or reported of the
// declaration, which is lost to this error.
func (p *parser) giveUp(e *syntaxError) error {
	if p.gaveUp == nil {
		p.gaveUp = e
	}
	return p.gaveUp
}
