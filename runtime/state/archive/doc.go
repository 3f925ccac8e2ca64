// Package archive reads and writes the actors of a store that need no system to run: snapshots, what is restored from
// them, the whole ownership graph, and actors by what people call them.
//
//	snapshot.go   Stopped: a snapshot of a store that no system uses
//	cut.go        Cut: an actor and all that it reaches, in a view
//	override.go   Overrides: what snapshot blocks change of it
//	restore.go    rows of a snapshot into a store: all of it, or one actor
//	ownership.go  Ownership: the graph of owners and the sequencing tree, all of it
//	actorname.go  ActorName: Class/name, Class:id or id; actorfind.go finds it
//
// A snapshot needs no lock and no event: batches are in the store whole and in the order of
// the journal, so what a view of the store shows is what the events up to one moment have
// left. Events go on meanwhile.
package archive
