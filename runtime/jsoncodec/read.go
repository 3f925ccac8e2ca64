package jsoncodec

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/similar"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/typetext"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Params are the parameters of a method: an object in JSON, by their names.
type Params struct{ is Type }

// Read reads the object of the arguments, and returns the message that the arguments of generated code decode.
// No text at all is an object without fields. The error is an *Error.
func (p *Params) Read(text []byte, names Names) (msg []byte, err error) {
	defer catch(&err)
	r := &reader{text: text, names: names}
	f := r.fieldsOf(&p.is, "the method has no parameter %q", "the parameters")
	if r.next() != 0 || r.pos < len(text) {
		r.object(f)
	}
	r.end()
	return f.message(), nil
}

// ReadTexts is Read for arguments that are texts by name, as in the query of a URL: a string, time, duration, enum, bytes
// and actor is the text itself, any other value its JSON.
func (p *Params) ReadTexts(texts map[string][]string, names Names) (msg []byte, err error) {
	defer catch(&err)
	r := &reader{names: names}
	f := r.fieldsOf(&p.is, "the method has no parameter %q", "the parameters")
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		for _, text := range texts[name] {
			f.read(name, func(t *Type) {
				if t.isText() {
					r.bare(t, &f.in, text)
					return
				}
				r.text, r.pos = []byte(text), 0
				r.value(t, &f.in)
				r.end()
			})
		}
	}
	return f.message(), nil
}

// isText reports whether the values of the type are strings in JSON.
func (t *Type) isText() bool {
	switch t.kind {
	case typetext.String, typetext.Bytes, typetext.Time, typetext.Duration, typetext.Enum, typetext.Actor, typetext.Client:
		return true
	case typetext.Optional:
		return t.elem.isText()
	}
	return false
}

// bare puts a value whose JSON would be a string, which is given without quotes.
func (r *reader) bare(t *Type, e *codec.Encoder, text string) {
	if t.kind == typetext.Optional {
		e.Bool(true)
		t = t.elem
	}
	r.quotedText(t, e, text)
}

// Read reads one value and returns its message. The error is an *Error.
func (t *Type) Read(text []byte, names Names) (msg []byte, err error) {
	defer catch(&err)
	r := &reader{text: text, names: names}
	e := codec.NewEncoder(nil)
	r.value(t, e)
	r.end()
	return e.Data(), nil
}

func (r *reader) value(t *Type, e *codec.Encoder) {
	switch t.kind {
	case typetext.Signed:
		e.Int(r.integer(t))
	case typetext.Unsigned:
		e.Uint(r.natural(t))
	case typetext.Float:
		e.Float(r.float())
	case typetext.Bool:
		switch {
		case r.word("true"):
			e.Bool(true)
		case r.word("false"):
			e.Bool(false)
		default:
			r.unexpected("true or false")
		}
	case typetext.Vector, typetext.Set:
		r.array(t, e)
	case typetext.Map:
		r.dict(t, e)
	case typetext.Class:
		f := r.fieldsOf(t, "class "+t.of.String()+" has no field %q", "the fields")
		r.object(f)
		f.record(e)
	case typetext.Optional:
		if r.word("null") {
			t.putNull(e)
			return
		}
		e.Bool(true)
		r.value(t.elem, e)
	default:
		if t.nullable && r.word("null") {
			t.putNull(e)
			return
		}
		r.quotedText(t, e, r.string(t.wanted()))
	}
}

// wanted says what JSON a value is, for a user.
func (t *Type) wanted() string {
	switch t.kind {
	case typetext.Bytes:
		return "a string in base64"
	case typetext.Time:
		return "a time, a string as 2006-01-02T15:04:05Z"
	case typetext.Duration:
		return "a duration, a string as 1m30s"
	case typetext.Enum:
		return "one of " + t.constants()
	case typetext.Actor, typetext.Client:
		return "the name of a " + t.of.String() + " in a string"
	}
	return "a string"
}

// constants lists the constants of an enum, for a user.
func (t *Type) constants() string { return `"` + strings.Join(t.names, `", "`) + `"` }

// putNull puts null, which is a value of the type.
func (t *Type) putNull(e *codec.Encoder) {
	e.Uint(0) // of an optional type: false
	if t.kind == typetext.Actor {
		e.Uint(0)
	}
}

