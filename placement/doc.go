// Package placement is what a cluster agrees on: its members, which of them keep which store, which store has which
// partition, and the numbers of what stores write. It never knows actors.
//
// [State] is a pure state machine: [State.Apply] takes commands in the order of a replicated log, and every member that applies
// the same commands has the same state, byte for byte. It has no clock: a command has the time of the node that proposed it. A command
// that is refused changes nothing, and its error says why and what to do.
//
// [Plan] is a pure function: from a state, and which members are heard of, it returns the next commands that make the cluster what it
// should be. The leader of the placement proposes them; each is checked again when it is applied.
package placement
