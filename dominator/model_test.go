package dominator_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/dominator/oracle"
	"pgregory.net/rapid"
)

// model runs one sequence of edits on the graph and on the oracle, and compares
// them after each.
type model struct {
	t        failer
	g        *dominator.Graph
	o        *oracle.Graph
	node     map[int]*dominator.Node
	actors   []int // live
	homes    []int
	data     []byte
	log      []string
	nodesMax int
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func newModel(t failer, data []byte, nodesMax int) *model {
	m := &model{t: t, g: dominator.New(), o: oracle.New(), data: data, nodesMax: nodesMax}
	m.node = map[int]*dominator.Node{oracle.TOP: m.g.TOP()}
	for range 2 {
		id := m.fresh()
		m.g.NewPartition(m.node[id])
		m.o.Parent[id], m.o.Virtual[id] = oracle.TOP, true
		m.homes = append(m.homes, id)
	}
	return m
}

func (m *model) fresh() int {
	id := len(m.node)
	m.node[id] = &dominator.Node{ID: uint64(id)}
	return id
}

// next returns a choice among n from the data, 0 when that has run out.
func (m *model) next(n int) int {
	if len(m.data) == 0 || n == 0 {
		return 0
	}
	b := m.data[0]
	m.data = m.data[1:]
	return int(b) % n
}

func (m *model) actor() int { return m.actors[m.next(len(m.actors))] }

func (m *model) note(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf(format, args...))
}

func (m *model) fail(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("after %v: %s", m.log, fmt.Sprintf(format, args...))
}

func (m *model) run() {
	for len(m.data) > 0 {
		m.step()
		m.check()
		m.detachSome()
		if len(m.log)%5 == 0 {
			m.reopen()
			m.check()
		}
	}
	m.reopen()
	m.settle()
}

func (m *model) step() {
	op := m.next(16)
	if len(m.actors) < 2 {
		op = 0
	}
	if op < 4 && len(m.actors) >= m.nodesMax {
		op += 4
	}
	switch op {
	case 0:
		m.newRoot(m.homes[m.next(2)])
	case 1, 2:
		m.newChild(m.actor())
	case 3:
		m.placeFresh()
	case 4, 5, 6, 7:
		m.add(m.actor(), m.actor())
	case 8, 9:
		m.remove()
	case 10:
		m.apply()
	case 11, 12:
		for _, mv := range m.g.Pending(1 + m.next(3)) {
			m.note("pending")
			m.move(int(mv.Node.ID), int(mv.Parent.ID))
		}
	case 13: // T may be any tree
		m.move(m.actor(), m.anyTreeNode())
	case 14:
		m.note("tighten")
		m.g.Tighten(1 + m.next(4))
	case 15:
		m.delete(m.actor())
	}
}

func (m *model) anyTreeNode() int {
	nodes := m.o.Nodes()
	return nodes[m.next(len(nodes))]
}

func (m *model) newRoot(home int) {
	id := m.fresh()
	m.note("root %d in %d", id, home)
	m.g.NewRoot(m.node[id], m.node[home])
	m.o.Parent[id] = home
	m.actors = append(m.actors, id)
}

func (m *model) newChild(p int) {
	id := m.fresh()
	m.note("child %d of %d", id, p)
	m.g.NewChild(m.node[p], m.node[id])
	m.o.Parent[id] = p
	m.o.Add(p, id, 1)
	m.actors = append(m.actors, id)
}

func (m *model) placeFresh() {
	owners := []int{m.actor(), m.actor(), m.actor()}[:1+m.next(3)]
	id := m.fresh()
	m.note("place %d owned by %v", id, owners)
	var nodes []*dominator.Node
	for _, p := range owners {
		nodes = append(nodes, m.node[p])
		m.o.Add(p, id, 1)
	}
	m.o.Parent[id] = oracle.TOP // for Desired to start from; it does not matter
	m.o.Parent[id] = m.o.Desired(id)
	m.g.PlaceFresh(m.node[id], nodes)
	m.actors = append(m.actors, id)
}

