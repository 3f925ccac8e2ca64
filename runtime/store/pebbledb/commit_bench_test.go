package pebbledb_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// slice is how long one side of a comparison runs before the other has its turn.
const slice = 100 * time.Millisecond

// BenchmarkCommit commits batches of one row (16 bytes of key, 100 of value) by a number of
// committers in a closed loop, beside pebble's own commits with and without a sync, taking
// turns. It reports commits per second of each, and ours as a multiple of pebble's.
func BenchmarkCommit(b *testing.B) {
	for _, committers := range []int{1, 64, 1024} {
		b.Run(fmt.Sprint(committers), func(b *testing.B) { compareCommits(b, committers) })
	}
}

func compareCommits(b *testing.B, committers int) {
	engine, err := pebbledb.Open(b.TempDir(), store.EngineOptions{Program: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Open(engine, store.Options{Program: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	peer, err := pebble.Open(b.TempDir(), &pebble.Options{
		FormatMajorVersion: pebble.FormatNewest, MemTableSize: 32 << 20, MemTableStopWritesThreshold: 6, L0StopWritesThreshold: 1000, Logger: quiet{}})
	if err != nil {
		b.Fatal(err)
	}
	defer peer.Close()
	sides := []struct {
		name   string
		commit func(key, value []byte) error
	}{
		{"ours", func(key, value []byte) error {
			batch := s.NewBatch()
			batch.Set(key, value)
			return s.Wait(context.Background(), s.Append(batch))
		}},
		{"sync", func(key, value []byte) error { return commitPeer(peer, key, value, pebble.Sync) }},
		{"nosync", func(key, value []byte) error { return commitPeer(peer, key, value, pebble.NoSync) }},
	}
	commits, elapsed := make([]int, len(sides)), make([]time.Duration, len(sides))
	for b.Loop() {
		for i, side := range sides {
			n, took := commitFor(b, committers, side.commit)
			commits[i] += n
			elapsed[i] += took
		}
	}
	rate := func(i int) float64 { return float64(commits[i]) / elapsed[i].Seconds() }
	for i, side := range sides {
		b.ReportMetric(rate(i), side.name+"/s")
	}
	b.ReportMetric(rate(0)/rate(1), "x_sync")
	b.ReportMetric(rate(0)/rate(2), "x_nosync")
	b.ReportMetric(0, "ns/op")
}

func commitPeer(db *pebble.DB, key, value []byte, o *pebble.WriteOptions) error {
	batch := db.NewBatch()
	if err := batch.Set(key, value, nil); err != nil {
		return err
	}
	if err := batch.Commit(o); err != nil {
		return err
	}
	return batch.Close()
}

// commitFor lets the committers commit for a slice and returns how many commits that were.
func commitFor(b *testing.B, committers int, commit func(key, value []byte) error) (int, time.Duration) {
	var wg sync.WaitGroup
	counts := make([]int, committers)
	began := time.Now()
	for c := range committers {
		wg.Go(func() {
			key, value := make([]byte, 16), make([]byte, 100)
			binary.BigEndian.PutUint64(key, uint64(c))
			n := 0
			for ; time.Since(began) < slice; n++ {
				binary.BigEndian.PutUint64(key[8:], uint64(n))
				if err := commit(key, value); err != nil {
					b.Error(err)
					return
				}
			}
			counts[c] = n
		})
	}
	wg.Wait()
	total := 0
	for _, n := range counts {
		total += n
	}
	return total, time.Since(began)
}

type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
