package spec

import (
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/typecheck"
)

// text returns what print, str and interpolation write for v.
func text(v value) string {
	var b strings.Builder
	writeText(&b, v)
	return b.String()
}

func writeText(b *strings.Builder, v value) {
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
			writeList(b, "(", v.payload.elems, ")")
		}
	case *structure:
		b.WriteString(v.class.Name() + "{")
		for i, x := range v.fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(v.class.Fields[i].Name() + ": ")
			writeText(b, x)
		}
		b.WriteString("}")
	case *vector:
		writeList(b, "[", v.elems, "]")
	case *table:
		writeTable(b, v)
	case actorRef:
		b.WriteString(v.who.label())
	case clientRef:
		b.WriteString(v.class.Name())
	default:
		panic("spec: a value without text")
	}
}

func writeList(b *strings.Builder, open string, list []value, end string) {
	b.WriteString(open)
	for i, x := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		writeText(b, x)
	}
	b.WriteString(end)
}

func writeTable(b *strings.Builder, t *table) {
	b.WriteString("{")
	for i, e := range t.entries {
		if i > 0 {
			b.WriteString(", ")
		}
		writeText(b, e.key)
		if !t.set {
			b.WriteString(": ")
			writeText(b, e.value)
		}
	}
	b.WriteString("}")
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
