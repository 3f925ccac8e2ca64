package image_test

import (
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/value"
)

// before is a class, and after what became of it: balance was int32 and is int, owner was a
// string and is one or null, spare is gone, notes and limit are new.
type before struct {
	large   image.Large
	balance int32
	owner   string
	spare   value.Vector[string]
	prices  value.Map[string, int64]
}

type after struct {
	large   image.Large
	limit   int64 // 10, where nothing is stored
	balance int64
	owner   value.Opt[string]
	prices  value.Map[string, int64]
	notes   value.Vector[string]
}

var (
	classBefore = store.Class{Name: "market.Shop", Fields: []store.ClassField{{Name: "balance", Type: "int32"}, {Name: "owner", Type: "string"},
		{Name: "spare", Type: "vector<string>"}, {Name: "prices", Type: "map<string,int>"}}}
	classAfter = store.Class{Name: "market.Shop", Fields: []store.ClassField{{Name: "limit", Type: "int"}, {Name: "balance", Type: "int"},
		{Name: "owner", Type: "string?"}, {Name: "prices", Type: "map<string,int>"}, {Name: "notes", Type: "vector<string>"}}}
)

func (a *before) StoredRows() *image.Large { return &a.large }
func (a *before) LoadFields(*image.Reader) {}

func (a *before) SaveField(w *image.Writer, field int) {
	switch field {
	case 0:
		codec.PutInt(w.Row(), a.balance)
	case 1:
		w.Row().String(a.owner)
	case 2:
		image.SaveVector(w, &a.spare, &actorLine)
	case 3:
		image.SaveMap(w, &a.prices, &actorPrices)
	}
}

func (a *after) StoredRows() *image.Large { return &a.large }

func (a *after) SaveField(w *image.Writer, field int) {
	switch field {
	case 0:
		w.Row().Int(a.limit)
	case 1:
		w.Row().Int(a.balance)
	case 2:
		codec.PutOpt(w.Row(), a.owner, (*codec.Encoder).String)
	case 3:
		image.SaveMap(w, &a.prices, &actorPrices)
	case 4:
		image.SaveVector(w, &a.notes, &actorLine)
	}
}

func (a *after) LoadFields(r *image.Reader) {
	if d := r.Row(0); d != nil {
		a.limit = d.Int()
	} else {
		a.limit = 10
	}
	if d := r.Row(1); d != nil {
		a.balance = d.Int()
	}
	if d := r.Row(2); d != nil {
		a.owner = codec.GetOpt(d, (*codec.Decoder).String)
	}
	image.LoadMap(r, 3, &a.prices, &actorPrices)
	image.LoadVector(r, 4, &a.notes, &actorLine)
}

// adopt makes a class the one of the store.
func (s *shop) adopt(c store.Class) *store.Schema {
	s.Helper()
	schema, err := store.ReadSchema(s.engine)
	if err == nil {
		err = schema.Adopt([]store.Class{c})
	}
	if err != nil {
		s.Fatal(err)
	}
	b := s.engine.NewBatch()
	schema.Write(b)
	if err := s.engine.Apply(b); err != nil {
		s.Fatal(err)
	}
	return schema
}

func (s *shop) write(obj image.Stored, layout *image.Layout, fields ...int) {
	s.Helper()
	b := s.engine.NewBatch()
	s.w.Begin(b, actorID, layout)
	for _, f := range fields {
		s.w.Field(obj, f, nil, true)
	}
	s.w.Finish()
	if err := s.engine.Apply(b); err != nil {
		s.Fatal(err)
	}
}

func TestANewerProgramReadsAnOlderLayout(t *testing.T) {
	s := newShop(t)
	old := s.adopt(classBefore).Layout("market.Shop")
	b := &before{balance: -70_000, owner: "ann", spare: value.VectorOf("x")}
	for i := range 300 {
		value.SetEntry(&b.prices, key(i), int64(i))
	}
	s.write(b, old, 0, 1, 2, 3)

	schema := s.adopt(classAfter)
	layout, _ := schema.ByNumber(old.Number)
	load := func() *after {
		t.Helper()
		a := &after{}
		if err := image.NewReader(s.engine, actorID, layout, nil).Read(a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := load()
	if a.limit != 10 || a.balance != -70_000 || a.owner.Or("") != "ann" || a.prices.At(key(200)) != 200 || a.notes.Size() != 0 {
		t.Errorf("read %+v", a)
	}
	// What is written as the new type takes the place of the old.
	a.owner, a.limit = value.Opt[string]{}, 20
	s.write(a, schema.Layout("market.Shop"), 0, 2)
	if a = load(); !a.owner.IsNull() || a.limit != 20 || a.balance != -70_000 {
		t.Errorf("read %+v after a write", a)
	}
	// A row that an old actor must have had is missed all the same.
	lost := s.engine.NewBatch()
	lost.Delete(store.AppendField(nil, actorID, old.Fields[0].Number))
	if err := s.engine.Apply(lost); err != nil {
		t.Fatal(err)
	}
	err := image.NewReader(s.engine, actorID, layout, nil).Read(&after{})
	if err == nil || !strings.Contains(err.Error(), "field market.Shop.balance: its row is missing") {
		t.Errorf("a lost row: %v", err)
	}
}

func TestAChangedTypeIsRefused(t *testing.T) {
	s := newShop(t)
	s.adopt(classBefore)
	schema, err := store.ReadSchema(s.engine)
	if err != nil {
		t.Fatal(err)
	}
	changed := store.Class{Name: "market.Shop", Fields: []store.ClassField{{Name: "balance", Type: "string"}}}
	if err := schema.Adopt([]store.Class{changed}); err == nil || !strings.Contains(err.Error(), "stored as int32 and now string") {
		t.Errorf("a changed type: %v", err)
	}
}
