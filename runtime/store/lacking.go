package store

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/typetext"
)

// Rows name layouts, fields and signatures by numbers. A store gives each once; but one that was brought back from a copy gives again what it has given
// since the copy was made.

// Lacking says what rows of a class that were written by another schema of the same store have, and this one does not have under the same numbers. It
// returns "" if they mean the same by this one, which then is the same, or a later one. fromStart says that this one has it once the last program of the
// other was started on the store.
func (s *Schema) Lacking(written *Schema, class string) (what string, fromStart bool) {
	then, now := written.classes[class], s.classes[class]
	switch {
	case then == nil:
		return "", false
	case now == nil:
		return "the class", true
	}
	for i := range then.Fields {
		if what, fromStart := now.lacking(&then.Fields[i]); what != "" {
			return what, fromStart
		}
	}
	for _, l := range then.Layouts {
		if !slices.ContainsFunc(now.Layouts, func(n storedLayout) bool { return n.Number == l.Number && slices.Equal(n.Fields, l.Fields) }) {
			return "the fields that its actors had", true
		}
	}
	for _, m := range then.Signatures {
		if !slices.ContainsFunc(now.Signatures, func(n storedSignature) bool { return n.Number == m.Number && n.Method == m.Method && n.Text == m.Text }) {
			return "method " + m.Method + UserSignature(m.Text), true
		}
	}
	return "", false
}

// lacking is Lacking for a field. No start of a program gives a value up that the store has not seen.
func (c *storedClass) lacking(then *storedField) (what string, fromStart bool) {
	what = "field " + then.Name
	at := slices.IndexFunc(c.Fields, func(now storedField) bool { return now.Number == then.Number && now.Name == then.Name })
	if at < 0 {
		return what, true
	}
	now := &c.Fields[at]
	switch {
	case then.Gone && !now.Gone:
		return givenUp(Part{c.Class, then.Name}), false
	case then.Next != 0 && then.Next != now.Next:
		return what, true
	case then.Type == now.Type && len(then.Lost) == 0:
		return "", false
	}
	was, err := typetext.ParseField(then.Type)
	if err != nil {
		return what, true
	}
	is, err := typetext.ParseField(now.Type)
	if err != nil {
		return what, true
	}
	compared, how, _ := compareFields(was, is, then.Lost)
	if how != readAsIs {
		return what, true
	}
	for _, part := range compared.absent() {
		switch {
		case slices.Contains(now.Lost, part):
		case slices.Contains(compared.lost, part):
			return "field " + part.String(), true
		default:
			return givenUp(part), false
		}
	}
	return "", false
}

func givenUp(p Part) string { return "that " + p.String() + " was given up" }

// ClassOf returns the class of the method that has, or has had, the signature with a number, "" if there is none.
func (s *Schema) ClassOf(signature uint32) string {
	for _, c := range s.classes {
		if slices.ContainsFunc(c.Signatures, func(m storedSignature) bool { return m.Number == signature }) {
			return c.Class
		}
	}
	return ""
}
