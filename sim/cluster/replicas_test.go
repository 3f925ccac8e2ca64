//go:build linux

package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// compare ends all nodes, and compares their replicas: after a moment without load these are equal to the byte, up to the same entry of the log. The
// leader ends last, so that no other one begins, which would write.
func (w *world) compare() {
	w.t.Helper()
	w.well()
	<-time.After(time.Second) // some heartbeats, which tell what is committed
	l := w.leader()
	list := append(w.without(l), l)
	for _, i := range list {
		w.end(i, syscall.SIGTERM)
	}
	first := w.rows(l)
	w.t.Logf("%d rows in each replica", len(first))
	for _, i := range list[:len(list)-1] {
		rows := w.rows(i)
		if at := firstDifference(first, rows); at >= 0 {
			w.t.Errorf("the replicas of node %d and node %d differ, in row %d of %d and %d: %s and %s", l, i, at, len(first), len(rows), rowAt(first, at), rowAt(rows, at))
		}
	}
}

// rows returns the rows of a node's replica of the store.
func (w *world) rows(i int) (rows []string) {
	w.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(w.data(i), "replica", "states", "0", "[0-9]*"))
	dirs = slices.DeleteFunc(dirs, func(d string) bool { return strings.HasSuffix(d, ".new") })
	if err != nil || len(dirs) == 0 {
		w.t.Fatalf("node %d has no replica: %v", i, err)
	}
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	e, err := pebbledb.Open(dirs[len(dirs)-1], store.EngineOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	it := e.Scan(nil, []byte{255})
	for it.Next() {
		rows = append(rows, fmt.Sprintf("%q=%x", it.Key(), it.Value()))
	}
	if err := errors.Join(it.Close(), e.Close()); err != nil {
		w.t.Fatal(err)
	}
	return rows
}

func firstDifference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if rowAt(a, i) != rowAt(b, i) {
			return i
		}
	}
	return -1
}

func rowAt(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return "none"
}
