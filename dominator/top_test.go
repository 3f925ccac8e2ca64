package dominator

import (
	"math/rand/v2"
	"testing"
)

// An actor that shares very many children with others loses them one by one. One child holds its top up; which one that is is not looked for again
// after each edit.
func TestTopOfAHubIsFoundOnce(t *testing.T) {
	const children, removals = 10_000, 200
	g := New()
	nodes := make([]Node, 5+children)
	part, bank, far, hub, other := &nodes[0], &nodes[1], &nodes[2], &nodes[3], &nodes[4]
	shared := nodes[5:]
	g.NewPartition(part)
	g.NewRoot(bank, part)
	g.NewRoot(far, part)
	g.NewChild(bank, hub)
	g.NewChild(bank, other)
	witness := children / 2
	for i := range shared {
		if i == witness {
			g.PlaceFresh(&shared[i], []*Node{hub, far})
		} else {
			g.PlaceFresh(&shared[i], []*Node{hub, other})
		}
	}
	looked := 0
	r := rand.New(rand.NewPCG(1, 2))
	for _, i := range r.Perm(children)[:removals] {
		if i == witness {
			continue
		}
		g.RemoveEdge(hub, &shared[i])
		g.mu.Lock()
		_, steps := g.localTop(hub) // as the next removal does
		g.mu.Unlock()
		looked += steps
	}
	if looked > children {
		t.Errorf("after %d removals the top was found by a look at %d edges, of %d", removals, looked, children)
	}
	if g.Top(hub) != part {
		t.Errorf("the top is %p, and not the partition", g.Top(hub))
	}
	g.RemoveEdge(hub, &shared[witness])
	if !g.Tighten(0) || g.Top(hub) != bank {
		t.Errorf("the top is %p when all that is left is below the bank", g.Top(hub))
	}
	if err := g.Validate(); err != nil {
		t.Error(err)
	}
}
