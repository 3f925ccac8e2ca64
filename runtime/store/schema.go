package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/typetext"
)

// SchemaFormat is the form of schema rows that this package writes, and the only one that it reads.
const SchemaFormat = 2

// Class is what the schema has to know of an actor class of the program.
type Class struct {
	Name    string // package and class, with a point between
	Fields  []ClassField
	Methods []ClassMethod // those whose calls can wait
	// Overrides: the class has a snapshot block, which says in code what snapshots contain of its actors.
	Overrides bool
}

// ClassField is a field of an actor class. Type is written as codegen.FieldType does.
type ClassField struct{ Name, Type string }

// Schema is what a store knows of the classes of its actors.
type Schema struct {
	classes map[string]*storedClass
	program map[string][]string // the fields that the program's classes have now
	changed map[string]bool     // classes whose rows must be written
	dropped []Part              // fields whose values may be lost
	actors  map[uint32]int      // how many, by layout; nil: not known
	// The last numbers that were given to a layout and a signature.
	lastLayout, lastSignature uint32
}

// storedClass is the row of a class.
type storedClass struct {
	Format  int            `json:"format"`
	Class   string         `json:"class"`
	Fields  []storedField  `json:"fields"`
	Layouts []storedLayout `json:"layouts"` // the last one is the present one
	// Signatures are those that its methods have, and have had.
	Signatures []storedSignature `json:"signatures,omitempty"`
	// Overrides is that of Class.
	Overrides bool `json:"overrides,omitempty"`
}

// storedField is a field that actors have, or have had.
type storedField struct {
	Number uint16 `json:"number"`
	Name   string `json:"name"`
	Type   string `json:"type"`
	// Gone is set when the values were given up. The number is never used again, not even if the
	// field comes back.
	Gone bool `json:"gone,omitempty"`
	// Unused is set with Gone if there were no actors then, and so no values. No actor may have a layout with the field: one that was
	// restored since would be read without its value.
	Unused bool `json:"unused,omitempty"`
	// Next is the number under which the field is stored since its type changed.
	Next uint16 `json:"next,omitempty"`
	// Lost are fields of value classes in the type that it does not have, and that rows may have: they were given up, and a row
	// keeps its value until it is next written. No new field may have the name. Versions of aeon that do not know Lost leave it out.
	Lost []Part `json:"lost,omitempty"`
}

// storedLayout has the numbers of the fields that actors get when they are created with it.
type storedLayout struct {
	Number uint32   `json:"number"`
	Fields []uint16 `json:"fields"`
}

// SchemaError says why a program cannot work on a store, because of one field or one class.
type SchemaError struct {
	Class, Field string
	Old, New     string // types as a user writes them; empty if there is none
	Reason       string
	Remedy       string
	Part         Part     // the part of the type that has changed, if it is a part
	without      []uint32 // layouts of actors that lack the field; nil: all stored actors are concerned
}

// Error implements error.
func (e *SchemaError) Error() string {
	var b strings.Builder
	b.WriteString("class " + e.Class)
	if e.Field != "" {
		b.WriteString(", field " + e.Field)
	}
	switch {
	case e.Old != "" && e.New != "" && e.Old != e.New:
		fmt.Fprintf(&b, ", stored as %s and now %s", e.Old, e.New)
	case e.New != "":
		fmt.Fprintf(&b, ", of type %s", e.New)
	}
	return b.String() + ": " + e.Reason + "; " + e.Remedy
}

// NewSchema returns the schema of a store that has no actors.
func NewSchema() *Schema {
	return &Schema{classes: map[string]*storedClass{}, changed: map[string]bool{}}
}

// ReadSchema reads the schema of a store.
func ReadSchema(from Reader) (*Schema, error) {
	s := NewSchema()
	lo, hi := SchemaRange()
	it := from.Scan(lo, hi)
	err := s.read(it)
	if closed := it.Close(); err == nil {
		err = closed
	}
	return s, err
}

