package spec

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// textBytesMax bounds what join, replace and repeat make.
const textBytesMax = 64 << 20

// stringMethod is a method of a string: [LIBRARY].
func (f *frame) stringMethod(x *ast.Call, id typecheck.LibraryID, s string, args []value) value {
	switch id {
	case typecheck.SplitMethod:
		return split(s, args[0].(string))
	case typecheck.ContainsMethod:
		return strings.Contains(s, args[0].(string))
	case typecheck.FindMethod:
		return find(s, args[0].(string))
	case typecheck.StartsWithMethod:
		return strings.HasPrefix(s, args[0].(string))
	case typecheck.EndsWithMethod:
		return strings.HasSuffix(s, args[0].(string))
	case typecheck.ReplaceMethod:
		return f.replace(x, s, args[0].(string), args[1].(string))
	case typecheck.RepeatMethod:
		return f.repeat(x, s, args[0].(integer).bits)
	case typecheck.TrimMethod:
		return strings.TrimFunc(s, unicode.IsSpace)
	case typecheck.LowerMethod:
		return letters(s, unicode.ToLower)
	case typecheck.UpperMethod:
		return letters(s, unicode.ToUpper)
	case typecheck.ParseIntMethod:
		return parseInt(s)
	case typecheck.ParseFloatMethod:
		return parseFloat(s)
	case typecheck.ParseTimeMethod:
		return parseTime(s)
	}
	panic(bug{"no rule for the method " + id.String()})
}

func split(s, sep string) value {
	v := emptyVector()
	for _, part := range strings.Split(s, sep) {
		v.elems = append(v.elems, part)
	}
	return v
}

// find returns the first byte from which s goes on with part.
func find(s, part string) value {
	for i := range len(s) + 1 {
		if strings.HasPrefix(s[i:], part) {
			return intValue(i)
		}
	}
	return nil
}

// letters maps every code point of s; a byte that is part of none stays.
func letters(s string, to func(rune) rune) string {
	var b strings.Builder
	for i, r := range s {
		if _, size := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 {
			b.WriteByte(s[i])
		} else {
			b.WriteRune(to(r))
		}
	}
	return b.String()
}

// made fails if what a method makes is too long.
func (f *frame) made(x *ast.Call, name string, bytes float64) {
	if bytes > textBytesMax {
		f.fail(x, name+" would make a string of more than "+strconv.Itoa(textBytesMax)+" bytes")
	}
}

func (f *frame) join(x *ast.Call, parts, sep value) value {
	var list []string
	bytes := 0.0
	for i, p := range parts.(*vector).elems {
		list = append(list, p.(string))
		bytes += float64(len(p.(string)))
		if i > 0 {
			bytes += float64(len(sep.(string)))
		}
	}
	f.made(x, "join", bytes)
	return strings.Join(list, sep.(string))
}

func (f *frame) replace(x *ast.Call, s, old, by string) value {
	if n := float64(strings.Count(s, old)); n > 0 && len(by) > len(old) {
		f.made(x, "replace", float64(len(s))+n*float64(len(by)-len(old)))
	}
	return strings.ReplaceAll(s, old, by)
}

func (f *frame) repeat(x *ast.Call, s string, times int64) value {
	if times < 0 {
		f.fail(x, "repeat "+strconv.FormatInt(times, 10)+" times")
	}
	f.made(x, "repeat", float64(times)*float64(len(s)))
	if s == "" {
		return ""
	}
	return strings.Repeat(s, int(times))
}
