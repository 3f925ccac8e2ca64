package exec

import (
	"fmt"
	"sync"

	"github.com/aeon-lang/aeon/runtime/store"
)

// layouts are the layouts of the fields of actors: the one that a class has now, and those
// that actors were created with. Any goroutine may ask.
type layouts struct {
	schema  *store.Schema
	current map[*Class]*store.Layout
	classes map[string]*Class
	mu      sync.Mutex
	numbers map[uint32]numbered // guarded by mu
}

// numbered is a layout by its number.
type numbered struct {
	layout *store.Layout
	class  *Class
}

// open reads the schema of a store and makes the classes of the program its own, in memory: nothing is
// written before recovery has read all that is there.
func (l *layouts) open(from store.Reader, classes []*Class) error {
	schema, err := store.ReadSchema(from)
	if err == nil {
		err = schema.Adopt(storedClasses(classes))
	}
	if err != nil {
		return err
	}
	l.use(schema, classes)
	return nil
}

// use takes a schema that has the classes.
func (l *layouts) use(schema *store.Schema, classes []*Class) {
	l.schema = schema
	l.current, l.classes = make(map[*Class]*store.Layout), make(map[string]*Class)
	l.numbers = make(map[uint32]numbered)
	for _, c := range classes {
		l.current[c], l.classes[c.path()] = l.schema.Layout(c.path()), c
	}
}

// storedClasses returns what a schema knows of classes.
func storedClasses(classes []*Class) []store.Class {
	list := make([]store.Class, len(classes))
	for i, c := range classes {
		list[i] = store.Class{Name: c.path(), Overrides: c.Snapshot != nil}
		for _, f := range c.Fields {
			list[i].Fields = append(list[i].Fields, store.ClassField{Name: f.Name, Type: f.Type})
		}
		for _, m := range c.Methods {
			list[i].Methods = append(list[i].Methods, store.ClassMethod{Name: m.Name, Signature: m.Signature})
		}
	}
	return list
}

// of returns the layout that a class has now.
func (l *layouts) of(c *Class) *store.Layout { return l.current[c] }

// byNumber returns the layout with a number and its class. An error of a class that the
// program has no more wraps ErrClass.
func (l *layouts) byNumber(number uint32) (*store.Layout, *Class, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, known := l.numbers[number]
	if !known {
		layout, class := l.schema.ByNumber(number)
		switch {
		case layout != nil:
			n = numbered{layout, l.classes[class]}
			l.numbers[number] = n
		case class != "":
			return nil, nil, fmt.Errorf("%w: %s, of which there are actors; bring it back, without methods if you like", ErrClass, class)
		default:
			return nil, nil, fmt.Errorf("its layout %d is not in the schema", number)
		}
	}
	return n.layout, n.class, nil
}

// lost reports whether the store has had actors of a class that the program does not have.
func (l *layouts) lost() bool {
	for _, c := range l.schema.Classes() {
		if l.classes[c.Name] == nil {
			return true
		}
	}
	return false
}
