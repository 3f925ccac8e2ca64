package archive

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// used returns a store that was opened so many times, that has given ids up to last, and that these programs have used, one after the other. It has an
// actor with the present layout of class A, and a timer for its method go.
func used(t *testing.T, id event.ActorID, starts int, last uint64, programs ...[]store.Class) *memengine.Engine {
	t.Helper()
	e := memengine.New()
	for range starts {
		s, err := store.Open(e, store.Options{Program: "p", Partitions: 8})
		if err != nil {
			t.Fatal(err)
		}
		s.ReserveIDs(last)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		e = e.Reopen()
	}
	h := row.Header{Parent: event.ActorID{Birth: id.Birth}}
	var signature uint32
	for _, classes := range programs {
		schema, err := store.ReadSchema(e)
		if err := errors.Join(err, schema.Adopt(classes)); err != nil {
			t.Fatal(err)
		}
		if l := schema.Layout("p.A"); l != nil {
			h.Layout = l.Number
		}
		for _, s := range schema.Signatures() {
			if s.Class == "p.A" && s.Method == "go" {
				signature = s.Number
			}
		}
		b := e.NewBatch()
		schema.Write(b)
		if err := e.Apply(b); err != nil {
			t.Fatal(err)
		}
	}
	b := e.NewBatch()
	b.Set(h.Encode(id))
	key := row.AppendTimerKey(nil, id, 1, 1)
	b.Set(key, store.AppendRow(nil, key, row.AppendTimer(nil, signature, 0, nil)))
	if err := e.Apply(b); err != nil {
		t.Fatal(err)
	}
	return e
}

// class returns a class with fields and methods, lines of a name and a type.
func class(name string, fields, methods []string) store.Class {
	c := store.Class{Name: name}
	for _, f := range fields {
		name, typ, _ := strings.Cut(f, " ")
		c.Fields = append(c.Fields, store.ClassField{Name: name, Type: typ})
	}
	for _, m := range methods {
		name, text, _ := strings.Cut(m, " ")
		c.Methods = append(c.Methods, store.ClassMethod{Name: name, Signature: text})
	}
	return c
}

var classA = []store.Class{class("p.A", []string{"n int"}, []string{"go (int)"})}

// snapshotOf returns the rows of a snapshot of an actor.
func snapshotOf(t *testing.T, e store.Reader, id event.ActorID) RowSource {
	t.Helper()
	c, err := CutAt(e, id)
	if err != nil {
		t.Fatal(err)
	}
	return func(f func(key, row []byte) error) error { return c.Rows(f) }
}

