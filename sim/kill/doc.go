// Package kill kills processes. Its tests start programs that keep their state in a directory, and end them at random
// moments, with SIGKILL, or in order with SIGTERM. They start the programs again, and look whether anything was lost,
// done twice, or seen out of order. There is no other code in it.
package kill
