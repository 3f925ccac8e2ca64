package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/fault"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
)

// TargetOpener opens the place at an address, for snapshots. A *snapshot.AwayError comes with a place that does not answer now.
type TargetOpener func(ctx context.Context, address string) (snapshot.Target, error)

// How long the place of the snapshots may take to answer: when a program starts, which then goes on without, and when it is to take a snapshot and end.
const (
	snapshotOpenMax = 5 * time.Second
	snapshotOnceMax = 30 * time.Second
)

// openSnapshots opens the place that the user has named for snapshots.
func (k *keeping) openSnapshots(ctx context.Context, within time.Duration) (err error) {
	if k.Snapshots == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	k.target, err = k.openTarget(ctx, k.Snapshots)
	return err
}

// beginSnapshots is openSnapshots for a program that starts. A place that does not answer keeps it from that no more than it ends a program that runs: each
// snapshot tries again.
func (k *keeping) beginSnapshots(log *slog.Logger) error {
	err := k.openSnapshots(context.Background(), snapshotOpenMax)
	if away := new(snapshot.AwayError); errors.As(err, &away) {
		log.Error("no snapshot can be taken yet", "to", k.Snapshots, "every", k.SnapshotEvery, "error", away.Cause)
		return nil
	}
	return err
}

// nameActor reads --snapshot-actor. It does not check that the actor exists, as that may be made later.
func (k *keeping) nameActor(p *Package) (err error) {
	if k.SnapshotActor == "" {
		return nil
	}
	if k.actor, err = archive.ParseActorName(p.Name, k.SnapshotActor); err != nil {
		return fmt.Errorf("--snapshot-actor: %w", err)
	}
	var names []string
	for _, c := range AllClasses(p) {
		names = append(names, c.Package+"."+c.Name)
	}
	if err := k.actor.Among(names); err != nil {
		return fmt.Errorf("--snapshot-actor: %w", err)
	}
	return nil
}

