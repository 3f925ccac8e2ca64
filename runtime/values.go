package runtime

import (
	"cmp"
	"iter"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Values of the language; package value documents them.
type (
	Vector[T any]            = value.Vector[T]
	Map[K comparable, V any] = value.Map[K, V]
	Set[K comparable]        = value.Set[K]
	Opt[T any]               = value.Opt[T]
	Box[T any]               = value.Box[T]
	Bytes                    = value.Bytes
	BytesKey                 = value.BytesKey
	Time                     = value.Time
	Duration                 = value.Duration
	Integer                  = value.Integer
)

// Encoder and Decoder write and read messages; package codec documents them.
type (
	Encoder = codec.Encoder
	Decoder = codec.Decoder
)

// Fail aborts with a message: a run-time fault in code of actors and of clients.
func Fail(msg string) { value.Fail(msg) }

// Add returns a + b, or faults on overflow.
func Add[T Integer](a, b T) T { return value.Add(a, b) }

// Sub returns a - b, or faults on overflow.
func Sub[T Integer](a, b T) T { return value.Sub(a, b) }

// Mul returns a * b, or faults on overflow.
func Mul[T Integer](a, b T) T { return value.Mul(a, b) }

// Div returns a / b, or faults.
func Div[T Integer](a, b T) T { return value.Div(a, b) }

// Mod returns a % b, or faults when b is zero.
func Mod[T Integer](a, b T) T { return value.Mod(a, b) }

// Neg returns -a, or faults on overflow.
func Neg[T Integer](a T) T { return value.Neg(a) }

// Shl returns a << n, or faults when n is out of range.
func Shl[T, N Integer](a T, n N) T { return value.Shl(a, n) }

// Shr returns a >> n, or faults when n is out of range.
func Shr[T, N Integer](a T, n N) T { return value.Shr(a, n) }

// Convert returns x as another integer type, or faults when it does not fit.
func Convert[To, From Integer](x From) To { return value.Convert[To](x) }

// Trunc returns f without its fraction as an integer, or faults when it does not fit.
func Trunc[To Integer](f float64) To { return value.Trunc[To](f) }

// Abs returns the absolute value of a, or faults on overflow.
func Abs[T Integer](a T) T { return value.Abs(a) }

// AbsFloat returns the absolute value of f.
func AbsFloat(f float64) float64 { return value.AbsFloat(f) }

// Min returns the smaller of two values that have a method Compare.
func Min[K value.Ordered[K]](a, b K) K { return value.Min(a, b) }

// Max returns the larger of two values that have a method Compare.
func Max[K value.Ordered[K]](a, b K) K { return value.Max(a, b) }

// Opaque returns v, which may be a constant; what it returns is none for Go.
func Opaque[T any](v T) T { return v }

// Eq is the equality of comparable types as a function.
func Eq[T comparable](a, b T) bool { return a == b }

// VectorOf returns a vector of elems, which it takes over.
func VectorOf[T any](elems ...T) Vector[T] { return value.VectorOf(elems...) }

// BytesOf returns bytes with the content b, which it takes over.
func BytesOf(b []byte) Bytes { return value.BytesOf(b) }

// Some returns an optional value that holds v.
func Some[T any](v T) Opt[T] { return value.Some(v) }

// SomeIf returns an optional value that holds v when ok, else null.
func SomeIf[T any](v T, ok bool) Opt[T] { return value.SomeIf(v, ok) }

// BoxOf returns an optional value of a recursive class that holds v.
func BoxOf[T any](v T) Box[T] { return value.BoxOf(v) }

// BoxIf returns an optional value of a recursive class that holds v when ok, else null.
func BoxIf[T any](v T, ok bool) Box[T] { return value.BoxIf(v, ok) }

// MarshalEnum returns the name of a constant.
func MarshalEnum[E ~uint16](names []string, e E) ([]byte, error) { return value.MarshalEnum(names, e) }

// UnmarshalEnum reads the name of a constant.
func UnmarshalEnum[E ~uint16](names []string, text []byte, e *E) error {
	return value.UnmarshalEnum(names, text, e)
}

// StrInt returns the decimal text of n.
func StrInt[T Integer](n T) string { return value.StrInt(n) }

// StrFloat returns the shortest text that reads back as f.
func StrFloat(f float64) string { return value.StrFloat(f) }

// StrBool returns true or false.
func StrBool(b bool) string { return value.StrBool(b) }

// StrString returns s.
func StrString(s string) string { return s }

// ParseInt returns the integer that s is in decimal notation, or null.
func ParseInt(s string) Opt[int64] { return value.ParseInt(s) }

// ParseFloat returns the number that s is in decimal notation, or null.
func ParseFloat(s string) Opt[float64] { return value.ParseFloat(s) }

// ParseTime returns the time that s is as RFC 3339 has it, or null.
func ParseTime(s string) Opt[Time] { return value.ParseTime(s) }

// TimeOf returns the time that has these parts in UTC, or null.
func TimeOf(year, month, day, hour, minute, second int64) Opt[Time] {
	return value.TimeOf(year, month, day, hour, minute, second)
}

// FormatInt returns n in a base, with at least so many digits, or faults.
func FormatInt[T Integer](n T, base, digits int64) string { return value.FormatInt(n, base, digits) }

// FormatFloat returns f with so many digits after the point, or faults.
func FormatFloat(f float64, digits int64) string { return value.FormatFloat(f, digits) }

// StringAt returns byte i of s, or faults.
func StringAt(s string, i int64) uint8 { return value.StringAt(s, i) }

// StringSlice returns the bytes of s from a to b, b excluded, or faults.
func StringSlice(s string, a, b int64) string { return value.StringSlice(s, a, b) }

// Split returns the parts of s between the separators.
func Split(s, sep string) Vector[string] { return value.Split(s, sep) }

// Join returns the parts with sep between them.
func Join(parts Vector[string], sep string) string { return value.Join(parts, sep) }

// Contains reports whether part occurs in s.
func Contains(s, part string) bool { return value.Contains(s, part) }

// Replace returns s with every occurrence of old replaced.
func Replace(s, old, by string) string { return value.Replace(s, old, by) }

// Find returns where part occurs first in s, or null.
func Find(s, part string) Opt[int64] { return value.Find(s, part) }

// StartsWith reports whether s begins with part.
func StartsWith(s, part string) bool { return value.StartsWith(s, part) }

// EndsWith reports whether s ends with part.
func EndsWith(s, part string) bool { return value.EndsWith(s, part) }

// Trim returns s without white space at both ends.
func Trim(s string) string { return value.Trim(s) }

// Lower returns s with every letter in lower case.
func Lower(s string) string { return value.Lower(s) }

// Upper returns s with every letter in upper case.
func Upper(s string) string { return value.Upper(s) }

// Repeat returns s as often as n says, or faults.
func Repeat(s string, n int64) string { return value.Repeat(s, n) }

// NonNull returns the reference r, or faults when r is null; what is the source text of r.
func NonNull[R interface{ IsNull() bool }](r R, what string) R { return value.NonNull(r, what) }

// BytesVector returns the keys of a map or set of bytes as values of their own.
func BytesVector(keys Vector[BytesKey]) Vector[Bytes] { return value.BytesVector(keys) }

// RefAt returns the address of element i of v for writing, or faults. It is valid until v is next written.
func RefAt[T any](v *Vector[T], i int64) *T { return value.RefAt(v, i) }

// SetAt replaces element i of v, or faults.
func SetAt[T any](v *Vector[T], i int64, e T) { value.SetAt(v, i, e) }

// Push appends e to v.
func Push[T any](v *Vector[T], e T) { value.Push(v, e) }

// Pop removes the last element of v and returns it, or faults.
func Pop[T any](v *Vector[T]) T { return value.Pop(v) }

// Clear empties a container.
func Clear[C any](c *C) { value.Clear(c) }

// InsertAt puts e at position i of v, or faults.
func InsertAt[T any](v *Vector[T], i int64, e T) { value.InsertAt(v, i, e) }

// RemoveAt takes element i out of v and returns it, or faults.
func RemoveAt[T any](v *Vector[T], i int64) T { return value.RemoveAt(v, i) }

// SetOf returns a set of elems.
func SetOf[K comparable](elems ...K) Set[K] { return value.SetOf(elems...) }

// MapOf returns a map with these entries; of two with one key the last one counts.
func MapOf[K comparable, V any](entries ...value.Entry[K, V]) Map[K, V] {
	return value.MapOf(entries...)
}

// EntryOf returns the entry of k and v.
func EntryOf[K comparable, V any](k K, v V) value.Entry[K, V] { return value.EntryOf(k, v) }

// Sort orders the elements of v ascending.
func Sort[T any](v *Vector[T]) { value.Sort(v) }

// SortBy orders the elements of v ascending by order.
func SortBy[T any](v *Vector[T], order func(a, b *T) int) { value.SortBy(v, order) }

// Compare is negative, zero or positive as a stands before, at or after b. A NaN stands before all numbers.
func Compare[T cmp.Ordered](a, b T) int { return cmp.Compare(a, b) }

// ReversedOf returns a copy of v, the last element first.
func ReversedOf[T any](v Vector[T]) Vector[T] { return value.ReversedOf(v) }

// LimitOf returns a copy of the first n elements of v, or faults.
func LimitOf[T any](v Vector[T], n int64) Vector[T] { return value.LimitOf(v, n) }

// LookupElem returns element i of v, or the zero value when there is none.
func LookupElem[T any](v Vector[T], i int64) T { return value.LookupElem(v, i) }

// ContainsElem reports whether an element of v equals e.
func ContainsElem[T any](v Vector[T], e T, eq func(a, b T) bool) bool {
	return value.ContainsElem(v, e, eq)
}

// SliceOf returns a copy of the elements a to b, b excluded, or faults.
func SliceOf[T any](v Vector[T], a, b int64) Vector[T] { return value.SliceOf(v, a, b) }

// EqualVectors reports whether v and w have equal elements in the same order.
func EqualVectors[T any](v, w Vector[T], eq func(a, b T) bool) bool {
	return value.EqualVectors(v, w, eq)
}

// EqualElems is EqualVectors for elements with floats.
func EqualElems[T any](v, w Vector[T], eq func(a, b T) bool) bool { return value.EqualElems(v, w, eq) }

// VectorText returns the text of v.
func VectorText[T any](v Vector[T], str func(T) string) string { return value.VectorText(v, str) }

// EntriesOf yields the keys of m with their values, in ascending order.
func EntriesOf[K comparable, V any](m Map[K, V]) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) { value.Each(m, yield) }
}