func (m *model) add(p, c int) {
	m.note("add %d->%d", p, c)
	cyclic, known := m.o.Reach(c)[p], m.o.Units[p][c] > 0
	first, err := m.g.AddEdge(m.node[p], m.node[c])
	var cycle *dominator.CycleError
	if cyclic != errors.As(err, &cycle) || first != (!cyclic && !known) {
		m.fail("AddEdge gave %v, %v; cyclic %v, known %v", first, err, cyclic, known)
	}
	if !cyclic {
		m.o.Add(p, c, 1)
		return
	}
	path := cycle.Path
	if path[0] != m.node[c] || path[len(path)-1] != m.node[p] {
		m.fail("path %v does not lead from %d to %d", path, c, p)
	}
	for i, n := range path[1:] {
		if m.o.Units[int(path[i].ID)][int(n.ID)] == 0 {
			m.fail("cycle %v follows %d -> %d, which is no edge", err, path[i].ID, n.ID)
		}
	}
}

func (m *model) edge() (p, c int, found bool) {
	var all [][2]int
	for _, p := range slices.Sorted(maps.Keys(m.o.Units)) {
		for _, c := range slices.Sorted(maps.Keys(m.o.Units[p])) {
			all = append(all, [2]int{p, c})
		}
	}
	if len(all) == 0 {
		return 0, 0, false
	}
	e := all[m.next(len(all))]
	return e[0], e[1], true
}

func (m *model) remove() {
	p, c, found := m.edge()
	if !found {
		return
	}
	m.note("remove %d->%d", p, c)
	last := m.g.RemoveEdge(m.node[p], m.node[c])
	m.o.Add(p, c, -1)
	if gone := m.o.Units[p][c] == 0; gone != last {
		m.fail("RemoveEdge gave %v, want %v", last, gone)
	}
}

