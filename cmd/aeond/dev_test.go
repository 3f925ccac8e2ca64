package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// Dev tells a node what its cluster begins with until that has begun: a start that was ended while it copied goes on, and begins no empty cluster.
func TestDevGoesOnToAdopt(t *testing.T) {
	dir := t.TempDir()
	path, old := filepath.Join(dir, "program"), filepath.Join(dir, "old")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho \"is told $*\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	d := &devCluster{env: &cli.Env{Stdout: cli.NewOutput(&b)}, path: path, dir: filepath.Join(dir, "c"), host: "127.0.0.1", port: 8080, stores: 4, adopt: old, ended: make(chan int, 1)}
	id, err := identity.FormWith(d.nodeDir(0), nodeName(0), old)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		b.Reset()
		if err := d.start(0); err != nil {
			t.Fatal(err)
		}
		<-d.ended
		d.tasks.Wait()
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		if len(lines) != 3 || !strings.Contains(lines[0], "is told --serve") || !strings.Contains(lines[2], "to start it again: "+path+" --serve") {
			t.Fatalf("dev says %q", lines)
		}
		for _, line := range []string{lines[0], lines[2]} {
			if strings.HasSuffix(line, " --stores 4 --adopt "+old) != want {
				t.Errorf("what the cluster begins with is in the line: %v, want %v: %s", !want, want, line)
			}
		}
		if err := id.Begun(); err != nil {
			t.Fatal(err)
		}
	}
}

// The token by which dev has a node join is in a file that only its user reads, as long as the node runs: all users of the machine see a command line.
func TestDevHidesTokens(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho \"is told $*\"\nfor a; do case $a in @*) cat \"${a#@}\"; ls -l \"${a#@}\";; esac; done\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	d := &devCluster{env: &cli.Env{Stdout: cli.NewOutput(&b)}, path: path, dir: filepath.Join(dir, "c"), host: "127.0.0.1", port: l.Addr().(*net.TCPAddr).Port, ended: make(chan int, 1)}
	if _, err := identity.Form(d.nodeDir(0), nodeName(0)); err != nil {
		t.Fatal(err)
	}
	control, err := net.Listen("unix", filepath.Join(d.nodeDir(0), httpdoor.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	const token = "aeon-join-x@127.0.0.1:1"
	first := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, map[string]string{status.Path: "{}", status.TokenPath: token + "\n"}[r.URL.Path])
	})}
	go first.Serve(l)
	go first.Serve(control)
	defer first.Close()
	if err := d.start(1); err != nil {
		t.Fatal(err)
	}
	<-d.ended
	d.tasks.Wait()
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) < 3 || !strings.HasSuffix(lines[0], " --node-name node1 --join @"+d.tokenFile(1)) || lines[1] != "node1 | "+token || !strings.HasPrefix(lines[2], "node1 | -rw------- ") {
		t.Errorf("dev says %q", lines)
	}
	if _, err := os.Stat(d.tokenFile(1)); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
}
