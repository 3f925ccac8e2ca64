package typecheck

import "github.com/aeon-lang/aeon/internal/similar"

// suggestMax bounds how often one run looks for similar names, or lists the declared ones: a
// file full of unknown names must not cost the square of its length.
const suggestMax = 200

// mayList reports whether one more message may go over all that is declared.
func (c *checker) mayList() bool {
	c.suggests++
	return c.suggests <= suggestMax
}

// similar returns the candidate closest to name, or "" if none is close.
func (c *checker) similar(name string, each func(yield func(string))) string {
	if !c.mayList() {
		return ""
	}
	return similar.Nearest(name, each)
}
