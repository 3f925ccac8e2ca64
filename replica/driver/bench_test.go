package driver_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// BenchmarkCommit has 64 clients append a batch of two keys each, and wait until it is durable: on pebble alone, and on one and three
// replicas in this process, which share its disk.
func BenchmarkCommit(b *testing.B) {
	quiet := slog.New(slog.DiscardHandler)
	o := store.EngineOptions{Program: "bench", Log: quiet}
	for _, replicas := range []int{0, 1, 3} {
		b.Run(fmt.Sprintf("replicas=%d", replicas), func(b *testing.B) {
			dir := b.TempDir()
			var e store.Engine
			var err error
			if replicas == 0 {
				e, err = pebbledb.Open(dir, o)
			} else {
				var places []driver.Place
				for i := range replicas {
					places = append(places, driver.Dir{Root: filepath.Join(dir, fmt.Sprint(i)), Opener: pebbledb.Open, Options: o, LogOptions: o})
				}
				e, err = replicatest.OpenEngine(replicatest.Config{Places: places, Logger: quiet})
			}
			if err != nil {
				b.Fatal(err)
			}
			s, err := store.Open(e, store.Options{Program: "bench", Log: quiet})
			if err != nil {
				b.Fatal(err)
			}
			var next atomic.Uint64
			value := make([]byte, 60)
			b.SetParallelism(32)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					n := next.Add(1)
					batch := s.NewBatch()
					batch.Set(fmt.Appendf(nil, "sa%08d", n%100000), value)
					batch.Set(fmt.Appendf(nil, "sb%08d", n%100000), value)
					if err := s.Wait(b.Context(), s.Append(batch)); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.StopTimer()
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
