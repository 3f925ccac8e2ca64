package draw_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aeon-lang/aeon/cmd/aeonc/internal/draw"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func steakhouse() draw.Graph {
	return draw.Graph{
		Name:  "steakhouse",
		Nodes: []draw.Node{{Name: "Steakhouse", Position: "steakhouse.aeon:10:12"}, {Name: "Cook"}, {Name: "Grill"}, {Name: "Customer"}},
		Edges: []draw.Edge{
			{From: "Steakhouse", To: "Cook", Fields: []string{"cooks[]"}, Verbs: []string{"calls", "creates"}},
			{From: "Steakhouse", To: "Grill", Fields: []string{"grills[]"}},
			{From: "Steakhouse", To: "Customer", Fields: []string{"customers[]"}},
			{From: "Cook", To: "Grill", Fields: []string{"grills[]"}},
			{From: "Cook", To: "Customer", Fields: []string{"customers[]"}},
			{From: "Grill", To: "Cook", Kind: draw.Yield, Fields: []string{"cooks[]"}},
		},
	}
}

// awkward has what drawings get wrong: self-loops of both kinds, an edge within
// a row, an edge over several rows, a class alone, long names, a cycle.
func awkward() draw.Graph {
	return draw.Graph{
		Name:  "awkward",
		Nodes: []draw.Node{{Name: "Root"}, {Name: "Tree"}, {Name: "Left"}, {Name: "Right"}, {Name: "Leaf"}, {Name: "Alone"}, {Name: "AClassWithARatherLongName"}, {Name: "A"}, {Name: "B"}},
		Edges: []draw.Edge{
			{From: "Root", To: "Tree", Fields: []string{"tree"}},
			{From: "Tree", To: "Tree", Fields: []string{"children[]"}},
			{From: "Tree", To: "Left", Verbs: []string{"creates"}},
			{From: "Tree", To: "Right", Fields: []string{"right"}},
			{From: "Left", To: "Leaf", Fields: []string{"leaf"}},
			{From: "Root", To: "Leaf", Fields: []string{"shortcut"}},
			{From: "Root", To: "AClassWithARatherLongName", Fields: []string{"first", "second", "third", "fourth", "fifth"}},
			{From: "A", To: "B", Fields: []string{"b"}, Cycle: true},
			{From: "B", To: "A", Fields: []string{"a"}, Cycle: true},
			{From: "Tree", To: "Tree", Kind: draw.Yield, Fields: []string{"peer"}},
			{From: "Left", To: "Right", Kind: draw.Yield, Fields: []string{"sibling"}},
			{From: "Leaf", To: "Root", Kind: draw.Yield, Fields: []string{"home"}},
			{From: "Right", To: "Leaf", Kind: draw.Yield, Fields: []string{"leaves[]"}},
		},
	}
}

func TestFormatsMatchTheirGoldens(t *testing.T) {
	for _, g := range []draw.Graph{steakhouse(), awkward(), {Name: "empty"}} {
		for _, format := range draw.Formats {
			var b bytes.Buffer
			if err := g.Write(&b, format); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join("testdata", g.Name+"."+format)
			if *update {
				if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

func TestSVGAndJSONAreWellFormed(t *testing.T) {
	for _, g := range []draw.Graph{steakhouse(), awkward(), {Name: "empty"}} {
		var svg, js bytes.Buffer
		if err := errors.Join(g.Write(&svg, "svg"), g.Write(&js, "json")); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, svg.Bytes())
		var decoded struct {
			Classes []draw.Node
			Edges   []struct{ From, To, Kind string }
		}
		if err := json.Unmarshal(js.Bytes(), &decoded); err != nil {
			t.Fatal(err)
		}
		if len(decoded.Classes) != len(g.Nodes) || len(decoded.Edges) != len(g.Edges) {
			t.Errorf("%s: %d classes and %d edges in JSON", g.Name, len(decoded.Classes), len(decoded.Edges))
		}
	}
}

func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

func TestUnknownFormatIsAnError(t *testing.T) {
	if err := steakhouse().Write(io.Discard, "png"); err == nil || !strings.Contains(err.Error(), "svg, dot, mermaid, json") {
		t.Errorf("error %v", err)
	}
}

// The number of classes is the user's: no layout may take minutes, and none may
// place two classes on each other (checked in layout_test.go).
func TestLargeGraphsAreDrawnSoon(t *testing.T) {
	g := draw.Graph{Name: "large"}
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 300
	for i := range n {
		g.Nodes = append(g.Nodes, draw.Node{Name: fmt.Sprintf("C%d", i)})
	}
	for i := 1; i < n; i++ {
		for range 2 {
			from := rng.IntN(i)
			g.Edges = append(g.Edges, draw.Edge{From: g.Nodes[from].Name, To: g.Nodes[i].Name, Fields: []string{"f"}})
		}
	}
	start := time.Now()
	var b bytes.Buffer
	if err := g.Write(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("drawing %d classes took %v", n, took)
	}
	wellFormed(t, b.Bytes())
}