func (s *Schema) read(it Iterator) error {
	for it.Next() {
		key := slices.Clone(it.Key())
		payload, err := Payload(key, it.Value())
		if err == nil {
			err = s.Add(key, payload)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Add adds the row of a class.
func (s *Schema) Add(key, payload []byte) error {
	var format struct{ Format int }
	if json.Unmarshal(payload, &format) == nil && format.Format != SchemaFormat && format.Format > 0 {
		return fmt.Errorf("%s was written by %s version of aeon (format %d, this one reads %d): use that version",
			DescribeKey(key), age(format.Format, SchemaFormat), format.Format, SchemaFormat)
	}
	c := &storedClass{}
	if err := json.Unmarshal(payload, c); err != nil {
		return &CorruptError{slices.Clone(key), err.Error()}
	}
	if string(SchemaKey(c.Class)) != string(key) || len(c.Layouts) == 0 {
		return &CorruptError{slices.Clone(key), "it is no schema of this class"}
	}
	for _, l := range c.Layouts {
		s.lastLayout = max(s.lastLayout, l.Number)
	}
	for _, m := range c.Signatures {
		s.lastSignature = max(s.lastSignature, m.Number)
	}
	s.classes[c.Class] = c
	return nil
}

// Check compares the program's classes with the stored ones. It returns, joined, a *SchemaError for every field
// that cannot be read, or whose values would be lost; it changes nothing.
func (s *Schema) Check(classes []Class) error {
	var errs []error
	for _, c := range classes {
		if old := s.classes[c.Name]; old != nil {
			_, found := old.adapt(c, s.dropped, s.Actors(c.Name) == 0)
			for _, err := range found {
				if e := (*SchemaError)(nil); !errors.As(err, &e) || e.without == nil || s.actors == nil || s.population(e.without) > 0 {
					errs = append(errs, err)
				}
			}
		}
	}
	for _, f := range s.FieldChanges(classes) {
		if f.Fate == FieldLost && f.Actors > 0 {
			errs = append(errs, f.refusal())
		}
	}
	return errors.Join(errs...)
}

// SchemaErrors returns the errors that Check has joined.
func SchemaErrors(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return nil
}

// Classes returns the stored classes, in order of their names, with the fields that the last program had.
func (s *Schema) Classes() []Class {
	var list []Class
	for _, c := range s.classes {
		class := Class{Name: c.Class, Overrides: c.Overrides}
		for _, f := range c.Fields {
			if c.inUse(&f) {
				class.Fields = append(class.Fields, ClassField{f.Name, f.Type})
			}
		}
		list = append(list, class)
	}
	slices.SortFunc(list, func(a, b Class) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Stored returns the fields that the last program had of a class, by the numbers under which actors may have them: a field
// whose type has changed has several, each with the type that it had.
func (s *Schema) Stored(class string) map[uint16]ClassField {
	list := make(map[uint16]ClassField)
	c := s.classes[class]
	if c == nil {
		return list
	}
	for i := len(c.Fields) - 1; i >= 0; i-- { // a field stands behind what it was before
		f := &c.Fields[i]
		if _, later := list[f.Next]; c.inUse(f) || f.Next != 0 && later && !f.Gone {
			list[f.Number] = ClassField{f.Name, f.Type}
		}
	}
	return list
}

// Adopt makes the program's classes those of the schema. New fields and signatures get numbers; fields that the program
// does not have keep their numbers and values. If it fails, with the error of Check, nothing has changed. Write brings
// the changes to the store, once it is certain that the program reads all that is there.
func (s *Schema) Adopt(classes []Class) error {
	if err := s.Check(classes); err != nil {
		return err
	}
	s.program = map[string][]string{}
	for _, c := range classes {
		if err := s.adopt(c); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) adopt(c Class) error {
	names := make([]string, len(c.Fields))
	for i, f := range c.Fields {
		if _, err := typetext.ParseField(f.Type); err != nil {
			return fmt.Errorf("class %s, field %s: %w", c.Name, f.Name, err)
		}
		names[i] = f.Name
	}
	s.program[c.Name] = names
	old := s.classes[c.Name]
	if old == nil {
		old = &storedClass{Format: SchemaFormat, Class: c.Name}
	}
	fields, _ := old.adapt(c, s.dropped, len(old.Fields) > 0 && s.Actors(c.Name) == 0)
	if len(fields) > 1<<16-1 {
		return fmt.Errorf("class %s has had more fields than a store can tell apart: %d", c.Name, len(fields))
	}
	signatures, err := s.adoptMethods(c, old.Signatures)
	if err != nil {
		return err
	}
	now := &storedClass{Format: SchemaFormat, Class: c.Name, Fields: fields, Layouts: slices.Clone(old.Layouts), Signatures: signatures, Overrides: c.Overrides}
	var numbers []uint16
	for _, f := range fields {
		if f.live() && slices.Contains(names, f.Name) {
			numbers = append(numbers, f.Number)
		}
	}
	if n := len(now.Layouts); n == 0 || !slices.Equal(now.Layouts[n-1].Fields, numbers) {
		s.lastLayout++
		now.Layouts = append(now.Layouts, storedLayout{s.lastLayout, numbers})
	} else if slices.EqualFunc(fields, old.Fields, storedField.equal) && slices.EqualFunc(signatures, old.Signatures, storedSignature.equal) && old.Overrides == c.Overrides {
		return nil
	}
	s.classes[c.Name], s.changed[c.Name] = now, true
	return nil
}

// Changed reports whether there is something to write.
func (s *Schema) Changed() bool { return len(s.changed) > 0 }

// Write puts what Adopt has changed into a batch.
func (s *Schema) Write(b Batch) {
	for _, name := range sortedNames(s.changed) {
		text, err := json.Marshal(s.classes[name])
		if err != nil {
			panic(err) // strings and numbers only
		}
		key := SchemaKey(name)
		b.Set(key, AppendRow(nil, key, text))
	}
	clear(s.changed)
}

func sortedNames[T any](set map[string]T) []string {
	var list []string
	for name := range set {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

func (f storedField) equal(other storedField) bool {
	return f.Number == other.Number && f.Type == other.Type && f.Gone == other.Gone && f.Unused == other.Unused && f.Next == other.Next && slices.Equal(f.Lost, other.Lost)
}

// live reports whether the field is stored under this number by a program that has it.
func (f *storedField) live() bool { return !f.Gone && f.Next == 0 }

// inUse reports whether the last program had the field.
func (c *storedClass) inUse(f *storedField) bool {
	return len(c.Layouts) > 0 && slices.Contains(c.Layouts[len(c.Layouts)-1].Fields, f.Number)
}

// drop marks the fields of dropped as given up, except those that both the last program and this one have.
func (old *storedClass) drop(fields []storedField, c Class, dropped []Part) {
	for i := range fields {
		f := &fields[i]
		if f.live() && slices.Contains(dropped, Part{c.Name, f.Name}) && (!old.inUse(f) || !c.has(f.Name)) {
			giveUp(fields[:i+1], f.Name, false)
		}
	}
}

// giveUp marks a field as given up, with what it was before.
func giveUp(fields []storedField, name string, unused bool) {
	for i := range fields {
		if f := &fields[i]; f.Name == name && !f.Gone {
			f.Gone, f.Unused = true, unused
		}
	}
}

// adapt returns the fields as they will be stored for the program's class. Nothing is stored in them if there are no actors.
func (old *storedClass) adapt(c Class, dropped []Part, empty bool) (fields []storedField, errs []error) {
	fields = slices.Clone(old.Fields)
	old.drop(fields, c, dropped)
	for _, f := range c.Fields {
		i := slices.IndexFunc(fields, func(o storedField) bool { return o.Name == f.Name && o.live() })
		next := storedField{Number: uint16(len(fields) + 1), Name: f.Name, Type: f.Type}
		now, err := typetext.ParseField(f.Type)
		if err != nil {
			errs = append(errs, fmt.Errorf("class %s, field %s: %w", c.Name, f.Name, err))
			continue
		}
		for _, err := range []error{old.newField(c, f, now, i), old.unused(c, f, now)} {
			if err != nil {
				errs = append(errs, err)
			}
		}
		switch {
		case i < 0:
			fields = append(fields, next)
		case fields[i].Type != f.Type:
			was, err := typetext.ParseField(fields[i].Type)
			if err != nil {
				errs = append(errs, fmt.Errorf("stored class %s, field %s: %w", c.Name, f.Name, err))
				continue
			}
			switch compared, how, why := compareFields(was, now, fields[i].Lost); how {
			case changedType:
				if empty {
					giveUp(fields, f.Name, true)
					fields = append(fields, next)
					continue
				}
				remedy := compared.remedy
				if !old.inUse(&fields[i]) {
					why = "the values that were kept when the field was gone: " + why
					remedy += ", or give them up with " + dropFlag(Part{c.Name, f.Name})
				}
				errs = append(errs, &SchemaError{c.Name, f.Name, was.String(), now.String(), why, remedy, compared.at, nil})
			case becameNull:
				next.Lost = compared.absent()
				fields[i].Next = next.Number
				fields = append(fields, next)
			default:
				fields[i].Type, fields[i].Lost = f.Type, compared.absent()
			}
		}
	}
	return fields, errs
}

// unused checks that no actor has a field of the name of f that was given up when there were no actors.
func (old *storedClass) unused(c Class, f ClassField, now typetext.Field) error {
	var with []uint32
	var before string
	for _, was := range old.Fields {
		for _, l := range old.Layouts {
			if was.Name == f.Name && was.Unused && slices.Contains(l.Fields, was.Number) {
				with, before = append(with, l.Number), was.Type
				if t, err := typetext.ParseField(was.Type); err == nil {
					before = t.String()
				}
			}
		}
	}
	if len(with) == 0 {
		return nil
	}
	return &SchemaError{c.Name, f.Name, before, now.String(), "the type has changed while there were no actors of the class, and some were restored since that were stored before",
		"restore them from a later snapshot, or everything from the one that has them", Part{}, with}
}

// newField checks a field that stored layouts may lack; i is its place among the stored fields, negative if it is new.
func (old *storedClass) newField(c Class, f ClassField, now typetext.Field, i int) error {
	cmp := comparison{new: map[string]*typetext.Type{}}
	now.Type.Definitions(cmp.new)
	var without []uint32
	for _, l := range old.Layouts {
		if i < 0 || !slices.Contains(l.Fields, old.Fields[i].Number) {
			without = append(without, l.Number)
		}
	}
	if len(without) == 0 || cmp.hasZero(now.Type) {
		return nil
	}
	return &SchemaError{c.Name, f.Name, "", now.String(), "stored actors have no such field, and a reference that cannot be null has no zero value",
		"make it " + now.String() + "?", Part{}, without}
}

// WriteSchema writes what Adopt has changed, before any row that depends on it.
func (s *Store) WriteSchema(schema *Schema) {
	if schema.Changed() {
		b := s.NewBatch()
		schema.Write(b)
		s.Append(b)
	}
}
