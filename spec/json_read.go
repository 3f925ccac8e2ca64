package spec

import (
	"encoding/base64"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/aeon-lang/aeon/typecheck"
)

// parseJSON is parseJson<t>(s): a value, or nil.
func parseJSON(t typecheck.Type, s string) (v value) {
	if len(s) > textBytesMax {
		return nil
	}
	return readJSON(t, s)
}

// readJSON reads a text whole.
func readJSON(t typecheck.Type, s string) (v value) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case badJSON:
			v = nil
		default:
			panic(r)
		}
	}()
	r := jsonReader{rest: s}
	v = r.value(t, 0)
	if r.space(); r.rest != "" {
		panic(badJSON{})
	}
	return v
}

// badJSON is what a jsonReader panics with.
type badJSON struct{}

// jsonReader reads JSON from the front of rest.
type jsonReader struct{ rest string }

func (r *jsonReader) space() { r.rest = strings.TrimLeft(r.rest, " \t\n\r") }

// take takes a token off the front, if it is there.
func (r *jsonReader) take(token string) bool {
	r.space()
	rest, ok := strings.CutPrefix(r.rest, token)
	r.rest = rest
	return ok
}

func (r *jsonReader) want(ok bool) {
	if !ok {
		panic(badJSON{})
	}
}

// value reads a value of type t, which is within so many arrays and objects.
func (r *jsonReader) value(t typecheck.Type, within int) value {
	r.want(within <= jsonNestingMax)
	switch t := t.(type) {
	case *typecheck.Optional:
		if r.take("null") {
			return nil
		}
		return r.value(t.Elem, within)
	case *typecheck.Vector:
		v := emptyVector()
		r.list("[", "]", func() { v = v.push(r.value(t.Elem, within+1)) })
		return v
	case *typecheck.Set:
		v := &table{set: true}
		r.list("[", "]", func() { v = r.added(v, r.value(t.Elem, within+1), nil) })
		return v
	case *typecheck.Map:
		v := &table{}
		r.list("{", "}", func() {
			k := r.key(t.Key, r.string())
			r.want(r.take(":"))
			v = r.added(v, k, r.value(t.Value, within+1))
		})
		return v
	case *typecheck.Class:
		return r.object(t, within)
	case *typecheck.Enum:
		return fromText(t, r.string())
	case *typecheck.Basic:
		return r.basic(t)
	}
	panic(bug{"no JSON of the type " + t.String()})
}

func (r *jsonReader) basic(t *typecheck.Basic) value {
	switch {
	case t.Kind == typecheck.BoolKind:
		if r.take("true") {
			return true
		}
		r.want(r.take("false"))
		return false
	case typecheck.IsInteger(t):
		n, ok := new(big.Int).SetString(r.number(), 10)
		r.want(ok)
		fitted, ok := fit(t.Kind, n)
		r.want(ok)
		return fitted
	case t.Kind == typecheck.FloatKind:
		if r.space(); strings.HasPrefix(r.rest, `"`) {
			n, ok := map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[r.string()]
			r.want(ok)
			return n
		}
		n, err := strconv.ParseFloat(r.number(), 64)
		r.want(err == nil)
		return n
	}
	return fromText(t, r.string())
}

// key reads a key of a map from its text, which for numbers and bool is the JSON of it.
func (r *jsonReader) key(t typecheck.Type, s string) value {
	v := value(nil)
	if typecheck.IsInteger(t) || t == typecheck.Bool {
		v = readJSON(t, s)
		r.want(v != nil)
		return v
	}
	return fromText(t, s)
}

