package main

import "fmt"

// didYouMean returns ", did you mean …?" for the name nearest to a mistyped one,
// or "" if none is near. The candidate is shown with the prefix.
func didYouMean(typed string, names []string, prefix string) string {
	best, nearest := len(typed)/3+1, ""
	for _, n := range names {
		if d := distance(typed, n); d <= best && (nearest == "" || d < best) {
			best, nearest = d, n
		}
	}
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %s%s?", prefix, nearest)
}

// distance is the number of letters to insert, delete, replace or swap with
// their neighbour to turn a into b.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	var twoBefore []int
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		twoBefore, before, row = before, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(before[j+1]+1, row[j]+1, before[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], twoBefore[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
