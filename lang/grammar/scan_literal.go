package grammar

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aeon-lang/aeon/lang/diag"
)

// number scans a number or a duration. The run of letters, digits, dots and
// exponent signs is taken first and judged afterwards, so that a bad number is
// one error and one token.
func (s *scanner) number(start int) {
	hex := s.text[start] == '0' && (s.byteAt(start+1)|0x20 == 'x')
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case isLetter(c) || isDigit(c):
		case c == '.' && s.byteAt(s.pos+1) != '.' && (hex || !isLetter(s.byteAt(s.pos+1))):
		case (c == '+' || c == '-') && s.pos > start && isExponent(s.text[s.pos-1]|0x20, hex, s.text[start:s.pos]):
		case c >= utf8.RuneSelf && strings.HasPrefix(s.text[s.pos:], "µs"):
			s.pos++
		default:
			s.endNumber(start)
			return
		}
		s.pos++
	}
	s.endNumber(start)
}

// isExponent reports whether a sign behind c belongs to the number read so far.
func isExponent(c byte, hex bool, sofar string) bool {
	if hex {
		return c == 'p'
	}
	return c == 'e' && !strings.ContainsAny(sofar[:len(sofar)-1], "hmsnuµ")
}

func (s *scanner) endNumber(start int) {
	text := s.text[start:s.pos]
	if _, err := parseInt(text); err == nil {
		s.emit(Int, start)
		return
	} else if isRange(err) {
		s.tooLarge(Int, start, "the integer %s does not fit in 64 bits", text)
		return
	}
	if _, err := parseFloat(text); err == nil {
		s.emit(Float, start)
		return
	} else if isRange(err) {
		s.tooLarge(Float, start, "the number %s does not fit in a float", text)
		return
	}
	if isDurationText(text) {
		if _, err := time.ParseDuration(text); err == nil {
			s.emit(Duration, start)
			return
		}
		if strings.Trim(text, "0123456789.hmsunµ") == "" && validUnits(text) {
			s.tooLarge(Duration, start, "the duration %s is longer than 292 years", text)
			return
		}
	}
	s.report(diag.New(diag.InvalidNumber, s.span(start, s.pos), "%s is not a number", quote(text)).
		WithHelp("numbers are written as in Go: 42, 1_000, 0xff, 2.5, 1e9; durations as 50ms, 90s, 1h30m"))
	s.emitBad(Int, start)
}

func (s *scanner) tooLarge(k Kind, start int, format, text string) {
	s.report(diag.New(diag.NumberTooLarge, s.span(start, s.pos), format, clip(text)))
	s.emitBad(k, start)
}

func isRange(err error) bool {
	num, ok := err.(*strconv.NumError)
	return ok && num.Err == strconv.ErrRange
}

// isDurationText reports whether text may be a duration: digits first and no sign.
func isDurationText(text string) bool {
	return strings.Trim(text[len(text)-1:], "hms") == "" && strings.Trim(text, "0123456789.hmsnuµ") == ""
}

// validUnits reports whether every number in text has a unit that exists.
func validUnits(text string) bool {
	for _, unit := range strings.FieldsFunc(text, func(r rune) bool { return r == '.' || '0' <= r && r <= '9' }) {
		switch unit {
		case "h", "m", "s", "ms", "us", "µs", "ns":
		default:
			return false
		}
	}
	return true
}

// parseInt reads an integer literal as Go does.
func parseInt(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 0, 64)
	digits := "0123456789_"
	if text[0] == '0' {
		digits += "xXoOabcdefABCDEF"
	}
	if isRange(err) && (strings.Trim(text, digits) != "" || !underscoresStandBetweenDigits(text)) {
		return 0, strconv.ErrSyntax // ParseUint ends at the digit that is too much, and has not seen the dot of a float, the unit of a duration, or an underscore
	}
	return n, err
}

// parseFloat reads a floating-point literal as Go does.
func parseFloat(text string) (float64, error) {
	if !strings.ContainsAny(text, ".eEpP") || strings.ContainsAny(text, "iInN") { // 08, inf, nan
		return 0, strconv.ErrSyntax
	}
	plain := text
	if strings.Contains(text, "_") {
		if !underscoresStandBetweenDigits(text) {
			return 0, strconv.ErrSyntax
		}
		plain = strings.ReplaceAll(text, "_", "")
	}
	return strconv.ParseFloat(plain, 64)
}

// underscoresStandBetweenDigits reports whether every underscore in text has digits on both sides. The letter of a base counts as one.
func underscoresStandBetweenDigits(text string) bool {
	based := len(text) > 1 && text[0] == '0' && strings.IndexByte("xbo", text[1]|0x20) >= 0
	hex := based && text[1]|0x20 == 'x'
	digit := func(i int) bool {
		if i < 0 || i >= len(text) {
			return false
		}
		letter := text[i] | 0x20
		return isDigit(text[i]) || based && i == 1 || hex && 'a' <= letter && letter <= 'f'
	}
	for i := range len(text) {
		if text[i] == '_' && (!digit(i-1) || !digit(i+1)) {
			return false
		}
	}
	return true
}

// stringPart scans text up to the end of the string, which makes a token of
// kind whole, or up to a `{`, which makes one of kind open. The opening quote
// or brace has been read.
func (s *scanner) stringPart(start int, whole, open Kind) {
	first := s.pos
	bad := false
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case '"':
			bad = !s.checkText(first, s.pos) || bad
			s.pos++
			s.emitPart(whole, start, bad)
			return
		case '{':
			bad = !s.checkText(first, s.pos) || bad
			s.pos++
			s.holes = append(s.holes, hole{head: len(s.toks)})
			s.emitPart(open, start, bad)
			return
		case '\n':
			s.unterminated(start, whole)
			return
		case '\\':
			bad = !s.escape('"') || bad
		default:
			s.pos++
		}
	}
	s.unterminated(start, whole)
}

