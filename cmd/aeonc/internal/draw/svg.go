package draw

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

const (
	titleHeight = 30.0
	legendWidth = 330.0
)

// The colours stand twice, for light and for dark pages: CSS variables would be
// shorter, but most viewers outside browsers do not know them.
const svgStyle = `	<style>
		text { font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2430; }
		.paper { fill: #ffffff; }
		.title { font-size: 16px; font-weight: 600; }
		.class rect { fill: #f3f6fb; stroke: #1f2430; stroke-width: 1.4; }
		.class text { font-size: 15px; text-anchor: middle; }
		.edge path { fill: none; stroke: #1f2430; stroke-width: 1.4; }
		.edge text { font-size: 12px; fill: #5b6475; text-anchor: middle; paint-order: stroke; stroke: #ffffff; stroke-width: 5px; }
		.edge .beside { text-anchor: start; }
		.edge .head { fill: #1f2430; stroke: none; }
		.yield path { stroke-dasharray: 6 4; stroke: #5b6475; }
		.yield .head { fill: #5b6475; }
		.cycle path { stroke: #c62828; stroke-width: 2; }
		.cycle .head { fill: #c62828; }
		.legend { font-size: 12px; fill: #5b6475; }
		@media (prefers-color-scheme: dark) {
			text { fill: #e6e9ef; }
			.paper { fill: #14171d; }
			.class rect { fill: #242a36; stroke: #e6e9ef; }
			.edge path { stroke: #e6e9ef; }
			.edge text { fill: #a7b0c0; stroke: #14171d; }
			.edge .head { fill: #e6e9ef; }
			.yield path { stroke: #a7b0c0; }
			.yield .head { fill: #a7b0c0; }
			.cycle path { stroke: #ff7b72; }
			.cycle .head { fill: #ff7b72; }
			.legend { fill: #a7b0c0; }
		}
	</style>
`

// point is a place in the drawing.
type point struct{ x, y float64 }

// svg draws g: classes in rows, owners above what they own; ownership solid,
// yield references dashed.
func (g Graph) svg() string {
	parts, width, height := g.parts()
	width = slices.Max([]float64{width, legendWidth, textWidth("package "+g.Name, 16)}) + 2*margin
	height += titleHeight + 3*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img">`+"\n", num(width), num(height))
	fmt.Fprintf(&b, "\t<title>Ownership graph of package %s</title>\n\t<desc>%s</desc>\n", html.EscapeString(g.Name), html.EscapeString(g.sentence()))
	b.WriteString(svgStyle)
	b.WriteString("\t<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n")
	fmt.Fprintf(&b, "\t<text class=\"title\" x=\"%s\" y=\"%s\">package %s</text>\n", num(margin), num(margin+8), html.EscapeString(g.Name))
	for _, p := range parts {
		fmt.Fprintf(&b, "\t<g transform=\"translate(%s,%s)\">\n", num(margin+p.dx), num(margin+titleHeight+p.dy))
		p.draw(&b)
		b.WriteString("\t</g>\n")
	}
	g.drawLegend(&b, height)
	b.WriteString("</svg>\n")
	return b.String()
}

// draw draws one part of the graph: edges first, classes over them.
func (s *sketch) draw(b *strings.Builder) {
	ports := s.ports()
	for _, r := range s.routes {
		s.drawRoute(b, r, ports)
	}
	for _, e := range s.loops {
		s.drawLoop(b, e)
	}
	for i, n := range s.g.Nodes {
		v := s.vertices[i]
		y := rowY(v.row)
		half := classHalf(n.Name)
		fmt.Fprintf(b, "\t<g class=\"class\"><title>%s</title><rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"8\"/><text x=\"%s\" y=\"%s\">%s</text></g>\n",
			html.EscapeString(strings.TrimSpace(n.Name+" "+n.Position)), num(v.x-half), num(y-nodeHeight/2), num(2*half), num(nodeHeight), num(v.x), num(y+nodeFont/3), html.EscapeString(n.Name))
	}
}

func classHalf(name string) float64 { return textWidth(name, nodeFont)/2 + nodePadding }

