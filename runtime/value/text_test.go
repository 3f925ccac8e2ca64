package value_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/value"
)

// hostile are strings of which some are no text: pieces of UTF-8 in any order.
func hostile() *rapid.Generator[string] {
	pieces := []string{"a", "B", " ", "\t", "é", "É", "ß", "İ", "ǅ", "\u2003", "\u0085", "\xc3", "\xa9", "\x85", "\xff", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xef\xbf\xbd", "Ⱥ", "𝕏", "\x00"}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
	})
}

// TestCase: what is text is mapped as Go maps it, and what is not stays, each byte in its place.
func TestCase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := hostile().Draw(t, "s")
		lower, upper := value.Lower(s), value.Upper(s)
		if utf8.ValidString(s) && (lower != strings.ToLower(s) || upper != strings.ToUpper(s)) {
			t.Fatalf("%q is %q and %q", s, lower, upper)
		}
		if bad := noText(s); noText(lower) != bad || noText(upper) != bad {
			t.Fatalf("%q is %q and %q", s, lower, upper)
		}
	})
}

// noText returns the bytes of s that are no text.
func noText(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// TestFind: what is found is there, and not before.
func TestFind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, part := hostile().Draw(t, "s"), hostile().Draw(t, "part")
		i, found := value.Find(s, part).Get()
		if found != value.Contains(s, part) || found && (!value.StartsWith(s[i:], part) || i > 0 && value.Contains(s[:int(i)+len(part)-1], part)) {
			t.Fatalf("%q is at %d, %v of %q", part, i, found, s)
		}
	})
}

// TestTextBytesMax: what is one byte too long faults, and what is not does not.
func TestTextBytesMax(t *testing.T) {
	half := strings.Repeat("x", value.TextBytesMax/2)
	less := half[1:]
	tooLong := " would make a string of more than 67108864 bytes"
	for _, c := range []struct {
		what string
		f    func() string
		msg  string
		size int
	}{
		{"repeat", func() string { return value.Repeat(half, 2) }, "", value.TextBytesMax},
		{"repeat more", func() string { return value.Repeat(half, 3) }, "repeat" + tooLong, 0},
		{"repeat nothing", func() string { return value.Repeat("", 1<<63-1) }, "", 0},
		{"repeat for ever", func() string { return value.Repeat("ab", 1<<63-1) }, "repeat" + tooLong, 0},
		{"repeat less than nothing", func() string { return value.Repeat("", -1) }, "repeat -1 times", 0},
		{"join", func() string { return value.Join(value.VectorOf(less, less), "ab") }, "", value.TextBytesMax},
		{"join more", func() string { return value.Join(value.VectorOf(less, less), "abc") }, "join" + tooLong, 0},
		{"join many", func() string { return value.Join(value.VectorOf(half, half, "x"), "") }, "join" + tooLong, 0},
		{"replace", func() string { return value.Replace("xx", "x", half) }, "", value.TextBytesMax},
		{"replace more", func() string { return value.Replace("xx.", "x", half) }, "replace" + tooLong, 0},
		{"replace nothing", func() string { return value.Replace(half, "y", half+half) }, "", value.TextBytesMax / 2},
		{"replace by less", func() string { return value.Replace(half+half, half, "") }, "", 0},
		{"replace between all", func() string { return value.Replace("x", "", half) }, "replace" + tooLong, 0},
	} {
		size := 0
		if msg := fault(func() { size = len(c.f()) }); msg != c.msg || size != c.size {
			t.Errorf("%s: %q, %d bytes", c.what, msg, size)
		}
	}
}

// TestParseFloat: the text of a number reads back as it, and of what has no decimal notation as null.
func TestParseFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		got, ok := value.ParseFloat(value.StrFloat(f)).Get()
		if finite := f-f == 0; ok != finite || ok && math.Float64bits(got) != math.Float64bits(f) {
			t.Fatalf("%v is read as %v, %v", f, got, ok)
		}
	})
}
