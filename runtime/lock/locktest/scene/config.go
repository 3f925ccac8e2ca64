package scene

import (
	"math/bits"
	"strconv"
)

// HostsMax bounds the hosts of a world.
const HostsMax = 3

// Node is an actor or a virtual node, Event an event of a scene, both by number; Mask is a set of nodes.
type (
	Node  uint8  // an actor or a virtual node
	Event uint8  // the number of one
	Mask  uint16 // a set of nodes
)

// NodeNames are used by transcripts; elsewhere nodes are numbers.
var NodeNames [NodeCount]string

func (x Node) String() string {
	if n := NodeNames[x]; n != "" {
		return n
	}
	return strconv.Itoa(int(x))
}

// Nodes of a world. 0 is no node; which of the others exist is up to the config.
const (
	NodeTop   Node = 1
	nodePartA Node = 2 // virtual nodes of two partitions
	nodePartB Node = 3
	NodeActor Node = 4 // first of up to four actors
	NodeFresh Node = 8 // first of those that events create, one per event
	NodeCount      = 12

	EventsMax   = 4
	AttemptsMax = 10 // more is a livelock
)

// VirtualNodes are all that there may be.
const VirtualNodes = Mask(1<<NodeTop | 1<<nodePartA | 1<<nodePartB)

// EveryNode are all nodes.
const EveryNode = Mask(1<<NodeCount - 1)

// Bit returns the set of x alone.
func Bit(x Node) Mask { return 1 << x }

// MaskOf returns the set of a list.
func MaskOf(l []Node) (m Mask) {
	for _, x := range l {
		m |= Bit(x)
	}
	return m
}

// Has reports whether x is in m.
func (m Mask) Has(x Node) bool { return m&(1<<x) != 0 }

// First returns the least of m, which is not empty.
func (m Mask) First() Node { return Node(bits.TrailingZeros16(uint16(m))) }

// Each calls f for all of m, in order.
func (m Mask) Each(f func(Node)) {
	for ; m != 0; m &= m - 1 {
		f(m.First())
	}
}

// OpKind is a step of a method.
type OpKind uint8

const (
	OpCall    OpKind = iota // call child `to`, if it is owned
	OpCallArg               // call argument `to`
	OpSlot                  // call the child that the slot names: this.field[k]
	OpSet                   // slot = to, if it is owned; no change of ownership
	OpAdd                   // own `to` (RULE-8)
	OpRemove                // disown `to` (RULE-9)
	OpCreate                // new child, then call it
)

// Op is one step.
type Op struct {
	Kind  OpKind
	To    Node
	Async bool
}

// Program is what an event does: at each actor it calls, a list of steps.
type Program struct {
	Target Node
	Writes Mask // actors written; the others are read
	Full   bool // footprint: all that is reachable, instead of the paths
	Ops    [NodeCount][]Op
	After  uint8 // starts after these events have committed
	Move   Node  // if set, the event moves this node in T, below `below`
	Below  Node
	derived
}

// Sets reports whether the method at x may change its slot or what it owns: then
// paths through them are not narrowed.
func (p *Program) Sets(x Node) bool {
	for _, o := range p.Ops[x] {
		if o.Kind == OpSet || o.Kind == OpAdd || o.Kind == OpRemove {
			return true
		}
	}
	return false
}

// Owns reports whether the method at x may change what x owns.
func (p *Program) Owns(x Node) bool {
	for _, o := range p.Ops[x] {
		if o.Kind == OpAdd || o.Kind == OpRemove || o.Kind == OpCreate {
			return true
		}
	}
	return false
}

// Config is the start of an exploration.
type Config struct {
	Name    string
	Hosts   int
	Host    [NodeCount]uint8
	Actors  Mask
	Edges   [NodeCount]Mask
	Slots   [NodeCount]Node
	Parents [NodeCount]Node
	Events  []Program
	Lazy    [EventsMax]Mask  // nodes where the view does not expand
	Crash   uint8            // host + 1 of the host that crashes once, at any time; no home is there
	Home    [EventsMax]uint8 // host of each event's home, if a host crashes, or events are over stores; else the target's
	Arb     uint8            // events that are withdrawn once, at any time
	Try     bool             // use the fast paths
	Light   bool             // moves hold the path down to the node lazily, without a mode, and not the new parent (one host)
	Fanout  bool             // homes pass virtual nodes themselves (one host)
	Next    [EventsMax]uint8 // event + 1 that is the next step of the chain, on the same target
	far

	Calm  bool // derived: it is still
	Moved Mask // derived: nodes that events move in T
}

// Still reports whether neither ownership nor T changes and no event withdraws: then
// nothing may ever be withdrawn or bounced.
func (c *Config) Still() bool {
	if c.Stores || c.Arb != 0 || c.Crash != 0 || c.Next != [EventsMax]uint8{} {
		return false
	}
	for i := range c.Events {
		p := &c.Events[i]
		if p.Move != 0 {
			return false
		}
		for _, ops := range p.Ops {
			for _, o := range ops {
				if o.Kind == OpAdd || o.Kind == OpRemove || o.Kind == OpCreate {
					return false
				}
			}
		}
	}
	return true
}

// Reach returns m and all that its actors own, directly or not.
func Reach(edges *[NodeCount]Mask, m Mask) Mask {
	for {
		o := m
		o.Each(func(x Node) { m |= edges[x] })
		if o == m {
			return m
		}
	}
}

// far is what a config has of events over stores.
type far struct {
	Stores bool
	Known  [EventsMax]Mask  // what the first attempt enters with
	Trees  [EventsMax]Mask  // of that: what it holds with all below
	Hinted [EventsMax]uint8 // stores in which every attempt has a part
	ByTop  [EventsMax]bool  // it enters by TOP at once, if it knows of other stores
	Early  bool             // a part that has only read releases when it votes

	Votes   [EventsMax]uint8 // stores that vote with their answers
	Fast    [EventsMax]bool  // it enters on the fast path, if it can
	Aborts  [EventsMax]bool  // its code fails at its end
	Crashes uint8            // stores that crash once, at any time
	Cuts    uint8            // stores whose session with the next one ends once
}