// size returns the extent of one part.
func (s *sketch) size() (width, height float64) {
	for _, v := range s.vertices {
		width = math.Max(width, v.x+v.right)
	}
	return width, rowY(len(s.rows)-1) + nodeHeight/2
}

// port is where an edge meets the border of a class.
type port struct{ edge, vertex int }

// ports spreads the edges along the borders of the classes, in the order of
// where they lead, so that lines do not meet before they must.
func (s *sketch) ports() map[port]point {
	ends := map[port]int{} // the vertex that the edge goes to next
	for _, r := range s.routes {
		n := len(r.vertices)
		ends[port{r.edge, r.vertices[0]}] = r.vertices[1]
		ends[port{r.edge, r.vertices[n-1]}] = r.vertices[n-2]
	}
	sides := map[[2]int][]port{} // by class and side: 0 above, 1 below
	for p, next := range ends {
		side := 1
		if s.vertices[next].row < s.vertices[p.vertex].row {
			side = 0
		}
		key := [2]int{p.vertex, side}
		sides[key] = append(sides[key], p)
	}
	at := map[port]point{}
	for key, ps := range sides {
		slices.SortFunc(ps, func(a, b port) int {
			return cmp.Or(cmp.Compare(s.vertices[ends[a]].x, s.vertices[ends[b]].x), cmp.Compare(a.edge, b.edge))
		})
		v := s.vertices[key[0]]
		half := classHalf(s.g.Nodes[v.node].Name) - 12
		y := rowY(v.row) - nodeHeight/2
		if key[1] == 1 {
			y += nodeHeight
		}
		step := math.Min(26, 2*half/float64(len(ps)))
		for i, p := range ps {
			at[p] = point{v.x + (float64(i)-float64(len(ps)-1)/2)*step, y}
		}
	}
	return at
}

// drawRoute draws an edge as one smooth curve.
func (s *sketch) drawRoute(b *strings.Builder, r route, ports map[port]point) {
	e := s.g.Edges[r.edge]
	last := len(r.vertices) - 1
	from := ports[port{r.edge, r.vertices[0]}]
	to := ports[port{r.edge, r.vertices[last]}]
	tip := point{to.x, to.y - 8}
	if s.vertices[r.vertices[last-1]].row > s.vertices[r.vertices[last]].row {
		tip.y = to.y + 8
	}
	way := []point{from}
	for _, id := range r.vertices[1:last] {
		way = append(way, point{s.vertices[id].x, rowY(s.vertices[id].row)})
	}
	way = append(way, tip)
	path := curve(way)
	if s.vertices[r.vertices[0]].row == s.vertices[r.vertices[last]].row {
		path = bow(way[0], way[1], way[2])
	}
	fmt.Fprintf(b, "\t<g class=\"%s\"><title>%s</title><path d=\"%s\"/>%s", e.classes(), html.EscapeString(e.sentence()), path, arrowHead(tip, to))
	for _, id := range r.vertices {
		if v := s.vertices[id]; v.label != "" {
			fmt.Fprintf(b, "<text x=\"%s\" y=\"%s\">%s</text>", num(v.x), num(rowY(v.row)+labelFont/3), html.EscapeString(v.label))
		}
	}
	b.WriteString("</g>\n")
}

// curve joins points that go down, or up, by cubic curves. The slopes are those
// of monotone interpolation: the line never swings beyond the points it joins.
func curve(way []point) string {
	secant := make([]float64, len(way)-1) // dx/dy
	for i := range secant {
		secant[i] = (way[i+1].x - way[i].x) / (way[i+1].y - way[i].y)
	}
	slope := make([]float64, len(way)) // vertical at both ends
	for i := 1; i < len(secant); i++ {
		if a, b := secant[i-1], secant[i]; a*b > 0 {
			slope[i] = 2 * a * b / (a + b)
		}
	}
	var path strings.Builder
	fmt.Fprintf(&path, "M%s,%s", num(way[0].x), num(way[0].y))
	for i, to := range way[1:] {
		third := (to.y - way[i].y) / 3
		fmt.Fprintf(&path, " C%s,%s %s,%s %s,%s", num(way[i].x+slope[i]*third), num(way[i].y+third),
			num(to.x-slope[i+1]*third), num(to.y-third), num(to.x), num(to.y))
	}
	return path.String()
}

