package inspection

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Write writes an actor that Find has found, as a JSON object: actor, its name; id; class, with its package; position, up to
// which position of the journal the view has everything, unless that is 0; state, an object with the fields by their names, a
// field a line. A field that the program has got since the actor was last written is not there. Write keeps no more
// than one element of a field in memory. If it fails what it has written is no JSON.
func (in *Inspection) Write(w io.Writer, id event.ActorID, position store.Position) error {
	h, found, err := row.GetHeader(in.view, id)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("there is no actor %v", id)
	}
	class, err := in.class(h.Layout)
	if err != nil {
		return row.Damage(store.HeaderKey(id), err)
	}
	out := bufio.NewWriter(w)
	b := append([]byte(nil), "{\n  \"actor\": "...)
	b = bytejson.Append(b, in.nameOf(class, id, &h))
	b = append(append(b, ",\n  \"id\": \""...), id.String()...)
	b = append(b, "\",\n  \"class\": "...)
	b = bytejson.Append(b, class)
	if position > 0 {
		b = strconv.AppendUint(append(b, ",\n  \"position\": "...), uint64(position), 10)
	}
	b = append(b, ",\n  \"state\": {"...)
	f := fields{in: in, stored: in.schema.Stored(class), out: out, buf: b}
	if err := f.all(id); err != nil {
		return err
	}
	return out.Flush()
}

// fields writes the fields of one actor.
type fields struct {
	in     *Inspection
	stored map[uint16]store.ClassField
	out    *bufio.Writer
	buf    []byte // not handed to out yet
	n      int    // fields written

	head    []byte           // key of the field that is being written, nil: none
	is      *jsoncodec.Field // its type; nil: it is not shown
	more    uint64           // elements that it has yet to get
	element uint64           // elements that it has got
}

// elementSpace is what stands between the key of a field and that of an element; other letters are of indexes.
const elementSpace = 'e'

// all writes the rows of an actor, which stand in the order of the fields' numbers.
func (f *fields) all(id event.ActorID) error {
	from, to := store.FieldsRange(id)
	err := row.Each(f.in.view, from, to, func(key, _, payload []byte) error {
		rest := key[len(from):]
		switch {
		case len(rest) == 2:
			if err := f.end(); err != nil {
				return err
			}
			f.head = append(f.head[:0], key...)
			return f.begin(binary.BigEndian.Uint16(rest), payload)
		case len(rest) < 3 || string(key[:len(f.head)]) != string(f.head) || len(f.head) == 0:
			return row.Damage(key, errors.New("it belongs to no field"))
		case f.is == nil || rest[2] != elementSpace:
			return nil
		}
		return f.next(key, rest[3:], payload)
	})
	if err == nil {
		err = f.end()
	}
	if err != nil {
		return err
	}
	if f.n > 0 {
		f.buf = append(f.buf, "\n  "...)
	}
	f.buf = append(f.buf, "}\n}\n"...)
	return f.write()
}

// write hands over what has been written.
func (f *fields) write() error {
	_, err := f.out.Write(f.buf)
	f.buf = f.buf[:0]
	return err
}

// begin begins a field, whose row has this payload.
func (f *fields) begin(number uint16, payload []byte) (err error) {
	f.is, f.more, f.element = nil, 0, 0
	of, shown := f.stored[number]
	if !shown { // the last program did not have it
		return nil
	}
	is, err := jsoncodec.ParseField(of.Type)
	if err != nil {
		return fmt.Errorf("field %s: %w", of.Name, err)
	}
	if f.n++; f.n > 1 {
		f.buf = append(f.buf, ',')
	}
	f.buf = append(bytejson.Append(append(f.buf, "\n    "...), of.Name), ": "...)
	if f.buf, f.more, err = is.Append(f.buf, payload, f.in); err != nil {
		return row.Damage(f.head, err)
	}
	if f.more > 0 {
		f.is = is
	}
	return f.write()
}

// next writes an element of the field.
func (f *fields) next(key, rest, payload []byte) (err error) {
	if f.element == f.more {
		return row.Damage(f.head, fmt.Errorf("it has more elements than %d", f.more))
	}
	if f.buf, err = f.is.AppendElement(f.buf, rest, payload, f.element == 0, f.in); err != nil {
		return row.Damage(key, err)
	}
	f.element++
	return f.write()
}

// end ends the field that was begun.
func (f *fields) end() error {
	if f.is == nil {
		return nil
	}
	if f.element != f.more {
		return row.Damage(f.head, fmt.Errorf("it has %d elements, and should have %d", f.element, f.more))
	}
	f.buf = f.is.End(f.buf)
	f.is = nil
	return nil
}
