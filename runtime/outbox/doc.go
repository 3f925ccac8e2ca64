// Package outbox keeps what leaves a committed event, in its order, until its time has come. It runs no code of programs:
// the type of the calls that wait is a type parameter. The run puts calls in, and is given each of them back when its turn or its
// time has come.
//
//	lane.go      Lanes: sub-events, one FIFO for each issuer and target
//	timer.go     Timers: calls that are due later; late.go: those due while the store was closed; timerrow.go: their rows
//	subevent.go  the rows of sub-events and steps of chains
//	tries.go     Tries: calls of Go functions that have an effect, which are tried in goroutines of their own
//	output.go    Output: what leaves when it is durable, in the order of the commits; Lines: the lines of a stream
//	newest.go    Newest: failures, for inspection
//	mailbox.go   Mailbox: the callbacks of one client
//	object.go    Objects: the client objects that rows refer to by a number
//	request.go   Request: a request that may come again, while it is performed. Perform, of its session or of Keyed, runs it once, and reads the
//	             outcome if it comes again
//	unclaimed.go Unclaimed: failures that may still be awaited
//	session.go   Sessions: durable sessions, and the outcomes of their requests; keyed.go: Keyed: those of requests with keys
//	ends.go      Ends: requests whose chains go on in other stores, and the ends of such chains
//	dead.go      DeadLetters: which dead letters a store keeps
//	stripes.go   Stripes: the mutexes under which events add to several of these
//
// Their mutexes are leaves: a goroutine that holds one takes no other. Those of Stripes are taken before them.
package outbox