// bow joins two classes of one row by a line that hangs through the label below.
func bow(from, label, to point) string {
	return fmt.Sprintf("M%s,%s C%[1]s,%[3]s %[1]s,%[3]s %[4]s,%[3]s C%[5]s,%[3]s %[5]s,%[3]s %[5]s,%[6]s",
		num(from.x), num(from.y), num(label.y), num(label.x), num(to.x), num(to.y))
}

// arrowHead draws a triangle from the end of the line to the border.
func arrowHead(base, tip point) string {
	dx, dy := tip.x-base.x, tip.y-base.y
	length := math.Hypot(dx, dy)
	nx, ny := -dy/length*4.5, dx/length*4.5
	return fmt.Sprintf(`<path class="head" d="M%s,%s L%s,%s L%s,%s Z"/>`, num(tip.x), num(tip.y), num(base.x+nx), num(base.y+ny), num(base.x-nx), num(base.y-ny))
}

// drawLoop draws a self-loop at the right of its class: in the middle, or above
// and below it where there is one of each kind.
func (s *sketch) drawLoop(b *strings.Builder, edge int) {
	e := s.g.Edges[edge]
	v := s.vertices[s.g.index()[e.From]]
	x, y, half := v.x+classHalf(e.From), rowY(v.row), 9.0
	for _, other := range s.loops {
		if other != edge && s.g.Edges[other].From == e.From {
			y, half = y+map[Kind]float64{Owns: -10, Yield: 10}[e.Kind], 6
		}
	}
	tip, base, out := point{x, y + half}, point{x + 8, y + half}, x+loopReach-4
	fmt.Fprintf(b, "\t<g class=\"%s\"><title>%s</title><path d=\"M%s,%s C%s,%s %s,%s %s,%s\"/>%s<text class=\"beside\" x=\"%s\" y=\"%s\">%s</text></g>\n",
		e.classes(), html.EscapeString(e.sentence()), num(x), num(y-half), num(out), num(y-2*half), num(out), num(base.y), num(base.x), num(base.y),
		arrowHead(base, tip), num(x+loopReach-6), num(y+labelFont/3-2), html.EscapeString(shorten(e.Label())))
}

func (g Graph) drawLegend(b *strings.Builder, height float64) {
	x, y := margin, height-margin/2-4
	entry := func(class, text string) {
		fmt.Fprintf(b, "\t<g class=\"edge %s\"><path d=\"M%s,%s h26\"/>%s</g><text class=\"legend\" x=\"%s\" y=\"%s\">%s</text>\n",
			class, num(x), num(y), arrowHead(point{x + 26, y}, point{x + 34, y}), num(x+40), num(y+labelFont/3), text)
		x += 40 + textWidth(text, labelFont) + 24
	}
	entry("", "owns")
	entry("yield", "yield: events only")
	if g.Cyclic() {
		entry("cycle", "cycle: an error")
	}
}

func (e Edge) classes() string {
	c := "edge"
	if e.Kind == Yield {
		c += " yield"
	}
	if e.Cycle {
		c += " cycle"
	}
	return c
}

// sentence says in words what an edge means.
func (e Edge) sentence() string {
	verb := "owns"
	if e.Kind == Yield {
		verb = "may send events to"
	}
	by := strings.Join(slices.Concat(e.Fields, e.Verbs), ", ")
	return fmt.Sprintf("%s %s %s (%s)", e.From, verb, e.To, by)
}

// sentence describes the drawing for users who cannot see it.
func (g Graph) sentence() string {
	parts := make([]string, 0, len(g.Edges))
	for _, e := range g.Edges {
		parts = append(parts, e.sentence())
	}
	if len(parts) == 0 {
		return fmt.Sprintf("%d actor classes without references.", len(g.Nodes))
	}
	return strings.Join(parts, "; ") + "."
}

// num prints a coordinate shortly, and the same on every machine.
func num(v float64) string {
	s := fmt.Sprintf("%.1f", v)
	s = strings.TrimSuffix(s, ".0")
	if s == "-0" {
		return "0"
	}
	return s
}
