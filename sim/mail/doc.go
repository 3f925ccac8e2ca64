// Package mail is a test of calls of Go functions after the commit: processes that make them are killed, and what the calls have
// left outside of the program is compared with what the program knows.
package mail
