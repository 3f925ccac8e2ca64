// Package outbox keeps what leaves a committed event, in its order, until its time has come. It runs nothing: a call that waits is of
// a type of the run's, C or E, of which this package knows no more than the order in which to give it back.
//
//	lane.go      Lanes: sub-events, one FIFO for each issuer and target
//	timer.go     Timers: what is due later; late.go: what was due while the store was closed; timerrow.go: their rows
//	output.go    Output: what leaves when it is durable, in the order of the commits; Lines: the lines of a stream
//	mailbox.go   Mailbox: the callbacks of one client
//	object.go    Objects: the client objects that rows refer to by a number
//	session.go   Sessions: durable sessions, and the outcomes of their requests
//	stripes.go   Stripes: the mutexes under which events add to several of these
//
// Their mutexes are leaves: a goroutine that has one takes no other, those of Stripes excepted, which are taken before.
package outbox
