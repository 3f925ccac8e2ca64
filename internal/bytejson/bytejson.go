// Package bytejson writes strings of any bytes as JSON, and reads them back as they were.
//
// Strings of aeon are bytes, as in Go, but a JSON string is text, and encoding/json puts U+FFFD for each byte that is not
// UTF-8. Here such a byte is a lone low surrogate instead: \udc80 to \udcff stand for the bytes 0x80 to 0xff. No text has
// lone surrogates, so that all valid text is written and read as by any other package, and what reads a byte without
// knowing of this sees U+FFFD, as before. Python's "surrogateescape" (PEP 383) is the same.
package bytejson

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a string of any bytes, as a member of what is encoded.
type Text string

// Texts returns the strings as texts, nil if there is no list.
func Texts(list []string) []Text {
	var texts []Text
	if list != nil {
		texts = make([]Text, 0, len(list))
	}
	for _, s := range list {
		texts = append(texts, Text(s))
	}
	return texts
}

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) { return Append(nil, string(t)), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(quoted []byte) error {
	if string(quoted) == "null" {
		return nil
	}
	s, err := Unquote(quoted)
	if err == nil {
		*t = Text(s)
	}
	return err
}

// Append appends s as a JSON string.
func Append(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b = fmt.Appendf(b, `\udc%02x`, s[i])
		} else {
			quoted, err := json.Marshal(s[i : i+size])
			if err != nil {
				panic(err) // strings always marshal
			}
			b = append(b, quoted[1:len(quoted)-1]...)
		}
		i += size
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

var errSyntax = errors.New("no JSON string")

// Unquote is the inverse of Append, and reads every other JSON string.
func Unquote(quoted []byte) (string, error) {
	if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return "", errSyntax
	}
	in := quoted[1 : len(quoted)-1]
	b := make([]byte, 0, len(in))
	for len(in) > 0 {
		if in[0] != '\\' {
			b, in = append(b, in[0]), in[1:]
			continue
		}
		if r, ok := escaped(in); ok {
			in = in[6:]
			if low, ok := escaped(in); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				r, in = utf16.DecodeRune(r, low), in[6:]
			}
			if r >= 0xdc80 && r <= 0xdcff {
				b = append(b, byte(r))
			} else {
				b = utf8.AppendRune(b, r) // U+FFFD for what is no character
			}
			continue
		}
		var s string
		if len(in) < 2 || json.Unmarshal([]byte{'"', in[0], in[1], '"'}, &s) != nil {
			return "", errSyntax
		}
		b, in = append(b, s...), in[2:]
	}
	return string(b), nil
}

// escaped reads \uXXXX at the beginning of in.
func escaped(in []byte) (r rune, ok bool) {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return 0, false
	}
	for _, c := range in[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