// A store that was brought back from a copy, which is older than the snapshot of an actor, gives none of the ids again that the snapshot has. One that is
// newer goes on from where it is.
func TestNoIDOfARestoredActorIsGivenAgain(t *testing.T) {
	id := event.SerialActor(3, 77)
	for name, c := range map[string]struct {
		starts                int
		last                  uint64
		wantStarts, wantFirst int
	}{
		"an older copy": {2, 100, 6, 70000 + 1<<16},
		"a newer store": {9, 90000, 10, 90000 + 1<<16},
	} {
		snapshot := snapshotOf(t, used(t, id, 5, 70000, classA), id)
		e := used(t, id, c.starts, c.last, classA)
		if n, err := RestoreActor(e, id, snapshot); n != 1 || err != nil {
			t.Fatalf("%s: %d actors are restored, %v", name, n, err)
		}
		s, err := store.Open(e, store.Options{Program: "p"})
		if err != nil {
			t.Fatal(err)
		}
		if s.Starts() != uint64(c.wantStarts) || s.FirstID() != uint64(c.wantFirst) {
			t.Errorf("%s: start %d, ids behind %d; want %d and %d", name, s.Starts(), s.FirstID(), c.wantStarts, c.wantFirst)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// An actor is not restored where its class has changed since as it may only while there are no actors of it: the program would not start.
func TestAnActorIsNotRestoredIntoALaterClass(t *testing.T) {
	id := event.SerialActor(3, 77)
	owner := func(fields ...string) []store.Class { return []store.Class{class("p.A", fields, []string{"go (int)"})} }
	snapshot := snapshotOf(t, used(t, id, 1, 1, owner("n int")), id)
	for name, later := range map[string][]store.Class{
		"a reference that cannot be null": owner("n int", "b actor p.B"),
		"another type":                    owner("n string"),
	} {
		e := used(t, id, 1, 1, owner("n int"))
		s, err := store.ReadSchema(e)
		if err != nil {
			t.Fatal(err)
		}
		s.Count(map[uint32]int{})
		if err := s.Adopt(later); err != nil {
			t.Fatal(err)
		}
		b := e.NewBatch()
		s.Write(b)
		if err := e.Apply(b); err != nil {
			t.Fatal(err)
		}
		before := all(t, e)
		n, err := RestoreActor(e, id, snapshot)
		if other := new(LaterSchemaError); !errors.As(err, &other) || all(t, e) != before || !strings.Contains(err.Error(), "or restore to a new directory") {
			t.Errorf("%s: %d actors were restored, %v", name, n, err)
		}
	}
}

// An actor is restored only where the schema has its class, and that of each call that waits, as its rows were written.
func TestAnActorIsRestoredWhereItsRowsAreRead(t *testing.T) {
	id := event.SerialActor(3, 77)
	a := func(fields, methods string) []store.Class {
		return []store.Class{class("p.A", strings.Split(fields, ","), strings.Split(methods, ","))}
	}
	v := func(fields string) []store.Class { return a("v class p.V{"+fields+"}", "go (int)") }
	b := []store.Class{class("p.B", []string{"x string"}, []string{"go (int)"})}
	programs := func(list ...[]store.Class) [][]store.Class { return list }
	for name, c := range map[string]struct {
		snapshot, store [][]store.Class
		lacks           string
	}{
		"the same":                        {programs(classA), programs(classA), ""},
		"a later field and method":        {programs(classA), programs(classA, a("n int,more int", "go (int),more ()")), ""},
		"a field was widened since":       {programs(a("n int8", "go (int)")), programs(a("n int8", "go (int)"), classA), ""},
		"a field may be null since":       {programs(classA), programs(classA, a("n int?", "go (int)")), ""},
		"another class came since":        {programs(classA), programs(classA, append(b, classA...)), ""},
		"a class that no row needs":       {programs(append(b, classA...), append(b, classA...)), programs(append([]store.Class{class("p.B", []string{"x int"}, []string{"go (int)"})}, classA...)), ""},
		"a field before it came":          {programs(classA, a("n int,more int", "go (int)")), programs(classA), "field more"},
		"another field has its number":    {programs(classA, a("n int,more int", "go (int)")), programs(classA, a("n int,other int", "go (int)")), "field more"},
		"a field before it was widened":   {programs(a("n int8", "go (int)"), classA), programs(a("n int8", "go (int)")), "field n"},
		"a field before it may be null":   {programs(classA, a("n int?", "go (int)")), programs(classA), "field n"},
		"a layout without a field":        {programs(a("n int,m int", "go (int)"), classA), programs(a("n int,m int", "go (int)")), "the fields that its actors had"},
		"a layout that another class has": {programs(append(b, classA...)), programs(append(slices.Clone(classA), b...)), "the fields that its actors had"},
		"a method before it came":         {programs(classA, a("n int", "go (int),more ()")), programs(classA), "method more()"},
		"a value before its field came":   {programs(v("x int"), v("x int;y int")), programs(v("x int")), "field p.V.y"},
		"what a value has was given up":   {programs(v("x int"), v("x int;y int"), v("x int")), programs(v("x int")), "that p.V.y was given up"},
		"another method has its number":   {programs(classA, a("n int", "go (int),more ()")), programs(classA, a("n int", "go (int),other ()")), "method more()"},
		"the class before it came":        {programs(b, append(b, classA...)), programs(b), "the class"},
	} {
		snapshot := snapshotOf(t, used(t, id, 1, 1, c.snapshot...), id)
		e := used(t, id, 1, 1, c.store...)
		before := all(t, e)
		n, err := RestoreActor(e, id, snapshot)
		other, remedy := new(OtherSchemaError), "an older copy; start the program that the snapshot was taken of there once, and try again, or restore to a new directory"
		if strings.HasSuffix(c.lacks, "given up") {
			remedy = "an older copy; restore to a new directory"
		}
		switch {
		case c.lacks == "":
			if n != 1 || err != nil {
				t.Errorf("%s: %d actors were restored, %v", name, n, err)
			}
		case !errors.As(err, &other) || other.Class != "p.A" || other.Lacks != c.lacks || all(t, e) != before:
			t.Errorf("%s: %d actors were restored, %v; want that it lacks %s", name, n, err, c.lacks)
		case !strings.HasSuffix(err.Error(), remedy):
			t.Errorf("%s: no remedy: %v", name, err)
		}
	}
}
