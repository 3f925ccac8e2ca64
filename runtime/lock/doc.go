// Package lock is the synchronisation protocol: it decides which event may
// touch which actor when, so that events are strictly serialisable and never
// wait in a circle, and no event is aborted for a conflict.
//
// The package is a sans-IO core. Inputs are method calls, outputs are [Effect]
// values appended to a buffer the caller owns. There is no goroutine, clock,
// randomness, I/O or dependence on map order inside, so one core runs in the
// in-process driver, between hosts, and in the exhaustive explorer of locktest.
//
// # Machines
//
// [Queue] is the state at one node x of the sequencing tree T, at x's host. Seen
// from x it is the actor's lock; seen from the T-children of x it is the
// region's gate. [Home] is the event's own side: what it visits in the current
// attempt, and what an access needs. The driver supplies a [View], which holds
// all that depends on the program: footprints, T-routing, how far to expand.
//
// Type parameters: E identifies an event and N a node; the driver in one process
// uses pointers for both, so that nothing is looked up. The zero N is no node.
// Everything in a queue is keyed by ID, that is (event, attempt).
//
// # Rules
//
// The names in brackets are those of spec/semantics.md.
//
//	RULE-1  [ENTER]     Queue.Enter: a direct entry at the sequencer, revalidated at its admission
//	RULE-2  [SENDER]    only w's queue enqueues on T-children of w; enqueues are numbered per (w, child)
//	RULE-3  [COVER]     settled or lazy; what a hold covers is frozen at its grant
//	RULE-4  [ADMIT]     FIFO; wait for conflicting holders, and for lazy ones if anything below is wanted
//	RULE-5  [PASS]      a pass expands in one step and leaves; too many children: it stays, lazy
//	RULE-6  [ACQUIRE]   below a lazy hold, down the T-path one hold at a time
//	RULE-7  [RELEASE]   after the event's end, along the edges of its enqueues; tombstones
//	RULE-8  [OWN]       an ordinary event (footprint of the driver); Home.Fresh for fresh actors
//	RULE-9  [OWN]       an ordinary event
//	RULE-10 [MOVE]      Queue.Moved: c has another T-parent; strangers are refused
//	[WITHDRAW]          the release of an attempt that has not ended; Home.Withdraw enters again
//	VIRTUAL             a node that is only passed, never held
//	CRASH               Queue.Lost: the host of a T-neighbour has lost its queues; the session with it is over
//	FAST                Word: holds on the fast path, settled and without a name, earlier than all entries of the queue
//	GROW                Grow: an attempt over several hosts takes later what is free from the root of T down; Turns: its parts, in the order of TOP
//	NARROW              View.Expand may read fields of x only when it is told that x is held
//
// # What the driver latches
//
// Every node has a latch (a mutex in one process; the single thread of a host
// elsewhere). All methods of a Queue run under its latch.
//
//  1. A step at w and the local enqueues it makes are one atomic step: the driver
//     executes each [Enqueue] effect while it still holds w's latch, latching the
//     child and calling [Queue.Enqueue] on it, recursively. Latches are so taken
//     strictly downwards in T and cannot deadlock. For a child on another host it
//     sends the numbered message instead.
//  2. A pass at a virtual node in one process needs no queue there: latch the
//     children concerned in a fixed order of all nodes (checking under each latch
//     that its T-parent is still virtual, else unlatch all and start again),
//     enqueue on each with number 0, unlatch. The home keeps these edges itself.
//  3. [Release] effects are executed after the latch of the sender is released,
//     in any order. [Admitted] with the enqueues that belong to it, [Bounced] and
//     [Refused] are reports to the event's home; they may be delivered in any order,
//     latch held or not, but an Admitted and its enqueues together: Home.Deliver.
//     A release only wakes the next event, and never runs it.
//  4. A Home is guarded by its own latch, taken after any node's latch and never
//     while asking for one.
//
// # Between hosts
//
// What leaves a host is a [Message]: MessageOf makes one of an effect, and the driver adds what its View knows of the
// footprint. [Peer] carries it, in a session that ends when either host restarts; [Wire] writes it. At the addressee it
// goes to Queue.Receive, a grant to Home.Receive; what ends an attempt (Bounced, Refused, Severed) the driver
// answers as it does at home. Sessions of locktest's Network deliver in any order, or in the order of sending.
//
// # Methods of Queue, all under the latch of its node
//
//	Reset(self N)                                        // take from a pool; Idle() allows to put back
//	Try(id, from N, mode, children []N) (Ref, bool)      // fast path, no View: grant at once, settled on the children, or do nothing
//	Enter(v, id, out) (Ref, out)                         // RULE-1, direct entry
//	Enqueue(v, Sent, id, out) (Ref, out)                 // RULE-2; number 0 if sent under the T-parent's latch
//	Bind(entry Ref, edge int32, child Ref)               // after a local Enqueue: makes the release O(1)
//	Acquire(v, Ref, id, towards N, out) out              // RULE-6, at a lazy hold
//	Release(v, Ref, withdrawn bool, out) out             // RULE-7, by handle
//	ReleaseID(v, from N, id, withdrawn bool, out) out    // RULE-7, by key; leaves a tombstone if need be
//	Moved(v, out) out                                    // RULE-10, the T-parent has changed
//	Lost(peer N, out) out                                // CRASH, of the T-child or T-parent peer
//	Receive(v, *Message, out) out                        // one of the above, asked for by another host
//	Refresh(v, out) out                                  // try the head anew after the view has changed
//	See(Word); Gate(Word) (Word, ok); Left(v, Word, out) out // FAST: before an entry; to unlatch; holders have left
//	Idle() bool; Len() (holders, waiting int); Waits(…)  // bounds, pool, watchdog
//	Validate() error; Entries(…), Find(…), CopyFrom(…)   // and others, for tests
//
// From is the T-parent that sent the enqueue, the zero N for a direct entry.
//
// Exactly one release answers each enqueue: the home releases the entry (or its
// edges at a virtual entry), and each queue releases what it enqueued. A release
// may arrive first: then a tombstone awaits the enqueue. So nothing has to be
// remembered longer than a message is under way.
package lock
