package typecheck

import "github.com/aeon-lang/aeon/lang/ast"

// holdsActors reports whether a value of type t can hold references to actors
// in plain positions: t is an actor class, or contains one through containers
// and the plain fields of value classes.
func (c *checker) holdsActors(t Type) bool {
	switch t := t.(type) {
	case *Class:
		if t.Kind != ast.ValueClass {
			return t.Kind == ast.ActorClass
		}
		return c.classHoldsActors(t)
	case *Vector:
		return c.holdsActors(t.Elem)
	case *Set:
		return c.holdsActors(t.Elem)
	case *Table:
		return c.holdsActors(t.Row)
	case *Optional:
		return c.holdsActors(t.Elem)
	case *Pending:
		return c.holdsActors(t.Elem)
	case *Map:
		return c.holdsActors(t.Key) || c.holdsActors(t.Value)
	}
	return false
}

// classHoldsActors is holdsActors of a value class; the answer is kept. Classes
// that contain each other are settled together: what a search visits without
// finding an actor is false for all of them.
func (c *checker) classHoldsActors(class *Class) bool {
	if known, ok := c.owning[class]; ok {
		return known
	}
	visited := map[*Class]bool{class: true}
	work := []*Class{class}
	found := false
	for len(work) > 0 && !found {
		next := work[len(work)-1]
		work = work[:len(work)-1]
		for _, f := range next.Fields {
			if f.Yield {
				continue
			}
			eachClass(f.typ, func(inner *Class) {
				switch {
				case inner.Kind == ast.ActorClass:
					found = true
				case inner.Kind == ast.ValueClass && !visited[inner]:
					visited[inner] = true
					work = append(work, inner)
				}
			})
		}
	}
	if found {
		c.owning[class] = true
		return true
	}
	for v := range visited {
		c.owning[v] = false
	}
	return false
}

// eachClass calls f for the classes that occur in t, but not inside of them.
func eachClass(t Type, f func(*Class)) {
	switch t := t.(type) {
	case *Class:
		f(t)
	case *Vector:
		eachClass(t.Elem, f)
	case *Set:
		eachClass(t.Elem, f)
	case *Table:
		f(t.Row)
	case *Optional:
		eachClass(t.Elem, f)
	case *Pending:
		eachClass(t.Elem, f)
	case *Map:
		eachClass(t.Key, f)
		eachClass(t.Value, f)
	}
}

// eachActor calls f for the actor classes to which a value of type t can hold
// plain references, and the chain of value-class fields is followed.
func eachActor(t Type, f func(*Class)) {
	seen := make(map[*Class]bool)
	var visit func(*Class)
	visit = func(class *Class) {
		if seen[class] {
			return
		}
		seen[class] = true
		switch class.Kind {
		case ast.ActorClass:
			f(class)
		case ast.ValueClass:
			for _, field := range class.Fields {
				if !field.Yield {
					eachClass(field.typ, visit)
				}
			}
		}
	}
	eachClass(t, visit)
}

// mentionsRefs reports whether a reference of any kind occurs in t: then
// `yield` means something.
func mentionsRefs(t Type) bool {
	found := false
	seen := make(map[*Class]bool)
	var visit func(*Class)
	visit = func(class *Class) {
		if found || seen[class] {
			return
		}
		seen[class] = true
		if class.Kind != ast.ValueClass {
			found = true
			return
		}
		for _, field := range class.Fields {
			eachClass(field.typ, visit)
		}
	}
	eachClass(t, visit)
	return found
}
