package table

// changes is what has to be written of a table whose rows are stored one by one. Events that
// fail leave their keys in it: then a row is written as it was, once, which does no harm.
type changes struct {
	tracked bool                // the rows are stored one by one
	whole   bool                // all of them have to be replaced
	keys    map[string][]string // the rows that may differ, with the entries that are stored
}

// note notes that a row is about to be written; entries are those that it has, nil if there is
// no such row. At the first write since a commit, they are stored.
func (c *changes) note(key string, entries []string) {
	if !c.tracked || c.whole {
		return
	}
	if _, ok := c.keys[key]; ok {
		return
	}
	if c.keys == nil {
		c.keys = map[string][]string{}
	}
	c.keys[key] = entries
}

// all returns the changes after which nothing is left of what was stored.
func (c *changes) all() changes { return changes{tracked: c.tracked, whole: true} }
