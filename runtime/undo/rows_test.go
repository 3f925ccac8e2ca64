package undo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/value"
	"pgregory.net/rapid"
)

// chest is an actor with containers of all kinds, as codegen would write it.
type chest struct {
	order.Self
	names value.Map[string, int64]
	lists value.Map[int64, value.Vector[int64]]
	tags  value.Set[string]
	line  value.Vector[int64]
	rows  value.Vector[value.Vector[int64]]
}

var (
	chestNames = image.Entries[string, int64]{PutKey: codec.PutKeyString[string], GetKey: codec.GetKeyString[string],
		Put: codec.PutInt[int64], Get: codec.GetInt[int64]}
	chestLists = image.Entries[int64, value.Vector[int64]]{PutKey: codec.PutKeyInt[int64], GetKey: codec.GetKeyInt[int64],
		Put: putInts, Get: getInts}
	chestTags = image.Members[string]{PutKey: codec.PutKeyString[string], GetKey: codec.GetKeyString[string]}
	chestLine = image.Elems[int64]{Put: codec.PutInt[int64], Get: codec.GetInt[int64]}
	chestRows = image.Elems[value.Vector[int64]]{Put: putInts, Get: getInts}
)

func putInts(e *codec.Encoder, v value.Vector[int64]) { codec.PutVector(e, v, codec.PutInt[int64]) }
func getInts(d *codec.Decoder) value.Vector[int64]    { return codec.GetVector(d, codec.GetInt[int64]) }

func (s *chest) SaveField(w *image.Writer, field int) {
	switch field {
	case 0:
		image.SaveMap(w, &s.names, &chestNames)
	case 1:
		image.SaveMap(w, &s.lists, &chestLists)
	case 2:
		image.SaveSet(w, &s.tags, &chestTags)
	case 3:
		image.SaveVector(w, &s.line, &chestLine)
	case 4:
		image.SaveVector(w, &s.rows, &chestRows)
	}
}

func (s *chest) LoadFields(r *image.Reader) {
	image.LoadMap(r, 0, &s.names, &chestNames)
	image.LoadMap(r, 1, &s.lists, &chestLists)
	image.LoadSet(r, 2, &s.tags, &chestTags)
	image.LoadVector(r, 3, &s.line, &chestLine)
	image.LoadVector(r, 4, &s.rows, &chestRows)
}

const chestFields = 5

// text shows everything on the chest, by reading it in order.
func (s *chest) text() string {
	ints := func(v value.Vector[int64]) string { return value.VectorText(v, value.StrInt) }
	return fmt.Sprint(value.MapText(s.names, value.StrString, value.StrInt), value.MapText(s.lists, value.StrInt, ints),
		s.tags.Str(value.StrString), ints(s.line), value.VectorText(s.rows, ints))
}

// chestModel is what a chest should hold.
type chestModel struct {
	names map[string]int64
	lists map[int64][]int64
	tags  map[string]bool
	line  []int64
	rows  [][]int64
}

func (m *chestModel) clone() *chestModel {
	c := &chestModel{maps.Clone(m.names), map[int64][]int64{}, maps.Clone(m.tags), slices.Clone(m.line), nil}
	for k, v := range m.lists {
		c.lists[k] = slices.Clone(v)
	}
	for _, r := range m.rows {
		c.rows = append(c.rows, slices.Clone(r))
	}
	return c
}

// chest builds the same with the constructors of package value alone.
func (m *chestModel) chest() *chest {
	s := &chest{}
	for k, v := range m.names {
		value.SetEntry(&s.names, k, v)
	}
	for k, v := range m.lists {
		value.SetEntry(&s.lists, k, value.VectorOf(slices.Clone(v)...))
	}
	for k := range m.tags {
		value.AddMember(&s.tags, k)
	}
	s.line = value.VectorOf(slices.Clone(m.line)...)
	for _, r := range m.rows {
		value.Push(&s.rows, value.VectorOf(slices.Clone(r)...))
	}
	return s
}

