package store_test

import (
	"testing"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// Rows are read as they were written only where the schema has each field of a value class that they may have, or knows that it was given up: a later
// field of that name would be read with the value of the old one.
func TestFieldsOfValueClassesAreLacking(t *testing.T) {
	const a, ab, ac, w = "f class p.V{a int}", "f class p.V{a int;b int}", "f class p.V{a int;c int}", "f class p.W{a int}"
	schema := func(programs []string) *store.Schema {
		e := memengine.New()
		s := adopt(t, e, class(programs[0]))
		for _, p := range programs[1:] {
			var err error
			if s, err = store.ReadSchema(e); err != nil {
				t.Fatal(err)
			}
			s.Count(map[uint32]int{1: 1})
			s.Drop([]store.Part{{Type: "p.V", Field: "b"}, {Type: "p.W", Field: "b"}})
			if err := s.Adopt([]store.Class{class(p)}); err != nil {
				t.Fatal(err)
			}
			b := e.NewBatch()
			s.Write(b)
			if err := e.Apply(b); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	for _, c := range []struct {
		name      string
		then, now []string
		what      string
		fromStart bool
	}{
		{"the same", []string{ab}, []string{ab}, "", false},
		{"the same, and a field was given up", []string{ab, a}, []string{ab, a}, "", false},
		{"a field was given up since", []string{ab}, []string{ab, a}, "", false},
		{"a field was given up since, and its class has another name", []string{ab}, []string{ab, w}, "", false},
		{"a field was given up, and its class has another name since", []string{ab, a}, []string{ab, a, w}, "", false},
		{"a field came since", []string{a}, []string{a, ac}, "", false},
		{"before a field came", []string{a, ab}, []string{a}, "field p.V.b", true},
		{"before a field came that was given up", []string{a, ab, a}, []string{a}, "that p.V.b was given up", false},
		{"before a field was given up", []string{ab, a}, []string{ab}, "field f", true},
		{"another field came instead of one that was given up", []string{ab, a, ac}, []string{ac}, "that p.V.b was given up", false},
	} {
		if what, fromStart := schema(c.now).Lacking(schema(c.then), "p.A"); what != c.what || fromStart != c.fromStart {
			t.Errorf("%s: %q, %v, want %q, %v", c.name, what, fromStart, c.what, c.fromStart)
		}
	}
}
