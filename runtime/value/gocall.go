package value

import (
	"encoding"
	"fmt"
	"strconv"
	"time"
)

// The functions of this file carry values between a program and Go functions that it calls. Nothing that they return shares memory
// with what they get: whatever Go does with its arguments, and keeps of its results, no actor changes. The parameters conv carry
// the parts.

// NoConstant faults: v, an int64, uint64 or string, comes from Go as a constant of an enum, and is none.
func NoConstant[E any](enum string, v any) E {
	if s, ok := v.(string); ok {
		v = strconv.Quote(s)
	}
	Fail(fmt.Sprintf("a %s from Go is %v, which none of its constants is", enum, v))
	panic("unreachable")
}

// GoTime returns t as Go has it, in UTC.
func GoTime(t Time) time.Time { return t.utc() }

// TimeOfGo returns the time t, or faults if the language has no such time.
func TimeOfGo(t time.Time) Time {
	n, ok := timeFrom(t)
	if !ok {
		Fail("a time from Go is outside of the years 1677 to 2262: " + t.UTC().Format(time.RFC3339))
	}
	return n
}

// GoBytes returns the content of b.
func GoBytes(b Bytes) []byte { return append([]byte{}, b.Data()...) }

// BytesOfGo returns bytes with the content b.
func BytesOfGo(b []byte) Bytes { return BytesOf(append([]byte(nil), b...)) }

// GoPointer returns a pointer to what o holds; nil is null.
func GoPointer[T, G any](o Opt[T], conv func(T) G) *G {
	if !o.ok {
		return nil
	}
	return new(conv(o.v))
}

// OptOfGo returns what p points to; null is nil.
func OptOfGo[T, G any](p *G, conv func(G) T) Opt[T] {
	if p == nil {
		return Opt[T]{}
	}
	return Some(conv(*p))
}

// TextToGo returns a pointer to the Go value whose text is text.
func TextToGo[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](name, text string) *T {
	v := new(T)
	if err := P(v).UnmarshalText([]byte(text)); err != nil {
		Fail(fmt.Sprintf("%q is no %s: %v", text, name, err))
	}
	return v
}

// TextOfGo returns the text of what p points to.
func TextOfGo[T any, P interface {
	*T
	encoding.TextMarshaler
}](name string, p *T) string {
	text, err := P(NotNil(name, p)).MarshalText()
	if err != nil {
		Fail(fmt.Sprintf("a %s from Go has no text: %v", name, err))
	}
	return string(text)
}

// NotNil returns v, a pointer or interface.
func NotNil[T comparable](name string, v T) T {
	if v == *new(T) {
		Fail(fmt.Sprintf("a %s from Go is nil", name))
	}
	return v
}

// GoNilable returns the pointer or interface that o holds; nil is null.
func GoNilable[T comparable](o Opt[T]) T { return o.v }

// OptOfGoNilable returns the pointer or interface v; null is nil.
func OptOfGoNilable[T comparable](v T) Opt[T] {
	if v == *new(T) {
		return Opt[T]{}
	}
	return Some(v)
}

// GoSlice returns the elements of v.
func GoSlice[T, G any](v Vector[T], conv func(T) G) []G {
	out := make([]G, v.Size())
	for i, e := range v.Items() {
		out[i] = conv(e)
	}
	return out
}

// VectorOfGo returns a vector of the elements of s.
func VectorOfGo[T, G any](s []G, conv func(G) T) Vector[T] {
	out := make([]T, len(s))
	for i, e := range s {
		out[i] = conv(e)
	}
	return VectorOf(out...)
}

// GoMap returns the entries of m, or faults if two keys are texts of one Go value.
func GoMap[K, GK comparable, V, GV any](m Map[K, V], key func(K) GK, conv func(V) GV) map[GK]GV {
	out := make(map[GK]GV, m.Size())
	Each(m, func(k K, v V) bool {
		out[key(k)] = conv(v)
		return true
	})
	if int64(len(out)) != m.Size() {
		Fail("two keys of a map are one in Go")
	}
	return out
}

// MapOfGo returns a map of the entries of g.
func MapOfGo[K, GK comparable, V, GV any](g map[GK]GV, key func(GK) K, conv func(GV) V) Map[K, V] {
	var m Map[K, V]
	for k, v := range g {
		SetEntry(&m, key(k), conv(v))
	}
	if m.Size() != int64(len(g)) {
		Fail("two keys of a map from Go have the same text")
	}
	return m
}

// FailInGo faults with what a Go function has panicked with; a Fault goes on as it is.
func FailInGo(name string, p any) {
	if f, ok := p.(Fault); ok {
		panic(f)
	}
	Fail(fmt.Sprintf("panic in the Go function %s: %v", name, p))
}
