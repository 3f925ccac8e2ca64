// Package kill kills processes. Its tests start programs that keep their state in a directory, end them with
// SIGKILL, or in order with SIGTERM, at random moments, start them again, and look whether anything was lost, done twice, or seen
// out of order. There is no other code in it.
package kill
