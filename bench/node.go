package main

import (
	"errors"
	"log/slog"

	"github.com/aeon-lang/aeon/bench/app"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// node is a system whose state is in a directory.
type node struct {
	open  func() (*node, error) // opens it again
	store *store.Store
	*exec.System
}

// program is the name under which the benchmarks keep their state.
const program = "bench"

// openNode opens the system in dir, which it creates if it is not there.
func openNode(dir string, mode store.Durability) (*node, error) {
	return openOn(func() (store.Engine, error) {
		return pebbledb.Open(dir, store.EngineOptions{Program: program, Log: silent})
	}, mode)
}

var silent = slog.New(slog.DiscardHandler)

// openOn opens the system that an engine has.
func openOn(open func() (store.Engine, error), mode store.Durability) (*node, error) {
	n := &node{open: func() (*node, error) { return openOn(open, mode) }}
	engine, err := open()
	if err != nil {
		return nil, err
	}
	n.store, err = store.Open(engine, store.Options{Program: program, Durability: mode, Log: silent})
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	n.System, err = exec.Recover(exec.Config{Store: n.store, Classes: app.AeonPackage.Classes})
	if err != nil {
		return nil, errors.Join(err, n.store.Close())
	}
	return n, nil
}

// close ends the system; it may be called again.
func (n *node) close() error {
	if n.System == nil {
		return nil
	}
	n.System.Close()
	n.System = nil
	return n.store.Close()
}

// reopen closes the system and reads it from the disk again.
func (n *node) reopen() error {
	if err := n.close(); err != nil {
		return err
	}
	again, err := n.open()
	if err != nil {
		return err
	}
	*n = *again
	return nil
}
