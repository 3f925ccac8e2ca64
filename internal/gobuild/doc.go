// Package gobuild turns checked packages into executables: it generates their Go, and
// owns the cache directory, the copy of the runtime's source there, and every call of
// the Go toolchain. What is wrong with a program has been reported before, by load and
// typecheck.
//
// A build never writes outside the cache. The program's packages exist only in an
// overlay of a small module that the cache holds beside the runtime. So neither a
// go.mod of the user nor the network is involved, and concurrent builds cannot disturb
// each other; those of one executable wait, and make it once. A package keeps its Go build directory from one edit to the next, which
// lets Go reuse what has not changed.
package gobuild
