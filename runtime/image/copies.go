package image

import (
	"weak"

	"github.com/aeon-lang/aeon/runtime/value"
)

// A copy of a container that is stored by element may outlive the state of the actor that it
// comes from: the state leaves memory, or the actor is deleted, and the copy stays where it
// was assigned to. The copy goes on reading what it shows from the rows, so it has to learn
// of their changes.

// Copies remembers that there may be copies of the containers of an actor whose state is not in
// memory. It keeps none of them alive.
type Copies struct{ fields []largeField } // with weak pointers to versions

// Gone reports whether there are no copies any more, so that c tells nothing.
func (c *Copies) Gone() bool {
	for _, f := range c.fields {
		if f.rows.(weak.Pointer[value.Version]).Value() != nil {
			return false
		}
	}
	return true
}

// observed is what an actor knows of a field that is stored by element.
type observed interface {
	// version returns the version of the rows.
	version() *value.Version
	// forget makes copies independent of the rows, which are about to be deleted.
	forget(w *Writer)
}

// Retire is to be called when the state of an actor leaves memory. The caller holds the actor
// for writing. The result is to be given to the Reader that reads the actor again; it is nil
// if there are no copies, as mostly.
func (l *Large) Retire() *Copies {
	if l.fields == nil {
		return nil
	}
	var c *Copies
	for _, f := range *l.fields {
		if f.rows == nil {
			continue
		}
		if v := f.rows.(observed).version(); v.Observed() {
			if c == nil {
				c = &Copies{}
			}
			c.fields = append(c.fields, largeField{f.field, weak.Make(v)})
		}
	}
	return c
}

// Resume tells the reader of the copies that there were when the actor left memory.
func (r *Reader) Resume(c *Copies) *Reader {
	r.copies = c
	return r
}

// Forget is to be called for an actor in memory whose rows the batch deletes.
func (w *Writer) Forget(obj Stored) {
	l := obj.StoredRows()
	if l.fields == nil {
		return
	}
	for _, f := range *l.fields {
		if f.rows != nil {
			f.rows.(observed).forget(w)
		}
	}
}

// resumed returns the version of the rows of the field that is being read.
func resumed(r *Reader, far bool) *value.Version {
	if r.copies != nil {
		for _, f := range r.copies.fields {
			if f.field != r.field {
				continue
			}
			if v := f.rows.(weak.Pointer[value.Version]).Value(); v != nil {
				return v.Resume()
			}
		}
	}
	return value.NewVersion(far)
}

func (r *mapRows) version() *value.Version { return r.at }

func (r *mapRows) forget(w *Writer) {
	old := r.replaced()
	w.onFinish(func() { r.at.Replace(old, false) })
}

func (r *vectorRows) version() *value.Version { return r.at }

func (r *vectorRows) forget(w *Writer) {
	old := r.replaced(nil, 0)
	w.onFinish(func() { r.at.Replace(old, false) })
}
