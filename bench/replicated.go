package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"

	"github.com/aeon-lang/aeon/bench/app"
	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/peers"
	"github.com/aeon-lang/aeon/bench/server"
	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/exec"
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
		{"aeon, one bank, three replicas", p.inFolder(replicatedBank)},
		{"aeon's journal, three replicas, two keys", p.inFolder(replicatedJournal)},
		{"aeon, one bank, one replica", p.inFolder(func(dir string) (load.System, error) { return bankOn(dir, 1) })},
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
	log := slog.New(slog.DiscardHandler)
	o := store.EngineOptions{Program: program, Log: log}
	var places []driver.Place
	for i := range replicas {
		places = append(places, driver.Dir{Root: filepath.Join(dir, fmt.Sprint(i)), Opener: pebbledb.Open, Options: o, LogOptions: o})
	}
	engine, err := replicatest.OpenEngine(replicatest.Config{Places: places, Logger: log})
	if err != nil {
		return nil, err
	}
	n := &node{dir: dir}
	if n.store, err = store.Open(engine, store.Options{Program: program, Log: log}); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	if n.System, err = exec.Recover(exec.Config{Store: n.store, Classes: app.AeonPackage.Classes}); err != nil {
		return nil, errors.Join(err, n.store.Close())
	}
	return n, nil
}

func replicatedBank(dir string) (load.System, error) { return bankOn(dir, 3) }

// bankOn transfers between two of the accounts of a bank, on replicas.
func bankOn(dir string, replicas int) (load.System, error) {
	n, err := openReplicated(dir, replicas)
	if err != nil {
		return load.System{}, err
	}
	bank := bankOf(n.System, "bank")
	if err := openAccounts(n, bank, load.Accounts); err != nil {
		return load.System{}, errors.Join(err, n.close())
	}
	return load.System{
		NewClient: func(int, int) load.Client {
			cl := n.Client()
			return func(r *rand.Rand) error {
				from, to := load.Pair(r, false)
				return bank.Transfer(cl, int64(from), int64(to), 1)
			}
		},
		Check: func() error {
			err := n.close()
			if err == nil {
				var again *node
				if again, err = openReplicated(n.dir, replicas); err == nil {
					*n = *again
				}
			}
			if err != nil {
				return err
			}
			sum, err := bankOf(n.System, "bank").Total(n.Client())
			return errors.Join(err, sumIs(sum))
		},
		Close: func() { n.close() },
	}, nil
}

// replicatedJournal appends batches of two rows, and awaits them.
func replicatedJournal(dir string) (load.System, error) {
	n, err := openReplicated(dir, 3)
	if err != nil {
		return load.System{}, err
	}
	return load.System{
		NewClient: func(int, int) load.Client {
			key, value := make([]byte, 16), make([]byte, 40)
			return func(r *rand.Rand) error {
				from, to := load.Pair(r, false)
				b := n.store.NewBatch()
				for _, account := range []int{from, to} {
					key[0] = 'z' // behind everything that recovery reads
					binary.BigEndian.PutUint64(key[8:], uint64(account))
					binary.BigEndian.PutUint64(value, r.Uint64())
					b.Set(key, value)
				}
				return n.store.Wait(context.Background(), n.store.Append(b))
			}
		},
		Close: func() { n.close() },
	}, nil
}
