package exec

// Writes to fields that own actors: each moves the edges of ownership, and leaves the write itself to package undo.

import (
	"slices"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/table"
	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/aeon-lang/aeon/runtime/value"
)

// LogOwned notes the value of field p, which holds plain actor references, before v is
// assigned to it, removes the edges to what it held and adds those to what v holds.
func LogOwned[T any](cx *Cx, self *order.Self, field uint16, p *T, v T) {
	cx.moveEdges(self, any(*p), any(v))
	if field&undo.Inside == 0 {
		undo.Field(&cx.log, self, field, p)
	}
}

// eachRef calls f for every reference in v, which is a reference, a value class or a
// container.
func eachRef(v any, f func(order.Ref)) {
	switch v := v.(type) {
	case nil:
	case order.RefHolder:
		v.EachRef(f)
	case order.ElemHolder:
		v.EachElem(func(e any) { eachRef(e, f) })
	}
}

// singleRef is implemented by references, also those that generated code wraps.
type singleRef interface{ Bare() order.Ref }

// singleRefs returns the actors that old and v refer to, nil for none, if each of them is
// a reference or nothing: the common case, which needs no closure.
func singleRefs(old, v any) (o, n *order.Handle, ok bool) {
	if old != nil {
		r, single := old.(singleRef)
		if !single {
			return nil, nil, false
		}
		o = order.HandleOf(r.Bare())
	}
	if v != nil {
		r, single := v.(singleRef)
		if !single {
			return nil, nil, false
		}
		n = order.HandleOf(r.Bare())
	}
	return o, n, true
}

// moveEdges takes the edges from self to what old holds and adds those to what v holds.
func (cx *Cx) moveEdges(self *order.Self, old, v any) {
	in, p := of(cx), order.HandleOf(self.Ref())
	if o, n, ok := singleRefs(old, v); ok {
		if o != nil {
			in.edge(p, o, -1)
		}
		if n != nil {
			in.edge(p, n, 1)
		}
		return
	}
	// Additions are checked after removals, so that an edge may be turned round.
	eachRef(old, func(r order.Ref) { in.edge(p, order.HandleOf(r), -1) })
	eachRef(v, func(r order.Ref) { in.edge(p, order.HandleOf(r), 1) })
}

// edge notes that p holds units more references to c.
func (cx *activation) edge(p, c *order.Handle, units int) {
	cx.attach(c)
	// The class graph has no cycles but loops, so that a cycle lies within one class.
	if units > 0 && p.Shape.SelfRecursive && p.Shape == c.Shape {
		cx.checkCycle(p, c)
	}
	cx.ev.ChangeEdge(p, c, units)
}

const msgCycle = "ownership cycle: an actor would own itself"

// checkCycle faults if an edge p -> c would close a cycle in the instance graph, the
// event's own changes included ([OWN]). It holds all of reach(c) for reading then (protocol
// rule 8): otherwise another event might add the other half of a cycle meanwhile.
func (cx *activation) checkCycle(p, c *order.Handle) {
	ev := cx.ev
	if p == c {
		fault(msgCycle)
	}
	if !ev.MayClose(p, c) {
		return
	}
	for {
		reach := ev.Reachable(c)
		if !cx.holdAll(reach) {
			continue // it may have changed before it was held
		}
		if slices.Contains(reach, p) {
			fault(msgCycle)
		}
		return
	}
}

// holdAll acquires every actor of the list for reading and reports whether all of
// them were held before. If the entry does not cover them the attempt is withdrawn,
// and the next one carries all of them.
func (cx *activation) holdAll(list []*order.Handle) (held bool) {
	ev := cx.ev
	if held = ev.Carry(list); held {
		for _, h := range list {
			ev.Respect(h)
			cx.maxPos = max(cx.maxPos, h.LastPos) // whether there is a cycle depends on the last change
			ev.traceRead(h)
		}
		return true
	}
	for _, h := range list {
		if !h.Is(order.Fresh | order.Deleted) {
			cx.hold(h, order.Read)
		}
	}
	ev.Carried()
	return false
}

// MapSetOwned is MapSet where keys or values hold plain actor references.
func MapSetOwned[K comparable, V any](cx *Cx, self *order.Self, field uint16, m *value.Map[K, V], k K, v V) {
	old, had := m.Find(k)
	if had {
		cx.moveEdges(self, any(old), any(v))
	} else {
		cx.moveEdges(self, nil, any(k))
		cx.moveEdges(self, nil, any(v))
	}
	undo.MapSet(&cx.log, self, field, m, k, v)
}

