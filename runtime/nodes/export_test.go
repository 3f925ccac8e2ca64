package nodes

import "github.com/aeon-lang/aeon/runtime/event"

// CutHeardLate ends the session between two stores, and begins another one. The second store hears of both when meanwhile has returned, or only of the
// new one then.
func (c *Cluster) CutHeardLate(first, late event.StoreID, both bool, meanwhile func()) {
	a, b := c.nodes[first], c.nodes[late]
	l := c.newSession(a, b)
	lost := func() { b.sys.Across().Lost(first) }
	if !both {
		lost()
	}
	a.sys.Across().Lost(late)
	c.hears(l, a, b)
	meanwhile()
	if both {
		lost()
	}
	c.hears(l, b, a)
}
