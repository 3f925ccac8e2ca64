package value

import (
	"strconv"
	"strings"
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

// Join returns the parts with sep between them.
func Join(parts Vector[string], sep string) string { return strings.Join(parts.Items(), sep) }

// Contains reports whether part occurs in s.
func Contains(s, part string) bool { return strings.Contains(s, part) }

// Replace returns s with every occurrence of old replaced.
func Replace(s, old, by string) string { return strings.ReplaceAll(s, old, by) }
