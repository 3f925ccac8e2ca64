package value_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/value"
)

// undoLog collects records of one container as an event does.
type undoLog struct {
	number uint64
	list   []value.Undo
}

func (l *undoLog) add(u value.Undo) {
	if u != nil {
		l.list = append(l.list, u)
	}
}

func (l *undoLog) undo() {
	for i := len(l.list) - 1; i >= 0; i-- {
		l.list[i].Undo()
	}
}

// TestVectorRecordsRestoreEverything drives one vector through logs of random writes, half
// of which are undone, beside plain slices.
func TestVectorRecordsRestoreEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := value.VectorOf[int64](1, 2, 3)
		model := []int64{1, 2, 3}
		for number := range uint64(rapid.IntRange(1, 8).Draw(t, "logs")) {
			l := &undoLog{number: number + 1}
			m := slices.Clone(model)
			for range rapid.IntRange(1, 50).Draw(t, "writes") {
				m = writeVector(t, l, &v, m)
			}
			if !slices.Equal(v.Items(), m) {
				t.Fatalf("the vector is %v, want %v", v.Items(), m)
			}
			if len(l.list) > 20+len(model)+len(m) {
				t.Fatalf("%d records for %d elements", len(l.list), len(m))
			}
			if rapid.Bool().Draw(t, "undo") {
				l.undo()
			} else {
				model = m
			}
			if !slices.Equal(v.Items(), model) {
				t.Fatalf("after the log the vector is %v, want %v", v.Items(), model)
			}
		}
	})
}

func writeVector(t *rapid.T, l *undoLog, v *value.Vector[int64], m []int64) []int64 {
	n := len(m)
	x := rapid.Int64Range(10, 99).Draw(t, "x")
	i := rapid.IntRange(0, max(0, n-1)).Draw(t, "i")
	op := rapid.IntRange(0, 20).Draw(t, "op")
	if n == 0 && op > 5 {
		op = 0
	}
	switch {
	case op < 4:
		l.add(value.NotePush(v, l.number))
		value.Push(v, x)
		return append(m, x)
	case op == 4:
		l.add(value.EmptyVector(v, l.number))
		return nil
	case op == 5:
		l.add(value.NoteContent(v, l.number))
		value.Sort(v)
		slices.Sort(m)
	case op < 9:
		l.add(value.NotePop(v, l.number))
		value.Pop(v)
		return m[:n-1]
	case op < 12:
		l.add(value.NoteInsert(v, l.number, int64(i)))
		value.InsertAt(v, int64(i), x)
		return slices.Insert(m, i, x)
	case op < 15:
		l.add(value.NoteRemove(v, l.number, int64(i)))
		value.RemoveAt(v, int64(i))
		return slices.Delete(m, i, i+1)
	default:
		if !value.FreeElem(v, l.number, int64(i)) && !recently(l, v, i) {
			l.add(value.NoteSet(v, l.number, int64(i)))
		}
		value.SetAt(v, int64(i), x)
		m[i] = x
	}
	return m
}

// recently reports whether one of the last records restores element i.
func recently(l *undoLog, v *value.Vector[int64], i int) bool {
	for _, u := range slices.Backward(l.list[max(0, len(l.list)-4):]) {
		noted, moved := value.NotedElem(v, u, int64(i))
		if noted || moved {
			return noted
		}
	}
	return false
}

// TestMapRecordsRestoreEverything does the same for a map.
func TestMapRecordsRestoreEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v value.Map[int64, int64]
		value.SetEntry(&v, 0, 0)
		model := v.Share()
		value.OwnMap(&v, 1)
		for number := range uint64(rapid.IntRange(1, 8).Draw(t, "logs")) {
			l := &undoLog{number: number + 2}
			m := model.Share()
			for range rapid.IntRange(1, 150).Draw(t, "writes") {
				k := rapid.Int64Range(0, 60).Draw(t, "k")
				op := rapid.IntRange(0, 60).Draw(t, "op")
				if op == 0 {
					l.add(value.EmptyMap(&v, l.number))
					value.Clear(&m)
					continue
				}
				if !value.FreeEntry(&v, l.number) && (len(l.list) == 0 || !value.NotedEntry(&v, l.list[len(l.list)-1], k)) {
					l.add(value.NoteEntry(&v, l.number, k))
				}
				if op < 45 {
					value.SetEntry(&v, k, int64(op))
					value.SetEntry(&m, k, int64(op))
				} else {
					value.RemoveKey(&v, k)
					value.RemoveKey(&m, k)
				}
				if op%5 == 0 {
					v.Keys() // fills the cache that undo must not leave wrong
				}
			}
			if rapid.Bool().Draw(t, "undo") {
				l.undo()
			} else {
				model = m.Share()
			}
			if !value.EqualMaps(v, model, value.Eq) || !slices.Equal(v.Keys().Items(), model.Keys().Items()) {
				t.Fatalf("after the log the map has %v, want %v", v.Keys().Items(), model.Keys().Items())
			}
		}
	})
}
