package protocodec

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/typetext"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Read reads a request: the key of the actor that it is for, and the message that the arguments of generated code decode.
// The error is a *jsoncodec.Error.
func (m *RPC) Read(b []byte, names jsoncodec.Names) (key string, args []byte, err error) {
	defer catch(&err)
	r := &reader{names: names}
	list := r.split(m.request, b)
	if len(list[0]) > 0 {
		r.enter("." + keyName)
		key = r.text(r.single(list[0]))
		r.leave()
	}
	return key, r.fields(m.request.fields[1:], list[1:]), nil
}

// KeyOf returns what a request has as its first field if that is text: the key of the actor that it is for, or the id of a client. It is for a request that
// is not read here; of one that Read refuses it may return anything.
func KeyOf(b []byte) (key string) {
	var wrong error
	defer catch(&wrong)
	for r := (&reader{}); len(b) > 0; {
		var tag uint64
		var v raw
		tag, b = r.varint(b)
		if v, b = r.value(uint8(tag&7), b); tag>>3 == keyNumber {
			return string(v.bytes)
		}
	}
	return ""
}

// ReadRequest reads a request of a service of clients, which is for no actor. The error is a *jsoncodec.Error.
func (m *RPC) ReadRequest(b []byte) (args []byte, err error) {
	defer catch(&err)
	r := &reader{}
	return r.fields(m.request.fields, r.split(m.request, b)), nil
}

// fields returns the message that has the values of fields, of which list has those of each.
func (r *reader) fields(fields []*Field, list [][]raw) []byte {
	e := codec.NewEncoder(nil)
	for i, f := range fields {
		r.enter("." + f.aeon)
		r.field(f.is, e, list[i])
		r.leave()
	}
	return e.Data()
}

// field puts the value of a field, of which the message has these.
func (r *reader) field(t *Type, e *codec.Encoder, in []raw) {
	switch {
	case t.kind == typetext.Vector || t.kind == typetext.Set:
		r.elements(t, e, in)
	case t.kind == typetext.Map:
		r.entries(t, e, in)
	case len(in) == 0:
		r.absent(t, e)
	case t.kind == typetext.Optional:
		e.Bool(true)
		r.one(t.elem, e, r.single(in))
	default:
		r.one(t, e, r.single(in))
	}
}

// single returns the value of a field that is not repeated.
func (r *reader) single(in []raw) raw {
	if len(in) > 1 {
		r.fail("it is there twice")
	}
	return in[0]
}

// absent puts the value of a field that the message does not have: protobuf leaves out zeros.
func (r *reader) absent(t *Type, e *codec.Encoder) {
	switch t.kind {
	case typetext.Signed, typetext.Unsigned, typetext.Bool, typetext.String, typetext.Bytes:
		e.Uint(0)
	case typetext.Float:
		e.Float(0)
	case holder:
		r.held(t, e, nil)
	default:
		if !t.mayBeNull() {
			r.fail("it is missing; its type is %s", t.of)
		}
		e.Uint(0) // of an optional type: false
		if t.kind == typetext.Actor {
			e.Uint(0)
		}
	}
}

// want fails unless a value has this type on the wire.
func (r *reader) want(v raw, wire uint8, t *Type) {
	if v.wire != wire {
		r.fail("the value has type %d of protobuf, which is no %s", v.wire, t.of)
	}
}

// one puts one value.
func (r *reader) one(t *Type, e *codec.Encoder, v raw) {
	switch t.kind {
	case typetext.Signed:
		r.want(v, wireVarint, t)
		if n := int64(v.num); n < t.min || n > 0 && uint64(n) > t.max {
			r.outside(t, strconv.FormatInt(n, 10))
		}
		e.Int(int64(v.num))
	case typetext.Unsigned:
		r.want(v, wireVarint, t)
		if v.num > t.max {
			r.outside(t, strconv.FormatUint(v.num, 10))
		}
		e.Uint(v.num)
	case typetext.Bool:
		r.want(v, wireVarint, t)
		e.Bool(v.num != 0)
	case typetext.Float:
		r.want(v, wireFixed64, t)
		e.Float(math.Float64frombits(v.num))
	case typetext.Enum:
		r.want(v, wireVarint, t)
		switch n := v.num; {
		case n == 0:
			r.fail("it is missing; its type is %s", t.of)
		case n > uint64(len(t.enum.aeon)):
			r.fail("enum %s has no constant %d", t.enum.full, int32(n))
		default:
			e.Uint(n - 1)
		}
	case holder:
		r.want(v, wireBytes, t)
		r.held(t, e, v.bytes)
	case typetext.Class:
		r.want(v, wireBytes, t)
		r.record(t.message, e, v.bytes)
	default:
		r.want(v, wireBytes, t)
		r.sized(t, e, v)
	}
}

func (r *reader) outside(t *Type, text string) {
	r.fail("%s is no %s: that is a whole number from %d to %d", text, t.of.Form, t.min, t.max)
}

// text returns a string.
func (r *reader) text(v raw) string {
	if v.wire != wireBytes || !utf8.Valid(v.bytes) {
		r.fail("it is no string in UTF-8")
	}
	return string(v.bytes)
}

