// Package archive reads actors from a view of a store, which a system may be using, and writes actors into a store that none
// uses: it takes snapshots and restores them, reads the whole ownership graph, and finds actors by the names that users write.
//
//	snapshot.go   Stopped: a snapshot of a store that no system uses
//	live.go       Live: snapshots of a store that a system uses
//	cut.go        Cut: an actor and all that it reaches, in a view
//	override.go   Overrides: the changes that snapshot blocks make to a snapshot
//	restore.go    puts the rows of a snapshot into a store: all of them, or those of one actor
//	ownership.go  Ownership: the graph of owners and the sequencing tree, all of it
//	actorname.go  ActorName: Class/name, Class:id or id; actorfind.go finds it
//
// A snapshot needs no lock and no event. Batches are in the store whole and in the order of
// the journal, so a view of the store shows the state after all events up to one moment; the events of a running system
// go on meanwhile.
package archive
