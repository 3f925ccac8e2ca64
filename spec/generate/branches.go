package generate

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/aeon-lang/aeon/internal/assert"
)

// loudMax bounds the statements of a program that issue what runs after their events: the more there is, the more orders it has.
const loudMax = 5

// Branches returns a program of a seed, in canonical format, whose events mostly make async calls: of actors that several others own, within each other up to three
// deep, beside sync calls, and of some that fail, or make, delete and hand on actors, named ones as well, set timers and issue sub-events. The actors have fields of all
// kinds that a store keeps. Whatever runs beside what, there is one outcome: what an order that the language leaves open runs, a sub-event or a timer, commutes with all else that
// it meets and prints nothing, and no line shows an id, or which of two actors comes first as a key.
func Branches(seed uint64) string {
	g := &gen{rng: rand.New(rand.NewPCG(seed, 2))}
	return canonical(g.branches(), "branches", seed)
}

// branches writes the methods. Those of the last number are quiet: they issue nothing that runs after the event. So a step of a chain may make them, before another step.
func (g *gen) branches() string {
	g.loud = loudMax
	var cell, hub, leaf, mid, root, main strings.Builder
	for k := range 2 {
		fmt.Fprintf(&cell, "\tint put%d(int by) {\n\t\tn = n %% 500 * 3 + by;\n%s\t\treturn n;\n\t}\n", k, g.ways(1+g.upto(2), k == 1, cellWays))
	}
	fmt.Fprintf(&hub, "\tvoid note(int by) {\n\t\tn += by;\n%s\t}\n", g.ways(1+g.upto(2), false, hubWays))
	for k := range 3 {
		quiet := k == 2
		fmt.Fprintf(&leaf, "\tint add%d(int by) {\n\t\tn = n %% 1000 * 3 + by + %d;\n%s\t\treturn n;\n\t}\n", k, k, g.ways(2+g.upto(4), quiet, leafWays))
		fmt.Fprintf(&mid, "\tint spread%d(int by) {\n\t\tn += by;\n%s\t\treturn n;\n\t}\n", k, g.ways(2+g.upto(3), quiet, ownerWays, midWays))
		fmt.Fprintf(&root, "\tint run%d(int by, Hub h) {\n\t\tn += by;\n%s\t\treturn n;\n\t}\n", k, g.ways(3+g.upto(4), false, ownerWays, rootWays, rootWays, namedWays))
		fmt.Fprintf(&root, "\tvoid begin%d(int by, yield Hub h) {\n\t\tevent this.run%d(by, h);\n\t}\n", k, k)
	}
	fmt.Fprintf(&root, "\tint chain(int by, yield Hub h) {\n\t\tn += by;\n%s\t\t%s\n\t}\n", g.ways(2+g.upto(3), true, ownerWays, rootWays),
		g.filled(pick(g, []string{"tail this.run$2(by + 1, h);", "tail $mid.spread$1(by);", "tail $leaf.add$1(by + n);"}), false))
	for range 4 + g.upto(4) {
		main.WriteString(g.filled(g.way(mainWays, false), false) + "\n\tsettle();\n")
	}
	size := func() int { return pick(g, []int{0, 3, 70, 300}) } // one of more than 64 elements is stored element by element
	return fmt.Sprintf(branchesText, &cell, g.upto(2), size(), &hub, size(), g.upto(2), size(), &leaf, g.upto(2), &mid, g.upto(2), 1+g.upto(1), &root, &main)
}

// ways writes so many statements, drawn from the lists.
func (g *gen) ways(n int, quiet bool, lists ...[]way) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "\t\t%s\n", g.filled(g.way(pick(g, lists), quiet), quiet))
	}
	return b.String()
}

// way draws one by weight.
func (g *gen) way(list []way, quiet bool) (text string) {
	var choices []choice
	for _, w := range list {
		if !w.loud || !quiet && g.loud > 0 {
			choices = append(choices, choice{w.weight, func() bool {
				if text = w.text; w.loud {
					g.loud--
				}
				return true
			}})
		}
	}
	g.choose(choices...)
	return text
}

// filled puts something in place of what a text leaves open: $1 to $9 are numbers up to these, $x a local, $async a call that is mostly async.
func (g *gen) filled(text string, quiet bool) string {
	g.names++
	last := 1 // of the methods that may be called
	if quiet {
		last = 0
	}
	method := func(name string, silent int) string {
		if quiet {
			return fmt.Sprint(name, silent)
		}
		return fmt.Sprint(name, g.upto(last))
	}
	return fill(text, func(w string) string {
		if d := w[1]; d >= '1' && d <= '9' {
			return fmt.Sprint(g.upto(int(d - '0')))
		}
		switch w {
		case "$x":
			return fmt.Sprintf("x%d", g.names)
		case "$async":
			return pick(g, []string{"async ", "async ", "async ", ""})
		case "$leaf":
			return fmt.Sprintf("leaves[(%d + by) %% len(leaves)]", g.upto(4))
		case "$mid":
			return fmt.Sprintf("mids[(%d + by) %% len(mids)]", g.upto(2))
		case "$cell":
			return fmt.Sprintf("cells[(%d + by) %% len(cells)]", g.upto(2))
		case "$put":
			return method("put", 1)
		case "$add":
			return method("add", 2)
		case "$spread":
			return method("spread", 2)
		}
		assert.Unreachable("branches: %q is nothing that is put in", w)
		return ""
	})
}
