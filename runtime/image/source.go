package image

import (
	"errors"
	"sync"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/value"
)

// fieldRows reads the rows of the elements of one field. Any goroutine may use it.
type fieldRows struct {
	from    store.Reader
	context any
	prefix  []byte // of the elements' keys
	layout  *Layout
	field   int
	tally   *value.Tally
}

// loading returns what a load of n elements reads by, and the load, if it is time for one; each is as in Tally.Due.
func (f *fieldRows) loading(n, each int) (*fieldRows, *value.Loading) {
	l := f.tally.Due(n, each)
	if l == nil {
		return nil, nil
	}
	own := *f
	own.tally = &l.Tally
	return &own, l
}

// scratch is the memory that one read needs.
type scratch struct {
	enc codec.Encoder
	dec codec.Decoder
	key []byte
	row []byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// damaged panics with what is wrong with the row under key.
func (f *fieldRows) damaged(key []byte, err error) {
	why := err.Error()
	var c *store.CorruptError
	if errors.As(err, &c) {
		why = c.Reason
	}
	f.lost(damaged(append([]byte(nil), key...), f.layout, f.field, why))
}

// lost makes the store fail: no event may go on without an element.
func (f *fieldRows) lost(err error) {
	if s, ok := f.from.(interface{ Fail(error) }); ok {
		s.Fail(err)
	}
	panic(&value.Unreadable{Err: err})
}

// Damaged implements the sources.
func (f *fieldRows) Damaged(why string) { f.damaged(f.prefix[:len(f.prefix)-1], errors.New(why)) }

// get calls found with a decoder of the row of one element, if there is such a row.
func (f *fieldRows) get(key func(*codec.Encoder), found func(*codec.Decoder)) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	s.enc.Append(append(s.key[:0], f.prefix...))
	key(&s.enc)
	s.key = s.enc.Data()
	row, ok, err := f.from.Get(s.key, s.row[:0])
	if err != nil {
		f.lost(err)
	}
	s.row = row
	if ok {
		f.payload(&s.dec, s.key, row, found)
	}
}

// read counts a row.
func (f *fieldRows) read(key, row []byte) { f.tally.Read(len(key) - len(f.prefix) + len(row)) }

// payload decodes the row under key.
func (f *fieldRows) payload(d *codec.Decoder, key, row []byte, found func(*codec.Decoder)) {
	f.read(key, row)
	payload, err := store.Payload(key, row)
	if err == nil {
		d.Part(payload, f.context)
		found(d)
		err = d.Close()
	}
	if err != nil {
		f.damaged(key, err)
	}
}

// elementKey decodes what stands behind the prefix of a key.
func (f *fieldRows) elementKey(d *codec.Decoder, key []byte, found func(*codec.Decoder)) {
	d.Part(key[len(f.prefix):], f.context)
	found(d)
	if err := d.Close(); err != nil {
		f.damaged(key, err)
	}
}

// mapSource implements value.MapSource.
type mapSource struct {
	fieldRows
	how entries
}

// Find implements value.MapSource.
func (s *mapSource) Find(k any) (v any, ok bool) {
	s.get(func(e *codec.Encoder) { s.how.put(e, k) }, func(d *codec.Decoder) {
		v = s.how.newValue()
		s.how.getValue(d, v)
		ok = true
	})
	return v, ok
}

// Load implements value.MapSource.
func (s *mapSource) Load(size, each int) (value.MapSource, *value.Loading) {
	rows, l := s.loading(size, each)
	if l == nil {
		return nil, nil
	}
	return &mapSource{*rows, s.how}, l
}

// Scan implements value.MapSource.
func (s *mapSource) Scan(values bool) value.Scan { return s.scan(values) }

func (s *mapSource) scan(values bool) *mapScan {
	it := s.from.Scan(s.prefix, store.After(s.prefix))
	return &mapScan{s: s, values: values, it: it, k: s.how.newKey(), v: s.how.newValue()}
}

type mapScan struct {
	s      *mapSource
	it     store.Iterator
	values bool
	dec    codec.Decoder
	k, v   any // what was read last
}

// Next implements value.Scan.
func (m *mapScan) Next() (k, v any, ok bool) {
	if !m.it.Next() {
		m.Close()
		return nil, nil, false
	}
	key, row := m.it.Key(), m.it.Value()
	m.s.elementKey(&m.dec, key, func(d *codec.Decoder) { m.s.how.get(d, m.k) })
	if m.values {
		m.s.payload(&m.dec, key, row, func(d *codec.Decoder) { m.s.how.getValue(d, m.v) })
	} else {
		m.s.read(key, row)
		if _, err := store.Payload(key, row); err != nil {
			m.s.damaged(key, err)
		}
	}
	return m.k, m.v, true
}

// Close implements value.Scan.
func (m *mapScan) Close() {
	it := m.it
	m.it = ended{}
	if err := it.Close(); err != nil {
		m.s.lost(err)
	}
}

// ended is the iterator of a scan that is over.
type ended struct{}

func (ended) Next() bool    { return false }
func (ended) Prev() bool    { return false }
func (ended) Key() []byte   { return nil }
func (ended) Value() []byte { return nil }
func (ended) Close() error  { return nil }

// vectorSource implements value.VectorSource.
type vectorSource struct {
	fieldRows
	how elements
}

// Load implements value.VectorSource.
func (s *vectorSource) Load(size, each int) (value.VectorSource, *value.Loading) {
	rows, l := s.loading(size, each)
	if l == nil {
		return nil, nil
	}
	return &vectorSource{*rows, s.how}, l
}

// Elems implements value.VectorSource.
func (s *vectorSource) Elems(i, j int) []value.Opt[any] {
	list, elems := make([]value.Opt[any], j-i), s.how.make(j-i)
	if j == i+1 {
		s.get(func(e *codec.Encoder) { putIndex(e, i) }, func(d *codec.Decoder) { list[0] = value.Some(s.how.get(d, elems, 0)) })
		return list
	}
	var dec codec.Decoder
	it := s.from.Scan(appendIndex(s.prefix, i), appendIndex(s.prefix, j))
	defer func() {
		if err := it.Close(); err != nil {
			s.lost(err)
		}
	}()
	for it.Next() {
		var n uint64
		s.elementKey(&dec, it.Key(), func(d *codec.Decoder) { n = codec.GetKeyUint[uint64](d) })
		s.payload(&dec, it.Key(), it.Value(), func(d *codec.Decoder) {
			at := int(n) - i
			list[at] = value.Some(s.how.get(d, elems, at))
		})
	}
	return list
}