// MapRemoveOwned is MapRemove where keys or values hold plain actor references.
func MapRemoveOwned[K comparable, V any](cx *Cx, self *order.Self, field uint16, m *value.Map[K, V], k K) bool {
	old, had := m.Find(k)
	if had {
		cx.moveEdges(self, any(k), nil)
		cx.moveEdges(self, any(old), nil)
	}
	return undo.MapRemove(&cx.log, self, field, m, k)
}

// MapClearOwned is MapClear where keys or values hold plain actor references.
func MapClearOwned[K comparable, V any](cx *Cx, self *order.Self, field uint16, m *value.Map[K, V]) {
	cx.moveEdges(self, any(*m), nil)
	undo.MapClear(&cx.log, self, field, m)
}

// SetAddOwned is SetAdd where the elements hold plain actor references.
func SetAddOwned[K comparable](cx *Cx, self *order.Self, field uint16, s *value.Set[K], k K) bool {
	if !s.Has(k) {
		cx.moveEdges(self, nil, any(k))
	}
	return undo.SetAdd(&cx.log, self, field, s, k)
}

// SetRemoveOwned is SetRemove where the elements hold plain actor references.
func SetRemoveOwned[K comparable](cx *Cx, self *order.Self, field uint16, s *value.Set[K], k K) bool {
	if s.Has(k) {
		cx.moveEdges(self, any(k), nil)
	}
	return undo.SetRemove(&cx.log, self, field, s, k)
}

// SetClearOwned is SetClear where the elements hold plain actor references.
func SetClearOwned[K comparable](cx *Cx, self *order.Self, field uint16, s *value.Set[K]) {
	cx.moveEdges(self, any(*s), nil)
	undo.SetClear(&cx.log, self, field, s)
}

// VectorSetOwned is VectorSet where the elements hold plain actor references.
func VectorSetOwned[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T], i int64, e T) {
	cx.moveEdges(self, any(v.At(i)), any(e))
	undo.VectorSet(&cx.log, self, field, v, i, e)
}

// VectorPushOwned is VectorPush where the elements hold plain actor references.
func VectorPushOwned[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T], e T) {
	cx.moveEdges(self, nil, any(e))
	undo.VectorPush(&cx.log, self, field, v, e)
}

// VectorPopOwned is VectorPop where the elements hold plain actor references.
func VectorPopOwned[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T]) T {
	old := undo.VectorPop(&cx.log, self, field, v)
	cx.moveEdges(self, any(old), nil)
	return old
}

// VectorInsertOwned is VectorInsert where the elements hold plain actor references.
func VectorInsertOwned[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T], i int64, e T) {
	undo.VectorInsert(&cx.log, self, field, v, i, e)
	cx.moveEdges(self, nil, any(e))
}

// VectorRemoveOwned is VectorRemove where the elements hold plain actor references.
func VectorRemoveOwned[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T], i int64) T {
	old := undo.VectorRemove(&cx.log, self, field, v, i)
	cx.moveEdges(self, any(old), nil)
	return old
}

// VectorClearOwned is VectorClear where the elements hold plain actor references.
func VectorClearOwned[T any](cx *Cx, self *order.Self, field uint16, v *value.Vector[T]) {
	cx.moveEdges(self, any(*v), nil)
	undo.VectorClear(&cx.log, self, field, v)
}

// TableInsertOwned is TableInsert where rows hold plain actor references.
func TableInsertOwned[K comparable, T any](cx *Cx, self *order.Self, field uint16, t *table.Table[K, T], v T) {
	table.NewKey(*t, &v)
	cx.moveEdges(self, nil, any(v))
	undo.TableInsert(&cx.log, self, field, t, v)
}

// TablePutOwned is TablePut where rows hold plain actor references.
func TablePutOwned[K comparable, T any](cx *Cx, self *order.Self, field uint16, t *table.Table[K, T], v T) {
	if old, had := t.Find(table.RowKey(*t, &v)); had {
		cx.moveEdges(self, any(old), any(v))
	} else {
		cx.moveEdges(self, nil, any(v))
	}
	undo.TablePut(&cx.log, self, field, t, v)
}

// TableRemoveOwned is TableRemove where rows hold plain actor references.
func TableRemoveOwned[K comparable, T any](cx *Cx, self *order.Self, field uint16, t *table.Table[K, T], k K) bool {
	if old, had := t.Find(k); had {
		cx.moveEdges(self, any(old), nil)
	}
	return undo.TableRemove(&cx.log, self, field, t, k)
}

// TableClearOwned is TableClear where rows hold plain actor references.
func TableClearOwned[K comparable, T any](cx *Cx, self *order.Self, field uint16, t *table.Table[K, T]) {
	cx.moveEdges(self, any(*t), nil)
	undo.TableClear(&cx.log, self, field, t)
}
