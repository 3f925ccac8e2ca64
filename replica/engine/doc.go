// Package engine makes a store.Engine of one that a raft group agrees on.
//
// [State] is the state of a store on one node: an engine that takes what is committed, in the order of the log. Every member of
// the group has one, and all are equal: what was not committed is in none of them, ever.
//
// [Engine] is what the leader's system writes to and reads from, for one term. Apply joins the pending group; Sync proposes the
// group to the log and returns when it is committed. Until the engine of the leader's state has taken it, readers find it in an [overlay]. So an event
// that holds a lock waits for no other node, and neither does the next one that takes the lock.
//
//	Apply        batch -> pending, and into the overlay
//	Sync         pending -> parts -> log;  one group is under way at a time, further batches are pending
//	State.Apply  parts -> group, which is committed, and waits
//	State.Take   groups -> the state's engine, with the index of the log in the same batch; then out of the overlay
//
// A leader that is deposed fails its Engine: what is under way has an unknown fate, and the next leader's state shows it.
package engine