// GetEntry returns the value of k, or null.
func GetEntry[K comparable, V any](m Map[K, V], k K) Opt[V] { return value.GetEntry(m, k) }

// SetEntry gives k the value v in m.
func SetEntry[K comparable, V any](m *Map[K, V], k K, v V) { value.SetEntry(m, k, v) }

// AddMember puts k into s and reports whether it was not there.
func AddMember[K comparable](s *Set[K], k K) bool { return value.AddMember(s, k) }

// RemoveMember takes k out of s and reports whether it was there.
func RemoveMember[K comparable](s *Set[K], k K) bool { return value.RemoveMember(s, k) }

// UpdateEntry applies f to the value of k in place, or faults when there is none.
func UpdateEntry[K comparable, V any](m *Map[K, V], k K, f func(*V)) { value.UpdateEntry(m, k, f) }

// RemoveKey takes the entry of k out of m and reports whether there was one.
func RemoveKey[K comparable, V any](m *Map[K, V], k K) bool {
	_, had := value.RemoveKey(m, k)
	return had
}

// ValuesOf returns the values of m in ascending order of their keys.
func ValuesOf[K comparable, V any](m Map[K, V]) Vector[V] { return value.ValuesOf(m) }

// EqualMaps reports whether m and n have the same keys with equal values.
func EqualMaps[K comparable, V any](m, n Map[K, V], eq func(a, b V) bool) bool {
	return value.EqualMaps(m, n, eq)
}

