// Package race tells tests whether they run under the race detector: long tests do less then,
// and limits of time are longer.
package race

// Slower is how many times slower a test is taken to be: 10 under the race detector, whose
// documentation says 2 to 20, and 1 without.
const Slower = slower
