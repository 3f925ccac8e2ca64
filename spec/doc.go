// Package spec is the meaning of aeon programs, made to run: an interpreter that follows
// the rules of semantics.md by their names, one event at a time.
//
// It is small and slow on purpose, and shares nothing with codegen and runtime, so that
// what both agree on is not a mistake that both have.
package spec
