package trace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// ended is an event with the time of its answer, as the tests handle it.
type ended struct {
	Event
	End    int64
	Client int
}

// generate returns the history of a serialisable system: clients that issue events on
// registers, each of which reads some, writes some of these and sometimes some others,
// and aborts now and then. Events overlap, but commit one after the other.
func generate(rng *rand.Rand, clients, registers, events int) []ended {
	type client struct {
		issued    int64 // start of its event, 0 if it has none
		committed int   // index of its event in the history, -1 before
	}
	var tick int64
	next := func() int64 { tick++; return tick }
	versions := make([]uint64, registers)
	list := make([]client, clients)
	var h []ended
	for answered := 0; answered < events; {
		i := rng.IntN(clients)
		c := &list[i]
		switch {
		case c.issued == 0:
			c.issued, c.committed = next(), -1
		case c.committed < 0:
			e := ended{Client: i}
			e.ID, e.Attempt, e.Start = EventID{uint64(i + 1), uint64(len(h) + 1)}, 1, c.issued
			e.Origin = Origin{Kind: "client", Client: uint64(i + 1)}
			e.Target, e.Method, e.Aborted = "Register", "step", rng.IntN(10) == 0
			for r := range versions {
				name := "r" + strconv.Itoa(r)
				wrote := rng.IntN(4) == 0
				if rng.IntN(3) == 0 {
					e.Reads = append(e.Reads, Access{Actor: name, Version: versions[r]})
					wrote = rng.IntN(2) == 0
				}
				if wrote && !e.Aborted {
					versions[r]++
					e.Writes = append(e.Writes, Access{Actor: name, Version: versions[r]})
				}
			}
			e.Order = next()
			h, c.committed = append(h, e), len(h)
		default:
			h[c.committed].End = next()
			answered++
			*c = client{}
		}
	}
	h = slices.DeleteFunc(h, func(e ended) bool { return e.End == 0 && len(e.Writes) == 0 })
	for i := range h {
		if h[i].End == 0 {
			h[i].End = next()
		}
	}
	return h
}

func clone(h []ended) []ended {
	h = slices.Clone(h)
	for i := range h {
		h[i].Reads, h[i].Writes = slices.Clone(h[i].Reads), slices.Clone(h[i].Writes)
	}
	return h
}

// mutations spoil a history, most of the time. They return false if there is nothing to
// be spoilt.
var mutations = map[string]func(rng *rand.Rand, h []ended) ([]ended, bool){
	"nothing": func(_ *rand.Rand, h []ended) ([]ended, bool) { return h, true },
	"two orders swapped": func(rng *rand.Rand, h []ended) ([]ended, bool) {
		i := rng.IntN(len(h))
		j := min(i+1+rng.IntN(4), len(h)-1)
		h[i], h[j] = h[j], h[i]
		return h, i != j
	},
	"a stale read": func(rng *rand.Rand, h []ended) ([]ended, bool) {
		e := &h[rng.IntN(len(h))]
		if len(e.Reads) == 0 {
			return h, false
		}
		r := &e.Reads[rng.IntN(len(e.Reads))]
		if r.Version == 0 {
			return h, false
		}
		r.Version--
		return h, true
	},
	"a read from the future": func(rng *rand.Rand, h []ended) ([]ended, bool) {
		e := &h[rng.IntN(len(h))]
		if len(e.Reads) == 0 {
			return h, false
		}
		e.Reads[rng.IntN(len(e.Reads))].Version++
		return h, true
	},
	"a lost write": func(rng *rand.Rand, h []ended) ([]ended, bool) {
		e := &h[rng.IntN(len(h))]
		if len(e.Writes) == 0 {
			return h, false
		}
		i := rng.IntN(len(e.Writes))
		e.Writes = slices.Delete(e.Writes, i, i+1)
		return h, true
	},
	"a duplicated event": func(rng *rand.Rand, h []ended) ([]ended, bool) {
		i := rng.IntN(len(h))
		return slices.Insert(h, i+1+rng.IntN(len(h)-i), h[i]), true
	},
	"real time inverted": func(rng *rand.Rand, h []ended) ([]ended, bool) {
		i, j := rng.IntN(len(h)), rng.IntN(len(h))
		h[i].Start, h[j].Start = h[j].Start, h[i].Start
		h[i].End, h[j].End = h[j].End, h[i].End
		return h, i != j
	},
	"an early answer": func(rng *rand.Rand, h []ended) ([]ended, bool) {
		e := &h[rng.IntN(len(h))]
		e.End = e.Start + rng.Int64N(e.End-e.Start) + 1
		return h, true
	},
	"a late start": func(rng *rand.Rand, h []ended) ([]ended, bool) {
		e := &h[rng.IntN(len(h))]
		e.Start += rng.Int64N(e.End - e.Start)
		return h, true
	},
}

