package store

import (
	"fmt"
	"slices"
	"strings"
)

// A comparison of the type that a field was stored with and the one it has now. Stored
// values must mean the same when they are read as the new type.
type comparison struct {
	old, new map[string]*fieldType // what enums and classes consist of
	pairs    map[[2]string]bool    // classes that are being compared, or have been
	calls    bool                  // arguments or results: they own nothing
	at       Part                  // the part that has changed
	lost     []Part                // fields of value classes that are not read any more
}

// Part is a part of a stored type that can change by itself: a field of a value class, or an enum. Type is the names of
// package and type with a point between. The zero Part is none.
type Part struct {
	Type  string `json:"type"`
	Field string `json:"field"`
}

// change says how the type of a field has changed, if its values can still be read.
type change uint8

const (
	readAsIs    change = iota // stored values are read as they are
	becameNull                // T became T?: values were stored without saying whether they are null
	changedType               // they cannot be read
)

// compareFields compares two types of a field; why is the reason why the stored values of a
// changed type cannot be read.
func compareFields(old, now namedType) (c *comparison, result change, why string) {
	c = &comparison{old: map[string]*fieldType{}, new: map[string]*fieldType{}, pairs: map[[2]string]bool{}}
	old.typ.definitions(c.old)
	now.typ.definitions(c.new)
	result, why = c.fields(old, now)
	return c, result, why
}

func (c *comparison) fields(old, now namedType) (result change, why string) {
	if why := c.yields(old, now); why != "" {
		return changedType, why
	}
	if now.typ.form == "?" && old.typ.form != "?" && !old.typ.isRef() {
		if old.typ.byElement() {
			return changedType, "the elements of a " + old.typ.form + " are stored one by one, which cannot be null"
		}
		if why := c.types(old.typ, now.typ.elems[0]); why != "" {
			return changedType, why
		}
		return becameNull, ""
	}
	if why := c.types(old.typ, now.typ); why != "" {
		return changedType, why
	}
	return readAsIs, ""
}

func (c *comparison) yields(old, now namedType) string {
	if old.yield != now.yield && !c.calls {
		return "whether references in a field own actors is stored with the actors"
	}
	return ""
}

// widths lists the integers that may become wider, each group from the narrowest.
var widths = [][]string{{"int8", "int16", "int32", "int"}, {"uint8", "uint16", "uint32", "uint64"}}

func widens(old, now string) bool {
	for _, w := range widths {
		if i, j := slices.Index(w, old), slices.Index(w, now); i >= 0 && j >= i {
			return true
		}
	}
	return false
}

// types returns why values of type old cannot be read as now, nothing if they can.
func (c *comparison) types(old, now *fieldType) string {
	if old.isRef() && now.form == "?" {
		now = now.elems[0] // a reference is stored alike
	}
	if old.form != now.form {
		switch {
		case widens(old.form, now.form):
			return ""
		case now.form == "?":
			return fmt.Sprintf("%s can become %s? as the type of an actor's field only", old, old)
		case old.form == "?":
			return "stored values may be null"
		}
		return fmt.Sprintf("values of type %s are no values of type %s", old, now)
	}
	switch old.form {
	case "enum":
		return c.enums(old, now)
	case "class":
		return c.classes(old, now)
	case "table":
		return c.tables(old, now)
	case "actor", "client":
		if old.name != now.name {
			return fmt.Sprintf("an actor of class %s is none of class %s", old, now)
		}
	}
	if len(old.elems) != len(now.elems) {
		return fmt.Sprintf("values of type %s are no values of type %s", old, now)
	}
	for i := range old.elems {
		if why := c.types(old.elems[i], now.elems[i]); why != "" {
			return why
		}
	}
	return ""
}

// tables compares two tables. An index that is new is built when a table is read, and one that
// has gone is left out, so only the key has to be what it was.
func (c *comparison) tables(old, now *fieldType) string {
	if len(old.elems) < 2 || len(now.elems) < 2 {
		return "the text of the type does not say what the key of the table is"
	}
	if was, is := old.elems[1].form, now.elems[1].form; was != is {
		return fmt.Sprintf("the key of the rows was %s and is %s: rows are stored under their keys", strings.TrimPrefix(was, "key:"), strings.TrimPrefix(is, "key:"))
	}
	return c.types(old.elems[0], now.elems[0])
}

func (c *comparison) enums(old, now *fieldType) string {
	was, is := c.old[old.name], c.new[now.name]
	if was == nil || is == nil {
		return "the text of the type does not say what " + old.name + " consists of"
	}
	if len(was.values) <= len(is.values) && slices.Equal(was.values, is.values[:len(was.values)]) {
		return ""
	}
	c.at = Part{Type: old.name}
	return fmt.Sprintf("enum %s was {%s} and is {%s}: values are stored by their place, so they can only be added at the end",
		old, strings.Join(was.values, ", "), strings.Join(is.values, ", "))
}

func (c *comparison) classes(old, now *fieldType) string {
	pair := [2]string{old.name, now.name}
	if c.pairs[pair] {
		return ""
	}
	c.pairs[pair] = true
	was, is := c.old[old.name], c.new[now.name]
	if was == nil || is == nil {
		return "the text of the type does not say what " + old.name + " consists of"
	}
	for _, f := range is.fields {
		before, ok := was.find(f.name)
		why := c.yields(before, f)
		switch {
		case !ok:
			why = ""
			if !c.hasZero(f.typ) {
				why = "values that are stored have no such field, and " + f.typ.String() + " has no zero value"
			}
		case why == "":
			why = c.types(before.typ, f.typ)
		}
		if why != "" {
			if c.at == (Part{}) {
				c.at = Part{is.name, f.name}
			}
			return fmt.Sprintf("field %s of class %s: %s", f.name, is, why)
		}
	}
	for _, f := range was.fields {
		if _, ok := is.find(f.name); !ok {
			c.lost = append(c.lost, Part{is.name, f.name})
		}
	}
	return ""
}

// remedy says what to do about the change that was found.
func (c *comparison) remedy() string {
	_, name, _ := strings.Cut(c.at.Type, ".")
	switch {
	case c.at == (Part{}):
		return "give the new field another name, or go back to the old type"
	case c.at.Field == "":
		return "keep what enum " + name + " had where it was, and add what is new at its end"
	case !c.old[c.at.Type].has(c.at.Field):
		return "let field " + c.at.Field + " of class " + name + " be null, with a ? behind its type"
	}
	return "give the new field of class " + name + " another name than " + c.at.Field + ", or go back to its old type"
}

// hasZero reports whether the type has a zero value, which a field has that was never set. A
// reference that cannot be null has none.
func (c *comparison) hasZero(t *fieldType) bool {
	switch t.form {
	case "actor", "client":
		return false
	case "class":
		if def := c.new[t.name]; def != nil {
			for _, f := range def.fields {
				if !c.hasZero(f.typ) {
					return false
				}
			}
		}
	}
	return true
}
