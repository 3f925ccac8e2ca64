package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/typetext"
)

// A field of an actor has rows of its own: they stay while a program runs that does not have the field, so its
// values are kept. A field of a value class is part of a row: a program without the field writes the row without
// it. Such a program is refused unless the user has given the values up.

// FieldFate says what becomes of the values of a stored field.
type FieldFate uint8

// The fates.
const (
	FieldKept    FieldFate = iota // the program does not have the field; one that has it finds the values
	FieldBack                     // the program has it again
	FieldLost                     // a field of a value class: values that the program writes lack it
	FieldDropped                  // the values were given up
)

// FieldChange is what becomes of a field when a program is started on a store.
type FieldChange struct {
	Field  Part   // of an actor class or a value class
	In     string // the actor class that has it, or has values that have it
	Fate   FieldFate
	Actors int // how many actors of that class may have such values; -1: not known
}

// DropFlag is the flag by which values are given up.
const DropFlag = "--drop-fields"

func dropFlag(p Part) string { return DropFlag + " " + p.String() }

// String writes a field as DropFlag takes it.
func (p Part) String() string { return p.Type + "." + p.Field }

// ParseFields reads fields, with commas between, as String writes them.
func ParseFields(text string) (fields []Part, err error) {
	for name := range strings.SplitSeq(text, ",") {
		i := strings.LastIndexByte(name, '.')
		if i < 0 || i == len(name)-1 || !strings.Contains(name[:i], ".") {
			return nil, fmt.Errorf("%q is no field; write package.Class.field, and a comma between two", name)
		}
		fields = append(fields, Part{name[:i], name[i+1:]})
	}
	return fields, nil
}

// Drop gives up the values of fields that the program does not have, or did not have until now.
func (s *Schema) Drop(fields []Part) { s.dropped = fields }

// Count tells how many actors there are of each layout: what no actor has cannot be lost.
func (s *Schema) Count(actors map[uint32]int) { s.actors = actors }

// Counted reports whether Count was called.
func (s *Schema) Counted() bool { return s.actors != nil }

// FieldChanges returns what becomes of the stored fields that were in use and are not any more, and of those
// that come back, in the order of the classes. Check refuses the fields that would be lost.
func (s *Schema) FieldChanges(classes []Class) (list []FieldChange) {
	for _, c := range classes {
		old := s.classes[c.Name]
		if old == nil {
			continue
		}
		actors := s.Actors(c.Name)
		fields := slices.Clone(old.Fields)
		old.drop(fields, c, s.dropped)
		for i, f := range old.Fields {
			change := FieldChange{Part{c.Name, f.Name}, c.Name, FieldKept, actors}
			switch now := c.has(f.Name); {
			case !f.live():
				continue
			case fields[i].Gone:
				change.Fate = FieldDropped
			case now && old.inUse(&f):
				list = appendNew(list, s.parts(c, f, actors)...)
				continue
			case now:
				change.Fate = FieldBack
				list = appendNew(list, s.parts(c, f, actors)...)
			case !old.inUse(&f):
				continue // it was kept, and stays so
			}
			list = append(list, change)
		}
	}
	return list
}

// Needless returns the fields that the user gave up needlessly: nothing is stored of them, or the program uses all.
func (s *Schema) Needless(changes []FieldChange) (list []Part) {
	for _, part := range s.dropped {
		changed := slices.ContainsFunc(changes, func(c FieldChange) bool { return c.Field == part && c.Fate == FieldDropped })
		if !changed && !slices.ContainsFunc(s.Signatures(), func(m Signature) bool { return slices.Contains(m.dropped, part) }) {
			list = append(list, part)
		}
	}
	return list
}

// NewParts returns the fields of value classes that stored values do not have, each once, in the order of the classes.
func (s *Schema) NewParts(classes []Class) (list []Part) {
	for _, c := range classes {
		if old := s.classes[c.Name]; old != nil && s.Actors(c.Name) != 0 {
			for _, f := range old.Fields {
				if compared := c.compare(f); compared != nil && f.live() {
					list = append(list, compared.added...)
				}
			}
		}
	}
	seen := make(map[Part]bool)
	return slices.DeleteFunc(list, func(p Part) bool {
		twice := seen[p]
		seen[p] = true
		return twice
	})
}

// compare compares the type of a stored field with that of the field in c. It returns nil if there is none, or if nothing has changed, or if Check
// returns an error.
func (c *Class) compare(old storedField) *comparison {
	i := slices.IndexFunc(c.Fields, func(f ClassField) bool { return f.Name == old.Name })
	if i < 0 || c.Fields[i].Type == old.Type {
		return nil
	}
	was, err := typetext.ParseField(old.Type)
	now, wrong := typetext.ParseField(c.Fields[i].Type)
	if err != nil || wrong != nil {
		return nil
	}
	compared, how, _ := compareFields(was, now, old.Lost)
	if how == changedType {
		return nil
	}
	return compared
}

// parts returns the fields of value classes that are stored in a field of c, and that the program does not read.
func (s *Schema) parts(c Class, old storedField, actors int) (list []FieldChange) {
	compared := c.compare(old)
	if compared == nil {
		return nil
	}
	for _, part := range compared.lost {
		fate := FieldLost
		if slices.Contains(s.dropped, part) {
			fate = FieldDropped
		}
		list = append(list, FieldChange{part, c.Name, fate, actors})
	}
	return list
}

// appendNew appends the changes that are not in the list: several fields may hold values of one class.
func appendNew(list []FieldChange, changes ...FieldChange) []FieldChange {
	for _, c := range changes {
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// has reports whether the class has a field of the name.
func (c *Class) has(name string) bool {
	return slices.ContainsFunc(c.Fields, func(f ClassField) bool { return f.Name == name })
}

// layouts returns the numbers of all layouts of the class.
func (c *storedClass) layouts() (numbers []uint32) {
	for _, l := range c.Layouts {
		numbers = append(numbers, l.Number)
	}
	return numbers
}

// population returns how many actors were created with one of the layouts.
func (s *Schema) population(layouts []uint32) (n int) {
	for _, l := range layouts {
		n += s.actors[l]
	}
	return n
}

// Actors returns how many actors of a stored class there are, -1 if that is not known.
func (s *Schema) Actors(class string) int {
	if s.actors == nil {
		return -1
	}
	return s.population(s.classes[class].layouts())
}

// Kept returns the fields whose values are stored, and that the last program did not have.
func (s *Schema) Kept() (list []Part) {
	for _, name := range sortedNames(s.classes) {
		c := s.classes[name]
		for _, f := range c.Fields {
			if f.live() && !c.inUse(&f) {
				list = append(list, Part{name, f.Name})
			}
		}
	}
	return list
}

// refusal is the error for values that would be lost.
func (f *FieldChange) refusal() error {
	return &SchemaError{Class: f.In, Reason: fmt.Sprintf("the program has no field %s, which values in fields of %s have; they would lose it when they are written", f.Field, count(f.Actors, "actor")),
		Remedy: "run a version that has the field, or give up what is stored in it with " + dropFlag(f.Field), Part: Part{Type: f.Field.Type}}
}
