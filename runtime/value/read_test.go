package value_test

import (
	"testing"

	"github.com/aeon-lang/aeon/runtime/value"
)

var readSum int64

// BenchmarkRead reads containers that are in memory, beside Go's own.
func BenchmarkRead(b *testing.B) {
	var v value.Vector[int64]
	var m value.Map[int64, int64]
	s, g := []int64{}, map[int64]int64{}
	for i := range int64(1024) {
		value.Push(&v, i)
		value.SetEntry(&m, i, i)
		s = append(s, i)
		g[i] = i
	}
	b.Run("vector", func(b *testing.B) {
		for i := range b.N {
			readSum += v.At(int64(i & 1023))
		}
	})
	b.Run("slice", func(b *testing.B) {
		for i := range b.N {
			readSum += s[i&1023]
		}
	})
	b.Run("items", func(b *testing.B) {
		for range b.N {
			for _, x := range v.Items() {
				readSum += x
			}
		}
	})
	b.Run("map", func(b *testing.B) {
		for i := range b.N {
			readSum += m.Lookup(int64(i & 1023))
		}
	})
	b.Run("go", func(b *testing.B) {
		for i := range b.N {
			readSum += g[int64(i&1023)]
		}
	})
	b.Run("at", func(b *testing.B) {
		for i := range b.N {
			readSum += m.At(int64(i & 1023))
		}
	})
}