func (s *scanner) emitPart(k Kind, start int, bad bool) {
	if bad {
		s.emitBad(k, start)
		return
	}
	s.emit(k, start)
}

func (s *scanner) unterminated(start int, whole Kind) {
	end := s.pos
	for end > start+1 && (s.text[end-1] == '\r' || s.text[end-1] == ' ' || s.text[end-1] == ';' || s.text[end-1] == ')') {
		end--
	}
	d := diag.New(diag.UnterminatedString, s.span(start, end), "string is not closed on its line").
		WithHelp("end it with \", or write text of several lines between backquotes")
	if len(s.holes) == 0 { // else the quote that has begun it most likely was to end the string around it
		d = d.WithFix("close the string", diag.InsertAfter(s.span(start, end), `"`))
	}
	s.report(d)
	// The tail of the line most likely is not part of the string.
	s.pos = end
	s.emitBad(whole, start)
	if len(s.holes) > 0 {
		s.dropHoles()
	}
}

// closeHoles ends all open interpolations at the end of a line: one error, and
// an empty StrTail for each so that strings stay balanced in the table.
func (s *scanner) closeHoles() {
	head := s.toks[s.holes[0].head]
	s.report(diag.New(diag.UnterminatedString, s.span(int(head.Start), int(head.End)), "string is not closed on its line").
		WithLabel("this interpolation is open at the end of the line").
		WithHelp(`close it with }, or write \{ for a brace that is text`))
	s.dropHoles()
}

func (s *scanner) dropHoles() {
	for range s.holes {
		s.emitBad(StrTail, s.pos)
	}
	s.holes = s.holes[:0]
}

func (s *scanner) rawString(start int) {
	end := strings.IndexByte(s.text[start+1:], '`')
	if end < 0 {
		s.report(diag.New(diag.UnterminatedString, s.span(start, start+1), "raw string is not closed").
			WithLabel("starts here").WithHelp("end it with a backquote"))
		s.pos = len(s.text)
		s.emitBad(RawString, start)
		return
	}
	if len(s.holes) > 0 && strings.Contains(s.text[start:start+1+end], "\n") {
		s.closeHoles()
	}
	s.pos = start + 1 + end + 1
	s.emitPart(RawString, start, !s.checkText(start, s.pos))
}

const doubleQuotes = "strings stand between double quotes"

func (s *scanner) char(start int) {
	s.pos++
	ok := true
	switch c := s.byteAt(s.pos); {
	case c == '\\':
		ok = s.escape('\'')
	case c == '\'' || c == '\n' || c == 0:
		ok = false
	default:
		r, n := utf8.DecodeRuneInString(s.text[s.pos:])
		ok = r != utf8.RuneError || n > 1
		s.pos += n
	}
	if ok && s.byteAt(s.pos) == '\'' {
		s.pos++
		s.emit(Char, start)
		return
	}
	reported := !ok && len(s.diags) > 0 && s.diags[len(s.diags)-1].Span.Start > int32(start)
	end := strings.IndexAny(s.text[s.pos:], "'\n")
	closed := end >= 0 && s.text[s.pos+end] == '\''
	if closed {
		s.pos += end + 1
	}
	if !reported {
		s.report(diag.New(diag.UnterminatedString, s.span(start, s.pos), "not a character: between single quotes stands exactly one").
			WithHelp(doubleQuotes))
	}
	s.emitBad(Char, start)
	s.gap = !closed // what follows most likely is its text
}

// escape checks the escape sequence at the current position and skips it.
func (s *scanner) escape(quoteChar byte) bool {
	_, n, ok := unescape(s.text[s.pos:], quoteChar)
	if !ok {
		s.report(diag.New(diag.InvalidEscape, s.span(s.pos, s.pos+n), "unknown escape sequence %s", quote(s.text[s.pos:s.pos+n])).
			WithHelp(`the escapes are \n \t \r \a \b \f \v \\ \" \{ \} \xhh \ooo \uhhhh \Uhhhhhhhh; a backslash itself is \\`))
	}
	s.pos += n
	return ok
}

// unescape decodes the escape sequence that text starts with: the text it
// stands for and its length. If it is none, n covers what should be shown.
func unescape(text string, quoteChar byte) (out string, n int, ok bool) {
	if len(text) < 2 || text[1] == '\n' {
		return "", 1, false
	}
	switch c := text[1]; {
	case c == '{' || c == '}':
		return string(c), 2, quoteChar == '"'
	default:
		r, multibyte, tail, err := strconv.UnquoteChar(text, quoteChar)
		if err != nil {
			_, size := utf8.DecodeRuneInString(text[1:])
			return "", 1 + size, false
		}
		n = len(text) - len(tail)
		if r < utf8.RuneSelf || !multibyte {
			return string([]byte{byte(r)}), n, true
		}
		return string(r), n, true
	}
}

// unescapeAll decodes the text between the delimiters of a string's part.
// Escapes that are unknown have been reported and stay as they are.
func unescapeAll(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var out strings.Builder
	for len(text) > 0 {
		i := strings.IndexByte(text, '\\')
		if i < 0 {
			break
		}
		out.WriteString(text[:i])
		text = text[i:]
		s, n, ok := unescape(text, '"')
		if !ok {
			s = text[:n]
		}
		out.WriteString(s)
		text = text[n:]
	}
	out.WriteString(text)
	return out.String()
}

// quote returns text in quotes for a message, shortened if it is long.
func quote(text string) string { return strconv.Quote(clip(text)) }

// clip shortens text for a message.
func clip(text string) string {
	const charsMax = 40
	if len(text) <= charsMax {
		return text
	}
	end := charsMax
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