func (m *model) apply() {
	net := map[[2]int]int{}
	if p, c, found := m.edge(); found {
		net[[2]int{p, c}] = -m.o.Units[p][c]
		net[[2]int{c, p}] = 1 // turn it round
	}
	for range 1 + m.next(3) {
		if e := [2]int{m.actor(), m.actor()}; e[0] != e[1] && net[e] == 0 {
			net[e] = 1 + m.next(2)
		}
	}
	var edits []dominator.Edit
	after := oracle.New()
	for p, children := range m.o.Units {
		for c, units := range children {
			after.Add(p, c, units)
		}
	}
	pairs := slices.SortedFunc(maps.Keys(net), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	for _, e := range pairs {
		edits = append(edits, dominator.Edit{Owner: m.node[e[0]], Child: m.node[e[1]], Units: net[e]})
		after.Add(e[0], e[1], net[e])
	}
	m.note("apply %v", net)
	cyclic := false
	for _, e := range pairs {
		cyclic = cyclic || net[e] > 0 && after.Reach(e[1])[e[0]]
	}
	if err := m.g.Apply(edits); (err != nil) != cyclic {
		m.fail("Apply gave %v, cyclic %v", err, cyclic)
	}
	if !cyclic {
		m.o.Units = after.Units
	}
}

func (m *model) move(c, p int) {
	m.note("move %d under %d", c, p)
	gone, err := m.g.MoveT(m.node[c], m.node[p])
	switch {
	case m.o.Dead[c] || m.o.Dead[p]:
		if !errors.Is(err, dominator.ErrDeleted) {
			m.fail("MoveT gave %v for a deleted node", err)
		}
		return
	case slices.Contains(m.o.Path(p), c):
		if !errors.Is(err, dominator.ErrBelowItself) {
			m.fail("MoveT gave %v for a parent below the node", err)
		}
		return
	case err != nil:
		m.fail("MoveT gave %v", err)
	}
	old := m.o.Parent[c]
	m.o.Parent[c] = p
	if want := m.reap(old); len(gone) != want {
		m.fail("MoveT took %d nodes out of T, want %d", len(gone), want)
	}
}

func (m *model) delete(n int) {
	m.note("delete %d", n)
	for _, p := range m.o.Owners(n) {
		m.o.Add(p, n, -m.o.Units[p][n])
	}
	delete(m.o.Units, n)
	m.o.Dead[n] = true
	m.actors = slices.DeleteFunc(m.actors, func(a int) bool { return a == n })
	if gone := m.g.Delete(m.node[n]); len(gone) != m.reap(n) {
		m.fail("Delete gave %v", gone)
	}
}

// reopen goes on with a graph that is restored from what would have been stored of this one: deleted
// nodes are missing, and what hangs below one hangs below its partition. Of the nodes that may be
// attached later some are, in any order.
func (m *model) reopen() {
	m.note("reopen")
	m.bury()
	ids := len(m.node)
	m.g = dominator.New()
	m.node = map[int]*dominator.Node{oracle.TOP: m.g.TOP()}
	for id := range ids {
		if id != oracle.TOP {
			m.node[id] = &dominator.Node{ID: uint64(id)}
		}
	}
	for _, home := range m.homes {
		m.g.NewPartition(m.node[home])
	}
	first := m.early()
	var nodes []dominator.Placed
	var edges []dominator.Edit
	var later []int
	for _, id := range m.o.Nodes() {
		if m.o.Virtual[id] {
			continue
		}
		if !first[id] {
			later = append(later, id)
			continue
		}
		p := m.o.Parent[id]
		at := len(nodes) * int(uint8(id*7)) / 256 // parents and children in any order
		nodes = slices.Insert(nodes, at, dominator.Placed{Node: m.node[id], Parent: m.node[p], Units: uint32(m.o.Units[p][id])})
		for _, o := range m.o.Owners(id) {
			if o != p {
				edges = append(edges, dominator.Edit{Owner: m.node[o], Child: m.node[id], Units: m.o.Units[o][id]})
			}
		}
	}
	if err := m.g.Restore(nodes, edges); err != nil {
		m.fail("Restore gave %v", err)
	}
	for len(later) > 0 {
		at := m.next(len(later))
		for up := slices.Index(later, m.o.Parent[later[at]]); up >= 0; up = slices.Index(later, m.o.Parent[later[at]]) {
			at = up // first what is above
		}
		id := later[at]
		later = slices.Delete(later, at, at+1)
		p := m.o.Parent[id]
		if err := m.g.Attach(m.node[id], m.node[p], uint32(m.o.Units[p][id])); err != nil {
			m.fail("Attach of %d below %d gave %v", id, p, err)
		}
		if err := m.g.Validate(); err != nil {
			m.fail("%v", err)
		}
	}
}

// detachSome takes nodes out of the graph, some of what was above them, too, and places them again.
func (m *model) detachSome() {
	var gone []int
	for range m.next(4) {
		if len(m.actors) == 0 {
			return
		}
		id := m.actor()
		p, owners := m.o.Parent[id], m.o.Owners(id)
		may := m.o.Virtual[p] && len(owners) == 0 || len(owners) == 1 && owners[0] == p
		for c, at := range m.o.Parent {
			may = may && (at != id || slices.Contains(gone, c))
		}
		if may = may && !slices.Contains(gone, id); may {
			for c := range m.o.Units[id] {
				may = may && slices.Contains(gone, c)
			}
		}
		switch did := m.g.Detach(m.node[id]); {
		case did && !may:
			m.fail("%d was detached", id)
		case did:
			m.note("detach %d", id)
			gone = append(gone, id)
		}
		if err := m.g.Validate(); err != nil {
			m.fail("%v", err)
		}
	}
	for i := len(gone) - 1; i >= 0; i-- {
		id := gone[i]
		p := m.o.Parent[id]
		for _, below := range gone[:i] {
			if m.o.Parent[below] == id {
				if err := m.g.Attach(m.node[below], m.node[id], uint32(m.o.Units[id][below])); err != dominator.ErrDetached {
					m.fail("Attach below what is detached gave %v", err)
				}
			}
		}
		if err := m.g.Attach(m.node[id], m.node[p], uint32(m.o.Units[p][id])); err != nil {
			m.fail("Attach of %d below %d gave %v", id, p, err)
		}
	}
	m.check()
}

// bury forgets the deleted nodes that are left in T.
func (m *model) bury() {
	for _, id := range m.o.Nodes() {
		if at := m.o.Parent[id]; m.o.Dead[at] && !m.o.Dead[id] {
			for !m.o.Virtual[at] {
				at = m.o.Parent[at]
			}
			m.o.Parent[id] = at
		}
	}
	for id := range m.o.Dead {
		delete(m.o.Parent, id)
		delete(m.o.Dead, id)
	}
}

// early returns the nodes that have to be there from the start, and some that need not.
func (m *model) early() map[int]bool {
	first := map[int]bool{}
	var add func(id int)
	add = func(id int) {
		if id == oracle.TOP || m.o.Virtual[id] || first[id] {
			return
		}
		first[id] = true
		add(m.o.Parent[id])
		for _, o := range m.o.Owners(id) {
			add(o)
		}
	}
	for _, id := range m.o.Nodes() {
		owners := m.o.Owners(id)
		if len(owners) > 1 || len(owners) == 1 && owners[0] != m.o.Parent[id] || m.next(8) == 1 {
			add(id)
		}
	}
	return first
}

// reap takes n out of T if it is dead without T-children, then its T-parent.
func (m *model) reap(n int) (gone int) {
	for m.o.Dead[n] {
		for _, p := range m.o.Parent {
			if p == n {
				return gone
			}
		}
		up := m.o.Parent[n]
		delete(m.o.Parent, n)
		delete(m.o.Dead, n)
		n = up
		gone++
	}
	return gone
}

// check compares everything that can be asked.
func (m *model) check() {
	if err := m.g.Validate(); err != nil {
		m.fail("%v", err)
	}
	nodes := append([]int{oracle.TOP}, m.o.Nodes()...)
	for _, u := range nodes {
		nu, path := m.node[u], m.o.Path(u)
		if u != oracle.TOP && m.g.Parent(nu) != m.node[m.o.Parent[u]] {
			m.fail("T-parent of %d is %d, want %d", u, m.g.Parent(nu).ID, m.o.Parent[u])
		}
		if got := m.g.Depth(nu); got != len(path)-1 {
			m.fail("depth of %d is %d, want %d", u, got, len(path)-1)
		}
		if exact := m.node[m.o.Top(u)]; !m.o.Dead[u] && !m.g.IsAncestor(m.g.Top(nu), exact) {
			m.fail("top of %d is %d, which does not cover %d", u, m.g.Top(nu).ID, exact.ID)
		}
		if !m.o.Virtual[u] && !m.o.Dead[u] && m.g.Desired(nu) != m.node[m.o.Desired(u)] {
			m.fail("desired T-parent of %d is %d, want %d", u, m.g.Desired(nu).ID, m.o.Desired(u))
		}
		for _, v := range nodes {
			m.checkPair(u, v)
		}
	}
}

func (m *model) checkPair(u, v int) {
	nu, nv, nca := m.node[u], m.node[v], m.o.NCA(u, v)
	if got := m.g.NCA(nu, nv); got != m.node[nca] {
		m.fail("NCA(%d, %d) is %d, want %d", u, v, got.ID, nca)
	}
	if got := m.g.IsAncestor(nu, nv); got != (nca == u) {
		m.fail("IsAncestor(%d, %d) is %v", u, v, got)
	}
	var child *dominator.Node
	if path := m.o.Path(v); nca == u && u != v {
		child = m.node[path[slices.Index(path, u)-1]]
	}
	if got := m.g.Child(nu, nv); got != child {
		m.fail("Child(%d, %d) is %v, want %v", u, v, got, child)
	}
	if got := m.g.Units(nu, nv); got != m.o.Units[u][v] {
		m.fail("Units(%d, %d) is %d, want %d", u, v, got, m.o.Units[u][v])
	}
}

// settle tightens, then performs all pending moves, and compares T with the
// dominator tree of the flow graph and top with its definition.
func (m *model) settle() {
	m.checkExact()
	moves := 0
	for pending := m.g.Pending(2); len(pending) > 0; pending = m.g.Pending(2) {
		for _, mv := range pending {
			m.move(int(mv.Node.ID), int(mv.Parent.ID))
		}
		if moves++; moves > 8*len(m.node)*len(m.node) {
			m.fail("maintenance does not come to an end")
		}
	}
	m.check()
	m.checkExact()
	if len(m.o.Dead) > 0 {
		m.fail("deleted nodes %v are still in T", m.o.Dead)
	}
	idom := m.o.Dominators(func(n int) int { return m.o.Desired(n) })
	for _, n := range m.actors {
		if m.o.Parent[n] != idom[n] {
			m.fail("T-parent of %d is %d at the fixpoint, its dominator %d", n, m.o.Parent[n], idom[n])
		}
	}
}

func (m *model) checkExact() {
	if !m.g.Tighten(0) {
		m.fail("Tighten without limit left work")
	}
	if err := m.g.Validate(); err != nil {
		m.fail("%v", err)
	}
	for _, x := range m.actors {
		if got, want := m.g.Top(m.node[x]), m.node[m.o.Top(x)]; got != want {
			m.fail("top of %d is %d after Tighten, want %d", x, got.ID, want.ID)
		}
	}
}

// The bytes that rapid draws are mostly small and shrink well, the seeded ones
// are uniform and run long enough to reach states that few edits cannot.
func TestEditsAgreeWithOracle(t *testing.T) {
	t.Run("drawn", rapid.MakeCheck(func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 160).Draw(t, "edits")
		newModel(t, data, 9).run()
	}))
	t.Run("seeded", rapid.MakeCheck(func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		nodesMax := rapid.IntRange(3, 12).Draw(t, "nodes")
		for _, length := range []int{30, 60, 120, 240} {
			data := make([]byte, length)
			for i := range data {
				data[i] = byte(r.Uint32())
			}
			newModel(t, data, nodesMax).run()
		}
	}))
}