// fromText returns the value of a type whose JSON is a string.
func fromText(t typecheck.Type, s string) value {
	bad := func(ok bool) {
		if !ok {
			panic(badJSON{})
		}
	}
	if t, ok := t.(*typecheck.Enum); ok {
		for _, v := range t.Values {
			if v.Name() == s {
				return enumValue{of: v}
			}
		}
		bad(false)
	}
	if b, ok := t.(*typecheck.Basic); ok && b.Kind == typecheck.StringKind { // or a Go type that has a text
		return s
	}
	switch t {
	case typecheck.Bytes:
		data, err := base64.StdEncoding.DecodeString(s)
		bad(err == nil)
		return byteString(data)
	case typecheck.Time:
		at := parseTime(s)
		bad(at != nil)
		return at
	case typecheck.Duration:
		d, err := time.ParseDuration(s)
		bad(err == nil)
		return span(d)
	}
	panic(bug{"no JSON of the type " + t.String()})
}

// added returns v with a key that is not there yet.
func (r *jsonReader) added(v *table, k, to value) *table {
	_, twice := v.find(k)
	r.want(!twice)
	return v.with(k, to)
}

// list reads elements between brackets, with commas between them.
func (r *jsonReader) list(open, end string, element func()) {
	r.want(r.take(open))
	if r.take(end) {
		return
	}
	for {
		element()
		if r.take(end) {
			return
		}
		r.want(r.take(","))
	}
}

// object reads all fields of a class, in any order. One that may be null may be missing.
func (r *jsonReader) object(c *typecheck.Class, within int) value {
	v := &structure{class: c, fields: make([]value, len(c.Fields))}
	there := make(map[string]bool)
	r.list("{", "}", func() {
		name := r.string()
		r.want(r.take(":"))
		for i, f := range c.Fields {
			if f.Name() == name && !there[name] {
				there[name] = true
				v.fields[i] = r.value(f.Type(), within+1)
				return
			}
		}
		r.want(false)
	})
	for _, f := range c.Fields {
		_, optional := f.Type().(*typecheck.Optional)
		r.want(there[f.Name()] || optional)
	}
	return v
}

// string reads a string.
func (r *jsonReader) string() string {
	r.want(r.take(`"`))
	var b strings.Builder
	for {
		c, size := utf8.DecodeRuneInString(r.rest)
		r.want(size > 0 && c >= ' ' && (c != utf8.RuneError || size > 1))
		whole := r.rest
		r.rest = r.rest[size:]
		switch {
		case c == '"':
			return b.String()
		case c != '\\':
			b.WriteString(whole[:size])
		case strings.HasPrefix(r.rest, "u"):
			r.unicode(&b)
		default:
			r.want(r.rest != "")
			i := strings.IndexByte(`"\/bfnrt`, r.rest[0])
			r.want(i >= 0)
			b.WriteByte("\"\\/\b\f\n\r\t"[i])
			r.rest = r.rest[1:]
		}
	}
}

// unicode reads an escaped character behind its \, which may be two surrogates.
func (r *jsonReader) unicode(b *strings.Builder) {
	c, rest := hexJSON(r.rest)
	r.want(c >= 0)
	r.rest = rest
	if next, escaped := strings.CutPrefix(rest, `\`); escaped && utf16.IsSurrogate(c) {
		if low, rest := hexJSON(next); low >= 0 && utf16.DecodeRune(c, low) != utf8.RuneError {
			b.WriteRune(utf16.DecodeRune(c, low))
			r.rest = rest
			return
		}
	}
	if c >= 0xdc80 && c <= 0xdcff {
		b.WriteByte(byte(c)) // a byte that is no text
		return
	}
	b.WriteRune(c)
}

// hexJSON reads uXXXX, or returns a negative number.
func hexJSON(s string) (rune, string) {
	if len(s) < 5 || s[0] != 'u' || strings.Trim(s[1:5], "0123456789abcdefABCDEF") != "" {
		return -1, s
	}
	n, _ := strconv.ParseUint(s[1:5], 16, 32)
	return rune(n), s[5:]
}

var jsonNumber = regexp.MustCompile(`^-?(0|[0-9]+)(\.[0-9]+)?([eE][+-]?[0-9]+)?`)

// number reads a number, as it is written.
func (r *jsonReader) number() string {
	r.space()
	n := jsonNumber.FindString(r.rest)
	r.want(n != "")
	r.rest = r.rest[len(n):]
	return n
}
