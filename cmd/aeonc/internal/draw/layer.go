package draw

// Rows: the classes stand in rows, every owner above what it owns. Between two
// rows of classes lies a row of labels, so row 2k holds classes and row 2k+1 the
// labels of edges that leave row 2k. Where an edge passes a row it has a vertex
// of its own there; labels and lines therefore never lie on top of each other.

// vertex is a class, a label, or a point that a long edge passes.
type vertex struct {
	node  int // index of the class, or -1
	edge  int // index of the edge that passes or is labelled, or -1
	label string
	row   int
	up    []int // vertices joined to it in the row above
	down  []int // in the row below
	left  float64
	right float64 // extent to both sides of x
	x     float64
}

// route is the way of one edge: vertices from its From to its To.
type route struct {
	edge     int
	vertices []int
}

// sketch is a layout in progress.
type sketch struct {
	g        Graph
	vertices []vertex
	rows     [][]int // vertices by row, in drawing order
	routes   []route // of all edges but self-loops
	loops    []int   // edges that are self-loops
}

// newSketch assigns rows and makes the vertices.
func newSketch(g Graph) *sketch {
	s := &sketch{g: g}
	at := g.index()
	level := levels(g)
	for i, n := range g.Nodes {
		half := textWidth(n.Name, nodeFont)/2 + nodePadding
		s.addVertex(vertex{node: i, edge: -1, row: 2 * level[i], left: half, right: half})
	}
	for i, e := range g.Edges {
		if e.From == e.To {
			s.loops = append(s.loops, i)
			s.vertices[at[e.From]].right += loopReach + textWidth(shorten(e.Label()), labelFont)
			continue
		}
		s.routes = append(s.routes, s.route(i, at[e.From], at[e.To]))
	}
	return s
}

func (s *sketch) addVertex(v vertex) int {
	id := len(s.vertices)
	s.vertices = append(s.vertices, v)
	for len(s.rows) <= v.row {
		s.rows = append(s.rows, nil)
	}
	s.rows[v.row] = append(s.rows[v.row], id)
	return id
}

func (s *sketch) join(upper, lower int) {
	s.vertices[upper].down = append(s.vertices[upper].down, lower)
	s.vertices[lower].up = append(s.vertices[lower].up, upper)
}

// route makes the vertices of an edge. Edges between classes of one row dip
// into the row of labels below it.
func (s *sketch) route(edge, from, to int) route {
	label := shorten(s.g.Edges[edge].Label())
	half := textWidth(label, labelFont)/2 + labelPadding
	top, bottom := from, to
	if s.vertices[from].row > s.vertices[to].row {
		top, bottom = to, from
	}
	row := s.vertices[top].row + 1
	first := s.addVertex(vertex{node: -1, edge: edge, label: label, row: row, left: half, right: half})
	s.join(top, first)
	way := []int{top, first}
	if s.vertices[bottom].row == s.vertices[top].row {
		s.join(bottom, first)
	} else {
		last := first
		for row++; row < s.vertices[bottom].row; row++ {
			next := s.addVertex(vertex{node: -1, edge: edge, row: row, left: passWidth, right: passWidth})
			s.join(last, next)
			way = append(way, next)
			last = next
		}
		s.join(last, bottom)
	}
	way = append(way, bottom)
	if top != from {
		for i, j := 0, len(way)-1; i < j; i, j = i+1, j-1 {
			way[i], way[j] = way[j], way[i]
		}
	}
	return route{edge, way}
}

// levels puts every class below all its owners. Edges that close a cycle, which
// only a wrong program has, are left out of account. A class without owners
// moves down to just above the highest class it owns, and one that only yield
// references lead to or from stays in the first row.
func levels(g Graph) []int {
	owned := make([][]int, len(g.Nodes))
	at := g.index()
	for _, e := range g.Edges {
		if e.Kind == Owns && e.From != e.To {
			owned[at[e.From]] = append(owned[at[e.From]], at[e.To])
		}
	}
	order, back := topological(owned)
	level := make([]int, len(g.Nodes))
	hasOwner := make([]bool, len(g.Nodes))
	for _, n := range order {
		for _, c := range owned[n] {
			if !back[[2]int{n, c}] {
				level[c] = max(level[c], level[n]+1)
				hasOwner[c] = true
			}
		}
	}
	for n := range level {
		if hasOwner[n] || len(owned[n]) == 0 {
			continue
		}
		highest := -1
		for _, c := range owned[n] {
			if !back[[2]int{n, c}] && (highest < 0 || level[c] < highest) {
				highest = level[c]
			}
		}
		level[n] = max(highest-1, 0)
	}
	return level
}

// topological returns the nodes with every owner before what it owns, and the
// edges that had to be ignored because they close a cycle. It keeps its own
// stack: a chain of ten thousand classes is legal.
func topological(owned [][]int) (order []int, back map[[2]int]bool) {
	const (
		fresh = iota
		open
		done
	)
	back = map[[2]int]bool{}
	state := make([]int, len(owned))
	next := make([]int, len(owned))
	for root := range owned {
		if state[root] != fresh {
			continue
		}
		stack := []int{root}
		state[root] = open
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			if next[n] == len(owned[n]) {
				state[n] = done
				order = append(order, n)
				stack = stack[:len(stack)-1]
				continue
			}
			c := owned[n][next[n]]
			next[n]++
			switch state[c] {
			case fresh:
				state[c] = open
				stack = append(stack, c)
			case open:
				back[[2]int{n, c}] = true
			}
		}
	}
	for i, j := 0, len(order)-1; i < j; i, j = i+1, j-1 {
		order[i], order[j] = order[j], order[i]
	}
	return order, back
}
