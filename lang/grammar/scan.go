package grammar

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// Scan makes the token table of a source, comments included, without a final
// EOF. It never fails: what is not a token is reported and left out, and an
// unterminated literal becomes a complete token marked Bad.
func Scan(src *ast.Source) ([]Token, []diag.Diagnostic) {
	s := scanner{src: src, text: src.Text, toks: make([]Token, 0, len(src.Text)/4+8)}
	s.pos = len(s.text) - len(strings.TrimPrefix(s.text, "\ufeff"))
	for s.next() {
	}
	return s.toks, s.diags
}

type scanner struct {
	src   *ast.Source
	text  string
	pos   int
	toks  []Token
	diags []diag.Diagnostic
	holes []hole // the interpolations that are open, outermost first
	gap   bool   // something was skipped before the next token
}

// hole is an open `{…}` in a string.
type hole struct {
	head   int // index in toks of the StrHead
	braces int // braces open within the hole
}

func (s *scanner) span(start, end int) ast.Span {
	return ast.Span{Src: s.src, Start: int32(start), End: int32(end)}
}

func (s *scanner) emit(k Kind, start int) {
	s.toks = append(s.toks, Token{Kind: k, Bad: s.gap, Start: int32(start), End: int32(s.pos)})
	s.gap = false
}

func (s *scanner) emitBad(k Kind, start int) {
	s.gap = true
	s.emit(k, start)
}

func (s *scanner) report(d diag.Diagnostic) {
	if len(s.diags) <= errorsMax {
		s.diags = append(s.diags, d)
	}
}

func (s *scanner) byteAt(i int) byte {
	if i < len(s.text) {
		return s.text[i]
	}
	return 0
}

// next scans one token and reports whether there may be another.
func (s *scanner) next() bool {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case '\n':
			if len(s.holes) > 0 {
				s.closeHoles()
			}
			s.pos++
			continue
		case ' ', '\t', '\r':
			s.pos++
			continue
		}
		break
	}
	if s.pos >= len(s.text) {
		if len(s.holes) > 0 {
			s.closeHoles()
		}
		return false
	}
	start, c := s.pos, s.text[s.pos]
	switch {
	case isLetter(c):
		s.word(start)
	case isDigit(c), c == '.' && isDigit(s.byteAt(s.pos+1)):
		s.number(start)
	case c == '"':
		s.pos++
		s.stringPart(start, String, StrHead)
	case c == '`':
		s.rawString(start)
	case c == '\'':
		s.char(start)
	case c == '/' && s.byteAt(s.pos+1) == '/':
		s.lineComment(start)
	case c == '/' && s.byteAt(s.pos+1) == '*':
		s.blockComment(start)
	case c == '}' && len(s.holes) > 0 && s.holes[len(s.holes)-1].braces == 0:
		s.holes = s.holes[:len(s.holes)-1]
		s.pos++
		s.stringPart(start, StrTail, StrMid)
	default:
		s.punct(start)
	}
	return true
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

func (s *scanner) word(start int) {
	for s.pos < len(s.text) && (isLetter(s.text[s.pos]) || isDigit(s.text[s.pos])) {
		s.pos++
	}
	word := s.text[start:s.pos]
	if k, ok := keywords[word]; ok {
		s.emit(k, start)
		return
	}
	s.emit(Ident, start)
}

func (s *scanner) lineComment(start int) {
	end := strings.IndexByte(s.text[start:], '\n')
	if end < 0 {
		end = len(s.text) - start
	}
	s.pos = start + end
	for s.text[s.pos-1] == '\r' {
		s.pos--
	}
	s.emit(Comment, start)
	s.checkText(start, s.pos)
}

func (s *scanner) blockComment(start int) {
	end := strings.Index(s.text[start+2:], "*/")
	if end < 0 {
		s.pos = len(s.text)
		s.report(diag.New(diag.UnterminatedComment, s.span(start, start+2), "comment is not closed").
			WithLabel("starts here").WithHelp("end it with */").
			WithFix("close the comment", diag.InsertAfter(s.span(start, s.pos), " */")))
		s.emitBad(Comment, start)
		return
	}
	if len(s.holes) > 0 && strings.Contains(s.text[start:start+2+end], "\n") {
		s.closeHoles()
	}
	s.pos = start + 2 + end + 2
	s.emit(Comment, start)
	s.checkText(start, s.pos)
}

