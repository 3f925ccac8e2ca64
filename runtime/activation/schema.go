package activation

import (
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Shapes returns the shapes of classes.
func Shapes(classes []*Class) []*order.Shape {
	list := make([]*order.Shape, len(classes))
	for i, c := range classes {
		list[i] = &c.Shape
	}
	return list
}

// ClassNamed returns the class of a path, nil if there is none.
func ClassNamed(classes []*Class, path string) *Class {
	for _, c := range classes {
		if c.Path() == path {
			return c
		}
	}
	return nil
}

// StoredClasses returns what a schema knows of classes.
func StoredClasses(classes []*Class) []store.Class {
	list := make([]store.Class, len(classes))
	for i, c := range classes {
		list[i] = store.Class{Name: c.Path(), Overrides: c.Snapshot != nil}
		for _, f := range c.Fields {
			list[i].Fields = append(list[i].Fields, store.ClassField{Name: f.Name, Type: f.Type})
		}
		for _, m := range c.waiting() {
			list[i].Methods = append(list[i].Methods, store.ClassMethod{Name: m.Name, Signature: m.Signature})
		}
	}
	return list
}

// waiting returns the methods of a class of which calls may wait in a store.
func (c *Class) waiting() []*Method {
	return append(c.Methods[:len(c.Methods):len(c.Methods)], c.Calls...)
}

// MethodOf returns a function that finds a method of classes by the path of its class and its name.
func MethodOf(classes []*Class) func(class, name string) *Method {
	methods := make(map[[2]string]*Method)
	for _, c := range classes {
		for _, m := range c.waiting() {
			methods[[2]string{c.Path(), m.Name}] = m
		}
	}
	return func(class, name string) *Method { return methods[[2]string{class, name}] }
}
