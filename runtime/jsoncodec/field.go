package jsoncodec

import (
	"fmt"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/typetext"
)

// Field is the type of a field of an actor. It writes the JSON of what the rows of the field hold, which package image
// describes: a value is one row; a container is one row, or has a row for each element.
type Field struct {
	is    *Type
	table bool // is is the type of its rows
}

// ParseField makes the type of a field from the text that the schema of a store has of it.
func ParseField(text string) (*Field, error) {
	f, err := typetext.ParseField(text)
	if err != nil {
		return nil, err
	}
	of := f.Type
	made := &Field{table: of.Form == "table"}
	if made.table {
		of = of.Elems[0]
	}
	made.is, err = newType(of) // of this field alone: another one may be of an older version of a class
	return made, err
}

// container reports whether the row of the field says first how a container is stored.
func (f *Field) container() bool {
	return f.table || f.is.kind == typetext.Vector || f.is.kind == typetext.Set || f.is.kind == typetext.Map
}

// brackets are what stands around the elements.
func (f *Field) brackets() (first, last byte) {
	if !f.table && f.is.kind == typetext.Map {
		return '{', '}'
	}
	return '[', ']'
}

// How the row of a container begins (package image).
const (
	inline    = 0 // it has all elements
	byElement = 1 // each has a row
)

// Append appends the JSON of the field whose own row has this payload. If more is not 0 the JSON is not complete: that many
// elements have rows of their own, each of which AppendElement appends, and End ends it. An error says that the row is
// corrupt.
func (f *Field) Append(b, payload []byte, names Names) (_ []byte, more uint64, err error) {
	d := ofRow(payload)
	if !f.container() {
		b = f.is.append(b, d, names)
		return b, 0, d.Close()
	}
	first, _ := f.brackets()
	form, n := d.Uint(), d.Uint()
	b = append(b, first)
	switch {
	case form == byElement && n > 0:
		return b, n, d.Err() // a table goes on with the names of its indexes
	case form != inline:
		d.Fail("a container of %d elements cannot be stored in form %d", n, form)
	}
	for i := uint64(0); i < n && d.Err() == nil; i++ {
		b = f.element(b, d, d, i == 0, names)
	}
	return f.End(b), 0, d.Close()
}

// AppendElement appends an element, with what the key of its row has behind the space of elements.
func (f *Field) AppendElement(b, key, payload []byte, first bool, names Names) ([]byte, error) {
	if f.table || f.is.kind == typetext.Vector {
		key = nil // it is part of the row, or a number
	}
	k, d := ofRow(key), ofRow(payload)
	b = f.element(b, k, d, first, names)
	if err := k.Close(); err != nil {
		return b, fmt.Errorf("its key: %w", err)
	}
	return b, d.Close()
}

// ofRow reads a part of a row.
func ofRow(b []byte) *codec.Decoder {
	d := &codec.Decoder{}
	d.Part(b, nil)
	return d
}

// End appends what ends a container.
func (f *Field) End(b []byte) []byte {
	_, last := f.brackets()
	return append(b, last)
}

// element appends an element whose key is read by k, if it has one, and whose value is read by d.
func (f *Field) element(b []byte, k, d *codec.Decoder, first bool, names Names) []byte {
	if !first {
		b = append(b, ',')
	}
	switch {
	case f.table:
		return f.is.append(b, d, names)
	case f.is.kind == typetext.Set:
		return f.is.elem.append(b, codec.NewDecoder(f.is.elem.ofKey(k)), names)
	case f.is.kind == typetext.Map:
		key := codec.NewDecoder(f.is.key.ofKey(k))
		b = append(quoted(b, f.is.key.keyText()(key, names)), ':')
	}
	return f.is.elem.append(b, d, names)
}

// ofKey reads a value in its form as a key of rows, and returns the message of it.
func (t *Type) ofKey(d *codec.Decoder) []byte {
	e := codec.NewEncoder(nil)
	switch t.kind {
	case typetext.Signed, typetext.Time, typetext.Duration:
		e.Int(codec.GetKeyInt[int64](d))
	case typetext.Unsigned:
		e.Uint(codec.GetKeyUint[uint64](d))
	case typetext.Enum:
		e.Uint(d.GetKeyEnum(uint64(len(t.names))))
	case typetext.Bool:
		e.Bool(codec.GetKeyBool(d))
	case typetext.Actor:
		id := event.ActorID{Birth: event.PartitionID(codec.GetKeyUint[uint32](d)), Serial: codec.GetKeyUint[uint64](d)}
		e.Uint(uint64(id.Birth))
		e.Uint(id.Serial)
	default:
		e.String(codec.GetKeyString[string](d))
	}
	return e.Data()
}
