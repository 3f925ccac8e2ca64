package value

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// StrInt returns the decimal text of n.
func StrInt[T Integer](n T) string {
	if n < 0 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatUint(uint64(n), 10)
}

// StrFloat returns the shortest text that reads back as f.
func StrFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// StrBool returns true or false.
func StrBool(b bool) string { return strconv.FormatBool(b) }

// StrString returns s: the text of a string is the string.
func StrString(s string) string { return s }

// ParseInt returns the integer that s is in decimal notation with an optional sign, or null.
func ParseInt(s string) Opt[int64] {
	n, err := strconv.ParseInt(s, 10, 64)
	return SomeIf(n, err == nil)
}

// ParseFloat returns the number nearest to the one that s is in decimal notation, or null: where s is no such number, or one
// that is too large. What is no number or infinite has no decimal notation.
func ParseFloat(s string) Opt[float64] {
	if strings.Trim(s, "0123456789+-.eE") != "" { // Go would take names, underscores and other bases, too
		return Opt[float64]{}
	}
	f, err := strconv.ParseFloat(s, 64)
	return SomeIf(f, err == nil)
}

// formatDigitsMax bounds the digits that a program may ask for.
const formatDigitsMax = 100

func checkDigits(digits int64) int {
	if digits < 0 || digits > formatDigitsMax {
		Fail("format with " + strconv.FormatInt(digits, 10) + " digits: it takes 0 to " + strconv.Itoa(formatDigitsMax))
	}
	return int(digits)
}

// FormatInt returns n in a base from 2 to 36, with zeros in front if it has fewer digits, or faults.
func FormatInt[T Integer](n T, base, digits int64) string {
	if base < 2 || base > 36 {
		Fail("format in base " + strconv.FormatInt(base, 10) + ": it takes 2 to 36")
	}
	want, sign, size := checkDigits(digits), "", uint64(n)
	if n < 0 {
		sign, size = "-", -size
	}
	text := strconv.FormatUint(size, int(base))
	return sign + strings.Repeat("0", max(0, want-len(text))) + text
}

// FormatFloat returns f with so many digits after the point, rounded to the nearest, or faults. A half is exact in few
// numbers, and goes to the even digit. What is no number or infinite has the text of StrFloat.
func FormatFloat(f float64, digits int64) string {
	return strconv.FormatFloat(f, 'f', checkDigits(digits), 64)
}

// StringAt returns byte i of s, or faults.
func StringAt(s string, i int64) uint8 {
	if uint64(i) >= uint64(len(s)) {
		failIndex(i, len(s))
	}
	return s[i]
}

// StringSlice returns the bytes of s from a to b, b excluded, or faults.
func StringSlice(s string, a, b int64) string {
	if a < 0 || b < a || b > int64(len(s)) {
		failSlice(a, b, len(s))
	}
	return s[a:b]
}

// Split returns the parts of s between the separators, or its characters when sep is empty.
func Split(s, sep string) Vector[string] { return VectorOf(strings.Split(s, sep)...) }

// Contains reports whether part occurs in s.
func Contains(s, part string) bool { return strings.Contains(s, part) }

// Find returns the position of the byte at which part occurs first in s, or null.
func Find(s, part string) Opt[int64] {
	i := strings.Index(s, part)
	return SomeIf(int64(i), i >= 0)
}

// StartsWith reports whether s begins with part.
func StartsWith(s, part string) bool { return strings.HasPrefix(s, part) }

// EndsWith reports whether s ends with part.
func EndsWith(s, part string) bool { return strings.HasSuffix(s, part) }

// Trim returns s without white space, as Unicode defines it, at both ends.
func Trim(s string) string { return strings.TrimSpace(s) }

// Lower returns s with every letter in lower case. Bytes that are no text stay as they are.
func Lower(s string) string { return mapLetters(s, strings.ToLower, unicode.ToLower) }

// Upper returns s with every letter in upper case. Bytes that are no text stay as they are.
func Upper(s string) string { return mapLetters(s, strings.ToUpper, unicode.ToUpper) }

// mapLetters maps the letters of s. The function of Go for whole texts would replace bytes that are no text.
func mapLetters(s string, whole func(string) string, letter func(rune) rune) string {
	if utf8.ValidString(s) {
		return whole(s)
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			out = append(out, s[i])
		} else {
			out = utf8.AppendRune(out, letter(r))
		}
		i += size
	}
	return string(out)
}

// TextBytesMax bounds what Join, Replace and Repeat make: their results can be larger than their arguments by any factor, so one call
// could take all memory.
const TextBytesMax = 64 << 20

//go:noinline
func failText(what string) {
	Fail(what + " would make a string of more than " + strconv.Itoa(TextBytesMax) + " bytes")
}

// grown faults unless n bytes and count times more of them are at most TextBytesMax.
func grown(what string, n, count, more int) {
	if count > 0 && more > 0 && (n > TextBytesMax || count > (TextBytesMax-n)/more) {
		failText(what)
	}
}

// Join returns the parts with sep between them, or faults if that is too long.
func Join(parts Vector[string], sep string) string {
	items, size := parts.Items(), 0
	for i, p := range items {
		if i > 0 {
			grown("join", size, 1, len(sep))
			size += len(sep)
		}
		grown("join", size, 1, len(p))
		size += len(p)
	}
	return strings.Join(items, sep)
}

// Replace returns s with every occurrence of old replaced, or faults if that is too long.
func Replace(s, old, by string) string {
	if len(by) > len(old) {
		grown("replace", len(s), strings.Count(s, old), len(by)-len(old))
	}
	return strings.ReplaceAll(s, old, by)
}

// Repeat returns s as often as n says, or faults if n is negative or the result too long.
func Repeat(s string, n int64) string {
	if n < 0 {
		Fail("repeat " + strconv.FormatInt(n, 10) + " times")
	}
	if s == "" {
		return ""
	}
	grown("repeat", 0, int(n), len(s))
	return strings.Repeat(s, int(n))
}
