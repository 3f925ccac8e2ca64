package jsoncodec

import (
	"math"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/typetext"
)

// Append appends the JSON of the value that a message holds. An error says that the message is corrupt.
func (t *Type) Append(b, msg []byte, names Names) ([]byte, error) {
	d := codec.NewDecoder(msg)
	b = t.append(b, d, names)
	return b, d.Close()
}

// Nesting returns how deep the elements of arrays and objects nest in JSON that this package has written.
func Nesting(text []byte) (deepest int) {
	quoted, open := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if open++; text[i+1] != ']' && text[i+1] != '}' {
				deepest = max(deepest, open)
			}
		case c == ']' || c == '}':
			open--
		}
	}
	return deepest
}

// Append appends the object of the arguments that a message holds. An error says that the message is corrupt.
func (p *Params) Append(b, msg []byte, names Names) ([]byte, error) {
	d := codec.NewDecoder(msg)
	b = append(b, '{')
	for i, t := range p.is.fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.append(append(quoted(b, p.is.names[i]), ':'), d, names)
	}
	return append(b, '}'), d.Close()
}

// Arguments returns the arguments of a call of a method as an array, where the names of the parameters are not known.
func (c *Compiler) Arguments(signature string, msg []byte, names Names) ([]byte, error) {
	return c.array(signature, codec.NewDecoder(msg), 0, names)
}

// GoArguments returns the arguments of a call of a Go function as an array. The signature is that of such calls, and msg what is stored of
// one, where the tries that are left stand before.
func (c *Compiler) GoArguments(signature string, msg []byte, names Names) ([]byte, error) {
	d := codec.NewDecoder(msg)
	d.Int()
	return c.array(signature, d, 1, names)
}

// array writes the arguments from one on.
func (c *Compiler) array(signature string, d *codec.Decoder, from int, names Names) ([]byte, error) {
	s, err := typetext.ParseSignature(signature)
	if err != nil {
		return nil, err
	}
	params, _, err := c.Signature(signature, make([]string, len(s.Params)))
	if err != nil {
		return nil, err
	}
	b := []byte{'['}
	for i, t := range params.is.fields[from:] {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.append(b, d, names)
	}
	return append(b, ']'), d.Close()
}

func (t *Type) append(b []byte, d *codec.Decoder, names Names) []byte {
	switch t.kind {
	case typetext.Signed:
		return strconv.AppendInt(b, d.Int(), 10)
	case typetext.Unsigned:
		return strconv.AppendUint(b, d.Uint(), 10)
	case typetext.Float:
		return appendFloat(b, d.Float())
	case typetext.Bool:
		return strconv.AppendBool(b, d.Bool())
	case typetext.Vector, typetext.Set:
		return t.elements(b, d, names)
	case typetext.Map:
		return t.entries(b, d, names)
	case typetext.Class:
		return t.record(b, d, names)
	case typetext.Optional:
		if !d.Bool() {
			return append(b, "null"...)
		}
		return t.elem.append(b, d, names)
	case typetext.Actor:
		id := event.ActorID{Birth: event.PartitionID(d.Uint()), Serial: d.Uint()}
		if id.IsNull() {
			return append(b, "null"...)
		}
		return quoted(b, names.ActorText(t.of.Name, id))
	case typetext.Client:
		number := d.Uint()
		if number == 0 {
			return append(b, "null"...)
		}
		return quoted(b, ClientText(t.of.Name, number))
	}
	return quoted(b, t.text(d, names))
}

// ClientText returns the text that refers to an object of a client class, which is given with its package.
func ClientText(class string, number uint64) string {
	return class[strings.LastIndexByte(class, '.')+1:] + ":" + strconv.FormatUint(number, 10)
}

// quoted appends a string.
func quoted(b []byte, s string) []byte { return bytejson.Append(b, s) }

// appendFloat appends a number as encoding/json does, or the name of one that JSON does not have.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case f != f:
		return append(b, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(b, `"-Infinity"`...)
	}
	form := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		form = 'e'
	}
	b = strconv.AppendFloat(b, f, form, -1, 64)
	if n := len(b); form == 'e' && n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-09 is e-9
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

func (t *Type) elements(b []byte, d *codec.Decoder, names Names) []byte {
	b = append(b, '[')
	for i, n := uint64(0), d.Uint(); i < n && d.Err() == nil; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.elem.append(b, d, names)
	}
	return append(b, ']')
}

func (t *Type) entries(b []byte, d *codec.Decoder, names Names) []byte {
	b = append(b, '{')
	key := t.key.keyText()
	for i, n := uint64(0), d.Uint(); i < n && d.Err() == nil; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(quoted(b, key(d, names)), ':')
		b = t.elem.append(b, d, names)
	}
	return append(b, '}')
}

// record appends a value class. A message that an older program has written may lack fields.
func (t *Type) record(b []byte, d *codec.Decoder, names Names) []byte {
	b = append(b, '{')
	first := true
	for n := d.Record(); n > 0 && d.Err() == nil; n-- {
		if i, known := t.index[string(d.Field())]; known {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(quoted(b, t.names[i]), ':')
			b = t.fields[i].append(b, d, names)
		}
		d.EndField()
	}
	d.EndRecord()
	return append(b, '}')
}
