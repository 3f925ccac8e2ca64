package value

// Sharer is implemented by pointers to values that contain containers: the
// containers of this package and the generated classes with such fields.
// MarkShared marks everything the value refers to as shared; it may run while
// others read the value.
type Sharer interface{ MarkShared() }

// Eq reports whether a and b are the same by Go's comparison. It is the equality
// of every type without containers.
func Eq[T comparable](a, b T) bool { return a == b }

// markAll marks every element of s that refers to a body. It is called when a body is
// cloned: from then on its elements have two owners.
func markAll[T any](s []T) {
	if _, ok := any((*T)(nil)).(Sharer); !ok {
		return
	}
	for i := range s {
		any(&s[i]).(Sharer).MarkShared()
	}
}

// MarkShared marks what *v refers to, if it can refer to anything.
func MarkShared[T any](v *T) {
	if s, ok := any(v).(Sharer); ok {
		s.MarkShared()
	}
}
