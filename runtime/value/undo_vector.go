package value

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
	_    noComparison
	body *vectorBody[T]
	op   vectorOp
	i    int
	old  T
	// known: the body, which has a source, need not ask it for element i.
	known bool
}

// Undo implements Undo.
func (u *vectorUndo[T]) Undo() {
	b := u.body
	takeNearVector(b)
	far := b.far.reads()
	switch u.op {
	case vectorSet:
		switch {
		case !far:
			b.elems[u.i] = u.old
		case u.known:
			b.far.write(u.i, &u.old)
		default:
			delete(b.far.over, u.i)
		}
	case vectorCut:
		cut(b, u.i)
	case vectorPop:
		cut(b, u.i)
		switch {
		case !far:
			b.elems = append(b.elems, u.old)
		case u.known:
			b.far.push(&u.old)
		default:
			b.far.size++
		}
	case vectorInsert:
		remove(b, u.i)
	case vectorRemove:
		insert(b, u.i, u.old)
	}
}

// vectorContent takes back all that was done to a body since elems was its content.
type vectorContent[T any] struct {
	_     noComparison
	body  *vectorBody[T]
	elems []T
	far   *farVector
}

// Undo implements Undo.
func (u *vectorContent[T]) Undo() {
	u.body.elems, u.body.far = u.elems, u.far
	if u.far.reads() && u.body.mark.shared.Load() { // when it was in memory
		u.far.at.watched.Store(true)
	}
}

// SoleVector reports whether v has a body that no other container refers to.
func SoleVector[T any](v Vector[T]) bool { return v.body != nil && v.body.mark.sole() }

// OwnVector gives v a body of its own, which log need not restore: the caller will restore v
// itself.
func OwnVector[T any](v *Vector[T], log uint64) {
	old := v.body
	b := ownVector(v)
	if old == nil || old.far == nil {
		b.mark.own(log)
		return
	}
	// What the log says is what differs from the rows.
	if b != old {
		b.far.by = differs(old.far.by, home(v))
	}
	b.mark.watch(log)
}

// CheckIndex faults unless there is an element i.
func CheckIndex[T any](v Vector[T], i int64) {
	if n := v.Size(); uint64(i) >= uint64(n) {
		failIndex(i, int(n))
	}
}

// note returns a record, or one of the whole content if that costs less.
func note[T any](b *vectorBody[T], op vectorOp, i, base int) Undo {
	if tooMany(b.mark.notes, b.far.count(len(b.elems))) {
		b.mark.base = 0
		kept := b.far.keep()
		if kept.reads() {
			for i, p := range kept.over { // elements are written in place
				e := *p.(*T)
				kept.over[i] = &e
			}
		}
		return &vectorContent[T]{body: b, elems: append([]T(nil), b.elems...), far: kept}
	}
	b.mark.notes++
	b.mark.base = base
	u := &vectorUndo[T]{body: b, op: op, i: i}
	if op == vectorSet || op == vectorPop || op == vectorRemove {
		u.old = Vector[T]{body: b}.At(int64(i))
		u.known = b.far.reads() && b.far.over[i] != nil
	}
	return u
}

// FreeElem reports whether log need not restore element i. The vector must be sole, as for
// all that follows.
func FreeElem[T any](v *Vector[T], log uint64, i int64) bool {
	v.body.mark.watch(log)
	return v.body.mark.free(int(i))
}

// NotedElem reports whether u, one of the last records of a log, restores element i, and
// whether elements had other numbers before it.
func NotedElem[T any](v *Vector[T], u Undo, i int64) (noted, moved bool) {
	x, ok := u.(*vectorUndo[T])
	if !ok || x.body != v.body {
		return false, false
	}
	return x.op == vectorSet && x.i == int(i), x.op >= vectorInsert
}

// NoteSet returns what log needs before element i, which is not free, is written.
func NoteSet[T any](v *Vector[T], log uint64, i int64) Undo {
	v.body.mark.watch(log)
	return note(v.body, vectorSet, int(i), v.body.mark.base)
}

// NotePush returns what log needs before an element is appended, nil for nothing.
func NotePush[T any](v *Vector[T], log uint64) Undo {
	b := v.body
	b.mark.watch(log)
	if n := int(v.Size()); !b.mark.free(n) {
		return note(b, vectorCut, n, n)
	}
	return nil
}

// NotePop returns what log needs before the last element is removed, nil for nothing.
func NotePop[T any](v *Vector[T], log uint64) Undo {
	b := v.body
	b.mark.watch(log)
	if i := int(v.Size()) - 1; !b.mark.free(i) {
		return note(b, vectorPop, i, i)
	}
	return nil
}

// NoteInsert returns what log needs before an element is inserted at i, nil for nothing.
func NoteInsert[T any](v *Vector[T], log uint64, i int64) Undo {
	b := v.body
	b.mark.watch(log)
	switch {
	case b.mark.free(int(i)):
		return nil
	case int(i) == int(v.Size()):
		return note(b, vectorCut, int(i), int(i))
	}
	return note(b, vectorInsert, int(i), -1)
}

// NoteRemove returns what log needs before element i is removed, nil for nothing.
func NoteRemove[T any](v *Vector[T], log uint64, i int64) Undo {
	b := v.body
	b.mark.watch(log)
	switch {
	case b.mark.free(int(i)):
		return nil
	case int(i) == int(v.Size())-1:
		return note(b, vectorPop, int(i), int(i))
	}
	return note(b, vectorRemove, int(i), -1)
}

// NoteContent returns what log needs before the order of the elements changes, nil for
// nothing.
func NoteContent[T any](v *Vector[T], log uint64) Undo {
	b := v.body
	b.mark.watch(log)
	if b.mark.base == 0 {
		return nil
	}
	b.mark.base = 0
	return &vectorContent[T]{body: b, elems: append([]T(nil), b.elems...), far: b.far.keep()}
}

// EmptyVector removes all elements and returns what log needs for that, nil for nothing.
func EmptyVector[T any](v *Vector[T], log uint64) Undo {
	b := v.body
	b.mark.watch(log)
	was := &vectorContent[T]{body: b, elems: b.elems, far: b.far}
	b.elems, b.far = nil, nil
	if b.mark.base == 0 {
		return nil
	}
	b.mark.base = 0
	return was
}
