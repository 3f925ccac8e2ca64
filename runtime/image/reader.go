package image

import (
	"errors"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Reader reads the fields of one actor. After the first error it reads nothing; ask Err at
// the end.
type Reader struct {
	from    store.Reader
	id      event.ActorID
	layout  *Layout
	context any
	dec     codec.Decoder
	key     []byte
	value   []byte
	open    bool
	field   int
	large   *Large
	copies  *Copies
	budget  value.Budget
	far     bool
	err     error
}

// NewReader returns a Reader for an actor that was created with this layout. Context is what its values need
// to be read: the aeonrt.Resolver of their references. Containers that stay in the store go on using from.
func NewReader(from store.Reader, id event.ActorID, layout *Layout, context any) *Reader {
	return &Reader{from: from, id: id, layout: layout, context: context}
}

// Within lets containers that stay in the store come into memory within a budget, once they have been read often enough;
// without, they never do.
func (r *Reader) Within(b value.Budget) *Reader {
	r.budget = b
	return r
}

// Read reads all fields of an actor that has just been made.
func (r *Reader) Read(obj Stored) error {
	r.large = obj.StoredRows()
	obj.LoadFields(r)
	return r.Err()
}

// Far reports whether a container was met whose elements were not all read.
func (r *Reader) Far() bool { return r.far }

// Err returns the first error: a *store.CorruptError, or that of the store.
func (r *Reader) Err() error {
	r.close()
	return r.err
}

// Row returns what the row of a field holds, by its index in the class, to be read before
// the next call. It is nil if the actor has no such field yet, or after an error: the field
// keeps what it has.
func (r *Reader) Row(field int) *codec.Decoder {
	r.close()
	if r.err != nil {
		return nil
	}
	f := &r.layout.Fields[field]
	r.field = field
	if payload := r.find(f.Number); payload != nil {
		return r.read(payload)
	}
	required := f.Required
	for _, old := range f.Former {
		if payload := r.find(old.Number); payload != nil {
			if old.Bare {
				payload = append([]byte{1}, payload...)
			}
			return r.read(payload)
		}
		required = required || old.Required
	}
	if required && r.err == nil {
		r.fail("its row is missing")
	}
	return nil
}

// find returns the payload of the row of a field, nil if there is none.
func (r *Reader) find(number uint16) []byte {
	if r.err != nil {
		return nil
	}
	r.key = store.AppendField(r.key[:0], r.id, number)
	row, ok, err := r.from.Get(r.key, r.value[:0])
	r.value = row
	switch {
	case err != nil:
		r.err = err
		return nil
	case !ok:
		return nil
	}
	payload, err := store.Payload(r.key, row)
	if err != nil {
		r.corrupt(err)
		return nil
	}
	return payload
}

func (r *Reader) read(payload []byte) *codec.Decoder {
	r.dec.Part(payload, r.context)
	r.open = true
	return &r.dec
}

// close checks the row that was read last.
func (r *Reader) close() {
	if !r.open {
		return
	}
	r.open = false
	if err := r.dec.Close(); err != nil && r.err == nil {
		r.fail(err.Error())
	}
}

// inline reads how a container is stored, and reports whether it is one row, the rest of
// which follows.
func (r *Reader) inline() bool {
	form := r.dec.Uint()
	if form > byElement {
		r.dec.Fail("a container cannot be stored in form %d", form)
	}
	return form == inline
}

// count reads the rest of the row of a container that is stored by element.
func (r *Reader) count() int {
	n := r.dec.Uint()
	const countMax = 1 << 40
	if n == 0 || n > countMax {
		r.dec.Fail("%d elements", n)
	}
	r.far = r.far || n > eagerElems
	return int(n)
}

// fieldRows returns what reads the elements of the field whose row was read last.
func (r *Reader) fieldRows() fieldRows {
	prefix := append(append([]byte(nil), r.key...), elementSpace)
	return fieldRows{from: r.from, context: r.context, prefix: prefix, layout: r.layout, field: r.field, tally: value.NewTally(r.budget)}
}

// guard calls f, which reads elements, and reports whether it has succeeded.
func (r *Reader) guard(f func()) (ok bool) {
	err := value.Try(f)
	if err != nil {
		r.err = err
	}
	return err == nil
}

func (r *Reader) fail(why string) {
	if r.err == nil {
		r.err = damaged(append([]byte(nil), r.key...), r.layout, r.field, why)
	}
}

// corrupt is fail for an error of the row itself.
func (r *Reader) corrupt(err error) {
	var c *store.CorruptError
	if errors.As(err, &c) {
		r.fail(c.Reason)
		return
	}
	r.err = err
}
