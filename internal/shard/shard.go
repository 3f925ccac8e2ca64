// Package shard divides data that many goroutines use at once into parts, each in cache lines of
// its own.
package shard

// Count is into how many parts a Set is divided.
const Count = 64

// Set is Count of T, each in cache lines of its own. The zero value is ready to use.
type Set[T any] [Count]struct {
	part T
	_    [64]byte
}

// Of returns the part of a number. Neighbouring numbers have different ones.
func (s *Set[T]) Of(n uint64) *T { return &s[Index(n, Count)].part }

// At returns part i.
func (s *Set[T]) At(i int) *T { return &s[i].part }

// All visits every part.
func (s *Set[T]) All(visit func(*T) bool) {
	for i := range s {
		if !visit(&s[i].part) {
			return
		}
	}
}

// Index spreads numbers over 0 to n-1. Neighbouring numbers have different places.
func Index(number uint64, n uint64) uint64 { return number * 0x9e3779b97f4a7c15 >> 32 % n }
