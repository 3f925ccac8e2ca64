package image_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/value"
)

func key(i int) string { return fmt.Sprintf("item%07d", i) }

func withPrices(n int) *actor {
	a := &actor{balance: 7}
	for i := range n {
		value.SetEntry(&a.prices, key(i), int64(i))
	}
	return a
}

// One insertion writes one element and the count, however large the map is, whether it is in
// memory or not, and also if there is a copy of it.
func TestOneInsertionWritesOneElement(t *testing.T) {
	const size, atMost = 1_000_000, 150
	s := newShop(t)
	a := withPrices(size)
	s.save(a, true, nil, 0, 1, 2)
	if n := s.setPrice(a, "new", 1); n > atMost {
		t.Errorf("an insertion into a map in memory wrote %d bytes", n)
	}
	a = s.load()
	if !value.IsFarMap(a.prices) {
		t.Fatal("the map was read when its actor was loaded")
	}
	if n := s.setPrice(a, "newer", 1); n > atMost {
		t.Errorf("an insertion into a map that was not read wrote %d bytes", n)
	}
	kept := a.prices.Share()
	if n := s.setPrice(a, "newest", 1); n > atMost {
		t.Errorf("an insertion into a map that has a copy wrote %d bytes", n)
	}
	if kept.Has("newest") || kept.Size() != size+2 || a.prices.Size() != size+3 || !value.IsFarMap(a.prices) {
		t.Errorf("the copy has %d entries, the map %d", kept.Size(), a.prices.Size())
	}
	if got := s.load().prices; got.Size() != size+3 || got.At("newest") != 1 || got.At(key(size/2)) != size/2 {
		t.Errorf("%d entries are stored", got.Size())
	}
}

func TestAPushWritesOneElement(t *testing.T) {
	s := newShop(t)
	a := &actor{}
	for i := range 10_000 {
		value.Push(&a.line, key(i))
	}
	s.save(a, true, nil, 0, 1, 2)
	a = s.load()
	for i := range 5 {
		if n := s.push(a, key(i)); n > 150 {
			t.Errorf("a push wrote %d bytes", n)
		}
	}
	if got := s.load().line; got.Size() != 10_005 || got.At(10_004) != key(4) || !value.IsFarVector(a.line) {
		t.Errorf("%d elements are stored", got.Size())
	}
}

