//go:build race

package lock

// raceDetector is on: the core has no concurrency of its own to check, so the explorer
// runs a part.
const raceDetector = true
