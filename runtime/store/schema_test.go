package store_test

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// class makes a class from lines of a name and a type.
func class(fields ...string) store.Class {
	c := store.Class{Name: "p.A"}
	for _, f := range fields {
		name, typ, _ := strings.Cut(f, " ")
		c.Fields = append(c.Fields, store.ClassField{Name: name, Type: typ})
	}
	return c
}

func adopt(t *testing.T, e *memengine.Engine, c store.Class) *store.Schema {
	t.Helper()
	s, err := store.ReadSchema(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Adopt([]store.Class{c}); err != nil {
		t.Fatal(err)
	}
	b := e.NewBatch()
	s.Write(b)
	if err := e.Apply(b); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFieldTypesThatCanChange(t *testing.T) {
	const enum = "enum p.E{RED,GREEN}"
	for _, tt := range []struct{ old, now, why string }{
		{"int8", "int", ""},
		{"uint16", "uint64", ""},
		{"int", "int8", "values of type int are no values of type int8"},
		{"uint8", "int", "no values of type int"},
		{"int", "int?", ""},
		{"int16", "int?", ""},
		{"int?", "int", "may be null"},
		{"vector<int>", "vector<int?>", "as the type of an actor's field only"},
		{"vector<int8>", "vector<int>", ""},
		{"map<int8,string>", "map<int,string>", ""},
		{"map<int,string>", "map<string,int>", "no values of type"},
		{"map<int,string>", "set<int>", "map<int, string> are no values of type set<int>"},
		{"vector<int>", "vector<int>?", "stored one by one"},
		{"actor p.B", "actor p.B?", ""},
		{"table<class p.R{id int8},key:id>", "table<class p.R{id int;n int},key:id,index:n:id>", ""},
		{"table<class p.R{id int;n int},key:id,index:n>", "table<class p.R{id int;n int},key:n>", "key of the rows was id and is n"},
		{"table<class p.R{id int},key:id>", "table<class p.R{id string},key:id>", "field id of class R"},
		{"table<class p.R{id int},key:id>", "map<int,class p.R{id int}>", "table<R> are no values of type map<int, R>"},
		{"vector<actor p.B>", "vector<actor p.B?>", ""},
		{"actor p.B?", "actor p.B", "may be null"},
		{"actor p.B", "actor p.C", "none of class C"},
		{"actor p.B", "yield actor p.B", "own actors"},
		{enum, "enum p.E{RED,GREEN,BLUE}", ""},
		{enum, "enum p.F{RED,GREEN}", ""},
		{enum, "enum p.E{GREEN,RED}", "only be added at the end"},
		{enum, "enum p.E{RED}", "only be added at the end"},
		{"class p.V{a int;b string}", "class p.W{b string;c bool;a int}", ""},
		{"class p.V{a int}", "class p.V{a int;r actor p.B}", "and B has no zero value"},
		{"class p.V{a int}", "class p.V{a int;r actor p.B?;w vector<actor p.B>}", ""},
		{"class p.V{a int}", "class p.V{a string}", "field a of class V"},
		{"class p.V{a int}", "class p.V{a int?}", "as the type of an actor's field only"},
		{"class p.V{next class p.V?;a int8}", "class p.V{next class p.V?;a int}", ""},
		{"class p.V{next class p.V?;a int8}", "class p.V{next class p.V?;a string}", "field a of class V"},
		{"map<string,class p.V{u class p.U{x int}}>", "map<string,class p.V{u class p.U{x bool}}>", "field x of class U"},
	} {
		why := tt.why
		e := memengine.New()
		adopt(t, e, class("f "+tt.old))
		s, err := store.ReadSchema(e)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Adopt([]store.Class{class("f " + tt.now)})
		var wrong *store.SchemaError
		switch {
		case why == "" && err != nil:
			t.Errorf("%s to %s: %v", tt.old, tt.now, err)
		case why != "" && !errors.As(err, &wrong):
			t.Errorf("%s to %s: %v, want a SchemaError", tt.old, tt.now, err)
		case why != "" && !strings.Contains(err.Error(), why):
			t.Errorf("%s to %s: %v, want %q in it", tt.old, tt.now, err, why)
		case why != "" && s.Changed():
			t.Errorf("%s to %s was refused, and changed the schema", tt.old, tt.now)
		}
	}
}

// Fields keep their numbers for ever, and layouts tell which rows an actor must have.
func TestLayoutsKeepNumbers(t *testing.T) {
	e := memengine.New()
	first := adopt(t, e, class("a int", "b string")).Layout("p.A")
	if again := adopt(t, e, class("a int", "b string")).Layout("p.A"); again.Number != first.Number {
		t.Errorf("the same class got layout %d, then %d", first.Number, again.Number)
	}
	s := adopt(t, e, class("c bool", "a int?"))
	now := s.Layout("p.A")
	if now.Number == first.Number {
		t.Error("another class has the layout of before")
	}
	c, a := now.Fields[0], now.Fields[1]
	if c.Number == first.Fields[1].Number || !c.Required || len(c.Former) != 0 {
		t.Errorf("c of new actors: %+v", c)
	}
	if a.Number == first.Fields[0].Number || !a.Required || len(a.Former) != 1 || a.Former[0].Required {
		t.Errorf("a of new actors: %+v", a)
	}
	old, _ := s.ByNumber(first.Number)
	c, a = old.Fields[0], old.Fields[1]
	if c.Required || a.Required {
		t.Errorf("old actors must have c %+v and the new a %+v", c, a)
	}
	if f := a.Former; len(f) != 1 || !f[0].Required || !f[0].Bare || f[0].Number != first.Fields[0].Number {
		t.Errorf("a of old actors was %+v", f)
	}
	back := adopt(t, e, class("b string")).Layout("p.A")
	if back.Fields[0].Number != first.Fields[1].Number {
		t.Error("a field that came back has not the number that it had before")
	}
	if _, class := adopt(t, e, store.Class{Name: "p.B"}).ByNumber(first.Number); class != "p.A" {
		t.Errorf("a layout of a class that the program has not: %q", class)
	}
}

func TestSchemaErrorTellsWhatToDo(t *testing.T) {
	e := memengine.New()
	adopt(t, e, class("balance int", "kind enum p.E{A,B}", "v class p.V{a int}"))
	s, err := store.ReadSchema(e)
	if err != nil {
		t.Fatal(err)
	}
	got := s.Check([]store.Class{class("balance string", "kind enum p.E{B,A}", "to actor p.B", "v class p.W{a string?}")}).Error()
	want := `class p.A, field balance, stored as int and now string: values of type int are no values of type string; give the new field another name, or go back to the old type
class p.A, field kind, of type E: enum E was {A, B} and is {B, A}: values are stored by their place, so they can only be added at the end; keep what enum E had where it was, and add what is new at its end
class p.A, field to, of type B: stored actors have no such field, and a reference that cannot be null has no zero value; make it B?
class p.A, field v, stored as V and now W: field a of class W: int can become int? as the type of an actor's field only; give the new field of class W another name than a and keep a beside it, or go back to its old type`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDamagedSchemaIsNoticed(t *testing.T) {
	e := memengine.New()
	adopt(t, e, class("a int"))
	key := store.SchemaKey("p.A")
	for _, text := range []string{`{"format":2}`, `{`, `{"format":2,"class":"p.B","layouts":[{}]}`} {
		b := e.NewBatch()
		b.Set(key, store.AppendRow(nil, key, []byte(text)))
		if err := e.Apply(b); err != nil {
			t.Fatal(err)
		}
		if _, err := store.ReadSchema(e); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, format := range []struct{ text, want string }{
		{`{"format":3,"class":7}`, "a newer version of aeon (format 3, this one reads 2)"},
		{`{"format":1,"class":7}`, "an older version of aeon (format 1, this one reads 2)"},
	} {
		b := e.NewBatch()
		b.Set(key, store.AppendRow(nil, key, []byte(format.text)))
		if err := e.Apply(b); err != nil {
			t.Fatal(err)
		}
		if _, err := store.ReadSchema(e); err == nil || !strings.Contains(err.Error(), format.want) {
			t.Errorf("%s: %v", format.text, err)
		}
	}
}

// What reads rows without the program knows each number of a field that the last program had, with the type of then.
func TestStoredFieldsHaveTheirTypes(t *testing.T) {
	e := memengine.New()
	adopt(t, e, class("a int8", "b int", "gone string"))
	adopt(t, e, class("a int", "b int?", "c bool"))
	s, err := store.ReadSchema(e)
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint16]store.ClassField{1: {Name: "a", Type: "int"}, 2: {Name: "b", Type: "int"}, 4: {Name: "b", Type: "int?"}, 5: {Name: "c", Type: "bool"}}
	if got := s.Stored("p.A"); !maps.Equal(got, want) {
		t.Errorf("the fields are %v, want %v", got, want)
	}
	if got := s.Stored("p.B"); len(got) > 0 {
		t.Errorf("a class that is not there has %v", got)
	}
	dropped := adopt(t, e, class("a int", "c bool"))
	if got := dropped.Stored("p.A"); len(got) != 2 {
		t.Errorf("a program without the field b has %v", got)
	}
}

// A class of which there are no actors takes any type, and references that cannot be null. An actor that is restored later, with a layout of before, is
// refused at each opening: it would be read without its value, or with null. Whether there is one is not known until actors are counted.
func TestAClassWithoutActorsTakesAnyType(t *testing.T) {
	e := memengine.New()
	now := []store.Class{class("a string", "b class p.V{x string}", "c actor p.B")}
	adopt(t, e, class("a int8", "b class p.V{x int}"))
	first := adopt(t, e, class("a int?", "b class p.V{x int}")).Layout("p.A")
	open := func(actors map[uint32]int) (*store.Schema, error) {
		s, err := store.ReadSchema(e)
		if err != nil {
			t.Fatal(err)
		}
		s.Count(actors)
		if err := s.Adopt(now); err != nil {
			return s, err
		}
		b := e.NewBatch()
		s.Write(b)
		return s, e.Apply(b)
	}
	for _, actors := range []map[uint32]int{nil, {first.Number: 1}, {first.Number - 1: 1}} {
		if _, err := open(actors); err == nil {
			t.Errorf("with the actors %v it was not refused", actors)
		}
	}
	s, err := open(map[uint32]int{first.Number + 1: 1}) // of another class
	if err != nil {
		t.Fatal(err)
	}
	l := s.Layout("p.A")
	for i, f := range l.Fields {
		if f.Number <= first.Fields[1].Number || !f.Required || len(f.Former) > 0 {
			t.Errorf("field %d: %+v", i, f)
		}
	}
	const want = "class p.A, field b, of type V: the type has changed while there were no actors of the class, and some were restored since"
	for range 2 {
		if s, err = open(map[uint32]int{l.Number: 1}); err != nil || !reflect.DeepEqual(s.Layout("p.A"), l) {
			t.Errorf("%v: %+v", err, s.Layout("p.A"))
		}
		for _, number := range []uint32{first.Number, first.Number - 1} {
			if _, err := open(map[uint32]int{number: 1}); len(store.SchemaErrors(err)) != 3 || !strings.Contains(err.Error(), want) {
				t.Errorf("an actor of layout %d that was restored: %v", number, err)
			}
		}
	}
}

func FuzzTypeText(f *testing.F) {
	f.Add("map<string,class p.V{a int;b yield vector<actor p.B>?;e enum p.E{A,B}}>")
	f.Add("a<b<c")
	f.Fuzz(func(t *testing.T, text string) {
		s, _ := store.ReadSchema(memengine.New())
		if err := s.Adopt([]store.Class{{Name: "p.A", Fields: []store.ClassField{{Name: "f", Type: text}}}}); err != nil {
			return
		}
		if err := s.Check([]store.Class{{Name: "p.A", Fields: []store.ClassField{{Name: "f", Type: text}}}}); err != nil {
			t.Errorf("%q cannot be read as itself: %v", text, err)
		}
	})
}

// Rows may still have a value of a field of a value class that was given up: no field gets its name, of whatever type, and
// however the class is called by then.
func TestAFieldThatWasGivenUpDoesNotComeBack(t *testing.T) {
	e := memengine.New()
	version := func(f string, dropped ...store.Part) error {
		s, err := store.ReadSchema(e)
		if err != nil {
			t.Fatal(err)
		}
		s.Count(map[uint32]int{1: 1})
		s.Drop(dropped)
		err = s.Adopt([]store.Class{class("f " + f)})
		if err == nil {
			b := e.NewBatch()
			s.Write(b)
			err = e.Apply(b)
		}
		return err
	}
	for _, step := range []struct {
		now  string
		drop []store.Part
		want string
	}{
		{"vector<class p.V{a int;b string;u class p.U{x int;y int}}>", nil, ""},
		{"vector<class p.V{b string;u class p.U{y int}}>", []store.Part{{Type: "p.V", Field: "a"}, {Type: "p.U", Field: "x"}}, ""},
		{"vector<class p.V{b string;u class p.U{y int};a string}>", nil, "field a of class V: rows may still have values of a field a, which was given up"},
		{"vector<class p.V{b string;u class p.U{y int};c int}>", nil, ""},
		{"vector<class p.W{b string;u class p.U{y int}}>", []store.Part{{Type: "p.W", Field: "c"}}, ""},
		{"vector<class p.W{b string;u class p.U{y int};a int}>", nil, "field a of class W"},
		{"vector<class p.W{b string;u class p.U{y int};c int}>", nil, "field c of class W"},
		{"vector<class p.W{b string;u class p.U{y int;x string?}}>", nil, "field x of class U: rows may still have values of a field x, which was given up; give the new field of class U another name than x"},
		{"vector<class p.W{b string;u class p.U{y int;z string};d int}>", nil, ""},
	} {
		err := version(step.now, step.drop...)
		switch {
		case step.want == "" && err != nil:
			t.Errorf("%s: %v", step.now, err)
		case step.want != "" && (err == nil || !strings.Contains(err.Error(), step.want)):
			t.Errorf("%s: %v, want %q", step.now, err, step.want)
		}
	}
}
