package value

import "slices"

type vectorOp uint8

const (
	vectorSet    vectorOp = iota // element i was written
	vectorCut                    // elements from i on were appended
	vectorPop                    // element i, the last one, was removed
	vectorInsert                 // element i was inserted
	vectorRemove                 // element i was removed
)

// vectorUndo takes back one write to a body.
type vectorUndo[T any] struct {
	body *vectorBody[T]
	op   vectorOp
	i    int
	old  T
}

// Undo implements Undo.
func (u *vectorUndo[T]) Undo() {
	b := u.body
	switch u.op {
	case vectorSet:
		b.elems[u.i] = u.old
	case vectorCut:
		b.cut(u.i)
	case vectorPop:
		b.cut(u.i)
		b.elems = append(b.elems, u.old)
	case vectorInsert:
		b.elems = slices.Delete(b.elems, u.i, u.i+1)
	case vectorRemove:
		b.elems = slices.Insert(b.elems, u.i, u.old)
	}
}

// cut drops the elements from n on.
func (b *vectorBody[T]) cut(n int) {
	clear(b.elems[n:])
	b.elems = b.elems[:n]
}

// vectorContent takes back all that was done to a body since elems was its content.
type vectorContent[T any] struct {
	body  *vectorBody[T]
	elems []T
}

// Undo implements Undo.
func (u *vectorContent[T]) Undo() { u.body.elems = u.elems }

// Sole reports whether v has a body that nobody else sees.
func (v Vector[T]) Sole() bool { return v.body != nil && !v.body.shared.Load() }

// Own gives v a body of its own, which log need not restore: who called Own will restore
// v itself.
func (v *Vector[T]) Own(log uint64) {
	b := v.own()
	b.log, b.base = log, 0
}

// Check faults unless there is an element i.
func (v Vector[T]) Check(i int64) {
	if n := len(v.Items()); uint64(i) >= uint64(n) {
		failIndex(i, n)
	}
}

// watch prepares the body for records of log.
func (b *vectorBody[T]) watch(log uint64) {
	if b.log != log {
		b.log, b.base, b.notes = log, -1, 0
	}
}

// free reports whether log need not restore element i.
func (b *vectorBody[T]) free(i int) bool { return uint(i) >= uint(b.base) } // never if base is -1

// note returns a record, or one of the whole content if that costs less.
func (b *vectorBody[T]) note(op vectorOp, i, base int) Undo {
	if tooMany(b.notes, len(b.elems)) {
		b.base = 0
		return &vectorContent[T]{b, slices.Clone(b.elems)}
	}
	b.notes++
	b.base = base
	u := &vectorUndo[T]{body: b, op: op, i: i}
	if op == vectorSet || op == vectorPop || op == vectorRemove {
		u.old = b.elems[i]
	}
	return u
}

// Free reports whether log need not restore element i. The vector must be Sole, as for
// all that follows.
func (v *Vector[T]) Free(log uint64, i int64) bool {
	v.body.watch(log)
	return v.body.free(int(i))
}

// Noted reports whether u, one of the last records of a log, restores element i, and
// whether elements had other numbers before it.
func (v *Vector[T]) Noted(u Undo, i int64) (noted, moved bool) {
	x, ok := u.(*vectorUndo[T])
	if !ok || x.body != v.body {
		return false, false
	}
	return x.op == vectorSet && x.i == int(i), x.op >= vectorInsert
}

// NoteSet returns what log needs before element i, which is not Free, is written.
func (v *Vector[T]) NoteSet(log uint64, i int64) Undo {
	v.body.watch(log)
	return v.body.note(vectorSet, int(i), v.body.base)
}

// NotePush returns what log needs before an element is appended, nil for nothing.
func (v *Vector[T]) NotePush(log uint64) Undo {
	b := v.body
	b.watch(log)
	if n := len(b.elems); !b.free(n) {
		return b.note(vectorCut, n, n)
	}
	return nil
}

// NotePop returns what log needs before the last element is removed, nil for nothing.
func (v *Vector[T]) NotePop(log uint64) Undo {
	b := v.body
	b.watch(log)
	if i := len(b.elems) - 1; !b.free(i) {
		return b.note(vectorPop, i, i)
	}
	return nil
}

// NoteInsert returns what log needs before an element is inserted at i, nil for nothing.
func (v *Vector[T]) NoteInsert(log uint64, i int64) Undo {
	b := v.body
	b.watch(log)
	switch {
	case b.free(int(i)):
		return nil
	case int(i) == len(b.elems):
		return b.note(vectorCut, int(i), int(i))
	}
	return b.note(vectorInsert, int(i), -1)
}

// NoteRemove returns what log needs before element i is removed, nil for nothing.
func (v *Vector[T]) NoteRemove(log uint64, i int64) Undo {
	b := v.body
	b.watch(log)
	switch {
	case b.free(int(i)):
		return nil
	case int(i) == len(b.elems)-1:
		return b.note(vectorPop, int(i), int(i))
	}
	return b.note(vectorRemove, int(i), -1)
}

// NoteContent returns what log needs before the order of the elements changes, nil for
// nothing.
func (v *Vector[T]) NoteContent(log uint64) Undo {
	b := v.body
	b.watch(log)
	if b.base == 0 {
		return nil
	}
	b.base = 0
	return &vectorContent[T]{b, slices.Clone(b.elems)}
}

// Empty removes all elements and returns what log needs for that, nil for nothing.
func (v *Vector[T]) Empty(log uint64) Undo {
	b := v.body
	b.watch(log)
	was := b.elems
	b.elems = nil
	if b.base == 0 {
		return nil
	}
	b.base = 0
	return &vectorContent[T]{b, was}
}

// SortInPlace orders the elements ascending. The sort is stable.
func (v *Vector[T]) SortInPlace() { slices.SortStableFunc(v.own().elems, orderOf[T]()) }
