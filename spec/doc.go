// Package spec is the meaning of aeon programs, made to run: an interpreter that follows
// the rules of semantics.md by their names, one event at a time.
//
// It is small and slow on purpose, and shares nothing with codegen and runtime, so that
// what both agree on is not a mistake that both have.
//
// A [Program] is a checked package; an [Entry] is its main or one of its tests. A [Machine]
// runs an entry: it has a state, which steps replace and never change, and says which
// steps may come next. [Program.Run] lets a [Chooser] pick them; package explore tries all.
//
// Where the rules are:
//
//	stmt.go       [SEQ] [IF] [LOOP] [SWITCH]
//	frame.go      [READ], and calls within one object
//	store.go      [WRITE], with the paths that it goes to
//	owner.go      [ADD-EDGE] [REMOVE-EDGE]
//	event.go      [SYNC-CALL] [RE-ENTER] [ASYNC-CALL] [ASYNC-JOIN] [NEW-ACTOR] [DELETE] [PRINT] [NOW] [NAMED-CREATE] [EVENT-START] [COMMIT] [ABORT]
//	failure.go    [FAULT]
//	gocall.go     [GO]
//	identity.go   [RANDOM] [EVENTID]
//	state.go      [SUBEVENT], the queues, [DEAD-LETTER]
//	timer.go      [TIMER-SET] [TIMER-CANCEL] [TIMER-FIRE]
//	client.go     [EVENT-ISSUE] [CALLBACK-POST] [CLIENT-STEP] [AWAIT] [TRY]
//	machine.go    [CALLBACK-RUN] [SETTLE] [ADVANCE] [SLEEP] [END]
//	footprint.go  theorem 6: each event stays in its footprint
//
// What the rules leave to chance is left to the Chooser, and so are prints of clients
// if Options.Observe is set. In main, time passes only when nothing else can happen, unless
// Options.FreeTime is set.
package spec
