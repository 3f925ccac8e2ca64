package value

import (
	"cmp"
	"slices"
	"sort"
)

// Ordered is implemented by named key types (enumerations, actor references,
// times) beside the built-in ones.
type Ordered[K any] interface {
	// Compare is negative, zero or positive as the receiver stands before, at or after other.
	Compare(other K) int
}

// orderOf returns the ascending order of K: the built-in one, or that of K's
// method Compare. The checker admits only such types as keys and to sort.
func orderOf[K any]() func(a, b K) int {
	var zero K
	if order, ok := builtIn(zero).(func(a, b K) int); ok {
		return order
	}
	return func(a, b K) int { return any(a).(Ordered[K]).Compare(b) }
}

// builtIn returns the order of the type of zero, if it is built in.
func builtIn(zero any) any {
	switch zero.(type) {
	case int64:
		return cmp.Compare[int64]
	case string:
		return cmp.Compare[string]
	case int8:
		return cmp.Compare[int8]
	case int16:
		return cmp.Compare[int16]
	case int32:
		return cmp.Compare[int32]
	case uint8:
		return cmp.Compare[uint8]
	case uint16:
		return cmp.Compare[uint16]
	case uint32:
		return cmp.Compare[uint32]
	case uint64:
		return cmp.Compare[uint64]
	case float64:
		return cmp.Compare[float64]
	case bool:
		return CompareBool
	}
	return nil
}

// CompareBool orders false before true.
func CompareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// sortElems sorts in place in ascending order. Elements that stand at one place are the same, except 0 and -0,
// for which it is stable.
func sortElems[T any](elems []T) {
	if !sortBuiltIn(elems) {
		sort.Sort(&ordered[T]{elems, orderOf[T]()})
	}
}

// sortBuiltIn sorts a slice of elements whose order is built in, and reports whether they are such.
// Each of its sorts is compiled once, here, and not with every program.
func sortBuiltIn(elems any) bool {
	switch s := elems.(type) {
	case []int64:
		slices.Sort(s)
	case []string:
		slices.Sort(s)
	case []int8:
		slices.Sort(s)
	case []int16:
		slices.Sort(s)
	case []int32:
		slices.Sort(s)
	case []uint8:
		slices.Sort(s)
	case []uint16:
		slices.Sort(s)
	case []uint32:
		slices.Sort(s)
	case []uint64:
		slices.Sort(s)
	case []float64:
		slices.SortStableFunc(s, cmp.Compare)
	case []bool:
		slices.SortFunc(s, CompareBool)
	default:
		return false
	}
	return true
}

// ordered implements sort.Interface.
type ordered[T any] struct {
	elems []T
	order func(a, b T) int
}

// Len implements sort.Interface.
func (o *ordered[T]) Len() int { return len(o.elems) }

// Less implements sort.Interface.
func (o *ordered[T]) Less(i, j int) bool { return o.order(o.elems[i], o.elems[j]) < 0 }

// Swap implements sort.Interface.
func (o *ordered[T]) Swap(i, j int) { o.elems[i], o.elems[j] = o.elems[j], o.elems[i] }

// Min returns the smaller of a and b by the method Compare of their type.
func Min[K Ordered[K]](a, b K) K {
	if b.Compare(a) < 0 {
		return b
	}
	return a
}

// Max returns the larger of a and b by the method Compare of their type.
func Max[K Ordered[K]](a, b K) K {
	if b.Compare(a) > 0 {
		return b
	}
	return a
}
