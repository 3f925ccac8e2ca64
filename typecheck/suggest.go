package typecheck

import "sort"

// suggestMax bounds how often one run looks for similar names: a file full of
// unknown names must not cost the square of its length.
const suggestMax = 200

// similar returns the candidate closest to name, or "" if none is close: at
// most a third of its letters may differ, swapped neighbours counting once.
func (c *checker) similar(name string, each func(yield func(string))) string {
	c.suggests++
	if c.suggests > suggestMax || len(name) > 64 {
		return ""
	}
	limit := (len(name) + 1) / 3
	best, bestDistance := "", limit+1
	var ties []string
	each(func(candidate string) {
		if candidate == name || candidate == "" || abs(len(candidate)-len(name)) > limit {
			return
		}
		d := distance(name, candidate, limit)
		if d < bestDistance {
			best, bestDistance, ties = candidate, d, ties[:0]
		}
		if d == bestDistance && d <= limit {
			ties = append(ties, candidate)
		}
	})
	if len(ties) > 1 {
		sort.Strings(ties)
		best = ties[0]
	}
	return best
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// distance is the edit distance of a and b without regard to ASCII case, or
// more than limit if it exceeds limit.
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
			if lower(a[i-1]) == lower(b[j-1]) {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && lower(a[i-1]) == lower(b[j-2]) && lower(a[i-2]) == lower(b[j-1]) {
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

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
