// Package race tells tests whether the race detector watches them: long ones do less then, and
// what has to be done in a certain time gets more of it.
package race

// Slower is how many times slower a test is taken to be: 10 under the race detector, whose
// documentation says 2 to 20, and 1 without.
const Slower = slower