// largeChest is a chest whose fields are all stored by element.
func largeChest() *chestModel {
	m := &chestModel{names: map[string]int64{}, lists: map[int64][]int64{}, tags: map[string]bool{}}
	for i := range int64(300) {
		name := fmt.Sprint("name", i)
		m.names[name], m.lists[i], m.tags[name] = i, []int64{i}, true
		m.line = append(m.line, i*1000)
		m.rows = append(m.rows, []int64{i, i})
	}
	return m
}

// depot keeps one chest in an engine.
type depot struct {
	engine replicatest.Engine
	layout *image.Layout
	id     event.ActorID
	w      image.Writer
	bytes  int // of the last batch
}

func newDepot() *depot {
	st := &depot{engine: replicatest.New(), layout: &image.Layout{Class: "p.Chest"}, id: event.SerialActor(3, 7)}
	for i := range chestFields {
		st.layout.Fields = append(st.layout.Fields, store.FieldLayout{Name: fmt.Sprint("f", i), Number: uint16(i + 1), Required: true})
	}
	return st
}

// commit writes what the log says of s; all of it if the chest is new.
func (st *depot) commit(s *chest, l *Log, fresh bool) error {
	b := st.engine.NewBatch()
	st.w.Begin(b, st.id, st.layout)
	for f := range chestFields {
		var changes []value.Undo
		named, whole := fresh, fresh
		for i := range l.entries {
			if e := &l.entries[i]; int(e.Field()) == f {
				named = true
				if u := e.Record(); u != nil {
					changes = append(changes, u)
				} else {
					whole = true
				}
			}
		}
		if named {
			st.w.Field(s, f, changes, whole)
		}
	}
	st.w.Finish()
	st.bytes = b.Size()
	return st.engine.Apply(b)
}

func (st *depot) load(copies *image.Copies) (*chest, error) {
	s := &chest{}
	return s, image.NewReader(st.engine, st.id, st.layout, nil).Resume(copies).Read(s)
}

// chestStep does one random thing to a chest and its model, by the functions that log.
func chestStep(t *rapid.T, l *Log, s *chest, m *chestModel) {
	k := int64(rapid.IntRange(0, 400).Draw(t, "k"))
	x := int64(rapid.IntRange(-5, 1<<40).Draw(t, "x"))
	name := fmt.Sprint("name", k)
	switch op := rapid.IntRange(0, 24).Draw(t, "op"); op {
	case 0, 1:
		MapSet(l, &s.Self, 0, &s.names, name, x)
		m.names[name] = x
	case 2:
		MapRemove(l, &s.Self, 0, &s.names, name)
		delete(m.names, name)
	case 3:
		for i := k; i < k+60; i++ {
			MapSet(l, &s.Self, 0, &s.names, fmt.Sprint("name", i), i)
			m.names[fmt.Sprint("name", i)] = i
		}
	case 4:
		for i := k; i < k+200; i++ {
			MapRemove(l, &s.Self, 0, &s.names, fmt.Sprint("name", i))
			delete(m.names, fmt.Sprint("name", i))
		}
	case 5:
		if x%4 == 0 {
			MapClear(l, &s.Self, 0, &s.names)
			clear(m.names)
		}
	case 6: // a program changes a copy and assigns it
		c := s.names.Share()
		value.SetEntry(&c, name, x)
		Field(l, &s.Self, 0, &s.names)
		s.names = c
		m.names[name] = x
	case 7: // a program assigns an older copy
		c := s.names.Share()
		MapSet(l, &s.Self, 0, &s.names, name, x)
		Field(l, &s.Self, 0, &s.names)
		s.names = c
	case 8:
		MapSet(l, &s.Self, 1, &s.lists, k, value.VectorOf(x, x))
		m.lists[k] = []int64{x, x}
	case 9:
		if s.lists.Has(k) {
			MapUpdate(l, &s.Self, 1, &s.lists, k, func(v *value.Vector[int64]) { VectorPush(l, &s.Self, 1|Inside, v, x) })
			m.lists[k] = append(m.lists[k], x)
		}
	case 10:
		for i := k; i < k+50; i++ {
			MapSet(l, &s.Self, 1, &s.lists, i, value.VectorOf(i))
			m.lists[i] = []int64{i}
		}
	case 11:
		SetAdd(l, &s.Self, 2, &s.tags, name)
		m.tags[name] = true
	case 12:
		for i := k; i < k+100; i++ {
			SetAdd(l, &s.Self, 2, &s.tags, fmt.Sprint("name", i))
			m.tags[fmt.Sprint("name", i)] = true
		}
	case 13:
		SetRemove(l, &s.Self, 2, &s.tags, name)
		delete(m.tags, name)
	case 14, 15, 16, 17, 18, 19, 20:
		lineStep(l, s, m, op, k, x)
	case 21:
		VectorPush(l, &s.Self, 4, &s.rows, value.VectorOf(x))
		m.rows = append(m.rows, []int64{x})
	case 22:
		for i := range k {
			VectorPush(l, &s.Self, 4, &s.rows, value.VectorOf(i, i))
			m.rows = append(m.rows, []int64{i, i})
		}
	case 23:
		if n := int64(len(m.rows)); n > 0 {
			e := VectorElem(l, &s.Self, 4, &s.rows, k%n)
			VectorPush(l, &s.Self, 4|Inside, e, x)
			m.rows[k%n] = append(m.rows[k%n], x)
		}
	case 24:
		if n := int64(len(m.rows)); n > 0 {
			VectorRemove(l, &s.Self, 4, &s.rows, k%n)
			m.rows = slices.Delete(m.rows, int(k%n), int(k%n)+1)
		}
	}
}