// A container becomes rows of its own beyond 1 KiB, and one row again below a quarter.
func TestFormOfRowsHasHysteresis(t *testing.T) {
	s := newShop(t)
	a := &actor{}
	s.save(a, true, nil, 0, 1, 2)
	rows := func() int {
		from, to := store.FieldsRange(actorID)
		it, n := s.engine.Scan(from, to), 0
		for it.Next() {
			n++
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		return n
	}
	add := func(from, to int) {
		for i := from; i < to; i++ {
			s.setPrice(a, key(i), 1)
		}
	}
	remove := func(from, to int) {
		for i := from; i < to; i++ {
			s.log++
			changes := []value.Undo{value.NoteEntry(&a.prices, s.log, key(i))}
			value.RemoveKey(&a.prices, key(i))
			s.save(a, false, changes, 1)
		}
	}
	add(0, 70) // 14 bytes each
	if n := rows(); n != 3 {
		t.Errorf("70 entries: %d rows", n)
	}
	add(70, 100)
	if n := rows(); n != 103 {
		t.Errorf("100 entries: %d rows", n)
	}
	remove(30, 100)
	if n := rows(); n != 33 {
		t.Errorf("30 entries again: %d rows", n)
	}
	remove(15, 30)
	if n := rows(); n != 3 {
		t.Errorf("15 entries again: %d rows", n)
	}
	if got := s.load().prices; got.Size() != 15 || !got.Has(key(14)) {
		t.Errorf("%d entries are stored", got.Size())
	}
}

// Readers of one map that is not in memory, and of copies of it, may run while an event
// changes the map that they have copied.
func TestReadersOfASource(t *testing.T) {
	s := newShop(t)
	a := withPrices(500)
	for i := range 500 {
		value.Push(&a.line, key(i))
	}
	s.save(a, true, nil, 0, 1, 2)
	a = s.load()
	read := func(prices value.Map[string, int64], line value.Vector[string]) {
		for i := range 500 {
			if v, ok := prices.Find(key(i)); !ok || v != int64(i) {
				t.Errorf("prices[%d] = %d, %v", i, v, ok)
			}
			if line.At(int64(i)) != key(i) {
				t.Errorf("line[%d] = %s", i, line.At(int64(i)))
			}
		}
		n := 0
		value.Each(prices, func(string, int64) bool { n++; return true })
		if n != 500 || len(line.Items()) != 500 {
			t.Errorf("%d prices in order, %d in the line", n, len(line.Items()))
		}
	}
	var wg sync.WaitGroup
	for range 4 { // under holds for reading
		wg.Go(func() { read(a.prices, a.line) })
	}
	wg.Wait()
	for range 4 { // of copies
		prices, line := a.prices.Share(), a.line.Share()
		wg.Go(func() { read(prices, line) })
	}
	for i := range 60 {
		s.setPrice(a, key(7*i), -1)
		s.setPrice(a, fmt.Sprint("x", i), -1)
		s.push(a, "x")
	}
	wg.Wait()
	if a.prices.Size() != 560 || a.prices.At(key(7)) != -1 {
		t.Errorf("%d prices, %d", a.prices.Size(), a.prices.At(key(7)))
	}
}

// Copies stay as they are when the actor is deleted.
func TestCopiesOutliveTheirActor(t *testing.T) {
	s := newShop(t)
	a := withPrices(300)
	for i := range 300 {
		value.Push(&a.line, key(i))
	}
	s.save(a, true, nil, 0, 1, 2)
	a = s.load()
	prices, line := a.prices.Share(), a.line.Share()
	s.setPrice(a, "later", 1)
	b := s.engine.NewBatch()
	s.w.Begin(b, actorID, s.layout)
	b.DeleteRange(store.FieldsRange(actorID))
	s.w.Forget(a)
	s.w.Finish()
	if err := s.engine.Apply(b); err != nil {
		t.Fatal(err)
	}
	if prices.Size() != 300 || prices.Has("later") || prices.At(key(7)) != 7 || prices.Keys().Size() != 300 {
		t.Errorf("the copy has %d prices", prices.Size())
	}
	if line.At(299) != key(299) || len(line.Items()) != 300 {
		t.Errorf("the copy has %d elements", line.Size())
	}
}

// TestDamage changes every row of an actor in every way that a disk might: reading the actor
// then says so, with its class and field.
func TestDamage(t *testing.T) {
	whole := newShop(t)
	a := withPrices(90)
	for i := range 70 {
		value.Push(&a.line, key(i)+strings.Repeat("x", 10))
	}
	whole.save(a, true, nil, 0, 1, 2)
	type row struct{ key, value []byte }
	var rows []row
	from, to := store.FieldsRange(actorID)
	it := whole.engine.Scan(from, to)
	for it.Next() {
		rows = append(rows, row{append([]byte(nil), it.Key()...), append([]byte(nil), it.Value()...)})
	}
	if err := it.Close(); err != nil || len(rows) != 3+90+70 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	// damaged reads everything after b.
	damaged := func(what string, change func(b store.Batch)) {
		t.Helper()
		e := replicatest.New()
		b := e.NewBatch()
		for _, r := range rows {
			b.Set(r.key, r.value)
		}
		change(b)
		if err := e.Apply(b); err != nil {
			t.Fatal(err)
		}
		open := &opened{Reader: e}
		err := readAll(open, whole.layout)
		if open.n != 0 {
			t.Errorf("%s: %d iterators stay open", what, open.n)
		}
		var c *store.CorruptError
		if !errors.As(err, &c) || !strings.Contains(err.Error(), "field market.Shop.") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i, r := range rows {
		name := store.DescribeKey(r.key)
		damaged(fmt.Sprint(name, " row ", i, " is gone"), func(b store.Batch) { b.Delete(r.key) })
		for _, at := range []int{0, 1, len(r.value) / 2, len(r.value) - 1} {
			flipped := append([]byte(nil), r.value...)
			flipped[at] ^= 0x10
			damaged(fmt.Sprint(name, " byte ", at), func(b store.Batch) { b.Set(r.key, flipped) })
		}
		damaged(name+" is short", func(b store.Batch) { b.Set(r.key, r.value[:len(r.value)-1]) })
		payload, err := store.Payload(r.key, r.value)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range [][]byte{append([]byte{9}, payload...), append(payload[:len(payload):len(payload)], 0), {}} {
			damaged(fmt.Sprintf("%s with payload %x", name, p), func(b store.Batch) { b.Set(r.key, store.AppendRow(nil, r.key, p)) })
		}
	}
	more := append(append([]byte(nil), rows[1].key...), []byte("ezzz\x00\x01")...)
	damaged("an entry too many", func(b store.Batch) { b.Set(more, store.AppendRow(nil, more, []byte{2})) })
	bad := append(append([]byte(nil), rows[1].key...), []byte("ezzz\x00\x02")...)
	damaged("a key that is none", func(b store.Batch) { b.Set(bad, store.AppendRow(nil, bad, []byte{2})) })
}

// readAll loads the actor and reads all that it has.
func readAll(e store.Reader, layout *image.Layout) (err error) {
	defer func() {
		if p := recover(); p != nil {
			u, ok := p.(*value.Unreadable)
			if !ok {
				panic(p)
			}
			err = u
		}
	}()
	a := &actor{}
	if err := image.NewReader(e, actorID, layout, nil).Read(a); err != nil {
		return err
	}
	value.Each(a.prices, func(string, int64) bool { return true })
	a.line.Items()
	return nil
}

// opened counts the iterators that are open.
type opened struct {
	store.Reader
	n int
}

func (o *opened) Scan(from, to []byte) store.Iterator {
	o.n++
	return &openedIterator{o.Reader.Scan(from, to), o}
}

type openedIterator struct {
	store.Iterator
	o *opened
}

func (i *openedIterator) Close() error {
	i.o.n--
	return i.Iterator.Close()
}
