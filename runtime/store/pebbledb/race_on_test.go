//go:build race

package pebbledb_test

// slower is how many times less the long tests do under the race detector.
const slower = 10
