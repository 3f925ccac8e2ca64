package runtime

import (
	"context"
	"encoding"
	"time"

	"github.com/aeon-lang/aeon/runtime/outbox"
	"github.com/aeon-lang/aeon/runtime/value"
)

// What generated code calls Go functions with. Package value documents what carries values between a program and Go.

// Context is what a Go function that has an effect gets of its call: CallKey finds the key in it.
type Context = context.Context

// CallKey returns the key of the call of a Go function that a program has issued with `event go`, "" if ctx is not of such a call. It is
// the same at each try of the call, after a restart of the program, too, and no other call has it.
func CallKey(ctx Context) string { return outbox.CallKey(ctx) }

// InGo is deferred around a call of a Go function: a panic in it is a fault of the event, or of the client's code.
func InGo(name string) {
	if p := recover(); p != nil {
		value.FailInGo(name, p)
	}
}

// GoError aborts with the text of an error that a Go function has returned, if there is one.
func GoError(err error) {
	if err != nil {
		value.Fail(err.Error())
	}
}

// GoErrorText returns the text of an error that a Go function has returned, or null.
func GoErrorText(err error) Opt[string] {
	if err == nil {
		return Opt[string]{}
	}
	return Some(err.Error())
}

// NoConstant faults: a Go function has returned v, an int64, uint64 or string, as a constant of an enum.
func NoConstant[E any](enum string, v any) E { return value.NoConstant[E](enum, v) }

// GoTime returns t as Go has it, in UTC.
func GoTime(t Time) time.Time { return value.GoTime(t) }

// TimeOfGo returns the time t, or faults if the language has no such time.
func TimeOfGo(t time.Time) Time { return value.TimeOfGo(t) }

// GoBytes returns a copy of the content of b.
func GoBytes(b Bytes) []byte { return value.GoBytes(b) }

// BytesOfGo returns bytes with a copy of the content b.
func BytesOfGo(b []byte) Bytes { return value.BytesOfGo(b) }

// GoPointer returns a pointer to a copy of what o holds; nil is null.
func GoPointer[T, G any](o Opt[T], conv func(T) G) *G { return value.GoPointer(o, conv) }

// OptOfGo returns a copy of what p points to; null is nil.
func OptOfGo[T, G any](p *G, conv func(G) T) Opt[T] { return value.OptOfGo(p, conv) }

// TextToGo returns a pointer to the Go value whose text is text; it faults if that is none of the type, which is called name.
func TextToGo[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](name, text string) *T {
	return value.TextToGo[T, P](name, text)
}

// TextOfGo returns the text of what p points to; it faults if p is nil, or the value has no text. The type is called name.
func TextOfGo[T any, P interface {
	*T
	encoding.TextMarshaler
}](name string, p *T) string {
	return value.TextOfGo[T, P](name, p)
}

// NotNil returns v, a pointer or interface; it faults if that is nil. The type is called name.
func NotNil[T comparable](name string, v T) T { return value.NotNil(name, v) }

// GoNilable returns the pointer or interface that o holds; nil is null.
func GoNilable[T comparable](o Opt[T]) T { return value.GoNilable(o) }

// OptOfGoNilable returns the pointer or interface v; null is nil.
func OptOfGoNilable[T comparable](v T) Opt[T] { return value.OptOfGoNilable(v) }

// GoSlice returns a copy of the elements of v.
func GoSlice[T, G any](v Vector[T], conv func(T) G) []G { return value.GoSlice(v, conv) }

// VectorOfGo returns a vector with copies of the elements of s.
func VectorOfGo[T, G any](s []G, conv func(G) T) Vector[T] { return value.VectorOfGo(s, conv) }

// GoMap returns a copy of the entries of m.
func GoMap[K, GK comparable, V, GV any](m Map[K, V], key func(K) GK, conv func(V) GV) map[GK]GV {
	return value.GoMap(m, key, conv)
}

// MapOfGo returns a map with copies of the entries of g.
func MapOfGo[K, GK comparable, V, GV any](g map[GK]GV, key func(GK) K, conv func(GV) V) Map[K, V] {
	return value.MapOfGo(g, key, conv)
}
