package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/aeon-lang/aeon/bench/server"
)

// place is where a run keeps its data directories and its servers. All of them lie below
// one directory, so on one disk.
type place struct {
	dir     string
	servers bool   // servers that are installed are started; without, rows do without them
	profile string // where parts of this program write CPU profiles, with something behind it; empty: nowhere
	quick   bool   // little data: that everything works, not how fast it is

	made int

	mu struct { // an interrupt closes from another goroutine
		sync.Mutex
		closed   bool
		postgres *server.Server
		standby  *server.Server            // of replicated
		twofold  *server.Server            // a PostgreSQL with a synchronous standby
		redis    map[string]*server.Server // by what is said to sync
	}
}

// errClosed is the error of a server that is to start after the run was interrupted.
var errClosed = errors.New("interrupted")

// newPlace makes the directory below base, which is the system's if empty.
func newPlace(base string, servers, quick bool) (*place, error) {
	dir, err := os.MkdirTemp(base, "aeon-bench-")
	if err != nil {
		return nil, err
	}
	// Other users run the servers: they have to get through.
	if err := os.Chmod(dir, 0o711); err != nil {
		return nil, err
	}
	p := &place{dir: dir, servers: servers, quick: quick}
	p.mu.redis = map[string]*server.Server{}
	return p, nil
}

// close stops the servers and removes everything.
func (p *place) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.closed = true
	if p.mu.postgres != nil {
		p.mu.postgres.Stop()
	}
	for _, s := range []*server.Server{p.mu.standby, p.mu.twofold} {
		if s != nil {
			s.Stop()
		}
	}
	for _, s := range p.mu.redis {
		s.Stop()
	}
	return os.RemoveAll(p.dir)
}

// fresh returns the path of a directory that does not exist yet.
func (p *place) fresh() string {
	p.made++
	return filepath.Join(p.dir, strconv.Itoa(p.made))
}

// folder makes a new directory.
func (p *place) folder() (string, error) {
	dir := p.fresh()
	return dir, os.Mkdir(dir, 0o700)
}

// table returns a name for a table that does not exist yet.
func (p *place) table() string {
	p.made++
	return fmt.Sprintf("t%d", p.made)
}

// startPostgres returns the run's PostgreSQL.
func (p *place) startPostgres(connections int) (*server.Server, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.postgres != nil || p.mu.closed {
		return p.mu.postgres, p.refused()
	}
	s, err := server.Postgres(p.fresh(), connections)
	p.mu.postgres = s
	return s, err
}

// startReplicatedPostgres returns the run's PostgreSQL that answers when a standby, which runs beside it, has what is committed.
func (p *place) startReplicatedPostgres(connections int) (*server.Server, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.twofold != nil || p.mu.closed {
		return p.mu.twofold, p.refused()
	}
	var err error
	if p.mu.twofold, err = server.ReplicatedPostgres(p.fresh(), connections); err == nil {
		p.mu.standby, err = server.Standby(p.mu.twofold, p.fresh())
	}
	return p.mu.twofold, err
}

// startRedis returns the run's Redis that syncs as fsync says.
func (p *place) startRedis(fsync string) (*server.Server, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.mu.redis[fsync]; s != nil || p.mu.closed {
		return s, p.refused()
	}
	s, err := server.Redis(p.fresh(), fsync)
	if err == nil {
		p.mu.redis[fsync] = s
	}
	return s, err
}

// refused returns an error once the place is closed; mu is held.
func (p *place) refused() error {
	if p.mu.closed {
		return errClosed
	}
	return nil
}
