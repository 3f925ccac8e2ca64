// Package load finds the .aeon sources that a command names and loads them
// as packages: parsed, checked, and with the packages they import.
//
// A directory is a package. Outside a Go module imports are relative to the
// importing directory ("./cook"); inside one they may also begin with the
// module's path, as in Go.
package load