// sized puts a value that has a length on the wire.
func (r *reader) sized(t *Type, e *codec.Encoder, v raw) {
	switch t.kind {
	case typetext.String:
		e.String(r.text(v))
	case typetext.Bytes:
		e.Bytes(value.BytesOf(append([]byte(nil), v.bytes...)))
	case typetext.Time, typetext.Duration:
		e.Int(r.nanos(t, v.bytes))
	case typetext.Actor:
		id, err := r.names.Actor(t.of.Name, r.text(v))
		if err != nil {
			r.failFor(err, err.Error())
		}
		e.Uint(uint64(id.Birth))
		e.Uint(id.Serial)
	case typetext.Client:
		number, err := r.names.Client(t.of.Name, r.text(v))
		if err != nil {
			r.failFor(err, err.Error())
		}
		e.Uint(number)
	}
}

// seconds is google.protobuf.Timestamp, and Duration: they have the same fields.
var seconds = func() *Message {
	m := newMessage("", "google.protobuf.Timestamp or Duration")
	m.fields = []*Field{{name: "seconds", number: 1}, {name: "nanos", number: 2}}
	m.byNum[1], m.byNum[2] = 0, 1
	return m
}()

const nanosPerSecond = 1_000_000_000

// nanos reads a time or a duration.
func (r *reader) nanos(t *Type, b []byte) int64 {
	var part [2]int64
	for i, in := range r.split(seconds, b) {
		if len(in) > 0 {
			v := r.single(in)
			r.want(v, wireVarint, t)
			part[i] = int64(v.num)
		}
	}
	s, n := part[0], part[1]
	if n <= -nanosPerSecond || n >= nanosPerSecond || t.kind == typetext.Time && n < 0 || t.kind == typetext.Duration && (s > 0 && n < 0 || s < 0 && n > 0) {
		r.fail("%d s and %d ns are no %s", s, n, t.of)
	}
	if s < 0 && n > 0 { // so that the product does not overflow before the sum is in range
		s, n = s+1, n-nanosPerSecond
	}
	const most, least = math.MaxInt64 / nanosPerSecond, math.MinInt64 / nanosPerSecond
	if s > most || s < least || s == most && n > math.MaxInt64%nanosPerSecond || s == least && n < math.MinInt64%nanosPerSecond {
		r.fail("%d s is beyond the range of %s", part[0], t.of)
	}
	return s*nanosPerSecond + n
}

// held puts what a holder has.
func (r *reader) held(t *Type, e *codec.Encoder, b []byte) {
	r.enter("")
	r.field(t.message.fields[0].is, e, r.split(t.message, b)[0])
	r.leave()
}

// record puts a value class.
func (r *reader) record(m *Message, e *codec.Encoder, b []byte) {
	list := r.split(m, b)
	e.Record(len(m.fields))
	for i, f := range m.fields {
		mark := e.Field(f.aeon)
		r.enter("." + f.aeon)
		r.field(f.is, e, list[i])
		r.leave()
		e.EndField(mark)
	}
	e.EndRecord()
}

// packs reports whether values of the type stand side by side in a repeated field, without a tag before each.
func (t *Type) packs() (wire uint8, ok bool) {
	switch t.kind {
	case typetext.Signed, typetext.Unsigned, typetext.Bool, typetext.Enum:
		return wireVarint, true
	case typetext.Float:
		return wireFixed64, true
	}
	return wireBytes, false
}

// elements puts a vector or a set.
func (r *reader) elements(t *Type, e *codec.Encoder, in []raw) {
	all := codec.Encoder{}
	n, seen := 0, map[string]struct{}{}
	put := func(v raw) {
		from := len(all.Data())
		r.enter("[" + strconv.Itoa(n) + "]")
		r.one(t.elem, &all, v)
		if t.kind == typetext.Set {
			r.once(seen, all.Data()[from:], "the element is in the set already")
		}
		r.leave()
		n++
	}
	wire, packs := t.elem.packs()
	for _, v := range in {
		if !packs || v.wire != wireBytes {
			put(v)
			continue
		}
		for rest := v.bytes; len(rest) > 0; {
			v, rest = r.value(wire, rest)
			put(v)
		}
	}
	e.Uint(uint64(n))
	e.Append(append(e.Data(), all.Data()...))
}

// once fails if an encoded key is there already.
func (r *reader) once(seen map[string]struct{}, key []byte, msg string) {
	if _, twice := seen[string(key)]; twice {
		r.fail("%s", msg)
	}
	seen[string(key)] = struct{}{}
}

// entries puts a map.
func (r *reader) entries(t *Type, e *codec.Encoder, in []raw) {
	all := codec.Encoder{}
	seen := map[string]struct{}{}
	for i, v := range in {
		r.enter("[" + strconv.Itoa(i) + "]")
		r.want(v, wireBytes, t)
		list := r.split(t.entry, v.bytes)
		from := len(all.Data())
		r.field(t.key, &all, list[0])
		r.once(seen, all.Data()[from:], "the key is there twice")
		r.field(t.elem, &all, list[1])
		r.leave()
	}
	e.Uint(uint64(len(in)))
	e.Append(append(e.Data(), all.Data()...))
}
