package runtime

import (
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/store"
)

// ClusterConfig is what a node of a cluster needs to run a program.
type ClusterConfig struct {
	Package *Package
	settings.Cluster
	State      settings.State
	Listen     settings.Listen
	OpenEngine store.Opener
	Create     bool // a cluster may be begun in a directory that is there, and empty
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

// Recover opens the program's system on an engine that has the state of a store. fatal is called once, when the store has failed. The caller closes the
// system, then the store.
func (c *ClusterConfig) Recover(e store.Engine, number event.StoreID, fatal func(error)) (*System, *store.Store, error) {
	s, err := store.Open(e, store.Options{Program: c.Package.Name, Number: number, Durability: c.State.Durability, Log: c.Log, Fatal: fatal})
	if err != nil {
		return nil, nil, err
	}
	cfg := Config{Stdout: c.Stdout, Seed: c.Seed, Clock: c.Clock, Log: c.Log, Store: s, Classes: AllClasses(c.Package), DropFields: c.State.DropFields}
	if n := c.State.MemoryMax; n > 0 {
		cfg.MemoryMax = n - n/cacheShare
	}
	system, err := Recover(cfg)
	if err != nil {
		_ = s.Close() // the error that counts is the first
		return nil, nil, err
	}
	return system, s, nil
}

// StateOptions are those of the engines of states, which have the cache of a node.
func (c *ClusterConfig) StateOptions() store.EngineOptions {
	return store.EngineOptions{Program: c.Package.Name, Log: c.Log, CacheBytes: c.State.MemoryMax / cacheShare}
}

// logCacheBytes is the cache of an engine with a log: what is read of it was written lately, and the reader has kept most of that itself.
const logCacheBytes = 4 << 20

// LogOptions are those of the engines of logs.
func (c *ClusterConfig) LogOptions() store.EngineOptions {
	return store.EngineOptions{Program: c.Package.Name, Log: c.Log, CacheBytes: logCacheBytes}
}
