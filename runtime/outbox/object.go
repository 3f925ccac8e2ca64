package outbox

import (
	"maps"
	"sync"
	"weak"

	"github.com/aeon-lang/aeon/runtime/store"
)

// Objects has the client objects of a system that have a number. A reference to a client object is stored in the state of
// an actor as a number, which no other object of the store has ever had. While the client is there the number leads back
// to the object, even if the state has left memory meanwhile. Later, and in another process, it leads to an object of a
// client that has gone.
type Objects[O any] struct {
	numbers *store.Numbers

	mu   sync.Mutex
	live map[uint64]*O
	gone map[uint64]weak.Pointer[O]
	// pruneAt is the size of gone at which objects without references are looked for.
	pruneAt int
}

// GonePruneMin is the least number of objects of gone clients at which those without references are looked for.
const GonePruneMin = 16

// Open gives objects numbers from these. It is called before the first use.
func (c *Objects[O]) Open(numbers *store.Numbers) { c.numbers = numbers }

// Number returns the number of o, and gives it one in *number if that is 0. gone reports whether its client has gone.
func (c *Objects[O]) Number(o *O, number *uint64, gone func() bool) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if *number == 0 {
		*number = c.numbers.Next()
		if c.live == nil {
			c.live = map[uint64]*O{}
		}
		if gone() {
			c.leave(*number, o)
		} else {
			c.live[*number] = o
		}
	}
	return *number
}

// Resolve returns the object of a number, each time the same. If its client has gone, and nothing refers to it any more,
// lost makes one.
func (c *Objects[O]) Resolve(number uint64, lost func() *O) *O {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.live[number]; o != nil {
		return o
	}
	if o := c.gone[number].Value(); o != nil {
		return o
	}
	o := lost()
	c.leave(number, o)
	return o
}

// Find returns the object of a number whose client is there, nil if there is none.
func (c *Objects[O]) Find(number uint64) *O {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live[number]
}

// Forget notes that the clients of some objects have gone.
func (c *Objects[O]) Forget(gone func(*O) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for number, o := range c.live {
		if gone(o) {
			delete(c.live, number)
			c.leave(number, o)
		}
	}
}

// Counts returns how many objects have clients, and how many not. It is for tests.
func (c *Objects[O]) Counts() (live, gone int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.live), len(c.gone)
}

// leave notes that the client of o has gone. Caller holds mu.
func (c *Objects[O]) leave(number uint64, o *O) {
	if c.gone == nil {
		c.gone = map[uint64]weak.Pointer[O]{}
	}
	if c.gone[number] = weak.Make(o); len(c.gone) > max(c.pruneAt, GonePruneMin) {
		maps.DeleteFunc(c.gone, func(_ uint64, o weak.Pointer[O]) bool { return o.Value() == nil })
		c.pruneAt = 2 * len(c.gone)
	}
}
