// Package dominator keeps the ownership DAG of actors and the sequencing tree
// over it, and answers where an event has to enter.
//
// Two structures share one node per actor:
//
//   - Omega, the ownership DAG: an edge p -> c for every pair where p holds
//     references to c in plain fields, with the number of references as its
//     multiplicity ("units"). reach(x) is x and everything below it.
//   - T, the sequencing tree: rooted in TOP, with a virtual node per partition
//     below it. It is stored, never recomputed: of what is known, it changes by placing a fresh
//     leaf, by [Graph.MoveT] and by taking out a deleted leaf, and by nothing
//     else. Safety of the protocol does not depend on which tree it is; its
//     fixpoint under maintenance is the dominator tree of Omega (protocol rules
//     9 and 10; AEON §4.1 with definition 5 replaced, see below).
//
// top(x), the nearest common T-ancestor of reach(x), is what an event whose
// footprint is reach(x) enters at. One pointer per node stores it, never a set
// of descendants, and it is maintained on every edit.
//
// The dissertation's definition 5 takes a least upper bound in the ownership
// order; that bound is not unique and can deadlock. Dominators of the flow
// graph, which are the nodes on every path from TOP, cannot. They need no fixpoint iteration either: in a
// tree every node is its own sequencer.
//
// # Part of a graph
//
// A graph may know a part of a larger one, which a store keeps: [Graph.Restore] places the
// first nodes of it, [Graph.Attach] one node more, and [Graph.Detach] takes one out again.
// What is known is closed upwards: with a node its T-parent and all its owners. So a node
// that is not known has no owner but its T-parent, nothing that is known lies below it in
// either structure, and all it reaches lies in its own T-subtree. It follows that the tops
// of the nodes that are known do not depend on it, that no path between two of them goes
// through it, and that the graph's answers are those of the whole. Attach needs no lock on
// the T-parent: no event can wait for a node that is not known, so to all events the node looks as if it had
// always been there.
//
// # Concurrency
//
// Any goroutine may call any method but Validate and Dump. In detail:
//
//   - Lock-free reads: NCA, IsAncestor, Child, Parent, Depth, Top, Sequencer.
//     They retry while a MoveT changes the tree and, after a few attempts, wait
//     for it. The answer was true at one moment of the call and may be stale
//     when it arrives; the protocol checks coverage again at admission and at
//     access. A node that was deleted gives some common ancestor, TOP at worst.
//   - NewChild and NewRoot lock the parent alone, for a constant time. The
//     caller must hold the creator (W): it must not be deleted meanwhile.
//   - Everything else takes the graph's mutex: AddEdge, RemoveEdge, Apply,
//     PlaceFresh, Attach, Detach, Delete, MoveT, Desired, Pending, Tighten and the listings.
//     The caller holds the owner (W) of every edge it edits, so that no other
//     goroutine edits the same edges.
//   - Validate and Dump need quiet: no NewChild and no NewRoot beside them.
//
// Lock order: the graph's mutex, then the mutex of one node; never two nodes.
//
// # Costs
//
// NCA, IsAncestor, Child: O(log depth), by jump pointers. NewChild, NewRoot, Attach,
// Detach: O(1). Edge edits: O(1) amortised at any degree, plus one step for every owner
// of a node whose top changes, plus one for every edge that leads out of the T-subtree of
// its owner when the one goes that has held the owner's top up, plus the cycle check, which
// is O(log depth) when c owns nothing, when p has no owner or when p lies outside
// T-subtree(top(c)), and otherwise at most twice the smaller of the two pruned searches,
// forward from c and backward from p. MoveT: the size of the subtree moved and of the
// edges at it. The start of an event never enumerates the region that it enters.
package dominator
