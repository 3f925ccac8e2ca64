// Package state keeps the actors of a system in a store: it brings them into memory and drops them, writes the changes of
// a commit into its batch, and reads the actors when the store is opened. It runs no code of programs: the attempt, and
// the code that runs it, tell what the attempt has changed.
//
//	state.go     State: its parts, configuration, visits and errors
//	writer.go    Writer: fields, headers, edges and names into a batch
//	recover.go   attaches the actors with several owners, and all actors above them
//	layouts.go   the layouts of fields, those of now and of earlier versions
//	signature.go the signatures of methods, for calls that wait
//	registry.go  the handle of each actor that has references
//	attach.go    brings an actor into the graph; detach.go takes it out
//	load.go      brings its state into memory; evict.go drops it, to keep a limit
//	name.go      the actor of a name; dying.go: actors that what is prepared deletes
//	inspect.go   the states of all actors, for comparisons; metrics.go: figures
//
// Order of the evictor's locks: evictor before a shard of registry, attaching or loads.
package state
