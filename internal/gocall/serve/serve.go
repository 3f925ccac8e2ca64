// Package serve calls Go functions for another process, which writes a line of JSON for each call and reads one. It is compiled,
// with the packages of the functions, into an executable of its own; its source is carried by package gocall.
//
// A value is in JSON what it is in Go, except that strings and []byte are base64, since they may have any bytes; floats are their bits
// as an integer; a pointer is null or an array of one; a map is an array of pairs; a struct is an object; a time is [seconds, nanoseconds] since 1970.
// A Shape says where values stand that are their texts, as strings are, or that stay in this process: those are named by a digest of
// the call that has made them.
package serve

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"time"
)

// Request is a call.
type Request struct {
	Func   string            // path.Name, or path.Type.Method, whose first argument is the receiver
	Args   []json.RawMessage // one for each parameter; a variadic one is a slice
	Shapes []*Shape          // of the arguments
	Result *Shape            `json:",omitempty"`
}

// Shape says what is in a value that JSON cannot tell; nil if nothing is.
type Shape struct {
	Go       string            `json:",omitempty"` // the name of a Go type whose values are texts, or stay here; "" if parts of the value are of such
	Handle   bool              `json:",omitempty"` // it stays here
	MayBeNil bool              `json:",omitempty"` // then it is null
	Key      *Shape            `json:",omitempty"` // of a map
	Elem     *Shape            `json:",omitempty"` // of a pointer, slice or map
	Fields   map[string]*Shape `json:",omitempty"` // of a struct
}

func (s *Shape) key() *Shape {
	if s == nil {
		return nil
	}
	return s.Key
}

func (s *Shape) elem() *Shape {
	if s == nil {
		return nil
	}
	return s.Elem
}

func (s *Shape) field(name string) *Shape {
	if s == nil {
		return nil
	}
	return s.Fields[name]
}

// Reply is how a call has ended.
type Reply struct {
	Result json.RawMessage `json:",omitempty"` // the first result, unless that is an error, or there is an error
	Failed bool            `json:",omitempty"` // the last result is an error, which is not nil
	Error  []byte          `json:",omitempty"` // its text
	Panic  []byte          `json:",omitempty"` // what the function has panicked with
	Fault  []byte          `json:",omitempty"` // why an argument or the result cannot pass
	Ended  bool            // it has not panicked
}

// Server calls functions, and has the values that stay.
type Server struct {
	funcs map[string]any
	kept  map[string]reflect.Value // by their names: pointers, and what interfaces hold
}

// NewServer returns a server of functions, by path.Name.
func NewServer(packages ...map[string]any) *Server {
	s := &Server{map[string]any{}, map[string]reflect.Value{}}
	for _, p := range packages {
		maps.Copy(s.funcs, p)
	}
	return s
}

// Main serves requests for functions until there are no more. It reads them from a file and writes the replies to another, which the arguments
// of the process name, and open opens: the functions may read standard input, and print.
func Main(open func(name string) (*os.File, error), packages ...map[string]any) {
	s := NewServer(packages...)
	requests, err := open(os.Args[1])
	replies, also := open(os.Args[2])
	if err := errors.Join(err, also); err != nil {
		panic(err)
	}
	in, out := json.NewDecoder(requests), json.NewEncoder(replies)
	for {
		var req Request
		if in.Decode(&req) != nil {
			return
		}
		if err := out.Encode(s.Call(req)); err != nil {
			return
		}
	}
}

var errorType = reflect.TypeFor[error]()

type (
	fault string // why a value cannot pass
	bug   struct{ error }
)

// Call makes a call. Code of the package runs in the function, and in what makes texts of values, values of texts, and the text of an error.
func (s *Server) Call(req Request) (r Reply) {
	defer func() {
		if r.Ended {
			return
		}
		switch p := recover().(type) {
		case fault:
			r = Reply{Fault: []byte(p)}
		case bug:
			panic(p)
		default:
			r = Reply{Panic: fmt.Appendf(nil, "%v", p)}
		}
	}()
	f := reflect.ValueOf(s.funcs[req.Func])
	args := make([]reflect.Value, len(req.Args))
	for i := range args {
		args[i] = reflect.New(f.Type().In(i)).Elem()
		s.decode(req.Args[i], args[i], req.Shapes[i])
	}
	var results []reflect.Value
	if f.Type().IsVariadic() {
		results = f.CallSlice(args)
	} else {
		results = f.Call(args)
	}
	if n := len(results) - 1; n >= 0 && f.Type().Out(n) == errorType {
		if err, ok := results[n].Interface().(error); ok {
			r.Failed, r.Error = true, []byte(err.Error())
		}
		results = results[:n]
	}
	if len(results) == 1 && !r.Failed {
		sum := sha256.Sum256(must(json.Marshal(req)))
		r.Result = must(json.Marshal(s.encode(results[0], req.Result, hex.EncodeToString(sum[:]))))
	}
	r.Ended = true
	return r
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(bug{err})
	}
	return b
}

// isBytes reports whether values of type t are base64. A slice of another type that is a byte in Go, as an enum may be, is none.
func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.String || t.Kind() == reflect.Slice && t.Elem() == reflect.TypeFor[uint8]()
}

