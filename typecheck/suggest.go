package typecheck

import "github.com/aeon-lang/aeon/internal/similar"

// suggestMax bounds how often one run looks for similar names: a file full of
// unknown names must not cost the square of its length.
const suggestMax = 200

// similar returns the candidate closest to name, or "" if none is close.
func (c *checker) similar(name string, each func(yield func(string))) string {
	c.suggests++
	if c.suggests > suggestMax {
		return ""
	}
	return similar.Nearest(name, each)
}
