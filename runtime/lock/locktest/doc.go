// Package locktest checks the core of the locks, and what drives it, in all the orders in which things can happen. It is
// imported by tests alone.
//
// A world is one state of a small cluster: actors in an ownership graph and a sequencing tree, hosts whose views may be
// stale, messages under way, and events that are call trees. It drives the production core, and nothing but it, as the
// package comment of lock asks of a driver: at once on one host, by messages between hosts. The oracle watches each
// access: that it is covered by a hold, that no two holds conflict, that admission is FIFO, and that the order of the
// events stays acyclic. A state in which nothing can happen while an event has not ended is a deadlock.
//
// Hosts may be stores, each with a tree of its own: then TOP orders the events that touch several, these may take later what they did not know of, and commit
// in all of them or in none, by the machines of package commit (above.go, grow.go, decide.go). Stores crash, and sessions end (sessions.go); holds may be on the fast path (fast.go).
//
// Configurations come from seeds ([Explore], [ExploreChains]), by package scene, or are written down. Files that read
// as documentation give single steps, with the answers of the core (testdata). A violation is shrunk, and shown as
// a transcript.
//
// A search visits each state once. Three reductions make it smaller: what cannot matter any more is forgotten
// (forget.go), deliveries that commute with all else are made at once (eager.go), and moves that are independent of
// each other are not made in both orders (sleep.go). Each is compared with the search without it.
package locktest
