package main

import (
	"fmt"

	"github.com/aeon-lang/aeon/internal/similar"
)

// didYouMean returns ", did you mean …?" for the name nearest to a mistyped one,
// or "" if none is near. The candidate is shown with the prefix.
func didYouMean(typed string, names []string, prefix string) string {
	nearest := similar.Nearest(typed, func(yield func(string)) {
		for _, n := range names {
			yield(n)
		}
	})
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %s%s?", prefix, nearest)
}
