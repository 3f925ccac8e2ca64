package protocodec

import "strings"

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// camel returns a name without underscores, the letters behind them in upper case, the first letter in upper case if up: the
// name of a map's entries by protoc's rule if up, and otherwise the name of a field in the JSON of protobuf.
func camel(name string, up bool) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == '_':
			up = true
		case up:
			b.WriteString(strings.ToUpper(string(r)))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// upperSnake writes OrderState as ORDER_STATE.
func upperSnake(name string) string {
	var b strings.Builder
	lower := false
	for i := range len(name) {
		upper := 'A' <= name[i] && name[i] <= 'Z'
		if upper && lower {
			b.WriteByte('_')
		}
		lower = !upper && name[i] != '_'
		b.WriteByte(name[i])
	}
	return strings.ToUpper(b.String())
}

// split separates the package of a name.
func split(path string) (pkg, name string) {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)], path[i+1:]
}
