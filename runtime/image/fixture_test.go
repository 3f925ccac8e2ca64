package image_test

import (
	"testing"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/value"
)

// actor is an actor's state as codegen would write it.
type actor struct {
	large   image.Large
	balance int64
	prices  value.Map[string, int64]
	line    value.Vector[string]
}

var (
	actorPrices = image.Entries[string, int64]{PutKey: codec.PutKeyString[string], GetKey: codec.GetKeyString[string],
		Put: codec.PutInt[int64], Get: codec.GetInt[int64]}
	actorLine = image.Elems[string]{Put: (*codec.Encoder).String, Get: (*codec.Decoder).String}
)

func (a *actor) StoredRows() *image.Large { return &a.large }

func (a *actor) SaveField(w *image.Writer, field int) {
	switch field {
	case 0:
		w.Row().Int(a.balance)
	case 1:
		image.SaveMap(w, &a.prices, &actorPrices)
	case 2:
		image.SaveVector(w, &a.line, &actorLine)
	}
}

func (a *actor) LoadFields(r *image.Reader) {
	if d := r.Row(0); d != nil {
		a.balance = d.Int()
	}
	image.LoadMap(r, 1, &a.prices, &actorPrices)
	image.LoadVector(r, 2, &a.line, &actorLine)
}

var actorID = event.SerialActor(5, 42)

// shop is a store with one actor.
type shop struct {
	testing.TB
	engine replicatest.Engine
	layout *image.Layout
	w      image.Writer
	log    uint64
}

func newShop(t testing.TB) *shop {
	s := &shop{TB: t, engine: replicatest.New(), layout: &image.Layout{Class: "market.Shop"}}
	for i, name := range []string{"balance", "prices", "line"} {
		s.layout.Fields = append(s.layout.Fields, store.FieldLayout{Name: name, Number: uint16(i + 1), Required: true})
	}
	return s
}

// save writes fields of a and returns the size of the batch.
func (s *shop) save(a *actor, whole bool, changes []value.Undo, fields ...int) int {
	s.Helper()
	b := s.engine.NewBatch()
	s.w.Begin(b, actorID, s.layout)
	for _, f := range fields {
		s.w.Field(a, f, changes, whole)
	}
	s.w.Finish()
	size := b.Size()
	if err := s.engine.Apply(b); err != nil {
		s.Fatal(err)
	}
	return size
}

func (s *shop) load() *actor {
	s.Helper()
	a := &actor{}
	if err := image.NewReader(s.engine, actorID, s.layout, nil).Within(unlimited{}).Read(a); err != nil {
		s.Fatal(err)
	}
	return a
}

// unlimited is a budget.
type unlimited struct{}

func (unlimited) Take(int64) bool { return true }
func (unlimited) Settle(int64)    {}

// setPrice is an event that sets one price, and commits.
func (s *shop) setPrice(a *actor, name string, to int64) (bytes int) {
	s.log++
	var changes []value.Undo
	if !value.SoleMap(a.prices) {
		value.OwnMap(&a.prices, s.log)
	}
	if !value.FreeEntry(&a.prices, s.log) {
		changes = append(changes, value.NoteEntry(&a.prices, s.log, name))
	}
	value.PutEntry(&a.prices, name, to)
	return s.save(a, false, changes, 1)
}

// push is an event that pushes a name, and commits.
func (s *shop) push(a *actor, name string) (bytes int) {
	s.log++
	var changes []value.Undo
	if !value.SoleVector(a.line) {
		value.OwnVector(&a.line, s.log)
	}
	if u := value.NotePush(&a.line, s.log); u != nil {
		changes = append(changes, u)
	}
	value.Push(&a.line, name)
	return s.save(a, false, changes, 2)
}
