package server

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// PostgresMissing says what to install.
const PostgresMissing = "not installed: apt-get install postgresql-15"

// postgresPort only names the socket: the server does not listen on the network.
const postgresPort = 5432

// PostgresInstalled reports whether there is a PostgreSQL to start.
func PostgresInstalled() bool {
	_, server := find("postgres", "/usr/lib/postgresql/*/bin/postgres")
	_, initdb := find("initdb", "/usr/lib/postgresql/*/bin/initdb")
	return server && initdb
}

// Postgres makes a database in a new directory dir and serves it, with everything that
// matters to durability as Debian's package has it. The user is "bench", the database
// "postgres", Socket the directory of the socket.
func Postgres(dir string, connections int) (*Server, error) { return postgres(dir, connections) }

// standbyName is what a primary knows its standby by.
const standbyName = "standby"

// ReplicatedPostgres is Postgres for a primary that answers when its standby has written what is committed. Without Standby nothing commits.
func ReplicatedPostgres(dir string, connections int) (*Server, error) {
	return postgres(dir, connections+10, "wal_level=replica", "max_wal_senders=4", "synchronous_standby_names="+standbyName)
}

// Standby makes a copy of a primary in a new directory dir, and has it follow. Its processor time counts as the primary's.
func Standby(primary *Server, dir string) (*Server, error) {
	program, _ := find("postgres", "/usr/lib/postgresql/*/bin/postgres")
	basebackup, ok := find("pg_basebackup", "/usr/lib/postgresql/*/bin/pg_basebackup")
	if !ok {
		return nil, fmt.Errorf("pg_basebackup: %s", PostgresMissing)
	}
	acc, data, err := postgresFolder(dir)
	if err != nil {
		return nil, err
	}
	copying := acc.command(dir, basebackup, "-D", data, "-R", "-c", "fast", "-X", "stream",
		"-d", fmt.Sprintf("host=%s port=%d user=bench application_name=%s", primary.Socket, postgresPort, standbyName))
	if out, err := copying.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: pg_basebackup: %w\n%s", ErrStart, err, out)
	}
	s := &Server{Socket: dir, Version: primary.Version, signal: syscall.SIGINT}
	primary.standby = s
	return s, s.startPostgres(acc, program, dir, data, primary.connections)
}

// postgresFolder makes the directory of a server, and says which user it belongs to and where the data in it goes.
func postgresFolder(dir string) (acc account, data string, err error) {
	if acc, err = unprivileged("postgres", "nobody"); err == nil {
		err = acc.mkdir(dir)
	}
	return acc, filepath.Join(dir, "data"), err
}

// startPostgres serves what is in data, at a socket in dir, and returns when it takes connections.
func (s *Server) startPostgres(acc account, program, dir, data string, connections int, more ...string) error {
	settings := []string{
		"listen_addresses=", "unix_socket_directories=" + dir, "port=" + strconv.Itoa(postgresPort), "max_connections=" + strconv.Itoa(connections),
		"fsync=on", "synchronous_commit=on",
		// Otherwise it logs every serialization failure, which costs it time.
		"log_min_messages=fatal", "log_min_error_statement=panic",
		// A checkpoint in the middle of a round would be a matter of luck.
		"max_wal_size=4GB", "checkpoint_timeout=1h",
	}
	args := []string{"-D", data}
	for _, set := range append(settings, more...) {
		args = append(args, "-c", set)
	}
	if err := s.start(acc.command(dir, program, args...)); err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	return s.await(func() error { return postgresReady(dir, data) })
}

func postgres(dir string, connections int, more ...string) (*Server, error) {
	program, ok1 := find("postgres", "/usr/lib/postgresql/*/bin/postgres")
	initdb, ok2 := find("initdb", "/usr/lib/postgresql/*/bin/initdb")
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("postgres: %s", PostgresMissing)
	}
	acc, data, err := postgresFolder(dir)
	if err != nil {
		return nil, err
	}
	if out, err := acc.command(dir, initdb, "-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8", "--no-locale").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: initdb: %w\n%s", ErrStart, err, out)
	}
	version, err := exec.Command(program, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	// SIGINT is its fast shutdown. Socket paths are short, about 100 bytes at most.
	s := &Server{Socket: dir, Version: strings.TrimSpace(string(version)), signal: syscall.SIGINT, connections: connections + 10}
	return s, s.startPostgres(acc, program, dir, data, s.connections, more...)
}

// postgresReady returns why a server does not take connections yet.
func postgresReady(dir, data string) error {
	// The file appears before the socket; the socket accepts before the server is ready.
	status, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return err
	}
	if !strings.Contains(string(status), "ready") {
		return fmt.Errorf("postgres is not ready yet")
	}
	c, err := net.Dial("unix", filepath.Join(dir, ".s.PGSQL."+strconv.Itoa(postgresPort)))
	if err != nil {
		return err
	}
	return c.Close()
}
