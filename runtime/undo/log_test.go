package undo

import (
	"errors"
	"slices"
	"testing"
	"testing/quick"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Two logs never have the same number, whether or not they take turns.
func TestLogNumbersAreUnique(t *testing.T) {
	seen := map[uint64]bool{0: true}
	take := func(rounds uint16) bool {
		l := &Log{}
		for range rounds {
			n := l.id()
			if seen[n] || l.id() != n {
				return false
			}
			seen[n] = true
			l.Reset()
		}
		return true
	}
	if err := quick.Check(take, &quick.Config{MaxCount: 20}); err != nil {
		t.Error(err)
	}
}

// Places that are written in turns have an entry for each write. Each gets its oldest value back, whatever its type is, and
// the log is empty then.
func TestUndoEndsWithTheOldestValues(t *testing.T) {
	type plain struct{ x, y int64 }
	type row struct {
		n    int64
		s    string
		ok   bool
		d    value.Duration
		at   value.Time
		u    uint64
		u32  uint32
		i32  int32
		rate float64
		p    plain
		err  error // held nothing
	}
	l, self := &Log{}, &order.Self{}
	old := row{1, "a", true, 2, 3, 4, 5, 6, 0.5, plain{7, 8}, nil}
	now := old
	for range 3 {
		Field(l, self, 0, &now.n)
		now.n++
		Field(l, self, 1, &now.s)
		now.s += "b"
		Field(l, self, 2, &now.ok)
		now.ok = !now.ok
		Field(l, self, 3, &now.d)
		now.d++
		Field(l, self, 4, &now.at)
		now.at++
		Field(l, self, 5, &now.u)
		now.u++
		Field(l, self, 6, &now.u32)
		now.u32++
		Field(l, self, 7, &now.i32)
		now.i32++
		Field(l, self, 8, &now.rate)
		now.rate++
		Field(l, self, 9|Inside, &now.p)
		now.p.x++
		Field(l, self, 10, &now.err)
		now.err = errors.New("x")
	}
	if n := len(l.Entries()); n != 33 {
		t.Errorf("%d entries, want one for each write", n)
	}
	if e := &l.Entries()[9]; e.Self() != self || e.Field() != 9 || e.Record() != nil {
		t.Errorf("the entry of the tenth field is one of field %d, with record %v", e.Field(), e.Record())
	}
	l.Undo()
	if now != old {
		t.Errorf("it is %+v, want %+v", now, old)
	}
	now.n = 100
	l.Undo()
	if now.n != 100 || len(l.Entries()) != 0 {
		t.Error("a log that was taken back takes back again")
	}
}

// However often a loop writes its fields in turn, the log keeps few entries, and takes back what there was before the first.
func TestTheLogOfALoopStaysSmall(t *testing.T) {
	l, self, now := &Log{}, &order.Self{}, [8]int64{}
	for i := range now {
		now[i] = int64(i)
	}
	old := now
	for range 100_000 {
		for i := range now {
			Field(l, self, uint16(i), &now[i])
			now[i]++
		}
	}
	if n := cap(l.entries); n >= 2*compactMin {
		t.Errorf("the log has room for %d entries", n)
	}
	l.Undo()
	if now != old {
		t.Errorf("it is %v, want %v", now, old)
	}
}

// The same of the logs of async calls, one after the other.
func TestTheLogOfManyBranchesStaysSmall(t *testing.T) {
	l, self, now := &Log{}, &order.Self{}, [8]int64{}
	for range 100_000 {
		branch := &Log{}
		for i := range now {
			Field(branch, self, uint16(i), &now[i])
			now[i]++
		}
		l.Absorb(branch)
	}
	if n := cap(l.entries); n >= 2*compactMin {
		t.Errorf("the log has room for %d entries", n)
	}
	l.Undo()
	if now != [8]int64{} {
		t.Errorf("it is %v", now)
	}
}

// Records of containers stay in their order while entries between them are dropped.
func TestRecordsStayInOrder(t *testing.T) {
	l, self, now := &Log{}, &order.Self{}, [8]int64{}
	var want []int64
	for i := range int64(3000) {
		want = append(want, i)
	}
	v := value.VectorOf(slices.Clone(want)...)
	for i := range int64(10_000) {
		for j := range now {
			Field(l, self, uint16(j), &now[j])
			now[j]++
		}
		switch i % 3 {
		case 0:
			VectorSet(l, self, 8, &v, i*7%v.Size(), -i)
		case 1:
			VectorRemove(l, self, 8, &v, i*11%v.Size())
		case 2:
			VectorInsert(l, self, 8, &v, i*13%v.Size(), i)
		}
	}
	records := 0
	for i := range l.entries {
		if l.entries[i].Record() != nil {
			records++
		}
	}
	if n := len(l.entries); n >= 2*compactMin || records < 100 {
		t.Errorf("the log has %d entries, %d of them records", n, records)
	}
	l.Undo()
	if got := v.Items(); !slices.Equal(got, want) || now != [8]int64{} {
		t.Errorf("fields %v, and a vector of %d elements: %v", now, len(got), got)
	}
}

// A log that has absorbed the log of a branch takes back the writes of both.
func TestALogAbsorbsThatOfABranch(t *testing.T) {
	l, branch, self := &Log{}, &Log{}, &order.Self{}
	a, b := value.VectorOf[int64](1), value.VectorOf[int64](2)
	VectorPush(l, self, 0, &a, 3)
	VectorPush(branch, self, 1, &b, 4)
	l.Absorb(branch)
	if len(branch.Entries()) != 0 {
		t.Error("the log of the branch keeps its entries")
	}
	l.Undo()
	if a.Size() != 1 || b.Size() != 1 {
		t.Errorf("sizes %d and %d, want 1", a.Size(), b.Size())
	}
	defer func() {
		if _, ok := recover().(assert.Failure); !ok {
			t.Error("a log absorbs itself")
		}
	}()
	l.id()
	l.Absorb(l)
}
