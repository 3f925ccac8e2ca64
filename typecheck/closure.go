package typecheck

import (
	"math/bits"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang/diag"
)

// closure is the transitive closure of an acyclic class graph: for every class
// a set of those below it, itself excluded.
type closure struct {
	classes []*Class
	number  map[*Class]int
	below   [][]uint64 // by number; nil until it is known
}

const (
	actorClassesMax = 4096    // of a package and those it imports
	closureMax      = 250_000 // pairs of a class and one below it
)

// closeGraph computes the closure, or reports that the graph is too large to
// be analysed: effects name classes, so their size is that of the closure.
func (c *checker) closeGraph() {
	cl := &closure{number: make(map[*Class]int)}
	for _, class := range c.info.Graph.Classes {
		cl.enter(class)
	}
	classes := c.info.Graph.Classes
	if len(cl.classes) > actorClassesMax {
		c.errorAt(diag.TooLarge, classes[0].Span(), "there are more than %d actor classes in this package and what it imports", actorClassesMax)
		return
	}
	cl.below = make([][]uint64, len(cl.classes))
	total := 0
	for _, class := range cl.classes {
		for _, word := range cl.of(class) {
			total += bits.OnesCount64(word)
		}
	}
	if total > closureMax {
		c.errorAt(diag.TooLarge, classes[0].Span(), "the ownership graph is too large: over %d pairs of an actor class and one that it owns, directly or not", closureMax).
			Help = "break it up: fields that only issue events can be `yield`"
		return
	}
	c.closure = cl
}

// enter numbers a class and those below it.
func (cl *closure) enter(class *Class) {
	work := []*Class{class}
	for len(work) > 0 && len(cl.classes) <= actorClassesMax {
		next := work[len(work)-1]
		work = work[:len(work)-1]
		if _, known := cl.number[next]; known {
			continue
		}
		cl.number[next] = len(cl.classes)
		cl.classes = append(cl.classes, next)
		work = append(work, next.Owns...)
	}
}

// of returns the set of the classes below one.
func (cl *closure) of(class *Class) []uint64 {
	n := cl.number[class]
	if cl.below[n] != nil {
		return cl.below[n]
	}
	set := make([]uint64, (len(cl.classes)+63)/64)
	for _, next := range class.Owns {
		i := cl.number[next]
		set[i/64] |= 1 << (i % 64)
		for j, word := range cl.of(next) {
			set[j] |= word
		}
	}
	// Invariant: the graph is acyclic, self-loops apart, which are no edges here.
	assert.That(set[n/64]&(1<<(n%64)) == 0, "a class is below itself")
	cl.below[n] = set
	return set
}

// has reports whether c is below top.
func (cl *closure) has(top, c *Class) bool {
	n, known := cl.number[c]
	if _, ok := cl.number[top]; ok {
		return known && cl.of(top)[n/64]&(1<<(n%64)) != 0
	}
	found := false
	walkBelow(top, make(map[*Class]bool), func(x *Class) { found = found || x == c })
	return found
}

// each calls f for the classes below one.
func (cl *closure) each(class *Class, f func(*Class)) {
	if _, known := cl.number[class]; !known {
		walkBelow(class, make(map[*Class]bool), f)
		return
	}
	for i, word := range cl.of(class) {
		for ; word != 0; word &= word - 1 {
			f(cl.classes[64*i+bits.TrailingZeros64(word)])
		}
	}
}

// walkBelow visits the classes below one of an imported package that no class
// of this package owns: only a free function can be handed its actors.
func walkBelow(class *Class, seen map[*Class]bool, f func(*Class)) {
	for _, next := range class.Owns {
		if !seen[next] {
			seen[next] = true
			f(next)
			walkBelow(next, seen, f)
		}
	}
}
