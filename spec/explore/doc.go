// Package explore runs a test, or main, of a program in every order of its events that the
// rules allow, and finds the order in which an assertion fails.
//
// # Why it covers all orders
//
// A run is a sequence of steps: an event that runs whole, a callback, a visible action of
// client code. A step is a function of what it reads, and spec.Access says what it has read
// and written. Two steps conflict if one writes what the other reads or writes. Two that do
// not conflict, and that both may come next, can be exchanged: the state behind both is the
// same, and so is what each of them does. So of all orders that differ by such exchanges
// alone (a trace, in the sense of Mazurkiewicz) one is enough.
//
// The search goes depth first and tries one step in each state. Where a step t has run later than a
// step s of the present order, conflicts with s, and is not there because of s, it tries t before s,
// too (Flanagan and Godefroid, Dynamic partial-order reduction, POPL 2005). If t could not come next
// in that state, what led to t is tried in its place, and if nothing that led to it could come next
// either, everything is. Such alternatives are added at every earlier step that conflicts, where the
// last one would do; that costs orders, and needs no argument.
//
// States are known again by a fingerprint of everything that the future depends on. What follows a
// known state has been searched; but steps in it may conflict with steps of the order that has led
// there now, as they have not been compared. So every state keeps what was done behind it: the steps,
// what they touched, what led to them. Where the search meets the state again, these are compared with
// the order so far as if they were run (Yang, Chen, Gopalakrishnan, Kirby: Efficient stateful dynamic
// partial order reduction, SPIN 2008). This is complete when the state was met first, because the
// graph of states has no cycles: every event has an id, which is part of the state until the event has
// run, and no id comes twice.
//
// Where everything has settled and a test that has waited for that goes on (settle, advance), no step
// behind can come before one that was there; comparing stops there.
package explore