func FuzzEdits(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 4, 0, 1, 11, 2, 8, 0, 15, 1})
	f.Add([]byte("\x00\x00\x01\x00\x01\x01\x03\x00\x01\x02\x02\x0a\x00\x01\x0d\x01\x05\x0f\x01\x0b\x02"))
	f.Fuzz(func(t *testing.T, data []byte) {
		newModel(t, data[:min(len(data), 256)], 10).run()
	})
}

// All DAGs with up to five actors, up to isomorphism (edges lead from lower to
// higher numbers), each built in several orders from roots and taken down edge
// by edge: T becomes the dominator tree, top what it is defined as.
func TestAllSmallGraphs(t *testing.T) {
	graphs := 0
	for n := 1; n <= 5; n++ {
		var pairs [][2]int
		for i := range n {
			for j := i + 1; j < n; j++ {
				pairs = append(pairs, [2]int{i, j})
			}
		}
		for set := range 1 << len(pairs) {
			graphs++
			for order := range 3 {
				m := newModel(t, nil, n)
				for range n {
					m.newRoot(m.homes[0])
				}
				build(m, pairs, set, order)
			}
		}
	}
	if graphs != 1+2+8+64+1024 {
		t.Fatalf("%d graphs were built", graphs)
	}
}

func build(m *model, pairs [][2]int, set, order int) {
	var edges [][2]int
	for i, e := range pairs {
		if set>>i&1 == 1 {
			edges = append(edges, [2]int{m.actors[e[0]], m.actors[e[1]]})
		}
	}
	switch order {
	case 1:
		slices.Reverse(edges)
	case 2:
		slices.SortFunc(edges, func(a, b [2]int) int { return (a[0]*7+a[1]*5)%11 - (b[0]*7+b[1]*5)%11 })
	}
	for _, e := range edges {
		m.add(e[0], e[1])
		if order == 2 {
			m.settle()
		}
	}
	m.settle()
	for i := range edges {
		e := edges[(i*3+order)%len(edges)]
		if m.o.Units[e[0]][e[1]] == 0 {
			continue // three and the number of edges are not coprime
		}
		m.g.RemoveEdge(m.node[e[0]], m.node[e[1]])
		m.o.Add(e[0], e[1], -1)
		m.settle()
	}
}
