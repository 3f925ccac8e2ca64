package ast

import (
	"reflect"
	"strings"
)

// isNil reports whether n is nil or holds a nil pointer, as an absent child
// with a concrete type does.
func isNil(n Node) bool {
	if n == nil {
		return true
	}
	v := reflect.ValueOf(n)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// commentText strips comment markers and one leading space per line.
func commentText(list []*Comment) string {
	var lines []string
	for _, c := range list {
		text := c.Text
		if strings.HasPrefix(text, "/*") {
			text = strings.TrimSuffix(strings.TrimPrefix(text, "/*"), "*/")
			for _, l := range strings.Split(text, "\n") {
				lines = append(lines, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(l), "*")))
			}
			continue
		}
		lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(text, "//"), " "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