// checkText reports what may stand in no comment and no string: bytes that are
// not UTF-8, and NUL.
func (s *scanner) checkText(start, end int) bool {
	text := s.text[start:end]
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return true
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == 0 || r == utf8.RuneError && n == 1 {
			s.report(diag.New(diag.StrayCharacter, s.span(start+i, start+i+1), "the byte 0x%02x is not UTF-8 text", text[i]).
				WithHelp(`save the file as UTF-8; in a string write it as \x%02x`, text[i]))
			return false
		}
		i += n
	}
	return true
}

// punct scans an operator, the longest that fits, or reports a stray character.
func (s *scanner) punct(start int) {
	for n := 3; n > 0; n-- {
		if start+n > len(s.text) {
			continue
		}
		if k, ok := puncts[s.text[start:start+n]]; ok {
			s.pos += n
			s.emit(k, start)
			if len(s.holes) > 0 {
				s.countBrace(k)
			}
			return
		}
	}
	s.stray(start)
}

var puncts = func() map[string]Kind {
	m := make(map[string]Kind)
	for k := punctFirst + 1; k < punctLast; k++ {
		m[kindText[k]] = k
	}
	return m
}()

func (s *scanner) countBrace(k Kind) {
	top := &s.holes[len(s.holes)-1]
	switch k {
	case LBrace:
		top.braces++
	case RBrace:
		top.braces--
	}
}

// lookalikes maps characters that word processors put in the place of ASCII.
var lookalikes = map[rune]string{
	'“': `"`, '”': `"`, '„': `"`, '‘': "'", '’': "'", '–': "-", '—': "-", '−': "-", '×': "*", '÷': "/",
	'≤': "<=", '≥': ">=", '≠': "!=", ';': ";", '：': ":", '；': ";", '，': ",", '（': "(", '）': ")", '\u00a0': " ",
}

// strayHelp says what aeon has instead of characters that mean something elsewhere.
var strayHelp = map[rune]string{
	'@': "there are no annotations", '#': "a comment starts with //, and there is no preprocessor", '$': "values stand in braces in a string: \"{x}\"",
	'~': "the complement of x is `^x`; nothing runs when an object goes, and `delete a` ends an actor",
}

// stray reports a run of characters that start no token, once, and skips it.
// The token behind it is marked, because an error there follows from this one.
func (s *scanner) stray(start int) {
	r, n := utf8.DecodeRuneInString(s.text[start:])
	s.pos += n
	d := diag.New(diag.StrayCharacter, s.span(start, s.pos), "unexpected character %q", r)
	plain, known := lookalikes[r]
	switch {
	case r == utf8.RuneError && n == 1:
		d = diag.New(diag.StrayCharacter, s.span(start, s.pos), "the byte 0x%02x is not UTF-8 text", s.text[start]).
			WithHelp("save the file as UTF-8")
	case known:
		d = d.WithHelp("write %q", plain).WithFix("replace it", diag.Replace(s.span(start, s.pos), plain))
	case strayHelp[r] != "":
		d = d.WithHelp("%s", strayHelp[r])
	case unicode.IsLetter(r):
		d = d.WithHelp("names consist of the letters a-z, A-Z, digits and _")
	}
	s.report(d)
	switch {
	case plain == `"` || plain == "'":
		s.curlyString(start)
	case puncts[plain] != 0:
		s.emitBad(puncts[plain], start)
	default:
		s.skipStray()
		s.gap = true
	}
}

// curlyString skips a string between typographic quotation marks.
func (s *scanner) curlyString(start int) {
	for i, r := range s.text[s.pos:] {
		if r == '\n' {
			break
		}
		if q := lookalikes[r]; q == `"` || q == "'" {
			s.pos += i + utf8.RuneLen(r)
			break
		}
	}
	s.emitBad(String, start)
}

func (s *scanner) skipStray() {
	for s.pos < len(s.text) {
		r, n := utf8.DecodeRuneInString(s.text[s.pos:])
		if r < utf8.RuneSelf && (strings.ContainsRune(" \n\t\r\"`'", r) || isLetter(byte(r)) || isDigit(byte(r)) || puncts[string(r)] != 0) {
			return
		}
		s.pos += n
	}
}
