// Package serve calls Go functions for another process, which writes a line of JSON for each call and reads one. It is compiled,
// with the packages of the functions, into an executable of its own; its source is carried by package gocall.
//
// A value is in JSON what it is in Go, except that strings and []byte are base64, since they may have any bytes; floats are their bits
// as an integer; a pointer is null or an array of one; a map is an array of pairs; a struct is an object; a time is [seconds, nanoseconds] since 1970.
package serve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"time"
)

// Request is a call.
type Request struct {
	Func string            // path.Name
	Args []json.RawMessage // one for each parameter; a variadic one is a slice
}

// Reply is how a call has ended.
type Reply struct {
	Result json.RawMessage `json:",omitempty"` // the first result, unless that is an error
	Failed bool            `json:",omitempty"` // the last result is an error, which is not nil
	Error  []byte          `json:",omitempty"` // its text
	Panic  []byte          `json:",omitempty"` // what the function has panicked with
	Ended  bool            // it has not panicked
}

// Main serves requests for functions, by path.Name, until standard input ends. What the functions print goes to standard error.
func Main(packages ...map[string]any) {
	funcs := map[string]any{}
	for _, p := range packages {
		maps.Copy(funcs, p)
	}
	out := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	for {
		var req Request
		if in.Decode(&req) != nil {
			return
		}
		if err := out.Encode(Call(funcs[req.Func], req.Args)); err != nil {
			return
		}
	}
}

var errorType = reflect.TypeFor[error]()

// Call calls a function.
func Call(fn any, raw []json.RawMessage) (r Reply) {
	f := reflect.ValueOf(fn)
	args := make([]reflect.Value, len(raw))
	for i := range args {
		args[i] = reflect.New(f.Type().In(i)).Elem()
		decode(raw[i], args[i])
	}
	results, text, ended := invoke(f, args)
	if !ended {
		return Reply{Panic: text}
	}
	r.Ended = true
	if n := len(results) - 1; n >= 0 && f.Type().Out(n) == errorType {
		r.Failed, r.Error = !results[n].IsNil(), text
		results = results[:n]
	}
	if len(results) == 1 {
		r.Result = must(json.Marshal(encode(results[0])))
	}
	return r
}

// invoke calls f, and returns the results, or what f has panicked with. The text of an error among the results is a call into code
// of the package, too.
func invoke(f reflect.Value, args []reflect.Value) (results []reflect.Value, text []byte, ended bool) {
	defer func() {
		if !ended {
			text = fmt.Appendf(nil, "%v", recover())
		}
	}()
	if f.Type().IsVariadic() {
		results = f.CallSlice(args)
	} else {
		results = f.Call(args)
	}
	if n := len(results) - 1; n >= 0 && f.Type().Out(n) == errorType {
		if err, ok := results[n].Interface().(error); ok {
			text = []byte(err.Error())
		}
	}
	return results, text, true
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// isBytes reports whether values of type t are base64.
func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.String || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

// read reads JSON that the other process has written.
func read(raw json.RawMessage, to any) {
	if err := json.Unmarshal(raw, to); err != nil {
		panic(err)
	}
}

func decode(raw json.RawMessage, to reflect.Value) {
	t := to.Type()
	var parts []json.RawMessage
	switch {
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
			decode(parts[0], to.Elem())
		}
	case t.Kind() == reflect.Slice:
		read(raw, &parts)
		to.Set(reflect.MakeSlice(t, len(parts), len(parts)))
		for i, part := range parts {
			decode(part, to.Index(i))
		}
	case t.Kind() == reflect.Map:
		read(raw, &parts)
		to.Set(reflect.MakeMap(t))
		for _, part := range parts {
			var pair [2]json.RawMessage
			read(part, &pair)
			k, v := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			decode(pair[0], k)
			decode(pair[1], v)
			to.SetMapIndex(k, v)
		}
	case t.Kind() == reflect.Struct:
		var fields map[string]json.RawMessage
		read(raw, &fields)
		for name, part := range fields {
			decode(part, to.FieldByName(name))
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

func encode(v reflect.Value) any {
	switch t := v.Type(); {
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
		return []any{encode(v.Elem())}
	case t.Kind() == reflect.Slice:
		parts := make([]any, v.Len())
		for i := range parts {
			parts[i] = encode(v.Index(i))
		}
		return parts
	case t.Kind() == reflect.Map:
		parts := []any{}
		for k, e := range v.Seq2() {
			parts = append(parts, [2]any{encode(k), encode(e)})
		}
		return parts
	case t.Kind() == reflect.Struct:
		fields := map[string]any{}
		for f, part := range v.Fields() {
			fields[f.Name] = encode(part)
		}
		return fields
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	}
	return v.Interface()
}