// quotedText puts a value that is a string in JSON, or the text of a key.
func (r *reader) quotedText(t *Type, e *codec.Encoder, text string) {
	switch t.kind {
	case typetext.String:
		e.String(text)
	case typetext.Bytes:
		data, err := base64.StdEncoding.AppendDecode(nil, []byte(text))
		if err != nil {
			r.fail("%q is no base64", text)
		}
		e.Bytes(value.BytesOf(data))
	case typetext.Time:
		at, ok := value.ParseTime(text).Get()
		if !ok {
			r.fail("%q is no time as 2006-01-02T15:04:05Z, between the years 1678 and 2262", text)
		}
		e.Int(int64(at))
	case typetext.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			r.fail("%q is no duration as 1m30s", text)
		}
		e.Int(int64(d))
	case typetext.Enum:
		i, ok := t.index[text]
		if !ok {
			r.fail("%q is none of %s", text, t.constants())
		}
		e.Uint(uint64(i))
	case typetext.Actor:
		id, err := r.names.Actor(t.of.Name, text)
		if err != nil {
			r.failFor(err, err.Error())
		}
		e.Uint(uint64(id.Birth))
		e.Uint(id.Serial)
	case typetext.Client:
		number, err := r.names.Client(t.of.Name, text)
		if err != nil {
			r.failFor(err, err.Error())
		}
		e.Uint(number)
	}
}

func (r *reader) integer(t *Type) int64 {
	text := r.number(t.article())
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < t.min || n > 0 && uint64(n) > t.max {
		r.outside(t, text)
	}
	return n
}

func (r *reader) natural(t *Type) uint64 {
	text := r.number(t.article())
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "-"), 10, 64) // -0 is 0
	if err != nil || n > t.max || n > 0 && text[0] == '-' {
		r.outside(t, text)
	}
	return n
}

func (t *Type) article() string {
	if t.kind == typetext.Signed {
		return "an " + t.of.Form
	}
	return "a " + t.of.Form
}

func (r *reader) outside(t *Type, text string) {
	r.fail("%s is no %s: that is a whole number from %d to %d", text, t.of.Form, t.min, t.max)
}

// notFinite are the strings for the floats that JSON has no number for.
var notFinite = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}

func (r *reader) float() float64 {
	if r.next() == '"' {
		s := r.string("")
		f, ok := notFinite[s]
		if !ok {
			r.fail("%q is neither a number nor NaN, Infinity or -Infinity", s)
		}
		return f
	}
	text := r.number("a number")
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.fail("%s is beyond the range of float", text)
	}
	return f
}

// array reads a vector or a set.
func (r *reader) array(t *Type, e *codec.Encoder) {
	in := codec.Encoder{}
	n, seen := 0, map[string]struct{}{}
	r.want('[')
	for more := !r.skip(']'); more; {
		from := len(in.Data())
		r.enter("[" + strconv.Itoa(n) + "]")
		r.value(t.elem, &in)
		if t.kind == typetext.Set {
			r.once(seen, in.Data()[from:], "the element is in the set already")
		}
		r.leave()
		n++
		if more = r.skip(','); !more && !r.skip(']') {
			r.unexpected(`"," or "]"`)
		}
	}
	e.Uint(uint64(n))
	e.Append(append(e.Data(), in.Data()...))
}

// once fails if an encoded key is there already.
func (r *reader) once(seen map[string]struct{}, key []byte, msg string) {
	if _, twice := seen[string(key)]; twice {
		r.fail("%s", msg)
	}
	seen[string(key)] = struct{}{}
}

// members reads the members of an object; of gets the name of each and reads its value.
func (r *reader) members(wanted string, of func(name string)) {
	if r.next() != '{' {
		r.unexpected(wanted)
	}
	r.pos++
	for more := !r.skip('}'); more; {
		name := r.string("the name of a member")
		r.want(':')
		of(name)
		if more = r.skip(','); !more && !r.skip('}') {
			r.unexpected(`"," or "}"`)
		}
	}
}

func (r *reader) dict(t *Type, e *codec.Encoder) {
	in := codec.Encoder{}
	n, seen := 0, map[string]struct{}{}
	r.members("an object", func(name string) {
		from := len(in.Data())
		r.enter("[" + strconv.Quote(name) + "]")
		r.key(t.key, &in, name)
		r.once(seen, in.Data()[from:], "the key is there twice")
		r.value(t.elem, &in)
		r.leave()
		n++
	})
	e.Uint(uint64(n))
	e.Append(append(e.Data(), in.Data()...))
}

// key puts a key of a map, of which JSON has the text.
func (r *reader) key(t *Type, e *codec.Encoder, text string) {
	switch t.kind {
	case typetext.Signed, typetext.Unsigned, typetext.Bool:
		sub := &reader{text: []byte(text), path: r.path}
		sub.value(t, e)
		sub.end()
	default:
		r.quotedText(t, e, text)
	}
}

