package jsoncodec

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aeon-lang/aeon/internal/bytejson"
)

// Error says what is wrong with JSON that was to be read.
type Error struct {
	Path string // the value that is wrong: rows[3].price; "" for the whole
	Msg  string
	Err  error // why a name is that of no actor or client; else nil
}

// Error implements error.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Msg
	}
	return e.Path + ": " + e.Msg
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// NestingMax bounds how deep values may nest that are read: only those of recursive classes nest deeper than their types.
const NestingMax = 1000

// reader reads JSON text. Its methods panic with an *Error, which catch recovers.
type reader struct {
	text  []byte
	pos   int
	path  []string // of the value that is being read
	names Names
	depth int
}

// fail ends the reading.
func (r *reader) fail(format string, args ...any) {
	r.failFor(nil, fmt.Sprintf(format, args...))
}

// failFor is fail for a reason that has a type of its own.
func (r *reader) failFor(err error, msg string) {
	panic(&Error{Path: strings.TrimPrefix(strings.Join(r.path, ""), "."), Msg: msg, Err: err})
}

// catch recovers what fail panics with.
func catch(err *error) {
	if r := recover(); r != nil {
		e, ok := r.(*Error)
		if !ok {
			panic(r)
		}
		*err = e
	}
}

func (r *reader) enter(step string) {
	r.path = append(r.path, step)
	if r.depth++; r.depth > NestingMax {
		r.path = nil
		r.fail("it nests deeper than %d", NestingMax)
	}
}

func (r *reader) leave() {
	r.path = r.path[:len(r.path)-1]
	r.depth--
}

// next skips white space and returns the byte behind it, 0 at the end.
func (r *reader) next() byte {
	for ; r.pos < len(r.text); r.pos++ {
		switch c := r.text[r.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// skip skips c, if it comes next.
func (r *reader) skip(c byte) bool {
	if r.next() != c {
		return false
	}
	r.pos++
	return true
}

func (r *reader) want(c byte) {
	if !r.skip(c) {
		r.unexpected(strconv.Quote(string(rune(c))))
	}
}

// unexpected fails where something else was to come.
func (r *reader) unexpected(wanted string) {
	if r.next() == 0 && r.pos == len(r.text) {
		r.fail("the text ends where %s is missing", wanted)
	}
	r.fail("%s at byte %d, where %s was expected", r.token(), r.pos, wanted)
}

// tokenMax is how many bytes of a string or a number a failure shows.
const tokenMax = 40

// token describes what comes next, which is not the end.
func (r *reader) token() string {
	rest := r.text[r.pos:]
	while := func(chars string) string {
		n := 1
		for n < len(rest) && strings.IndexByte(chars, rest[n]) >= 0 {
			n++
		}
		return string(rest[:n])
	}
	switch c := rest[0]; {
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		n := 1
		for n < len(rest) && rest[n] != '"' && rest[n] >= ' ' && rest[n] < utf8.RuneSelf && n < tokenMax {
			n++
		}
		if n < len(rest) && rest[n] == '"' {
			return "the string " + string(rest[:n+1])
		}
		return "a string"
	case c == '-' || c >= '0' && c <= '9':
		if number := while("0123456789+-.eE"); len(number) <= tokenMax {
			return "the number " + number
		}
		return "a number"
	case c == 't' || c == 'f' || c == 'n':
		if word := while("aeflrsu"); word == "true" || word == "false" || word == "null" {
			return word
		}
	}
	_, size := utf8.DecodeRune(rest)
	return strconv.Quote(string(rest[:size]))
}

// word skips a word such as null, if it comes next.
func (r *reader) word(w string) bool {
	r.next()
	if !strings.HasPrefix(string(r.text[r.pos:min(len(r.text), r.pos+len(w))]), w) {
		return false
	}
	r.pos += len(w)
	return true
}

// string reads a string.
func (r *reader) string(wanted string) string {
	if r.next() != '"' {
		r.unexpected(wanted)
	}
	from, plain := r.pos, true
	for r.pos++; r.pos < len(r.text); r.pos++ {
		switch c := r.text[r.pos]; {
		case c == '"':
			r.pos++
			if plain {
				return string(r.text[from+1 : r.pos-1])
			}
			s, err := bytejson.Unquote(r.text[from:r.pos])
			if err != nil || !utf8.Valid(r.text[from:r.pos]) {
				r.fail("the string at byte %d is no JSON", from)
			}
			return s
		case c == '\\':
			r.pos++
			plain = false
		case c < ' ':
			r.fail("control character %#02x in the string at byte %d", c, from)
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	r.pos = len(r.text)
	r.fail("the string at byte %d does not end", from)
	return ""
}

// number reads a number, as it is written.
func (r *reader) number(wanted string) string {
	r.next()
	from := r.pos
	r.one("-")
	if !r.one("0") && !r.digits() {
		r.pos = from
		r.unexpected(wanted)
	}
	if r.one(".") && !r.digits() {
		r.unexpected("a digit")
	}
	if r.one("eE") {
		r.one("+-")
		if !r.digits() {
			r.unexpected("a digit")
		}
	}
	return string(r.text[from:r.pos])
}

// one skips one of the bytes.
func (r *reader) one(of string) bool {
	if r.pos < len(r.text) && strings.IndexByte(of, r.text[r.pos]) >= 0 {
		r.pos++
		return true
	}
	return false
}

func (r *reader) digits() (some bool) {
	for r.one("0123456789") {
		some = true
	}
	return some
}

// end fails unless the text ends here.
func (r *reader) end() {
	if r.next() != 0 || r.pos != len(r.text) {
		r.unexpected("the end")
	}
}
