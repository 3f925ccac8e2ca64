package codegen

import "strings"

// The helpers of this file look at lowered text: lines that are marks for positions do not count.

func codeLines(text string) (list []string) {
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if l != "" && !strings.HasPrefix(l, "//line ") && !strings.HasPrefix(l, markUse) {
			list = append(list, l)
		}
	}
	return list
}

// oneLine reports whether text is one line of Go.
func oneLine(text string) bool { return len(codeLines(text)) == 1 }

// lastLine returns the line of Go that text is, or "".
func lastLine(text string) string {
	list := codeLines(text)
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

func dropFirstLine(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}

// primary reports whether an expression is an operand by itself: it has no operator outside of brackets and
// literals.
func primary(code string) bool {
	if code == "" || strings.IndexByte("-!^*&<+", code[0]) >= 0 {
		return false
	}
	depth := 0
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '"':
			i = skipString(code, i)
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ' ':
			if depth == 0 {
				return false
			}
		}
	}
	return true
}

// skipString returns the index of the quote that ends the string literal beginning at i.
func skipString(code string, i int) int {
	for i++; i < len(code) && code[i] != '"'; i++ {
		if code[i] == '\\' {
			i++
		}
	}
	return i
}
