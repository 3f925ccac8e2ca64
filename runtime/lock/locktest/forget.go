package locktest

import "github.com/aeon-lang/aeon/runtime/lock/locktest/scene"

// This file takes out of the state what cannot matter any more, so that states that differ
// in nothing else are visited once. Nothing here may guess: what is forgotten must be
// read by nothing, whatever happens next, bugs in the core included.

// forget is called after each move.
func (w *world) forget() {
	for e := range scene.Event(len(w.c.Events)) {
		if w.gone>>e&1 == 0 && w.runs[e].status == 2 && !w.traces(e) {
			w.gone |= 1 << e
			for h := range w.know {
				w.know[h][e] = known{}
			}
			w.run(e) // its attempt is forgotten, too
		}
	}
	edges, paths := w.relevant()
	for h := range w.c.Hosts {
		if w.view[h] != w.committed {
			for y := scene.NodeActor; y < scene.NodeCount; y++ {
				if !edges.Has(y) {
					w.view[h][y] = w.committed[y]
				}
			}
		}
		if w.tview[h] != w.parents {
			for y := scene.NodeActor; y < scene.NodeCount; y++ {
				if !paths.Has(y) {
					w.tview[h][y] = w.parents[y]
				}
			}
		}
	}
}

// traces reports whether an entry, message or undo of e is left, which has committed.
func (w *world) traces(e scene.Event) bool {
	for i := range w.net.Len() {
		if w.net.At(i).ID.Event == e {
			return true
		}
	}
	if w.c.Stores && w.above.concerns(e) {
		return true
	}
	for x := range w.queues {
		if w.runs[e].undoAt[x] != 0 {
			return true
		}
		q := &w.queues[x]
		if entries, early, tombstones := q.Count(); entries+early+tombstones == 0 {
			continue
		}
		for k := range q.Entries {
			if k.ID.Event == e {
				return true
			}
		}
		for id := range q.Early {
			if id.Event == e {
				return true
			}
		}
		for id := range q.Tombstones {
			if id.Event == e {
				return true
			}
		}
	}
	return false
}

// relevant returns the nodes whose edges, and those whose place in T, a footprint may
// depend on that is still to be evaluated, as some host knows them.
func (w *world) relevant() (edges, paths scene.Mask) {
	if w.lagging() {
		var wants scene.Mask
		for e := range w.c.Events {
			if w.gone>>e&1 == 0 {
				p := &w.c.Events[e]
				edges |= p.Looks
				wants |= p.Wants | scene.Bit(w.runs[e].high) | scene.Bit(w.runs[e].entered)
			}
		}
		paths = w.aboveAnywhere(wants)
	}
	return edges, paths
}

func (w *world) lagging() bool {
	for h := range w.c.Hosts {
		if w.view[h] != w.committed || w.tview[h] != w.parents {
			return true
		}
	}
	return false
}

// aboveAnywhere returns what lies above the nodes of m, or is one of them, in T as
// any host knows it.
func (w *world) aboveAnywhere(m scene.Mask) scene.Mask {
	for {
		o := m
		o.Each(func(x scene.Node) {
			m |= scene.Bit(w.parents[x])
			for h := range w.c.Hosts {
				m |= scene.Bit(w.tview[h][x])
			}
		})
		if o == m {
			return m
		}
	}
}
