package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/history"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// ClusterConfig is what a node of a cluster needs to run a program.
type ClusterConfig struct {
	Package *Package
	settings.Cluster
	State      settings.State
	Listen     settings.Listen
	Trace      NodeTrace
	Spans      *NodeSpans
	Snapshots  *NodeSnapshots
	OpenEngine store.Opener
	Cache      *store.Cache // of the engines of states
	Create     bool         // a cluster may be begun in a directory that is there, and empty
	Seed       uint64
	Clock      Clock                // of the systems
	Stdout     io.Writer            // what the program prints
	Say        func(string, ...any) // writes a line for the user
	Log        *slog.Logger         // what the node logs
	Signals    <-chan os.Signal     // the first ends the node
}

// Exit codes of a node.
const (
	ExitRefused = exitRefused
	ExitStore   = exitStore
)

// errNoCluster answers flags of a program that cannot be a node.
var errNoCluster = errors.New("this program was compiled without what a node of a cluster needs; `aeonc build --cluster`, and `aeond start` with its sources, compile it so")

// ClusterRunner runs a program as a node of a cluster, until a signal comes or it fails. It returns the exit code.
type ClusterRunner func(ClusterConfig) int

// Led is the system of a store that a node leads, in one term.
type Led struct {
	System *System
	Store  *store.Store
	trace  tracing
	of     *ClusterConfig
	spans  *span.Tracer

	endSnapshots func() // also cuts off one that is under way, and waits for its end
	halts        halts
}

// Recover opens the program's system on an engine that has the state of a store, which node leads. among says which of several stores it is; nil: it is the
// only one. fatal is called once, when the store has failed.
func (c *ClusterConfig) Recover(node event.NodeID, e store.Engine, number event.StoreID, among *Across, fatal func(error)) (l *Led, err error) {
	l = &Led{of: c}
	if l.Store, err = store.Open(e, store.Options{Program: c.Package.Name, Number: number, Durability: c.State.Durability, Log: c.Log, Fatal: fatal}); err != nil {
		return nil, err
	}
	cfg := Config{Stdout: c.Stdout, Seed: c.Seed, Clock: c.Clock, Log: c.Log, Store: l.Store, Classes: AllClasses(c.Package), ClientClasses: AllClientClasses(c.Package), DropFields: c.State.DropFields,
		MemoryMax: statesMax(&c.State), Across: among}
	h, cluster := trace.Header{Program: c.Package.Name, Seed: c.Seed, Node: node}, ""
	if among != nil {
		cluster = among.Cluster
		h.Cluster, h.Stores, h.Number = cluster, among.Stores, among.Store
	}
	header, err := history.Header(h, l.Store)
	if err == nil {
		if err := l.trace.openStart(c.Trace, fmt.Sprintf("%.8s", header.Store), header.Run, c.Log); err != nil {
			c.Log.Error("this node leads a store without a trace of it", "store", header.Store, "error", err) // it is there to serve
		}
		var failed error
		if l.spans, failed = c.Spans.Begin(node, header.Store, cluster); failed != nil {
			c.Log.Error("this node leads a store without spans of it", "store", header.Store, "error", failed)
		}
		cfg.Spans = l.spans
		l.System, err = Recover(l.trace.begin(cfg, header))
	}
	if err != nil {
		_ = l.Store.Close() // the error that counts is the first
		l.endRecords()
		return nil, err
	}
	l.endSnapshots = c.Snapshots.start(l.System, l.Store, c.Log)
	l.halts.open()
	return l, nil
}

// Close ends the system, then the store, and what both record.
func (l *Led) Close() error {
	l.endSnapshots() // they read the store
	l.halts.close()
	if l.System.Across() != nil {
		l.leave()
	}
	l.System.Close()
	err := l.Store.Close()
	if errors.Is(err, errLeft) {
		err = nil
	}
	l.trace.end(l.System, err)
	l.endRecords()
	return err
}

// errLeft is why the store of a system among several takes nothing any more that is closed.
var errLeft = errors.New("this node does not lead the store any more")

// leaveMax bounds how long a system that is closed waits for its disk.
const leaveMax = time.Second

// leave ends what the system has with other stores, which begin anew with the next leader. What is in doubt here has to stay so on the disk, as its home may have
// decided: to undo it, or to let another event have its locks, is for memory alone. So the store takes nothing from then on, as after a failure.
func (l *Led) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveMax)
	defer cancel()
	_ = l.Store.Flush(ctx) // what was answered before it was durable; a store that has failed, or takes longer, loses that as in a crash
	l.Store.Fail(errLeft)
	l.System.Abandon()
}

func (l *Led) endRecords() {
	if err := l.trace.close(); err != nil {
		l.of.Log.Error("the trace of a store that this node led", "error", err)
	}
	go l.of.Spans.End(l.spans) // within span.CloseMax, for which the next leader does not wait
}

// StateOptions are those of the engines of states, which share the cache of the node.
func (c *ClusterConfig) StateOptions() store.EngineOptions {
	return store.EngineOptions{Program: c.Package.Name, Log: c.Log, Cache: c.Cache}
}

// What a node may take besides memoryBeside: its log has 128 MiB that are in no table while the disk keeps up. Each store has 16 MiB, and as much that is in the log
// of its engine with the next sync, or in that of the replicas alone.
const (
	logBeside   = 128 << 20
	storeBeside = 32 << 20
)

// LimitMemory has the process of a node that keeps so many stores collect garbage more often rather than grow beyond --memory and what it takes besides.
func (c *ClusterConfig) LimitMemory(stores int) {
	limitMemory(&c.State, memoryBeside+logBeside+int64(stores)*storeBeside)
}

// logCacheBytes is the cache of an engine with a log: what is read of it was written lately, and the reader has kept most of that itself.
const logCacheBytes = 4 << 20

// LogOptions are those of an engine with a log, which has a cache of its own.
func (c *ClusterConfig) LogOptions() store.EngineOptions {
	return store.EngineOptions{Program: c.Package.Name, Log: c.Log, Cache: &store.Cache{Bytes: logCacheBytes}}
}
