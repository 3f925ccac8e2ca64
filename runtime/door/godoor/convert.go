package godoor

import (
	"fmt"
	"slices"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Generated code converts values of plain Go to values of a program and back by the functions of this file. Each makes
// new memory: no value that a program has shares any with Go code outside of it.

// In converts the arguments of one call. It keeps the first error, so that generated code asks once.
type In struct {
	db    *DB
	depth int
	err   error
}

// Into returns an In for arguments of calls to db.
func Into(db *DB) *In {
	if db == nil {
		return &In{err: invalid(msgNoActor)}
	}
	return &In{db: db}
}

// Err returns why the arguments cannot be passed, nil if they can.
func (in *In) Err() error { return in.err }

func (in *In) fail(format string, args ...any) {
	if in.err == nil {
		in.err = invalid(format, args...)
	}
}

// nestingMax bounds how deep a value of a recursive class may nest: a value that has itself inside would never end.
const nestingMax = 1000

// Enter begins the conversion of a value of a recursive class, and reports whether it may be; Leave ends it.
func (in *In) Enter() bool {
	if in.depth++; in.depth > nestingMax {
		in.fail("a value has more than %d levels, or itself inside", nestingMax)
	}
	return in.depth <= nestingMax
}

// Leave ends what Enter began.
func (in *In) Leave() { in.depth-- }

// Ref converts a handle of an actor of class c. There must be one, as the program has no null there.
func (in *In) Ref(h Handle, c *aeonrt.Class) aeonrt.Ref {
	if h.IsZero() {
		in.fail("an actor of class %s is missing: the handle leads to none", c.Name)
	}
	return in.RefOrNull(h, c)
}

// RefOrNull is Ref where there may be none.
func (in *In) RefOrNull(h Handle, c *aeonrt.Class) aeonrt.Ref {
	switch {
	case h.IsZero() || in.db == nil:
		return aeonrt.Ref{}
	case h.db == nil:
		found, err := Find(in.db, c, h.text)
		if err != nil && in.err == nil {
			in.err = err
		}
		return found.ref
	case h.db != in.db:
		in.fail("%v is an actor of another open program", h)
		return aeonrt.Ref{}
	case h.class != c:
		in.fail("%v is no %s", h, c.Name)
		return aeonrt.Ref{}
	}
	return h.ref
}

// Time converts a time.
func (in *In) Time(t time.Time) aeonrt.Time {
	n := t.UnixNano()
	if !time.Unix(0, n).Equal(t) {
		in.fail("%v is no time of the years 1678 to 2261, which a program can have", t)
	}
	return aeonrt.Time(n)
}

// Enum converts a constant of an enum with n constants.
func Enum[E ~uint16](in *In, e E, n int) E {
	if int(e) >= n {
		in.fail("%d is no constant of its enum, which has %d", e, n)
		return 0
	}
	return e
}

// Same converts what is the same on both sides.
func Same[T any](v T) T { return v }

// Vector converts a slice.
func Vector[A, B any](list []A, elem func(A) B) aeonrt.Vector[B] {
	return aeonrt.VectorOf(each(list, elem)...)
}

// Slice converts a vector. The result is not nil.
func Slice[A, B any](v aeonrt.Vector[A], elem func(A) B) []B {
	return each(v.Items(), elem)
}

func each[A, B any](list []A, elem func(A) B) []B {
	made := make([]B, len(list))
	for i, e := range list {
		made[i] = elem(e)
	}
	return made
}

// Bytes converts bytes.
func Bytes(b []byte) aeonrt.Bytes { return aeonrt.BytesOf(slices.Clone(b)) }

// FromBytes converts bytes of a program. The result is not nil.
func FromBytes(b aeonrt.Bytes) []byte { return append([]byte{}, b.Data()...) }

// FromTime converts a time of a program.
func FromTime(t aeonrt.Time) time.Time { return time.Unix(0, int64(t)).UTC() }

// Set converts a slice to a set: what is there twice is in the set once.
func Set[A any, K comparable](list []A, elem func(A) K) (s aeonrt.Set[K]) {
	for _, e := range list {
		aeonrt.AddMember(&s, elem(e))
	}
	return s
}

// Map converts a map.
func Map[A comparable, B any, K comparable, V any](in *In, from map[A]B, key func(A) K, val func(B) V) (m aeonrt.Map[K, V]) {
	for k, v := range from {
		aeonrt.SetEntry(&m, key(k), val(v))
	}
	if int(m.Size()) < len(from) { // which value counts would be left to chance
		in.fail("two keys of a map are one in the program, such as one time in two zones")
	}
	return m
}

// FromMap converts a map of a program. The result is not nil.
func FromMap[K comparable, V any, A comparable, B any](m aeonrt.Map[K, V], key func(K) A, val func(V) B) map[A]B {
	made := make(map[A]B, m.Size())
	value.Each(m, func(k K, v V) bool {
		made[key(k)] = val(v)
		return true
	})
	return made
}

// Opt converts a pointer, which may be nil.
func Opt[A, B any](p *A, of func(A) B) aeonrt.Opt[B] {
	if p == nil {
		return aeonrt.Opt[B]{}
	}
	return aeonrt.Some(of(*p))
}

// Box converts a pointer to a value of a recursive class.
func Box[A, B any](p *A, of func(A) B) aeonrt.Box[B] {
	if p == nil {
		return aeonrt.Box[B]{}
	}
	return aeonrt.BoxOf(of(*p))
}

// Pointer converts an optional value, as its method Get returns it.
func Pointer[A, B any](v A, ok bool, of func(A) B) *B {
	if !ok {
		return nil
	}
	p := of(v)
	return &p
}

// EnumText returns the name of a constant of an enum.
func EnumText[E ~uint16](names []string, e E) string {
	if int(e) < len(names) {
		return names[e]
	}
	return fmt.Sprintf("constant %d of %d", e, len(names))
}
