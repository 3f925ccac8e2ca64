package main

import (
	"fmt"
	"path/filepath"

	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/peers"
	"github.com/aeon-lang/aeon/bench/server"
	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// replicatedRows are the comparisons in which what was answered is on several disks: here on one, in as many directories.
func replicatedRows() []row {
	var all []row
	for _, callers := range []int{64, 1024} {
		all = append(all, row{
			title: fmt.Sprintf("replicated transfer, uniform, %d clients", callers), goal: ">= 0.8 x raft alone, >= 5 x PostgreSQL",
			callers: callers, durable: true, contenders: func(p *place) []contender { return replicated(p, callers) },
		})
	}
	return all
}

// replicated are the systems that make replicated transfers.
func replicated(p *place, callers int) []contender {
	all := []contender{
		{"raft alone, the same bytes (limit)", p.inFolder(peers.Raft)},
		{"aeon, one bank, three replicas", p.inFolder(func(dir string) (load.System, error) {
			n, err := openReplicated(dir, 3)
			return durableBank(n, err, false)
		})},
		{"aeon's journal, three replicas, two keys", p.inFolder(func(dir string) (load.System, error) {
			n, err := openReplicated(dir, 3)
			return journal(n, err, false, 40)
		})},
		{"aeon, one bank, one replica", p.inFolder(func(dir string) (load.System, error) {
			n, err := openReplicated(dir, 1)
			return durableBank(n, err, false)
		})},
	}
	if p.servers {
		open := missing(server.PostgresMissing)
		if server.PostgresInstalled() {
			open = func() (load.System, error) {
				s, err := p.startReplicatedPostgres(peers.PostgresConnections)
				if err != nil {
					return load.System{}, err
				}
				return peers.PostgresWithStandby(s, p.table(), callers)
			}
		}
		all = append(all, contender{"PostgreSQL, one call, synchronous standby", open})
	}
	return all
}

// openReplicated opens a system on replicas in dir.
func openReplicated(dir string, replicas int) (*node, error) {
	o := store.EngineOptions{Program: program, Log: silent}
	var places []driver.Place
	for i := range replicas {
		places = append(places, driver.Dir{Root: filepath.Join(dir, fmt.Sprint(i)), Opener: pebbledb.Open, Options: o, LogOptions: o})
	}
	return openOn(func() (store.Engine, error) {
		return replicatest.OpenEngine(replicatest.Config{Places: places, Logger: silent})
	}, store.Sync())
}
