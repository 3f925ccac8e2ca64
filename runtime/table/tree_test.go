package table

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// check fails if an invariant of the tree does not hold.
func (t *tree[V]) check(tb rapid.TB) {
	depth, n, last := -1, 0, ""
	var visit func(x *treeNode[V], level int)
	visit = func(x *treeNode[V], level int) {
		if len(x.items) > treeMax || x != t.root && len(x.items) < treeMin {
			tb.Fatalf("a node with %d items", len(x.items))
		}
		if x.kids == nil {
			if depth >= 0 && depth != level {
				tb.Fatalf("leaves at %d and %d", depth, level)
			}
			depth = level
		} else if len(x.kids) != len(x.items)+1 {
			tb.Fatalf("%d items and %d kids", len(x.items), len(x.kids))
		}
		for i := 0; i <= len(x.items); i++ {
			if x.kids != nil {
				visit(x.kids[i], level+1)
			}
			if i < len(x.items) {
				if n > 0 && x.items[i].key <= last {
					tb.Fatalf("%q behind %q", x.items[i].key, last)
				}
				n, last = n+1, x.items[i].key
			}
		}
	}
	if t.root != nil {
		visit(t.root, 0)
	}
	if n != t.size {
		tb.Fatalf("%d items, size %d", n, t.size)
	}
}

func (t *tree[V]) content(from string) (list []treeItem[V]) {
	for c := t.seek(from); ; {
		item, ok := c.next()
		if !ok {
			return list
		}
		list = append(list, item)
	}
}

// A tree does what a map with sorted keys does, and copies of it stay as they were.
func TestTreeIsASortedMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type copied struct {
			tree tree[int]
			want map[string]int
		}
		var tr tree[int]
		model := map[string]int{}
		var copies []copied
		epoch := uint64(1)
		key := rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("%03d", rapid.IntRange(0, 400).Draw(t, "k")) })
		for range rapid.IntRange(0, 30).Draw(t, "rounds") {
			growing := rapid.Bool().Draw(t, "growing")
			for i := range rapid.IntRange(0, 120).Draw(t, "n") {
				k := key.Draw(t, "key")
				if growing || i%8 == 0 {
					tr.set(epoch, k, i)
					model[k] = i
				} else {
					tr.delete(epoch, k)
					delete(model, k)
				}
			}
			tr.check(t)
			compareTree(t, tr, model, key.Draw(t, "from"))
			if rapid.Bool().Draw(t, "copy") {
				copies = append(copies, copied{tr, maps.Clone(model)})
				epoch++
			}
		}
		for _, c := range copies {
			c.tree.check(t)
			compareTree(t, c.tree, c.want, "")
		}
	})
}

func compareTree(t *rapid.T, tr tree[int], want map[string]int, from string) {
	var list []treeItem[int]
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if k >= from {
			list = append(list, treeItem[int]{k, want[k]})
		}
		if v, ok := tr.get(k); !ok || v != want[k] {
			t.Fatalf("get(%q) = %d, %v; want %d", k, v, ok, want[k])
		}
	}
	if got := tr.content(from); !slices.Equal(got, list) {
		t.Fatalf("from %q: %v, want %v", from, got, list)
	}
	if _, ok := tr.get("none"); ok {
		t.Fatal("a key that is not there")
	}
}
