package image

// Large is what an actor in memory knows of its fields that are stored by element. It is
// part of the actor's state, and guarded as that is. The zero Large knows of none.
type Large struct{ fields *[]largeField }

type largeField struct {
	field int
	rows  any // *mapRows or *vectorRows
}

// of returns what is known of a field, nil if it is not stored by element.
func (l *Large) of(field int) any {
	if l.fields == nil {
		return nil
	}
	for i := range *l.fields {
		if f := &(*l.fields)[i]; f.field == field {
			return f.rows
		}
	}
	return nil
}

// set notes what is known of a field, nil if it is not stored by element any more.
func (l *Large) set(field int, rows any) {
	if l.fields == nil {
		l.fields = &[]largeField{}
	}
	for i := range *l.fields {
		if f := &(*l.fields)[i]; f.field == field {
			f.rows = rows
			return
		}
	}
	*l.fields = append(*l.fields, largeField{field, rows})
}

// The first byte of the row of a container says how it is stored.
const (
	inline    = 0 // what follows is the number of elements, and the elements
	byElement = 1 // what follows is the number of elements, each of which has a row
)

// InlineBytesMax is how large a container may be when encoded, to be one row; it becomes one
// again below InlineBytesMin.
const (
	InlineBytesMax = 1024
	InlineBytesMin = InlineBytesMax / 4
)

// eagerElems is how many elements are read at once when the actor is loaded.
const eagerElems = 64

// elementSpace stands between the key of a field and that of an element. Other letters are
// for other rows of a field.
const elementSpace = 'e'