// fields are those of an object that is being read, in any order.
type fields struct {
	r       *reader
	of      *Type
	unknown string        // what is said of a name that is none of them
	all     string        // what they are, for a user
	in      codec.Encoder // their values
	at      []part        // where each stands in it
}

// part is where a field stands; the zero value: nowhere yet.
type part struct{ from, to int }

func (r *reader) fieldsOf(t *Type, unknown, all string) *fields {
	return &fields{r: r, of: t, unknown: unknown, all: all, at: make([]part, len(t.fields))}
}

// object reads an object with the fields of f.
func (r *reader) object(f *fields) {
	r.members("an object with "+f.all, func(name string) {
		f.read(name, func(t *Type) { r.value(t, &f.in) })
	})
}

// read has the value of the field called name read into in.
func (f *fields) read(name string, value func(t *Type)) {
	r := f.r
	i, known := f.of.index[name]
	if !known {
		r.fail(f.unknown+"%s", name, f.similar(name))
	}
	r.enter("." + name)
	if f.at[i].to > 0 { // no value takes no bytes
		r.fail("it is there twice")
	}
	from := len(f.in.Data())
	value(f.of.fields[i])
	f.at[i] = part{from, len(f.in.Data())}
	r.leave()
}

// complete makes null of what is missing, and fails where that is no value.
func (f *fields) complete() {
	for i, t := range f.of.fields {
		if f.at[i].to > 0 {
			continue
		}
		if !t.mayBeNull() {
			f.r.enter("." + f.of.names[i])
			f.r.fail("it is missing; its type is %s", t)
		}
		from := len(f.in.Data())
		t.putNull(&f.in)
		f.at[i] = part{from, len(f.in.Data())}
	}
}

// message returns the fields as arguments: one after the other.
func (f *fields) message() []byte {
	f.complete()
	msg := codec.NewEncoder(nil).Data()
	for _, p := range f.at {
		msg = append(msg, f.in.Data()[p.from:p.to]...)
	}
	return msg
}

// record puts the fields as those of a value class.
func (f *fields) record(e *codec.Encoder) {
	f.complete()
	e.Record(len(f.at))
	for i, p := range f.at {
		mark := e.Field(f.of.names[i])
		e.Append(append(e.Data(), f.in.Data()[p.from:p.to]...))
		e.EndField(mark)
	}
	e.EndRecord()
}

// similar proposes what an unknown name was to be, or lists all there are.
func (f *fields) similar(name string) string {
	near := similar.Nearest(name, func(yield func(string)) {
		for _, n := range f.of.names {
			yield(n)
		}
	})
	switch {
	case near != "":
		return fmt.Sprintf("; did you mean %q?", near)
	case len(f.of.names) == 0:
		return "; there are none"
	}
	if len(f.of.names) == 1 {
		return fmt.Sprintf("; the only one is %s", f.of.names[0])
	}
	return fmt.Sprintf("; %s are %s", f.all, strings.Join(f.of.names, ", "))
}

// keyText returns how the text of a key is written, nil if values of the type are no keys.
func (t *Type) keyText() func(d *codec.Decoder, names Names) string {
	switch t.kind {
	case typetext.Signed:
		return func(d *codec.Decoder, _ Names) string { return strconv.FormatInt(d.Int(), 10) }
	case typetext.Unsigned:
		return func(d *codec.Decoder, _ Names) string { return strconv.FormatUint(d.Uint(), 10) }
	case typetext.Bool:
		return func(d *codec.Decoder, _ Names) string { return strconv.FormatBool(d.Bool()) }
	case typetext.String, typetext.Bytes, typetext.Time, typetext.Duration, typetext.Enum, typetext.Actor:
		return t.text
	}
	return nil
}

// text reads a value that is a string in JSON.
func (t *Type) text(d *codec.Decoder, names Names) string {
	switch t.kind {
	case typetext.Bytes:
		return base64.StdEncoding.EncodeToString([]byte(d.String()))
	case typetext.Time:
		return value.Time(d.Int()).Str()
	case typetext.Duration:
		return value.Duration(d.Int()).Str()
	case typetext.Enum:
		return t.names[d.Enum(uint64(len(t.names)))]
	case typetext.Actor:
		id := event.ActorID{Birth: event.PartitionID(d.Uint()), Serial: d.Uint()}
		return names.ActorText(t.of.Name, id)
	}
	return d.String()
}
