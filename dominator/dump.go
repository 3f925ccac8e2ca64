package dominator

import (
	"bufio"
	"fmt"
	"io"
)

// Dump writes the graph in the DOT language for diagnosis: T with solid edges,
// ownership with dashed ones and their units, top where it is not the node
// itself. label names a node; nil prints its ID. The order is reproducible. No
// NewChild or NewRoot may run beside it. It returns the writer's error.
func (g *Graph) Dump(w io.Writer, label func(*Node) string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if label == nil {
		label = func(n *Node) string { return fmt.Sprint(n.ID) }
	}
	names := map[*Node]string{}
	walk(&g.root, func(n *Node) { names[n] = fmt.Sprintf("n%d", len(names)) })
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "digraph dominator {")
	walk(&g.root, func(n *Node) {
		text, shape := label(n), "ellipse"
		switch {
		case n == &g.root:
			text, shape = "TOP", "box"
		case n.virtual:
			shape = "box"
		case n.has(markDead):
			shape = "octagon"
		}
		if t := n.top.Load(); t != n {
			text += "\ntop " + names[t]
		}
		fmt.Fprintf(b, "\t%s [shape=%s, label=%q, tooltip=%q];\n", names[n], shape, text, names[n])
		if p := n.parent.Load(); p != nil {
			fmt.Fprintf(b, "\t%s -> %s;\n", names[p], names[n])
		}
		if e := n.edges.Load(); e != nil {
			for _, o := range e.out {
				fmt.Fprintf(b, "\t%s -> %s [style=dashed, constraint=false, label=%q];\n", names[n], names[o.child], fmt.Sprint(o.units))
			}
		}
	})
	fmt.Fprintln(b, "}")
	return b.Flush()
}
