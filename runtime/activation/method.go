package activation

import (
	"context"
	"errors"
	"unsafe"

	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/event"
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

// Path names the method to other stores, which may run another version of the program: there a method with other types, or one that is ro in one of the
// two alone, has another name.
func (m *Method) Path() string {
	path := m.Name
	if m.Class != nil {
		path = m.Class.Path() + "." + m.Name
	}
	if m.ReadOnly {
		path = "ro " + path
	}
	return across.MethodName(path, m.Signature)
}

// Shape returns the shape of the method's class, nil of none: deletions and timers are methods of no class.
func (m *Method) Shape() *order.Shape { return (*order.Shape)(unsafe.Pointer(m.Class)) }

// GoCall says what a Method calls that stands for calls of a Go function, and no method of a program.
type GoCall struct {
	Function string  // as Go code writes it
	Then     *Method // gets the failure of the last try; nil for none
}

// Class describes an actor class. There is one per class, a package-level
// variable; Methods and Construct are to be set in init.
type Class struct {
	order.Shape // Invariant: first, so that a class is found from its shape

	Doc     string // the comment before its declaration
	Methods []*Method
	Calls   []*Method // of Go functions, that its methods issue
	Ctor    *Method   // the constructor, nil if there is none
	// Construct is the parameterless constructor of a class whose actors can be
	// named, nil if there is none.
	Construct *Method
	// Snapshot changes a copy of an actor's state into what snapshots contain of the actor; nil
	// if that is the state itself. It assigns no field that is Owning, calls no actor, and
	// follows from the state alone.
	Snapshot func(cx *Cx, self any)
}

// ClassOf returns the class that a shape is part of. Every shape is part of one.
func ClassOf(c *order.Shape) *Class { return (*Class)(unsafe.Pointer(c)) }

// Namer is a Cx or a Client: both can look up a named actor.
type Namer interface{ Namer() any } // a *System, which generated code is not to see

// Named returns the actor of class c with the given name; the first event on it
// runs its constructor.
func Named(in Namer, c *Class, name string) order.Ref {
	s := in.Namer().(*System)
	cx, within := in.(*Cx)
	if !within {
		r, _ := FindNamed(context.Background(), in, c, name) // never fails: it has no deadline
		return r
	}
	h, of := s.find(c, name)
	if h != nil {
		return order.RefOf(h)
	}
	sessions := s.Across.Sessions()
	q, ok := s.Across.AskFor(&Of(cx).Run.Attempt, of, across.Question{Class: c.Path(), Name: name})
	switch {
	case !ok:
		panic(order.Withdrawal{})
	case q.Lacks:
		panic(s.Across.Lacks(of, c.Path(), sessions))
	}
	return s.resolve(q, c, name)
}

// Labels asks for the labels of actors of other stores, for an activation that makes texts of references to them.
type Labels struct{ cx *Cx }

// LabelsOf returns what asks for labels for the code of cx; abroad: there are other stores.
//
//go:noinline
func LabelsOf(cx *Cx) (of Labels, abroad bool) { return Labels{cx}, Of(cx).Run.sys.Across != nil }

// Visit has the label of an actor known; null has one. The attempt may end instead, and its code unwinds.
func (l Labels) Visit(ref order.Ref) {
	h := order.HandleOf(ref)
	if h == nil || h.HasLabel() {
		return
	}
	r, s := Of(l.cx).Run, Of(l.cx).Run.sys.Across
	q, ok := s.AskFor(&r.Attempt, s.StoreOf(h.ID), across.Question{Actor: h.ID})
	if !ok {
		panic(order.Withdrawal{})
	}
	h.SetLabel(q.Label)
}

// FindNamed is Named outside of an event. The error says why the store of the actor has not answered.
func FindNamed(ctx context.Context, in Namer, c *Class, name string) (order.Ref, error) {
	s := in.Namer().(*System)
	h, of := s.find(c, name)
	if h != nil {
		return order.RefOf(h), nil
	}
	for {
		sessions := s.Across.Sessions()
		q, err := s.Across.Ask(ctx, of, across.Question{Class: c.Path(), Name: name})
		if err == nil && q.Lacks {
			if err = s.Across.AwaitSessions(ctx, s.Across.Lacks(of, c.Path(), sessions).Lacks); err == nil {
				continue
			}
		}
		if away := (*event.AwayError)(nil); errors.As(err, &away) {
			return order.Ref{}, err
		}
		return s.resolve(q, c, name), nil
	}
}

// find returns the actor of a name. nil: the store of is to be asked, which may have to wait. It is another one, or this one if what is prepared here deletes the actor.
func (s *System) find(c *Class, name string) (h *order.Handle, of event.StoreID) {
	if s.Across != nil {
		if id := s.Host.FirstID(&c.Shape, name); !s.Across.IsHere(id) {
			return nil, s.Across.StoreOf(id)
		}
	}
	h, over := s.FindHere(&c.Shape, name)
	if over != nil {
		return nil, s.Across.ID()
	}
	return h, 0
}

// FindHere returns the actor of a name in this store. What is prepared for an event of another store may delete it: then over is closed when it is known whether it does. That
// event may have committed, and the caller come after it.
func (s *System) FindHere(c *order.Shape, name string) (h *order.Handle, over <-chan struct{}) {
	for {
		h = s.Host.Named(c, name)
		if s.Across == nil || !h.Is(order.Dying|order.Deleted) {
			return h, nil
		}
		// What deletes the actor may have been carried out since it was found.
		if over = s.Dying.Over(h); over != nil || !h.Is(order.Deleted) || s.State.Store.Err() != nil {
			return h, over
		}
	}
}

// FirstOf returns the first actor of the name of h, which the keys of requests to h belong to: for them all actors of a name are one. The error says why
// another store has not answered.
func (s *System) FirstOf(ctx context.Context, h *order.Handle) (event.ActorID, error) {
	if h.Is(order.Elsewhere) {
		q, err := s.Across.Ask(ctx, s.Across.StoreOf(h.ID), across.Question{Actor: h.ID})
		return q.First, err
	}
	return s.State.FirstOf(h), nil
}

// resolve returns the actor of a name that a store has answered.
func (s *System) resolve(q across.Question, c *Class, name string) order.Ref {
	if q.Actor.IsNull() { // this store has ended, and no event will find it
		q.Actor = s.Host.FirstID(&c.Shape, name)
	}
	return s.State.Resolve(q.Actor)
}

// Methods are methods and the names that other stores have for them.
type Methods struct {
	named map[string]*Method
	paths map[*Method]string
}

// MethodsOf returns the methods of classes, and more, which have no class.
func MethodsOf(classes []*Class, more ...*Method) Methods {
	list := append([]*Method{&MethodDelete, &methodReach}, more...)
	for _, c := range classes {
		list = append(append(list, c.Methods...), c.Ctor)
	}
	methods := Methods{make(map[string]*Method), make(map[*Method]string)}
	for _, m := range list {
		if m != nil {
			p := m.Path()
			methods.named[p], methods.paths[m] = m, p
		}
	}
	return methods
}

// PathOf is Method.Path, made once.
func (s *System) PathOf(m *Method) string {
	if p, ok := s.Methods.paths[m]; ok {
		return p
	}
	return m.Path()
}

// Method returns the method that path has named. nil: this version of the program does not have it.
func (s *System) Method(path string) *Method { return s.Methods.named[path] }

// EventMethod is Method for the method of an event that has a part here. The event may be of another version of the program, and the part still be of calls
// that this one knows.
func (s *System) EventMethod(path string) *Method {
	if m := s.Method(path); m != nil {
		return m
	}
	return &Method{Name: across.PathIn(path)}
}
