package draw

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Formats lists the names that Write knows.
var Formats = []string{"svg", "dot", "mermaid", "json"}

// Write writes g in one of Formats.
func (g Graph) Write(w io.Writer, format string) error {
	var text string
	switch format {
	case "svg":
		text = g.svg()
	case "dot":
		text = g.dot()
	case "mermaid":
		text = g.mermaid()
	case "json":
		text = g.json()
	default:
		return fmt.Errorf("there is no graph format %q: the formats are %s", format, strings.Join(Formats, ", "))
	}
	_, err := io.WriteString(w, text)
	return err
}

func (g Graph) dot() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n\tnode [shape=box, style=rounded, fontname=\"sans-serif\"];\n\tedge [fontname=\"sans-serif\", fontsize=10];\n", strconv.Quote(g.Name))
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "\t%s;\n", strconv.Quote(n.Name))
	}
	for _, e := range g.Edges {
		style := ""
		if e.Kind == Yield {
			style = ", style=dashed, constraint=false"
		}
		if e.Cycle {
			style += ", color=red"
		}
		fmt.Fprintf(&b, "\t%s -> %s [label=%s%s];\n", strconv.Quote(e.From), strconv.Quote(e.To), strconv.Quote(e.Label()), style)
	}
	b.WriteString("}\n")
	return b.String()
}

func (g Graph) mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for i, n := range g.Nodes {
		// Ids of our own: a class may be called `end`, which mermaid reserves.
		fmt.Fprintf(&b, "\tc%d[\"%s\"]\n", i, n.Name)
	}
	at := g.index()
	for i, e := range g.Edges {
		arrow := "-->"
		if e.Kind == Yield {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "\tc%d %s|\"%s\"| c%d\n", at[e.From], arrow, e.Label(), at[e.To])
		if e.Cycle {
			fmt.Fprintf(&b, "\tlinkStyle %d stroke:red\n", i)
		}
	}
	return b.String()
}

// json writes the graph for other programs. The shape is append-only.
func (g Graph) json() string {
	type edge struct {
		From   string   `json:"from"`
		To     string   `json:"to"`
		Kind   string   `json:"kind"` // owns or yield
		Fields []string `json:"fields"`
		Verbs  []string `json:"verbs"`
		Cycle  bool     `json:"cycle"`
	}
	out := struct {
		Package string `json:"package"`
		Classes []Node `json:"classes"`
		Edges   []edge `json:"edges"`
	}{g.Name, append([]Node{}, g.Nodes...), []edge{}}
	for _, e := range g.Edges {
		out.Edges = append(out.Edges, edge{e.From, e.To, e.Kind.String(), append([]string{}, e.Fields...), append([]string{}, e.Verbs...), e.Cycle})
	}
	text, err := json.MarshalIndent(out, "", "\t")
	if err != nil {
		panic(err) // strings and booleans always marshal
	}
	return string(text) + "\n"
}
