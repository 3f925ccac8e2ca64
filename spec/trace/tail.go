package trace

// goesOn reports whether e is the step for which the one before it has kept the actor.
func (c *Checker) goesOn(e *Event) bool {
	by, kept := c.kept[e.Target]
	return kept && e.Origin.Kind == "tail" && e.Origin.Parent == by.id
}

// keep checks that e touches no actor that a chain keeps, unless it is the next step of that chain, and notes
// what e itself keeps.
func (c *Checker) keep(e *Event) {
	if c.goesOn(e) {
		delete(c.kept, e.Target)
	}
	if len(c.kept) > 0 {
		for _, list := range [][]Access{e.Reads, e.Writes} {
			for i := range list {
				name := list[i].Actor
				by, kept := c.kept[name]
				if kept && !c.actor(name).deleted {
					c.violate(Keep, name, []EventID{e.ID, by.id}, "%v touched %s, which %v keeps for its next step", e, name, by)
					break
				}
			}
		}
	}
	if e.Keeps && !e.Aborted {
		c.kept[e.Target] = brief{e.ID, e.Order, e.Method, e.Target}
	}
}
