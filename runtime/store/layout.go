package store

import "slices"

// Layout says under which numbers the fields of one class are stored. Opening the store makes
// it from the stored schema.
type Layout struct {
	// Number stands in the headers of actors that were created with this layout.
	Number uint32
	Class  string
	Fields []FieldLayout // as in the program's class
}

// FieldLayout says where one field is stored.
type FieldLayout struct {
	Name   string
	Number uint16
	// Required is set if every actor of the layout has the field: the class had it when they
	// were created.
	Required bool
	// Former lists the numbers under which actors may still have the field with a type that
	// it had before, the latest first.
	Former []FormerField
}

// FormerField is where a field was stored when it had another type.
type FormerField struct {
	Number   uint16
	Required bool
	// Bare is set if the type is optional now and was not then.
	Bare bool
}

// Layout returns the layout with which actors of a class of the program are created and
// written, nil if Adopt was not given such a class.
func (s *Schema) Layout(class string) *Layout {
	c := s.classes[class]
	if _, ok := s.program[class]; !ok {
		return nil
	}
	return s.layout(c, c.Layouts[len(c.Layouts)-1])
}

// ByNumber returns the layout that has the number, as the program reads it. It is nil if there
// is none, or if the program does not have its class any more; class names that class.
func (s *Schema) ByNumber(number uint32) (layout *Layout, class string) {
	for _, c := range s.classes {
		for _, l := range c.Layouts {
			if l.Number == number {
				if s.Layout(c.Class) == nil {
					return nil, c.Class
				}
				return s.layout(c, l), c.Class
			}
		}
	}
	return nil, ""
}

func (s *Schema) layout(c *storedClass, created storedLayout) *Layout {
	l := &Layout{Number: created.Number, Class: c.Class}
	for _, name := range s.program[c.Class] {
		l.Fields = append(l.Fields, c.field(name, created))
	}
	return l
}

func (c *storedClass) field(name string, created storedLayout) (f FieldLayout) {
	f.Name = name
	var number uint16
	for i := len(c.Fields) - 1; i >= 0; i-- { // a field stands behind what it was before
		switch old := &c.Fields[i]; {
		case old.Name != name || old.Gone:
		case old.Next == 0:
			f.Number, f.Required = old.Number, slices.Contains(created.Fields, old.Number)
			number = old.Number
		case old.Next == number:
			f.Former = append(f.Former, FormerField{old.Number, slices.Contains(created.Fields, old.Number), true})
			number = old.Number
		}
	}
	return f
}
