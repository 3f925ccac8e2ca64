package runtime

import (
	"context"
	"log/slog"
	"time"

	"github.com/aeon-lang/aeon/runtime/snapshot"
)

// TargetOpener opens the place at an address, for snapshots.
type TargetOpener func(ctx context.Context, address string) (snapshot.Target, error)

// snapshotOpenMax is how long the place of the snapshots may take to answer when a program starts.
const snapshotOpenMax = 30 * time.Second

// openSnapshots opens the place that was named for snapshots.
func (k *keeping) openSnapshots() (err error) {
	if k.Snapshots == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), snapshotOpenMax)
	defer cancel()
	k.target, err = k.openTarget(ctx, k.Snapshots)
	return err
}

// startSnapshots takes snapshots of s by the clock, until the returned function is called, which
// waits for none.
func (k *keeping) startSnapshots(s *System, log *slog.Logger) (stop func()) {
	if k.target == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(k.SnapshotEvery)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				k.takeSnapshot(ctx, s, log)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// takeSnapshot takes one, and deletes what is too old. A failure is told and tried again next time.
func (k *keeping) takeSnapshot(ctx context.Context, s *System, log *slog.Logger) {
	start := time.Now()
	saved, err := s.Snapshot(ctx, k.target)
	if err != nil {
		if ctx.Err() == nil {
			log.Error("no snapshot was taken", "to", k.target.String(), "error", err)
		}
		return
	}
	rows, bytes := saved.Size()
	log.Info("snapshot", "name", saved.Name, "rows", rows, "bytes", bytes, "new", saved.NewBytes, "took", time.Since(start))
	if _, err := snapshot.Prune(ctx, k.target, saved.Store, snapshot.Node, k.SnapshotKeep); err != nil && ctx.Err() == nil {
		log.Warn("old snapshots were not deleted", "in", k.target.String(), "error", err)
	}
}
