// Package commit has an event that has touched actors of several stores happen in all of them, or in none: two-phase commit, with
// presumed abort. docs/protocol.md has the rules (Commit over several stores), and how they were checked.
//
// The package is a sans-IO core, as runtime/lock is. Inputs are method calls, outputs are [Effect] values appended to a buffer that the
// caller owns. There is no goroutine, clock, randomness, I/O or dependence on map order inside.
//
// # Machines
//
// The home of an event is the store of its target; every other store that it touches is a participant. Each start of a store, which is a term of
// its leader, has one [Home] for the events that are its own, and one [Participant] for those of other stores. A [Name] is an attempt of an event.
//
// # Rules
//
//	[NAME]     an attempt is named by its event and a number that its home gives once, in all its starts: no name is used again
//	[PREPARE]  when all branches have ended, the home asks each participant to vote
//	[VOTE]     a participant votes yes if it has all that it has granted the attempt; what the attempt writes there is then a row that is
//	           durable; where it has only read, all that it has seen is durable, and the store's node still leads
//	[EARLY]    a participant may vote with an answer, before the home asks, and holds its locks until the decision. The vote counts if the attempt
//	           has asked nothing more of the participant since, and a row holds what it votes for, or the attempt has taken no lock in any store since: then
//	           all is as if the home had asked at that moment. What it reads without a lock, as that an actor is deleted, counts as a lock
//	[LAST]     a participant that has only read, and is told that the attempt needs no lock after that, votes with its answer and is over: it releases
//	           its locks. If the attempt takes one all the same, or asks for more there, it is withdrawn
//	[HOLD]     a row has all locks of the attempt in its store. There is one where the attempt has only read, too, if nothing may be seen of what follows it before
//	           it is decided, as it tells something
//	[DECIDE]   with all votes the home appends the decision, in the batch of its own writes: the commit point. The answer and the decision leave
//	           when it is durable. If nothing is written anywhere the votes are the decision
//	[RESOLVE]  what is prepared stays until its home says what was decided. The participant then appends the writes, or that there are none, and
//	           says so when that is durable. The home keeps a decision until each store that has to carry it out has done so
//	[PRESUME]  what a home does not know was not committed, and what a participant does not know, and has committed, was carried out. Either is said when it is
//	           known that the store's node has led since: a former leader does not know what its successors have decided, or prepared
//	[WITHDRAW] before the decision is appended an attempt can be withdrawn at any time, by its home; a participant may drop what has no row
//	[QUIESCE]  a home may wait, with all votes, before it decides what other stores have to carry out. What it has decided before they carry out
//	           meanwhile: that needs no lock, and no other decision. An attempt that waits so can be withdrawn
//	[RESTORE]  a store that starts restores its decisions and what is prepared, with its locks, before it admits or answers anything
//
// An attempt that aborts by itself, or only reads, asks for votes, too: an answer tells of nothing that a crash can take back.
//
// # Sessions
//
// Messages go in sessions, as those of the locks do (lock.Peer): a session is of one start of either store, and delivers a message once, or ends; there is
// no order in it. When the session with another store ends, both machines are told (Lost) before anything of the next one arrives, and when
// the next one has begun (Up). What is durable is told again there. So no message has to say of which start it is.
package commit
