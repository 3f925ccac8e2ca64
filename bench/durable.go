package main

import (
	"fmt"
	"time"

	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/peers"
	"github.com/aeon-lang/aeon/bench/server"
	"github.com/aeon-lang/aeon/runtime/store"
)

// durableRows are the comparisons in which nothing that was answered may be lost.
func durableRows() []row {
	var all []row
	for _, r := range []struct {
		hot     bool
		callers int
	}{{false, 1}, {false, 64}, {false, 1024}, {true, 64}, {true, 1024}} {
		title, clients, goal := "durable transfer, uniform", fmt.Sprintf("%d clients", r.callers), ">= 0.8 x pebble, >= 10 x PostgreSQL"
		if r.callers == 1 {
			clients, goal = "1 client", "latency near one append and sync"
		}
		if r.hot {
			title, goal = "durable transfer, hot", ">= 0.7 x uniform, >= 40 x PostgreSQL"
		}
		all = append(all, row{
			title: title + ", " + clients, goal: goal, callers: r.callers, durable: true,
			contenders: func(p *place) []contender { return transfers(p, r.callers, r.hot) },
		})
	}
	return all
}

// inFolder opens a system in a new directory.
func (p *place) inFolder(make func(dir string) (load.System, error)) func() (load.System, error) {
	return func() (load.System, error) {
		dir, err := p.folder()
		if err != nil {
			return load.System{}, err
		}
		return make(dir)
	}
}

// missing is a system that cannot be measured here.
func missing(how string) func() (load.System, error) {
	return func() (load.System, error) { return load.System{Missing: how}, nil }
}

// transfers are the systems that make durable transfers.
func transfers(p *place, callers int, hot bool) []contender {
	all := []contender{{"pebble batch of two keys, Sync (limit)", p.inFolder(func(dir string) (load.System, error) {
		return peers.PebbleBatch(dir, hot)
	})}}
	if callers == 1 {
		all = append(all, contender{"4 KiB append + fdatasync (limit)", p.inFolder(peers.AppendAndSync)})
	}
	all = append(all,
		contender{"aeon, one bank, sync", p.inFolder(func(dir string) (load.System, error) {
			n, err := openNode(dir, store.Sync())
			return durableBank(n, err, hot)
		})},
		contender{"aeon, root accounts, sync", p.inFolder(func(dir string) (load.System, error) { return durableRoots(dir, hot) })},
		contender{"aeon, one bank, relaxed=10ms", p.inFolder(func(dir string) (load.System, error) {
			n, err := openNode(dir, store.Relaxed(10*time.Millisecond))
			return durableBank(n, err, hot)
		})},
		contender{"aeon's journal, a batch of two keys, sync", p.inFolder(func(dir string) (load.System, error) {
			n, err := openNode(dir, store.Sync())
			return journal(n, err, hot, 100)
		})},
		contender{"bbolt Batch", p.inFolder(func(dir string) (load.System, error) { return peers.Bolt(dir, callers, hot) })},
		contender{"badger transactions, SyncWrites", p.inFolder(func(dir string) (load.System, error) {
			return peers.Badger(dir, hot)
		})},
	)
	if p.servers {
		all = append(all, redisTransfers(p, callers, hot)...)
		all = append(all, postgresTransfers(p, callers, hot)...)
	}
	return all
}

func redisTransfers(p *place, callers int, hot bool) []contender {
	var all []contender
	for _, fsync := range []string{"always", "everysec"} {
		open := missing(server.RedisMissing)
		if server.RedisInstalled() {
			open = func() (load.System, error) {
				s, err := p.startRedis(fsync)
				if err != nil {
					return load.System{}, err
				}
				return peers.Redis(s, callers, hot)
			}
		}
		all = append(all, contender{"Redis Lua, appendfsync " + fsync, open})
	}
	return all
}

func postgresTransfers(p *place, callers int, hot bool) []contender {
	postgres := func(trips bool) func() (load.System, error) {
		if !server.PostgresInstalled() {
			return missing(server.PostgresMissing)
		}
		return func() (load.System, error) {
			// One pool for each of the two systems.
			s, err := p.startPostgres(2 * peers.PostgresConnections)
			if err != nil {
				return load.System{}, err
			}
			return peers.Postgres(s, p.table(), callers, hot, trips)
		}
	}
	return []contender{
		{"PostgreSQL serializable, one call", postgres(false)},
		{"PostgreSQL serializable, five trips", postgres(true)},
	}
}
