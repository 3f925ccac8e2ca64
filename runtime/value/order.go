package value

import (
	"cmp"
	"slices"
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
	var order any
	switch any(zero).(type) {
	case int64:
		order = cmp.Compare[int64]
	case string:
		order = cmp.Compare[string]
	case int8:
		order = cmp.Compare[int8]
	case int16:
		order = cmp.Compare[int16]
	case int32:
		order = cmp.Compare[int32]
	case uint8:
		order = cmp.Compare[uint8]
	case uint16:
		order = cmp.Compare[uint16]
	case uint32:
		order = cmp.Compare[uint32]
	case uint64:
		order = cmp.Compare[uint64]
	case float64:
		order = cmp.Compare[float64]
	case bool:
		order = CompareBool
	case Ordered[K]:
		return func(a, b K) int { return any(a).(Ordered[K]).Compare(b) }
	}
	return order.(func(a, b K) int)
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

// sorted sorts keys in place in ascending order.
func sorted[K any](keys []K) []K {
	slices.SortFunc(keys, orderOf[K]())
	return keys
}

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
