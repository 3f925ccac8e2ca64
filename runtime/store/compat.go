package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/typetext"
)

// A comparison of the type that a field was stored with and the one it has now. Stored
// values must mean the same when they are read as the new type.
type comparison struct {
	old, new map[string]*typetext.Type // what enums and classes consist of
	pairs    map[[2]string]bool        // classes that are being compared, or have been
	calls    bool                      // arguments or results: they own nothing
	at       Part                      // the part that has changed
	remedy   string                    // what to do about that
	given    []Part                    // fields of value classes that values may have, though the old type does not
	lost     []Part                    // fields of value classes that are not read any more
	added    []Part                    // fields of value classes that old values do not have
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
// changed type cannot be read. given are fields that the values may have besides those of the old type.
func compareFields(old, now typetext.Field, given []Part) (c *comparison, result change, why string) {
	c = &comparison{old: map[string]*typetext.Type{}, new: map[string]*typetext.Type{}, pairs: map[[2]string]bool{}, given: given,
		remedy: "give the new field another name, or go back to the old type"}
	old.Type.Definitions(c.old)
	now.Type.Definitions(c.new)
	result, why = c.fields(old, now)
	return c, result, why
}

func (c *comparison) fields(old, now typetext.Field) (result change, why string) {
	if why := c.yields(old, now); why != "" {
		return changedType, why
	}
	if now.Type.Form == "?" && old.Type.Form != "?" && !old.Type.IsRef() {
		if old.Type.ByElement() {
			return changedType, "the elements of a " + old.Type.Form + " are stored one by one, which cannot be null"
		}
		if why := c.types(old.Type, now.Type.Elems[0]); why != "" {
			return changedType, why
		}
		return becameNull, ""
	}
	if why := c.types(old.Type, now.Type); why != "" {
		return changedType, why
	}
	return readAsIs, ""
}

func (c *comparison) yields(old, now typetext.Field) string {
	if old.Yield != now.Yield && !c.calls {
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
func (c *comparison) types(old, now *typetext.Type) string {
	if old.IsRef() && now.Form == "?" {
		now = now.Elems[0] // a reference is stored alike
	}
	if old.Form != now.Form {
		switch {
		case widens(old.Form, now.Form):
			return ""
		case now.Form == "?":
			return fmt.Sprintf("%s can become %s? as the type of an actor's field only", old, old)
		case old.Form == "?":
			return "stored values may be null"
		}
		return fmt.Sprintf("values of type %s are no values of type %s", old, now)
	}
	switch old.Form {
	case "enum":
		return c.enums(old, now)
	case "class":
		return c.classes(old, now)
	case "table":
		return c.tables(old, now)
	case "actor", "client":
		if old.Name != now.Name {
			return fmt.Sprintf("an actor of class %s is none of class %s", old, now)
		}
	}
	if len(old.Elems) != len(now.Elems) {
		return fmt.Sprintf("values of type %s are no values of type %s", old, now)
	}
	for i := range old.Elems {
		if why := c.types(old.Elems[i], now.Elems[i]); why != "" {
			return why
		}
	}
	return ""
}

// tables compares two tables. An index that is new is built when a table is read, and one that
// has gone is left out, so only the key has to be what it was.
func (c *comparison) tables(old, now *typetext.Type) string {
	if len(old.Elems) < 2 || len(now.Elems) < 2 {
		return "the text of the type does not say what the key of the table is"
	}
	if was, is := old.Elems[1].Form, now.Elems[1].Form; was != is {
		return fmt.Sprintf("the key of the rows was %s and is %s: rows are stored under their keys", strings.TrimPrefix(was, "key:"), strings.TrimPrefix(is, "key:"))
	}
	return c.types(old.Elems[0], now.Elems[0])
}

func (c *comparison) enums(old, now *typetext.Type) string {
	was, is := c.old[old.Name], c.new[now.Name]
	if was == nil || is == nil {
		return "the text of the type does not say what " + old.Name + " consists of"
	}
	if len(was.Values) <= len(is.Values) && slices.Equal(was.Values, is.Values[:len(was.Values)]) {
		return ""
	}
	c.at, c.remedy = Part{Type: old.Name}, "keep what enum "+old.String()+" had where it was, and add what is new at its end"
	return fmt.Sprintf("enum %s was {%s} and is {%s}: values are stored by their place, so they can only be added at the end",
		old, strings.Join(was.Values, ", "), strings.Join(is.Values, ", "))
}

func (c *comparison) classes(old, now *typetext.Type) string {
	pair := [2]string{old.Name, now.Name}
	if c.pairs[pair] {
		return ""
	}
	c.pairs[pair] = true
	was, is := c.old[old.Name], c.new[now.Name]
	if was == nil || is == nil {
		return "the text of the type does not say what " + old.Name + " consists of"
	}
	for _, f := range is.Fields {
		before, ok := was.Find(f.Name)
		why, remedy := c.yields(before, f), fmt.Sprintf("give the new field of class %s another name than %s", is, f.Name)
		switch {
		case !ok && slices.Contains(c.given, Part{was.Name, f.Name}):
			why = fmt.Sprintf("rows may still have values of a field %s, which was given up", f.Name)
		case !ok:
			why = ""
			if !c.hasZero(f.Type) {
				why = "values that are stored have no such field, and " + f.Type.String() + " has no zero value"
				remedy = fmt.Sprintf("let field %s of class %s be null, with a ? behind its type", f.Name, is)
			}
			c.added = append(c.added, Part{is.Name, f.Name})
		default:
			remedy += fmt.Sprintf(" and keep %s beside it, or go back to its old type", f.Name) // without it stored values would lose it
			if why == "" {
				why = c.types(before.Type, f.Type)
			}
		}
		if why != "" {
			if c.at == (Part{}) {
				c.at, c.remedy = Part{is.Name, f.Name}, remedy
			}
			return fmt.Sprintf("field %s of class %s: %s", f.Name, is, why)
		}
	}
	for _, f := range was.Fields {
		if _, ok := is.Find(f.Name); !ok {
			c.lost = append(c.lost, Part{is.Name, f.Name})
		}
	}
	return ""
}

// absent returns the fields that values may have besides those of the new type: they were given up, now or before.
func (c *comparison) absent() []Part {
	list := slices.Clone(c.lost)
	for pair := range c.pairs {
		for _, part := range c.given {
			if part.Type == pair[0] {
				list = append(list, Part{pair[1], part.Field})
			}
		}
	}
	slices.SortFunc(list, func(a, b Part) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(list)
}

// hasZero reports whether the type has a zero value, which a field has that was never set. A
// reference that cannot be null has none.
func (c *comparison) hasZero(t *typetext.Type) bool {
	switch t.Form {
	case "actor", "client":
		return false
	case "class":
		if def := c.new[t.Name]; def != nil {
			for _, f := range def.Fields {
				if !c.hasZero(f.Type) {
					return false
				}
			}
		}
	}
	return true
}