// EqualEntries is EqualMaps for values with floats.
func EqualEntries[K comparable, V any](m, n Map[K, V], eq func(a, b V) bool) bool {
	return value.EqualEntries(m, n, eq)
}

// MapText returns the text of m.
func MapText[K comparable, V any](m Map[K, V], key func(K) string, val func(V) string) string {
	return value.MapText(m, key, val)
}

// EqualOpts reports whether o and p are null, or hold equal values.
func EqualOpts[T any](o, p Opt[T], eq func(a, b T) bool) bool { return value.EqualOpts(o, p, eq) }

// EqualBoxes reports whether b and c are null, or hold equal values.
func EqualBoxes[T any](b, c Box[T], eq func(a, b T) bool) bool { return value.EqualBoxes(b, c, eq) }

// EqualContents is EqualBoxes for values with floats.
func EqualContents[T any](b, c Box[T], eq func(a, b T) bool) bool {
	return value.EqualContents(b, c, eq)
}

// Walk is where a walk through a value of a class that may contain itself has come to; Later has what it visits later. Nesting counts the
// objects around the one whose text is being made.
type (
	Walk    = value.Walk
	Later   = value.Later
	Nesting = value.Nesting
)

// EqualLater has two objects compared later. Until then they count as equal.
func EqualLater[T any](w Walk, a, b T, equal func(a T, w Walk, b T) bool) bool {
	return value.EqualLater(w, a, b, equal)
}

// VisitLater has the references in an object shown to visit later.
func VisitLater[T any](w Walk, v T, each func(v T, w Walk, visit func(Ref)), visit func(Ref)) {
	value.VisitLater(w, v, each, visit)
}

// OptText returns the text of the value, or null.
func OptText[T any](o Opt[T], str func(T) string) string { return value.OptText(o, str) }

// BoxText returns the text of the value, or null.
func BoxText[T any](b Box[T], str func(T) string) string { return value.BoxText(b, str) }
