package table

import "slices"

// tree is a B-tree by keys that sort as strings. Its nodes can be shared: what is written at
// one epoch copies the nodes of older ones first, so that a copy of the tree, which is a copy
// of its root, stays as it is. Tables are made of trees.
type tree[V any] struct {
	root *treeNode[V]
	size int
}

// treeMax is how many items a node has at most; all but the root have at least treeMin.
const (
	treeMax = 31
	treeMin = treeMax / 2
)

// Invariant: a leaf has no kids, an inner node one more than items. Keys ascend through items
// and kids. A node whose epoch is not that of the writer is never written.
type treeNode[V any] struct {
	epoch uint64
	items []treeItem[V]
	kids  []*treeNode[V]
}

type treeItem[V any] struct {
	key string
	v   V
}

// search returns the place of key among the items, and whether it is there.
func (n *treeNode[V]) search(key string) (int, bool) {
	lo, hi := 0, len(n.items)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if n.items[mid].key < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(n.items) && n.items[lo].key == key
}

// own returns a node with the content of n that the epoch may write.
func (n *treeNode[V]) own(epoch uint64) *treeNode[V] {
	if n.epoch == epoch {
		return n
	}
	c := &treeNode[V]{epoch: epoch, items: append(make([]treeItem[V], 0, treeMax), n.items...)}
	if n.kids != nil {
		c.kids = append(make([]*treeNode[V], 0, treeMax+1), n.kids...)
	}
	return c
}

// get returns the value of key, and whether there is one.
func (t *tree[V]) get(key string) (v V, ok bool) {
	n := t.root
	for n != nil {
		i, found := n.search(key)
		if found {
			return n.items[i].v, true
		}
		if n.kids == nil {
			break
		}
		n = n.kids[i]
	}
	return v, false
}

// set gives key the value v.
func (t *tree[V]) set(epoch uint64, key string, v V) {
	if t.root == nil {
		t.root = &treeNode[V]{epoch: epoch, items: make([]treeItem[V], 0, treeMax)}
	}
	root := t.root.own(epoch)
	if len(root.items) >= treeMax {
		root = &treeNode[V]{epoch: epoch, items: make([]treeItem[V], 0, treeMax), kids: append(make([]*treeNode[V], 0, treeMax+1), root)}
		root.split(epoch, 0)
	}
	t.root = root
	if root.set(epoch, key, v) {
		t.size++
	}
}

// set reports whether key is new. n is owned and not full.
func (n *treeNode[V]) set(epoch uint64, key string, v V) bool {
	for {
		i, found := n.search(key)
		switch {
		case found:
			n.items[i].v = v
			return false
		case n.kids == nil:
			n.items = slices.Insert(n.items, i, treeItem[V]{key, v})
			return true
		case len(n.kids[i].items) >= treeMax:
			n.split(epoch, i)
			continue // key may be that in the middle, or belong to the right half
		}
		n.kids[i] = n.kids[i].own(epoch)
		n = n.kids[i]
	}
}

// split splits kid i, which is full, in two.
func (n *treeNode[V]) split(epoch uint64, i int) {
	left := n.kids[i].own(epoch)
	middle := left.items[treeMin]
	right := &treeNode[V]{epoch: epoch, items: append(make([]treeItem[V], 0, treeMax), left.items[treeMin+1:]...)}
	clear(left.items[treeMin:])
	left.items = left.items[:treeMin]
	if left.kids != nil {
		right.kids = append(make([]*treeNode[V], 0, treeMax+1), left.kids[treeMin+1:]...)
		clear(left.kids[treeMin+1:])
		left.kids = left.kids[:treeMin+1]
	}
	n.items = slices.Insert(n.items, i, middle)
	n.kids[i] = left
	n.kids = slices.Insert(n.kids, i+1, right)
}

// delete takes key out, if it is there.
func (t *tree[V]) delete(epoch uint64, key string) {
	if t.root == nil {
		return
	}
	t.root = t.root.own(epoch)
	if t.root.delete(epoch, key) {
		t.size--
	}
	if len(t.root.items) == 0 {
		if t.root.kids == nil {
			t.root = nil
		} else {
			t.root = t.root.kids[0]
		}
	}
}

// delete reports whether key was there. n is owned, and has more than treeMin items unless it
// is the root.
func (n *treeNode[V]) delete(epoch uint64, key string) bool {
	for {
		i, found := n.search(key)
		switch {
		case n.kids == nil && found:
			n.items = slices.Delete(n.items, i, i+1)
			return true
		case n.kids == nil:
			return false
		case len(n.kids[i].items) <= treeMin:
			n.fill(epoch, i)
			continue // items have moved
		}
		n.kids[i] = n.kids[i].own(epoch)
		if found {
			n.items[i] = n.kids[i].deleteMax(epoch)
			return true
		}
		n = n.kids[i]
	}
}

// deleteMax takes out the last item. n is as for delete.
func (n *treeNode[V]) deleteMax(epoch uint64) treeItem[V] {
	for n.kids != nil {
		i := len(n.kids) - 1
		if len(n.kids[i].items) <= treeMin {
			n.fill(epoch, i)
			continue
		}
		n.kids[i] = n.kids[i].own(epoch)
		n = n.kids[i]
	}
	last := len(n.items) - 1
	item := n.items[last]
	n.items = slices.Delete(n.items, last, last+1)
	return item
}

