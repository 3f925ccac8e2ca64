package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/membership/identity"
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
