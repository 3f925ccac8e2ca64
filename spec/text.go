package spec

import (
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// textNestingMax bounds how many objects of classes that may contain themselves lie in each other in a value that has a text.
const textNestingMax = 1000

// text is what print, str and interpolation write for v: [LIBRARY].
func (f *frame) text(at ast.Node, v value) string {
	var b strings.Builder
	if !writeText(&b, v, 0) {
		f.fail(at, "text of a value that nests deeper than "+strconv.Itoa(textNestingMax))
	}
	return b.String()
}

// text returns the text of v, or the beginning of one that nests too deeply.
func text(v value) string {
	var b strings.Builder
	writeText(&b, v, 0)
	return b.String()
}

// writeText writes the text of v, which is within so many objects of classes that may contain themselves. It reports whether these are not too many.
func writeText(b *strings.Builder, v value, within int) bool {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case integer:
		if v.kind == typecheck.Uint64Kind {
			b.WriteString(strconv.FormatUint(uint64(v.bits), 10))
		} else {
			b.WriteString(strconv.FormatInt(v.bits, 10))
		}
	case float64:
		b.WriteString(floatText(v))
	case string:
		b.WriteString(v)
	case byteString:
		b.WriteString(string(v))
	case instant:
		b.WriteString(time.Unix(0, int64(v)).UTC().Format(time.RFC3339Nano))
	case span:
		b.WriteString(time.Duration(v).String())
	case enumValue:
		b.WriteString(v.of.Name())
		if v.payload != nil {
			return writeList(b, "(", v.payload.elems, ")", within, nil)
		}
	case *structure:
		if v.class.ContainsItself {
			within++
		}
		if within > textNestingMax {
			return false
		}
		return writeList(b, v.class.Name()+"{", v.fields, "}", within, func(i int) string { return v.class.Fields[i].Name() + ": " })
	case *vector:
		return writeList(b, "[", v.elems, "]", within, nil)
	case *table:
		if v.set {
			return writeList(b, "{", v.keys().elems, "}", within, nil)
		}
		return writeList(b, "{", v.values().elems, "}", within, func(i int) string { return text(v.entries[i].key) + ": " })
	case actorRef:
		b.WriteString(v.who.label())
	case clientRef:
		b.WriteString(v.class.Name())
	default:
		panic("spec: a value without text")
	}
	return true
}

// writeList writes values with commas between them, and before each what label returns for it; label may be nil.
func writeList(b *strings.Builder, open string, list []value, end string, within int, label func(i int) string) bool {
	b.WriteString(open)
	for i, x := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		if label != nil {
			b.WriteString(label(i))
		}
		if !writeText(b, x, within) {
			return false
		}
	}
	b.WriteString(end)
	return true
}

func floatText(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// keyText writes a key as the message about a missing one shows it.
func keyText(k value) string {
	switch k := k.(type) {
	case string:
		return strconv.Quote(k)
	case byteString:
		return strconv.Quote(string(k))
	}
	return text(k)
}