// read reads JSON that the other process has written.
func read(raw json.RawMessage, to any) {
	if err := json.Unmarshal(raw, to); err != nil {
		panic(bug{err})
	}
}

func (s *Server) decode(raw json.RawMessage, to reflect.Value, shape *Shape) {
	t := to.Type()
	var parts []json.RawMessage
	switch {
	case shape != nil && shape.Go != "":
		s.decodeGo(raw, to, shape)
	case t == reflect.TypeFor[time.Time]():
		var at [2]int64
		read(raw, &at)
		to.Set(reflect.ValueOf(time.Unix(at[0], at[1]).UTC()))
	case isBytes(t):
		var b []byte
		read(raw, &b)
		to.Set(reflect.ValueOf(b).Convert(t))
	case t.Kind() == reflect.Float64:
		var bits uint64
		read(raw, &bits)
		to.SetFloat(math.Float64frombits(bits))
	case t.Kind() == reflect.Pointer:
		if read(raw, &parts); len(parts) == 1 {
			to.Set(reflect.New(t.Elem()))
			s.decode(parts[0], to.Elem(), shape.elem())
		}
	case t.Kind() == reflect.Slice:
		read(raw, &parts)
		to.Set(reflect.MakeSlice(t, len(parts), len(parts)))
		for i, part := range parts {
			s.decode(part, to.Index(i), shape.elem())
		}
	case t.Kind() == reflect.Map:
		read(raw, &parts)
		to.Set(reflect.MakeMap(t))
		for _, part := range parts {
			var pair [2]json.RawMessage
			read(part, &pair)
			k, v := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			s.decode(pair[0], k, shape.key())
			s.decode(pair[1], v, shape.elem())
			to.SetMapIndex(k, v)
		}
		if to.Len() != len(parts) {
			panic(fault("two keys of a map are one in Go"))
		}
	case t.Kind() == reflect.Struct:
		var fields map[string]json.RawMessage
		read(raw, &fields)
		for name, part := range fields {
			s.decode(part, to.FieldByName(name), shape.field(name))
		}
	case to.CanInt(): // a type with a name may read JSON in another way
		var n int64
		read(raw, &n)
		to.SetInt(n)
	case to.CanUint():
		var n uint64
		read(raw, &n)
		to.SetUint(n)
	default:
		read(raw, to.Addr().Interface())
	}
}

// decodeGo reads a value that is a text, or stays here, as what to is: of the Go type, or a pointer to it.
func (s *Server) decodeGo(raw json.RawMessage, to reflect.Value, shape *Shape) {
	pointer := to.Kind() == reflect.Pointer
	var made reflect.Value // a pointer, or an interface
	if shape.Handle {
		var name *string
		if read(raw, &name); name == nil {
			return
		}
		made = s.kept[*name]
	} else {
		var text []byte
		read(raw, &text)
		t := to.Type()
		if pointer {
			t = t.Elem()
		}
		made = reflect.New(t)
		if err := made.Interface().(encoding.TextUnmarshaler).UnmarshalText(text); err != nil {
			panic(fault(fmt.Sprintf("%q is no %s: %v", text, shape.Go, err)))
		}
	}
	if !pointer && to.Kind() != reflect.Interface {
		made = made.Elem()
	}
	to.Set(made)
}

// encodeGo returns the text of a value, or keeps it under a name.
func (s *Server) encodeGo(v reflect.Value, shape *Shape, name string) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		switch {
		case v.IsNil() && shape.MayBeNil:
			return nil
		case v.IsNil():
			panic(fault("a " + shape.Go + " from Go is nil"))
		case v.Kind() == reflect.Interface:
			v = v.Elem()
		}
	default:
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		v = p
	}
	if shape.Handle {
		s.kept[name] = v
		return name
	}
	text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
	if err != nil {
		panic(fault(fmt.Sprintf("a %s from Go has no text: %v", shape.Go, err)))
	}
	return append([]byte{}, text...)
}

// encode returns what is written for a value; name is that of one that stays here.
func (s *Server) encode(v reflect.Value, shape *Shape, name string) any {
	switch t := v.Type(); {
	case shape != nil && shape.Go != "":
		return s.encodeGo(v, shape, name)
	case t == reflect.TypeFor[time.Time]():
		at := v.Interface().(time.Time)
		return [2]int64{at.Unix(), int64(at.Nanosecond())}
	case isBytes(t):
		return append([]byte{}, v.Convert(reflect.TypeFor[[]byte]()).Bytes()...)
	case t.Kind() == reflect.Float64:
		return math.Float64bits(v.Float())
	case t.Kind() == reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return []any{s.encode(v.Elem(), shape.elem(), name)}
	case t.Kind() == reflect.Slice:
		parts := make([]any, v.Len())
		for i := range parts {
			parts[i] = s.encode(v.Index(i), shape.elem(), name)
		}
		return parts
	case t.Kind() == reflect.Map:
		parts := []any{}
		for k, e := range v.Seq2() {
			parts = append(parts, [2]any{s.encode(k, shape.key(), name), s.encode(e, shape.elem(), name)})
		}
		return parts
	case t.Kind() == reflect.Struct:
		fields := map[string]any{}
		for f, part := range v.Fields() {
			fields[f.Name] = s.encode(part, shape.field(f.Name), name)
		}
		return fields
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	}
	return v.Interface()
}