// lineStep does something to the vector of integers.
func lineStep(l *Log, s *chest, m *chestModel, op int, k, x int64) {
	n := int64(len(m.line))
	switch {
	case op == 14:
		for i := range k {
			VectorPush(l, &s.Self, 3, &s.line, i+x)
			m.line = append(m.line, i+x)
		}
	case op == 15:
		VectorPush(l, &s.Self, 3, &s.line, x)
		m.line = append(m.line, x)
	case n == 0:
	case op == 16:
		VectorSet(l, &s.Self, 3, &s.line, k%n, x)
		m.line[k%n] = x
	case op == 17:
		for range min(n, k/4) {
			VectorPop(l, &s.Self, 3, &s.line)
			m.line = m.line[:len(m.line)-1]
		}
	case op == 18:
		VectorInsert(l, &s.Self, 3, &s.line, k%n, x)
		m.line = slices.Insert(m.line, int(k%n), x)
	case op == 19:
		VectorRemove(l, &s.Self, 3, &s.line, k%n)
		m.line = slices.Delete(m.line, int(k%n), int(k%n)+1)
	case x%3 == 0:
		VectorSort(l, &s.Self, 3, &s.line)
		slices.Sort(m.line)
	case x%3 == 2:
		VectorSortBy(l, &s.Self, 3, &s.line, func(a, b *int64) int { return cmp.Compare(*b%7, *a%7) })
		slices.SortStableFunc(m.line, func(a, b int64) int { return cmp.Compare(b%7, a%7) })
	case x%3 == 1:
		VectorClear(l, &s.Self, 3, &s.line)
		m.line = nil
	}
}

// look reads single elements, which may have to be fetched from the store.
func look(t *rapid.T, s *chest, m *chestModel) {
	k := int64(rapid.IntRange(0, 400).Draw(t, "look"))
	name := fmt.Sprint("name", k)
	if v, ok := s.names.Find(name); v != m.names[name] || ok != hasKey(m.names, name) {
		t.Fatalf("names[%q] = %d, %v, want %d", name, v, ok, m.names[name])
	}
	if s.tags.Has(name) != m.tags[name] {
		t.Fatalf("tags has %q: %v", name, s.tags.Has(name))
	}
	if s.names.Size() != int64(len(m.names)) || s.line.Size() != int64(len(m.line)) || s.lists.Size() != int64(len(m.lists)) {
		t.Fatal("a size is wrong")
	}
	for i := k; i < min(k+5, int64(len(m.line))); i++ {
		if s.line.At(i) != m.line[i] {
			t.Fatalf("line[%d] = %d, want %d", i, s.line.At(i), m.line[i])
		}
	}
	if l := s.lists.Lookup(k); !slices.Equal(l.Items(), m.lists[k]) {
		t.Fatalf("lists[%d] = %v, want %v", k, l.Items(), m.lists[k])
	}
}

