// Package short has what is done with slices that mostly have a few elements, where a call into Go's runtime takes longer than the work.
package short

// few is how many elements are cleared one by one: longer slices take Go's runtime less time.
const few = 4

// Clear sets all elements to zero, as clear does.
func Clear[T any](s []T) {
	if len(s) > few {
		clear(s)
		return
	}
	var zero T
	for i := len(s) - 1; i >= 0; i-- { // upwards, the compiler would take it for a call of clear
		s[i] = zero
	}
}
