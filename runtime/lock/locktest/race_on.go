//go:build race

package locktest

// raceDetector is on: the core has no concurrency of its own to check, so the explorer
// runs a part.
const raceDetector = true