func hasKey[K comparable, V any](m map[K]V, k K) bool {
	_, ok := m[k]
	return ok
}

// same fails where two texts differ.
func same(t *rapid.T, where, got, want string) {
	if got == want {
		return
	}
	n := 0
	for n < min(len(got), len(want)) && got[n] == want[n] {
		n++
	}
	part := func(s string) string { return s[max(0, n-60):min(len(s), n+60)] }
	t.Fatalf("%s: …%s…\nwant …%s…", where, part(got), part(want))
}

// oldChest is a copy that was kept.
type oldChest struct {
	s *chest
	m *chestModel
}

func (s *chest) copy() *chest {
	return &chest{names: s.names.Share(), lists: s.lists.Share(), tags: s.tags.Share(), line: s.line.Share(), rows: s.rows.Share()}
}

// TestRowsAreWhatIsInMemory runs random events, some of which fail, on the containers of an
// actor. After each commit the rows must give what is in memory, and copies that were made
// on the way stay as they were.
func TestRowsAreWhatIsInMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := newDepot()
		m := &chestModel{names: map[string]int64{}, lists: map[int64][]int64{}, tags: map[string]bool{}}
		s := &chest{}
		check := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if rapid.Bool().Draw(t, "large") {
			m = largeChest()
			s = m.chest()
		}
		check(st.commit(s, &Log{}, true))
		var kept []oldChest
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			if rapid.IntRange(0, 3).Draw(t, "reload") == 0 {
				var err error
				s, err = st.load(s.StoredRows().Retire())
				check(err)
			}
			old := len(kept)
			l, before := &Log{}, m.clone()
			for range rapid.IntRange(1, 5).Draw(t, "steps") {
				chestStep(t, l, s, m)
				if rapid.IntRange(0, 3).Draw(t, "compact") == 0 {
					l.compact()
				}
				look(t, s, m)
				if rapid.IntRange(0, 5).Draw(t, "keep") == 0 {
					kept = append(kept, oldChest{s.copy(), m.clone()})
				}
			}
			if rapid.IntRange(0, 2).Draw(t, "abort") == 0 {
				l.Undo()
				m, kept = before, kept[:old]
			} else {
				check(st.commit(s, l, false))
			}
			look(t, s, m)
			want := m.chest().text()
			same(t, "in memory", s.text(), want)
			fromRows, err := st.load(nil)
			check(err)
			same(t, "in the store", fromRows.text(), want)
			for _, o := range kept {
				look(t, o.s, o.m)
				same(t, "in a copy", o.s.text(), o.m.chest().text())
			}
		}
	})
}

// What is written to a part of a vector is not written to the vector, of which elements may be in memory and others not.
func TestASliceOfAStoredVectorIsApart(t *testing.T) {
	st, l := newDepot(), &Log{}
	if err := st.commit(largeChest().chest(), l, true); err != nil {
		t.Fatal(err)
	}
	s, err := st.load(nil)
	if err != nil {
		t.Fatal(err)
	}
	VectorPush(l, &s.Self, 4, &s.rows, value.VectorOf(int64(1)))
	if err := st.commit(s, l, false); err != nil {
		t.Fatal(err)
	}
	part := value.SliceOf(s.rows, 299, 301)
	value.Push(value.RefAt(&part, 0), 99)
	value.Push(value.RefAt(&part, 1), 99)
	for i, want := range map[int64]string{299: "[299, 299]", 300: "[1]"} {
		if got := value.VectorText(s.rows.At(i), value.StrInt); got != want {
			t.Errorf("row %d is %s, expected %s", i, got, want)
		}
	}
}
