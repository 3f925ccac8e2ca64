package gate

import (
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
)

// Request is a call from outside, by any protocol.
type Request struct {
	By                 *access.Caller // the one that Gate.Know has found
	Remote             string         // the address that it came from
	Class, Key, Method string         // as they were sent, as far as they are known
	Once               string         // the key by which it runs once; "": it has none
	Keyed              bool           // a key was sent, which may be empty by mistake
	// Read reads the target and the arguments into a call whose method has been found. It calls Gate.Hold for the arguments.
	Read func(c *door.Call, class *door.Class) error

	held int64 // bytes
}

// Hold counts bytes that the arguments of a call take until it has been answered. The error says that there is
// no room for them.
func (g *Gate) Hold(q *Request, size int64) error {
	q.held += size
	return g.Counts.bodies.Take(q.Source(), size, g.BodiesMax, door.EachOf(g.BodiesMax, g.BodyMax))
}

// Release gives back what Hold has counted. Answer calls it.
func (g *Gate) Release(q *Request) {
	g.Counts.bodies.Give(q.Source(), q.held)
	q.held = 0
}

// Source returns where the request comes from.
func (q *Request) Source() Source { return SourceOf(q.By, q.Remote) }
