package spec

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aeon-lang/aeon/lang/ast"
)

// jsonNestingMax bounds how deep the elements of values nest in JSON.
const jsonNestingMax = 1000

// json is json(v): [LIBRARY].
func (f *frame) json(x *ast.Call, v value) value {
	var b strings.Builder
	f.writeJSON(x, &b, v, 0)
	f.made(x, "json", float64(b.Len()))
	return b.String()
}

// writeJSON writes v, which is within so many arrays and objects.
func (f *frame) writeJSON(x *ast.Call, b *strings.Builder, v value, within int) {
	if within > jsonNestingMax {
		f.fail(x, "json of a value that nests deeper than "+strconv.Itoa(jsonNestingMax))
	}
	list := func(open string, n int, write func(i int), end string) {
		b.WriteString(open)
		for i := range n {
			if i > 0 {
				b.WriteString(",")
			}
			write(i)
		}
		b.WriteString(end)
	}
	switch v := v.(type) {
	case *structure:
		list("{", len(v.fields), func(i int) {
			b.WriteString(quotedJSON(v.class.Fields[i].Name()) + ":")
			f.writeJSON(x, b, v.fields[i], within+1)
		}, "}")
	case *vector:
		list("[", len(v.elems), func(i int) { f.writeJSON(x, b, v.elems[i], within+1) }, "]")
	case *table:
		if v.set {
			list("[", len(v.entries), func(i int) { f.writeJSON(x, b, v.entries[i].key, within+1) }, "]")
			return
		}
		list("{", len(v.entries), func(i int) {
			b.WriteString(quotedJSON(plainJSON(v.entries[i].key)) + ":")
			f.writeJSON(x, b, v.entries[i].value, within+1)
		}, "}")
	case nil, bool, integer:
		b.WriteString(text(v))
	case float64:
		b.WriteString(floatJSON(v))
	default:
		b.WriteString(quotedJSON(plainJSON(v)))
	}
}

// plainJSON is the text of a key, or of a value that is a string in JSON.
func plainJSON(v value) string {
	if v, ok := v.(byteString); ok {
		return base64.StdEncoding.EncodeToString([]byte(v))
	}
	return text(v)
}

// floatJSON is a number as ECMAScript writes it; what is no number of JSON is its name.
func floatJSON(v float64) string {
	switch {
	case math.IsNaN(v):
		return `"NaN"`
	case math.IsInf(v, 1):
		return `"Infinity"`
	case math.IsInf(v, -1):
		return `"-Infinity"`
	case v != 0 && (math.Abs(v) < 1e-6 || math.Abs(v) >= 1e21):
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
		if digits := strings.TrimLeft(exponent[1:], "0"); exponent[0] == '-' { // 1e-7, but 1e+21
			return mantissa + "e-" + digits
		}
		return mantissa + "e" + exponent
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// quotedJSON is a string: bytes that are no text are lone surrogates, and what HTML or JavaScript could take for its own is escaped.
func quotedJSON(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	plain := 0 // where the text begins that is not written yet and is written as it is
	for i := 0; i < len(s); {
		if c := s[i]; ' ' <= c && c < utf8.RuneSelf && c != '"' && c != '\\' { // most of what programs write, megabytes of it
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if escaped := escapedJSON(r, s[i:i+size]); escaped != "" {
			b.WriteString(s[plain:i])
			b.WriteString(escaped)
			plain = i + size
		}
		i += size
	}
	b.WriteString(s[plain:])
	b.WriteByte('"')
	return b.String()
}

// escapedJSON returns how the character r, which text holds, is escaped; "": it is not.
func escapedJSON(r rune, text string) string {
	switch {
	case r == utf8.RuneError && len(text) == 1:
		return fmt.Sprintf(`\udc%02x`, text[0])
	case r == '"' || r == '\\':
		return `\` + text
	case r == '\b':
		return `\b`
	case r == '\f':
		return `\f`
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < ' ' || r == '\u2028' || r == '\u2029':
		return fmt.Sprintf(`\u%04x`, r)
	}
	return ""
}
