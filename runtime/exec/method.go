package exec

import (
	"unsafe"

	"github.com/aeon-lang/aeon/runtime/order"
)

// Method describes one method of an actor class. There is one per method, a
// package-level variable. Run and what Effects name as such are to be set in init.
type Method struct {
	Class     *Class
	Name      string
	Signature string   // its types, as the schema of a store has them; package codegen says how it is written
	Params    []string // their names
	Doc       string   // the comment before its declaration
	Internal  bool     // no door shows it
	Index     int
	order.Effects

	// Go: calls of the method are calls of a Go function. It has neither Run nor Effects, and stands in Class.Calls.
	Go *GoCall

	Run     func(cx *Cx, self any, args order.Args)
	NewArgs func() order.Args
}

// String returns Class.method.
func (m *Method) String() string {
	if m.Class == nil {
		return m.Name
	}
	return m.Class.Name + "." + m.Name
}

// Class describes an actor class. There is one per class, a package-level
// variable; Methods and Construct are to be set in init.
type Class struct {
	order.Shape // Invariant: first, so that a class is found from its shape

	Doc     string // the comment before its declaration
	Methods []*Method
	Calls   []*Method // of Go functions, that its methods issue
	// Construct is the parameterless constructor of a class whose actors can be
	// named, nil if there is none.
	Construct *Method
	// Snapshot changes a copy of an actor's state into what snapshots contain of the actor; nil
	// if that is the state itself. It assigns no field that is Owning, calls no actor, and
	// follows from the state alone.
	Snapshot func(cx *Cx, self any)
}

// stored returns the methods of which calls may wait in a store.
func (c *Class) stored() []*Method {
	return append(c.Methods[:len(c.Methods):len(c.Methods)], c.Calls...)
}

// shapeOf returns the shape of a class, nil of none: deletions and timers are methods of no class.
func shapeOf(c *Class) *order.Shape { return (*order.Shape)(unsafe.Pointer(c)) }

// classOf returns the class that a shape is part of. Every shape is part of one.
func classOf(c *order.Shape) *Class { return (*Class)(unsafe.Pointer(c)) }

// Namer is a Cx or a Client: both can look up a named actor.
type Namer interface{ namer() any }

// Named returns the actor of class c with the given name; the first event on it
// runs its constructor.
func Named(in Namer, c *Class, name string) order.Ref {
	return order.RefOf(in.namer().(*System).host.Named(&c.Shape, name))
}
