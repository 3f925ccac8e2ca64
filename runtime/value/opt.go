package value

// Opt is the value T? of a type T that has no null of its own. The zero Opt is null.
type Opt[T any] struct {
	v  T
	ok bool
}

// Some returns an Opt that holds v.
func Some[T any](v T) Opt[T] { return Opt[T]{v: v, ok: true} }

// SomeIf returns an Opt that holds v when ok, else null.
func SomeIf[T any](v T, ok bool) Opt[T] {
	if !ok {
		return Opt[T]{}
	}
	return Opt[T]{v: v, ok: true}
}

// IsNull reports whether o holds no value.
func (o Opt[T]) IsNull() bool { return !o.ok }

// Must returns the value, or faults when there is none; what is the source of o.
func (o Opt[T]) Must(what string) T {
	if !o.ok {
		failNull(what)
	}
	return o.v
}

// Value returns the value, or the zero value when there is none. Generated code uses it
// where the checker has proved that there is one.
func (o Opt[T]) Value() T { return o.v }

// Get returns the value and whether there is one.
func (o Opt[T]) Get() (T, bool) { return o.v, o.ok }

// Or returns the value, or v when there is none.
func (o Opt[T]) Or(v T) T {
	if o.ok {
		return o.v
	}
	return v
}

// Ref returns the address of the value for writing through a path, or faults as Must does.
func (o *Opt[T]) Ref(what string) *T {
	if !o.ok {
		failNull(what)
	}
	return &o.v
}

// Share returns a copy of o.
func (o Opt[T]) Share() Opt[T] {
	o.MarkShared()
	return o
}

// MarkShared implements Sharer.
func (o *Opt[T]) MarkShared() { MarkShared(&o.v) }

// EachElem calls f for the value, if there is one.
func (o Opt[T]) EachElem(f func(any)) {
	if o.ok {
		f(o.v)
	}
}

// Box is the value T? of a class T that contains itself. The zero Box is null. What a box
// holds never changes, so copies may refer to one box; a write through a path makes a new one.
type Box[T any] struct{ p *T }

// BoxOf returns a Box that holds v.
func BoxOf[T any](v T) Box[T] { return Box[T]{p: &v} }

// BoxIf returns a Box that holds a copy of v when ok, else null.
func BoxIf[T any](v T, ok bool) Box[T] {
	if !ok {
		return Box[T]{}
	}
	MarkShared(&v) // where v comes from, it may be written
	return Box[T]{p: &v}
}

// IsNull reports whether b holds no value.
func (b Box[T]) IsNull() bool { return b.p == nil }

// Must returns the value, or faults when there is none; what is the source of b. Share what
// the value contains before writing to it.
func (b Box[T]) Must(what string) T {
	if b.p == nil {
		failNull(what)
	}
	return *b.p
}

// Value returns the value, or the zero value when there is none.
func (b Box[T]) Value() (v T) {
	if b.p != nil {
		v = *b.p
	}
	return v
}

// Get returns the value and whether there is one.
func (b Box[T]) Get() (v T, ok bool) { return b.Value(), b.p != nil }

// Or returns the value, or v when there is none.
func (b Box[T]) Or(v T) T {
	if b.p != nil {
		return *b.p
	}
	return v
}

// Ref returns the address of a fresh copy of the value for writing through a path, or
// faults as Must does.
func (b *Box[T]) Ref(what string) *T {
	v := b.Must(what)
	MarkShared(&v)
	b.p = &v
	return b.p
}

// Share returns a copy of b.
func (b Box[T]) Share() Box[T] { return b }

// MarkShared implements Sharer: a box is immutable, and a write makes a new one.
func (b Box[T]) MarkShared() {}

// EachElem calls f for the value, if there is one.
func (b Box[T]) EachElem(f func(any)) {
	if b.p != nil {
		f(*b.p)
	}
}

// NonNull returns the reference r, or faults when it is null; what is the source of r.
func NonNull[R interface{ IsNull() bool }](r R, what string) R {
	if r.IsNull() {
		failNull(what)
	}
	return r
}

// EqualOpts reports whether o and p are null, or hold equal values.
func EqualOpts[T any](o, p Opt[T], eq func(a, b T) bool) bool {
	return o.ok == p.ok && (!o.ok || eq(o.v, p.v))
}

// OptText returns the text of the value, or null.
func OptText[T any](o Opt[T], str func(T) string) string {
	if !o.ok {
		return "null"
	}
	return str(o.v)
}

// EqualBoxes reports whether b and c are null, or hold equal values. Each value equals itself.
func EqualBoxes[T any](b, c Box[T], eq func(a, b T) bool) bool {
	return b.p == c.p || EqualContents(b, c, eq)
}

// EqualContents is EqualBoxes for values with floats, of which NaN does not equal itself.
func EqualContents[T any](b, c Box[T], eq func(a, b T) bool) bool {
	if b.p == nil || c.p == nil {
		return b.p == c.p
	}
	return eq(*b.p, *c.p)
}

// BoxText returns the text of the value, or null.
func BoxText[T any](b Box[T], str func(T) string) string {
	if b.p == nil {
		return "null"
	}
	return str(*b.p)
}
