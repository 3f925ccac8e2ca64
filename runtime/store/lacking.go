package store

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/typetext"
)

// Rows name layouts, fields and signatures by numbers. A store gives each once; but one that was brought back from a copy gives again what it has given
// since the copy was made.

// Lacking says what rows of a class that were written by another schema of the same store have, and this one does not have under the same numbers. It
// returns "" if they mean the same by this one, which then is the same, or a later one.
func (s *Schema) Lacking(written *Schema, class string) string {
	then, now := written.classes[class], s.classes[class]
	switch {
	case then == nil:
		return ""
	case now == nil:
		return "the class"
	}
	for i := range then.Fields {
		if f := &then.Fields[i]; !slices.ContainsFunc(now.Fields, f.isRead) {
			return "field " + f.Name
		}
	}
	for _, l := range then.Layouts {
		if !slices.ContainsFunc(now.Layouts, func(n storedLayout) bool { return n.Number == l.Number && slices.Equal(n.Fields, l.Fields) }) {
			return "the fields that its actors had"
		}
	}
	for _, m := range then.Signatures {
		if !slices.ContainsFunc(now.Signatures, func(n storedSignature) bool { return n.Number == m.Number && n.Method == m.Method && n.Text == m.Text }) {
			return "method " + m.Method + UserSignature(m.Text)
		}
	}
	return ""
}

// isRead reports whether values that were stored in a field f are read as those of now.
func (f *storedField) isRead(now storedField) bool {
	if f.Number != now.Number || f.Name != now.Name || f.Gone && !now.Gone || f.Next != 0 && f.Next != now.Next {
		return false
	}
	if f.Type == now.Type {
		return true
	}
	was, err := typetext.ParseField(f.Type)
	if err != nil {
		return false
	}
	is, err := typetext.ParseField(now.Type)
	if err != nil {
		return false
	}
	_, how, _ := compareFields(was, is, nil)
	return how == readAsIs
}

// ClassOf returns the class of the method that has, or has had, the signature with a number, "" if there is none.
func (s *Schema) ClassOf(signature uint32) string {
	for _, c := range s.classes {
		if slices.ContainsFunc(c.Signatures, func(m storedSignature) bool { return m.Number == signature }) {
			return c.Class
		}
	}
	return ""
}
