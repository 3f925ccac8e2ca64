package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"

	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/peers"
	"github.com/aeon-lang/aeon/bench/server"
	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/replica/replicatest"
	aeonrt "github.com/aeon-lang/aeon/runtime"
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
	return append(all, row{
		title: "replicated addition to one value, 64 clients", goal: "an entry of a large map >= 0.5 x a field", callers: 64, durable: true,
		contenders: func(p *place) []contender {
			return []contender{
				{"aeon, a field, three replicas", p.inFolder(func(dir string) (load.System, error) {
					n, err := openReplicated(dir, 3)
					return hotField(n, err)
				})},
				{"aeon, an entry of a map of a million, three replicas", p.inFolder(func(dir string) (load.System, error) {
					n, err := openReplicated(dir, 3)
					return hotEntry(n, err, p.entries())
				})},
			}
		},
	})
}

// hotField adds to the field of one actor.
func hotField(n *node, err error) (load.System, error) {
	if err != nil {
		return load.System{}, err
	}
	return adding(n, 0, func(cl *aeonrt.Client) (int64, error) { return counterOf(n.System, "counter").Add(cl, 1) },
		func(cl *aeonrt.Client) (int64, error) { return counterOf(n.System, "counter").Read(cl) }), nil
}

// hotEntry adds to one entry in the middle of a map, whose store was opened since it was filled.
func hotEntry(n *node, err error, entries int) (load.System, error) {
	if err != nil {
		return load.System{}, err
	}
	if err := errors.Join(fillIndex(n, entries), n.reopen()); err != nil {
		return load.System{}, errors.Join(err, n.close())
	}
	key := int64(entries)
	return adding(n, key, func(cl *aeonrt.Client) (int64, error) { return indexOf(n).Add(cl, key, 1) },
		func(cl *aeonrt.Client) (int64, error) { return indexOf(n).At(cl, key) }), nil
}

// adding has each client add 1 to a value that all share, which was first at the beginning and read returns.
func adding(n *node, first int64, add, read func(*aeonrt.Client) (int64, error)) load.System {
	var added atomic.Int64
	return load.System{
		NewClient: func(int, int) load.Client {
			cl := n.Client()
			return func(*rand.Rand) error {
				_, err := add(cl)
				if err == nil {
					added.Add(1)
				}
				return err
			}
		},
		Check: func() error {
			if err := n.reopen(); err != nil {
				return err
			}
			value, err := read(n.Client())
			if want := first + added.Load(); err == nil && value != want {
				err = fmt.Errorf("the value is %d, not %d", value, want)
			}
			return err
		},
		Close: func() { n.close() },
	}
}

// replicated are the systems that make replicated transfers.
func replicated(p *place, callers int) []contender {
	all := []contender{
		{"raft alone, the same bytes", p.inFolder(peers.Raft)},
		{"raft alone, one entry for all that wait (limit)", p.inFolder(peers.RaftGrouped)},
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