// startSnapshots takes snapshots of s at intervals until stop is called, which cuts off one under way and waits for its
// end.
func (k *keeping) startSnapshots(s *System, log *slog.Logger) (stop func()) {
	if k.target == nil {
		return func() {}
	}
	if k.SnapshotActor != "" { // a wrong name is reported now, and not after an hour
		if _, err := k.actor.Find(k.store); err != nil {
			log.Warn("no snapshot can be taken yet", "error", sayMissing(err))
		}
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

// NodeSnapshots takes the snapshots of the systems that a node of a cluster opens, one at a time. A nil NodeSnapshots takes none.
//
// Each node has a place of its own below the one that the user has named. One process at a time may write what belongs to a store: a leader that is
// paused while it sends a snapshot goes on when another node has taken the next ones, and each would delete what the other is about to list.
type NodeSnapshots struct {
	keeping
	all   snapshot.Target // has the places of all nodes
	began time.Time
}

// lastSnapshot is the last one of a cluster that is whole. A nil lastSnapshot notes nothing.
type lastSnapshot struct {
	mu    sync.Mutex
	taken time.Time // the zero time: none is known
}

// note notes a snapshot that is whole.
func (l *lastSnapshot) note(taken time.Time) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if taken.After(l.taken) {
		l.taken = taken
	}
}

// Note notes when a snapshot of the cluster was taken that is whole, as this node has taken it or another one has told.
func (n *NodeSnapshots) Note(taken time.Time) {
	if n != nil {
		n.last.note(taken)
	}
}

// Last returns when the last snapshot of the cluster was taken, the zero time if none is known.
func (n *NodeSnapshots) Last() time.Time {
	if n == nil || n.last == nil {
		return time.Time{}
	}
	n.last.mu.Lock()
	defer n.last.mu.Unlock()
	return n.last.taken
}

// Began returns when the node has begun to look for snapshots.
func (n *NodeSnapshots) Began() time.Time { return n.began }

// find notes the last snapshot of a store that there is: nodes that have all been restarted know none.
func (n *NodeSnapshots) find(ctx context.Context, store string, log *slog.Logger) {
	if !n.Last().IsZero() {
		return
	}
	f, err := snapshot.Find(ctx, n.all, snapshot.Wanted{Actor: n.SnapshotActor, Store: store})
	none, others := new(snapshot.NotFoundError), new(snapshot.AmbiguousError)
	switch {
	case errors.As(err, &none) || errors.As(err, &others) || ctx.Err() != nil:
	case err != nil:
		log.Warn("it is not known when the last snapshot was taken; the next one tells", "in", n.all.String(), "error", err)
	case slices.ContainsFunc(f.Parts, func(p snapshot.Part) bool { return p.Store == store }):
		n.Note(f.Parts[0].Taken)
	}
}

// turn is taken while a snapshot is: a system that was abandoned may still take one. It may be long until it is free, so a system that is closed does not wait for it.
type turn chan struct{}

// take waits for the turn. It reports false if ctx ends before.
func (t turn) take(ctx context.Context) bool {
	if t == nil {
		return true
	}
	select {
	case t <- struct{}{}:
		return true
	default:
	}
	select {
	case t <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (t turn) leave() {
	if t != nil {
		<-t
	}
}

// Open opens the place of a node, if the user has asked for snapshots. nodes returns all that have ever been in the cluster.
func (n *NodeSnapshots) Open(node event.NodeID, nodes func() []event.NodeID, log *slog.Logger) error {
	if n == nil || n.Snapshots == "" {
		return nil
	}
	if err := n.beginSnapshots(log); err != nil {
		return err
	}
	n.taking, n.last, n.all, n.began = make(turn, 1), new(lastSnapshot), n.target, time.Now()
	name := func(of event.NodeID) string { return fmt.Sprintf("node%d", of) }
	n.target = snapshot.Below(n.target, name(node), func() (others []string) {
		for _, other := range nodes() {
			if other != node {
				others = append(others, name(other))
			}
		}
		return others
	})
	return nil
}

// Prune deletes what the node has sent of stores that other nodes lead now, as that grows old by what these send.
func (n *NodeSnapshots) Prune(ctx context.Context, stores []string, log *slog.Logger) {
	if !n.taking.take(ctx) {
		return
	}
	defer n.taking.leave()
	n.delete(ctx, log, notDeleted, func(ctx context.Context) error {
		_, err := snapshot.PruneAll(ctx, n.target, stores, n.SnapshotKeep)
		return err
	})
}

// start takes snapshots of a system until stop is called. Those of several stores are taken together: see Halted.
func (n *NodeSnapshots) start(s *System, st *store.Store, log *slog.Logger) (stop func()) {
	if n.Every() == 0 || s.Across() != nil && s.Across().ID() != 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var found sync.WaitGroup
	found.Go(func() { n.find(ctx, st.Identity().Store, log) })
	end := func() {}
	if s.Across() == nil {
		k := n.keeping
		k.store = st
		end = k.startSnapshots(s, log)
	}
	return func() {
		cancel()
		end()
		found.Wait()
	}
}

// takeSnapshot takes a snapshot, and deletes those that are too old. A failure is logged; the next snapshot is the
// next try.
func (k *keeping) takeSnapshot(ctx context.Context, s *System, log *slog.Logger) {
	if !k.taking.take(ctx) {
		return
	}
	defer k.taking.leave()
	k.attempt(ctx, log, func() (*snapshot.Saved, error) { return k.save(ctx, s) })
}

// attempt takes a snapshot by save. The caller has the turn.
func (k *keeping) attempt(ctx context.Context, log *slog.Logger, save func() (*snapshot.Saved, error)) {
	start := time.Now()
	saved, err := save()
	if err != nil {
		if ctx.Err() == nil {
			log.Error("no snapshot was taken", "to", k.target.String(), "error", err)
			k.clean(ctx, saved, err, log)
		}
		return
	}
	tell(log, saved, start)
	k.last.note(saved.Taken)
	k.prune(ctx, &saved.Manifest, log)
}

// tell logs a snapshot.
func tell(log *slog.Logger, saved *snapshot.Saved, start time.Time) {
	rows, bytes := saved.Size()
	log.Info("snapshot", "name", saved.Name, "of", saved.Of(), "rows", rows, "bytes", bytes, "new", saved.NewBytes, "took", time.Since(start))
}

// prune deletes what is older than the snapshots that are kept.
func (k *keeping) prune(ctx context.Context, newest *snapshot.Manifest, log *slog.Logger) {
	k.delete(ctx, log, notDeleted, func(ctx context.Context) error {
		_, err := snapshot.Prune(ctx, k.target, newest, k.SnapshotKeep)
		return err
	})
}

// clean deletes what snapshots that failed have sent, but what the last one has, which has failed with err, unless the disk is full. If nothing was sent,
// saved is nil.
func (k *keeping) clean(ctx context.Context, saved *snapshot.Saved, err error, log *slog.Logger) {
	if saved == nil {
		return
	}
	sent := &saved.Manifest
	if full := new(snapshot.DirError); errors.As(err, &full) && full.Kind == fault.Space {
		sent = nil
	}
	k.delete(ctx, log, "what snapshots that failed have sent was not deleted", func(ctx context.Context) error {
		_, err := snapshot.Clean(ctx, k.target, snapshot.Wanted{Store: saved.Store, Actor: k.SnapshotActor}, k.SnapshotKeep, sent)
		return err
	})
}

const notDeleted = "not all of what is old was deleted"

// delete calls f, which deletes something in the place of the snapshots.
func (k *keeping) delete(ctx context.Context, log *slog.Logger, left string, f func(ctx context.Context) error) {
	deleting, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(deleteMax, stop) })()
	if err := f(deleting); err != nil && deleting.Err() == nil {
		log.Warn(left, "in", k.target.String(), "error", err)
	}
}

// deleteMax is how long the deletion of old snapshots may go on when the program ends. Without it one too many would be kept when that comes right
// behind a snapshot.
const deleteMax = time.Second

// save makes a snapshot of all actors, or of the one that the user has named.
func (k *keeping) save(ctx context.Context, s *System) (*snapshot.Saved, error) {
	a, err := s.Archive()
	if err != nil {
		return nil, err
	}
	if k.SnapshotActor == "" {
		return a.Snapshot(ctx, k.target)
	}
	saved, err := a.SnapshotNamed(ctx, k.target, k.actor)
	return saved, sayMissing(err)
}

// sayMissing adds the remedy to the error of an actor that does not exist.
func sayMissing(err error) error {
	none, other := new(archive.NoActorError), new(archive.OtherActorError)
	if errors.As(err, &none) || errors.As(err, &other) {
		return fmt.Errorf("%w; it is looked for each time, and --snapshot-actor names another", err)
	}
	return err
}

// everything is the value of --snapshot-once for all that is in a directory.
const everything = "all"

// snapshotOnce takes a snapshot of a directory that no program uses, as the classes of this one want it, instead of
// running. It returns the exit code.
func (r *mainRun) snapshotOnce(out io.Writer) int {
	var root ActorID
	if r.once != everything {
		var err error
		if root, err = event.ParseActorID(r.once); err != nil {
			r.fail(exitUsage, "--snapshot-once: %v; `aeond snapshot` finds actors by name", err)
			return r.code
		}
	}
	r.log = newLog(r.stderr, true)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	told := make(chan os.Signal, 1)
	go func() { // ends with the context
		select {
		case sig := <-r.signals:
			insist()
			told <- sig
			cancel()
		case <-ctx.Done():
		}
	}()
	saved, err := r.keeping.takeStopped(ctx, r.p, root, r.log)
	var failed *archive.OverrideError
	switch {
	case err != nil && len(told) > 0:
		sig := <-told
		r.fail(SignalCode(sig), "no snapshot was taken: %v", sig)
	case errors.As(err, &failed):
		r.fail(exitFailed, "no snapshot was taken: %v", err)
	case err != nil:
		r.fail(exitRefused, "no snapshot was taken: %v", err)
	default:
		_, bytes := saved.Size()
		fmt.Fprintf(out, "%s: %d bytes, %d of them new\n", saved.Name, bytes, saved.NewBytes)
	}
	return r.code
}

// takeStopped takes a snapshot of what is in the directory, as the classes of the program want it.
func (k *keeping) takeStopped(ctx context.Context, p *Package, root ActorID, log *slog.Logger) (saved *snapshot.Saved, err error) {
	if err := k.openSnapshots(ctx, snapshotOnceMax); err != nil {
		return nil, err
	}
	engine, err := k.open(k.Dir, store.EngineOptions{Program: p.Name, Log: log, MustExist: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	s := archive.Stopped{View: engine, Identity: store.Identity{Program: p.Name, Place: k.Dir}}
	if e, ok := engine.(store.Identified); ok {
		s.Identity = e.Identity()
	}
	if s.Overrides, err = exec.StoppedOverrides(engine, AllClasses(p), log); err != nil {
		return nil, err
	}
	return s.Snapshot(ctx, k.target, root)
}