// fill gives kid i more than treeMin items: from a neighbour, or by merging both.
func (n *treeNode[V]) fill(epoch uint64, i int) {
	switch {
	case i > 0 && len(n.kids[i-1].items) > treeMin:
		from, to := n.kids[i-1].own(epoch), n.kids[i].own(epoch)
		n.kids[i-1], n.kids[i] = from, to
		last := len(from.items) - 1
		to.items = slices.Insert(to.items, 0, n.items[i-1])
		n.items[i-1] = from.items[last]
		from.items = slices.Delete(from.items, last, last+1)
		if from.kids != nil {
			to.kids = slices.Insert(to.kids, 0, from.kids[last+1])
			from.kids = slices.Delete(from.kids, last+1, last+2)
		}
	case i < len(n.items) && len(n.kids[i+1].items) > treeMin:
		to, from := n.kids[i].own(epoch), n.kids[i+1].own(epoch)
		n.kids[i], n.kids[i+1] = to, from
		to.items = append(to.items, n.items[i])
		n.items[i] = from.items[0]
		from.items = slices.Delete(from.items, 0, 1)
		if from.kids != nil {
			to.kids = append(to.kids, from.kids[0])
			from.kids = slices.Delete(from.kids, 0, 1)
		}
	default:
		if i == len(n.items) {
			i--
		}
		left, right := n.kids[i].own(epoch), n.kids[i+1]
		left.items = append(append(left.items, n.items[i]), right.items...)
		left.kids = append(left.kids, right.kids...)
		n.kids[i] = left
		n.items = slices.Delete(n.items, i, i+1)
		n.kids = slices.Delete(n.kids, i+1, i+2)
	}
}

// cursor goes through the items of a tree: in ascending order by next, from a seek, or in
// descending order by prev, from a seekBack. The tree must not be written meanwhile.
type cursor[V any] struct{ path []treePlace[V] }

// treePlace is item i of a node, which comes next, once the kid before it is through. On the way
// back the item before it comes next, once the kid between them is through.
type treePlace[V any] struct {
	n *treeNode[V]
	i int
}

// seek returns a cursor before the first item whose key is from or greater.
func (t *tree[V]) seek(from string) cursor[V] {
	c := cursor[V]{path: make([]treePlace[V], 0, 8)}
	for n := t.root; n != nil; {
		i, found := n.search(from)
		c.path = append(c.path, treePlace[V]{n, i})
		if found || n.kids == nil {
			break
		}
		n = n.kids[i]
	}
	return c
}

// next returns the next item, and whether there is one.
func (c *cursor[V]) next() (item treeItem[V], ok bool) {
	for len(c.path) > 0 {
		at := &c.path[len(c.path)-1]
		if at.i == len(at.n.items) {
			c.path = c.path[:len(c.path)-1]
			continue
		}
		item = at.n.items[at.i]
		at.i++
		if at.n.kids != nil {
			for n := at.n.kids[at.i]; n != nil; n = n.kids[0] {
				c.path = append(c.path, treePlace[V]{n, 0})
				if n.kids == nil {
					break
				}
			}
		}
		return item, true
	}
	return item, false
}

// seekBack returns a cursor behind the last item whose key is less than to; an empty to is the end.
func (t *tree[V]) seekBack(to string) cursor[V] {
	c := cursor[V]{path: make([]treePlace[V], 0, 8)}
	for n := t.root; n != nil; {
		i := len(n.items)
		if to != "" {
			i, _ = n.search(to)
		}
		c.path = append(c.path, treePlace[V]{n, i})
		if n.kids == nil {
			break
		}
		n = n.kids[i]
	}
	return c
}

// prev returns the item before, and whether there is one.
func (c *cursor[V]) prev() (item treeItem[V], ok bool) {
	for len(c.path) > 0 {
		at := &c.path[len(c.path)-1]
		if at.i == 0 {
			c.path = c.path[:len(c.path)-1]
			continue
		}
		at.i--
		item = at.n.items[at.i]
		if at.n.kids != nil {
			for n := at.n.kids[at.i]; n != nil; n = n.kids[len(n.items)] {
				c.path = append(c.path, treePlace[V]{n, len(n.items)})
				if n.kids == nil {
					break
				}
			}
		}
		return item, true
	}
	return item, false
}

// section goes through the items of a tree that a query asks for, in its order.
type section[V any] struct {
	at cursor[V]
	q  Query
}

func (t *tree[V]) section(q Query) section[V] {
	if q.back {
		return section[V]{t.seekBack(q.to), q}
	}
	return section[V]{t.seek(q.from), q}
}

// next returns the next item, and whether there is one.
func (s *section[V]) next() (item treeItem[V], ok bool) {
	if s.q.back {
		item, ok = s.at.prev()
		return item, ok && item.key >= s.q.from
	}
	item, ok = s.at.next()
	return item, ok && (s.q.to == "" || item.key < s.q.to)
}
