// Package draw draws the ownership graph of a program's actor classes: as SVG
// with a layout of its own, and as text for dot, mermaid and other programs.
package draw

import (
	"slices"
	"strings"
)

// Kind says what an edge stands for.
type Kind uint8

// The kinds of edge.
const (
	Owns  Kind = iota // the ownership order: sync and async calls go along it
	Yield             // a yield reference: events only, no ownership
)

// String returns "owns" or "yield".
func (k Kind) String() string {
	if k == Yield {
		return "yield"
	}
	return "owns"
}

// Node is an actor class.
type Node struct {
	Name     string `json:"name"`
	Position string `json:"position,omitempty"` // file:line:col of its name
}

// Edge leads from one class to another, or to itself. There is at most one of
// each kind between two classes in one direction.
type Edge struct {
	From, To string
	Kind     Kind
	Fields   []string // what makes it, in source order: fields, with [] where they hold many
	Verbs    []string // "creates", "calls", "deletes": what else makes it
	Cycle    bool     // part of an ownership cycle, which is an error
}

// Label returns the text at the edge: the fields, or else the verbs.
func (e Edge) Label() string {
	if len(e.Fields) > 0 {
		return strings.Join(e.Fields, ", ")
	}
	return strings.Join(e.Verbs, ", ")
}

// Graph is what is drawn. Every edge joins nodes that are listed.
type Graph struct {
	Name  string // of the package
	Nodes []Node // in declaration order
	Edges []Edge // owns before yield, each by declaration order of the ends
}

// Cyclic reports whether some edges form an ownership cycle.
func (g Graph) Cyclic() bool {
	return slices.ContainsFunc(g.Edges, func(e Edge) bool { return e.Cycle })
}

// index returns the position of every node by name.
func (g Graph) index() map[string]int {
	at := make(map[string]int, len(g.Nodes))
	for i, n := range g.Nodes {
		at[n.Name] = i
	}
	return at
}
