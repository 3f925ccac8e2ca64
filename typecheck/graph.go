package typecheck

import "github.com/aeon-lang/aeon/lang/ast"

// Graph is the ownership graph of the actor classes of one package, edges to
// classes of imported packages included (language.md, Ownership).
type Graph struct {
	Classes []*Class // in declaration order
	Edges   []*Edge  // by (From, To) in declaration order
	// Cycles has the edges of one cycle per strongly connected component that
	// is not just a self-loop; each is an error.
	Cycles [][]*Edge
	// Known: no mistake of the program hides an edge.
	Known bool
}

// Edge is From -> To with its reasons.
type Edge struct {
	From, To *Class
	Reasons  []Reason // in source order; never empty
}

// Reason is one place that makes an edge.
type Reason struct {
	Kind  ReasonKind
	Span  ast.Span
	Field *Var  // FieldReason
	In    *Func // the function with the call, new or delete; nil for fields
}

// ReasonKind tells why there is an edge.
type ReasonKind uint8

// The reasons.
const (
	FieldReason  ReasonKind = iota // To occurs in a plain field of From
	CallReason                     // sync or async call
	CreateReason                   // new
	DeleteReason                   // delete
)

// String returns a verb phrase for messages.
func (k ReasonKind) String() string {
	return [...]string{"holds", "calls", "creates", "deletes"}[k]
}
