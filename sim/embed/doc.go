// Package embed has the tests of programs that run inside of Go processes: callbacks into Go, and package aeontest.
package embed
