// Package state keeps the actors of a system in a store: it brings them into memory and drops them, writes what a commit
// changes of them into its batch, and reads them when the store is opened. It knows nothing of code: what an attempt has changed is
// told by the attempt and by those that run it.
//
//	state.go     State: what is kept, its users, errors
//	writer.go    Writer: fields, headers, edges and names into a batch
//	recover.go   the actors with several owners, and what is above them
//	layouts.go   the layouts of fields, those of now and of earlier versions
//	signature.go the signatures of methods, of which calls wait
//	registry.go  the handle of each actor that something refers to
//	attach.go    an actor comes into the graph; detach.go: it leaves
//	load.go      its state comes into memory; evict.go: it leaves, for the sake of a limit
//	name.go      the actor of a name
//	inspect.go   the states of all actors, for comparisons
//
// The evictor's locks: evictor before a shard of registry, attaching or loads.
package state