// verdict runs the checker over the history in its order.
func verdict(h []ended) Section {
	c := NewChecker(Header{})
	for i := range h {
		e := h[i].Event
		e.Order = int64(i + 1)
		c.Line = i + 1
		c.Event(&e)
		if i%3 == 0 { // answers come in late, in batches
			for j := max(0, i-2); j <= i; j++ {
				c.Answer(Answer{int64(j + 1), h[j].End})
			}
		}
	}
	for j := (len(h)-1)/3*3 + 1; j < len(h); j++ {
		c.Answer(Answer{int64(j + 1), h[j].End})
	}
	return c.End(&End{How: "closed", Events: uint64(len(h))})
}

// naive says of every pair of events what the rules say, in quadratic time, and returns
// the first violation.
func naive(h []ended) string {
	for i := range h {
		e := &h[i]
		last := func(actor string) uint64 {
			for j := i - 1; j >= 0; j-- {
				for _, w := range h[j].Writes {
					if w.Actor == actor {
						return w.Version
					}
				}
			}
			return 0
		}
		for _, r := range e.Reads {
			if r.Version != last(r.Actor) {
				return fmt.Sprintf("event %d reads %s", i, r.Actor)
			}
		}
		for _, w := range e.Writes {
			if w.Version != last(w.Actor)+1 {
				return fmt.Sprintf("event %d writes %s", i, w.Actor)
			}
		}
		if e.End <= e.Start {
			return fmt.Sprintf("event %d ends before it starts", i)
		}
		for j := range i {
			if h[j].ID == e.ID {
				return fmt.Sprintf("event %d is event %d", i, j)
			}
			if e.End < h[j].Start {
				return fmt.Sprintf("event %d has ended before event %d", i, j)
			}
		}
	}
	return ""
}

// sorted looks for an order of the history that explains it, from its versions, its real
// time alone: nil if there is none.
func sorted(h []ended) []ended {
	type version struct {
		actor string
		n     uint64
	}
	writer := map[version]int{}
	for i := range h {
		for _, w := range h[i].Writes {
			v := version{w.Actor, w.Version}
			if _, twice := writer[v]; twice {
				return nil
			}
			writer[v] = i
		}
	}
	after := make([][]int, len(h))
	waits := make([]int, len(h))
	edge := func(i, j int) {
		if i != j {
			after[i] = append(after[i], j)
			waits[j]++
		}
	}
	for i := range h {
		e := &h[i]
		for _, w := range e.Writes {
			if w.Version > 1 {
				j, ok := writer[version{w.Actor, w.Version - 1}]
				if !ok {
					return nil
				}
				edge(j, i)
			}
		}
		for _, r := range e.Reads {
			if r.Version > 0 {
				j, ok := writer[version{r.Actor, r.Version}]
				if !ok || j == i {
					return nil
				}
				edge(j, i)
			}
			if j, ok := writer[version{r.Actor, r.Version + 1}]; ok {
				edge(i, j)
			}
		}
		for j := range h {
			if e.End < h[j].Start {
				edge(i, j)
			}
		}
	}
	var out []ended
	var ready []int
	for i, n := range waits {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := ready[0]
		ready = ready[1:]
		out = append(out, h[i])
		for _, j := range after[i] {
			if waits[j]--; waits[j] == 0 {
				ready = append(ready, j)
			}
		}
	}
	if len(out) < len(h) {
		return nil
	}
	return out
}
