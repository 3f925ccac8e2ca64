package codec

import (
	"bytes"
	"slices"
)

// canonical are the records that an Encoder has begun, each with where its fields begin, if it writes the form of Canonical.
type canonical struct{ records [][]int }

// Canonical returns the arguments of a method in a form that they keep in versions of a program which declare the fields of value
// classes in another order, or have more fields that are null or zero: a client that sends the bytes of before to such a version means
// the same. The same holds of more parameters at the end. It is to be compared, or hashed, and nothing reads it.
//
// It tells all arguments of one signature apart: a value of any type is zero exactly if all its bytes are, and of two messages of one signature
// none goes on where the other ends.
func Canonical(args Args) []byte {
	e := Encoder{canonical: &canonical{}}
	args.Encode(&e)
	return bytes.TrimRight(e.buf, "\x00")
}

func (c *canonical) begin() { c.records = append(c.records, nil) }

func (c *canonical) field(start int) {
	last := &c.records[len(c.records)-1]
	*last = append(*last, start)
}

// endField leaves out the field begun last, if its value is zero.
func (c *canonical) endField(e *Encoder, mark int) (out bool) {
	if len(bytes.TrimRight(e.buf[mark:], "\x00")) > 0 {
		return false
	}
	last := &c.records[len(c.records)-1]
	n := len(*last) - 1
	e.buf, *last = e.buf[:(*last)[n]], (*last)[:n]
	return true
}

// end sorts the fields of the record begun last. A zero ends them, as no name is empty.
func (c *canonical) end(e *Encoder) {
	n := len(c.records) - 1
	starts := c.records[n]
	c.records = c.records[:n]
	if len(starts) > 0 {
		var fields [][]byte
		for i, start := range starts {
			end := len(e.buf)
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			fields = append(fields, e.buf[start:end])
		}
		slices.SortFunc(fields, bytes.Compare)
		e.buf = append(e.buf[:starts[0]], slices.Concat(fields...)...)
	}
	e.buf = append(e.buf, 0)
}
