// Package similar finds the name that a mistyped one was meant to be.
package similar

import "strings"

// nameMax bounds the names that are compared: longer ones are no typing mistakes.
const nameMax = 64

// Nearest returns the candidate closest to name, the first in order among equals,
// or "" if none is close. At most a third of the letters may be inserted, deleted
// or replaced. Neighbours that are swapped count once, and case does not count.
func Nearest(name string, each func(yield func(candidate string))) string {
	if len(name) > nameMax {
		return ""
	}
	limit := (len(name) + 1) / 3
	best, nearest := limit+1, ""
	each(func(candidate string) {
		if candidate == name || candidate == "" || max(len(candidate)-len(name), len(name)-len(candidate)) > limit {
			return
		}
		d := distance(strings.ToLower(name), strings.ToLower(candidate), limit)
		if d < best || d == best && d <= limit && candidate < nearest {
			best, nearest = d, candidate
		}
	})
	return nearest
}

// distance is the edit distance of a and b, or more than limit if it exceeds limit.
func distance(a, b string, limit int) int {
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		low := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			low = min(low, row[j])
		}
		if low > limit {
			return limit + 1
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}
