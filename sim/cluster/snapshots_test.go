//go:build linux

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// The leader takes snapshots, each node into a place of its own. The newest one of each is restored, and a program that runs alone goes on with it: it is as
// of one moment, so what followed from the requests is as much as the requests, when what was under way has ended.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	place := t.TempDir()
	w := newWorld(t, "--snapshots", place, "--snapshot-every", "1s", "--snapshot-keep", "3")
	c := w.begin(url.PathEscape(t.Name()))
	// taken waits for a snapshot of a node other than the one that was killed, of which others tell for some time as the leader.
	taken := func(killed int) {
		t.Helper()
		eventually(t, "the leader takes a snapshot", func() (bool, any) {
			list, err := filepath.Glob(filepath.Join(place, "node*", "*", "snapshots", "*"))
			list = slices.DeleteFunc(list, func(name string) bool {
				return strings.HasPrefix(name, filepath.Join(place, fmt.Sprintf("node%d", killed+1))+"/")
			})
			return len(list) > 0, fmt.Sprint(list, err)
		})
	}
	taken(-1)
	first := w.leader()
	w.end(first, syscall.SIGKILL)
	taken(first)
	c.goesOn(100)
	w.start(first, "")
	w.well()
	c.end()
	for i := range nodes {
		w.end(i, syscall.SIGTERM)
	}
	w.checkTraces()
	checked := 0
	for i := range nodes {
		place := snapshot.Dir(filepath.Join(place, fmt.Sprintf("node%d", i+1)))
		m, err := snapshot.Find(t.Context(), place, snapshot.Wanted{})
		none := new(snapshot.NotFoundError)
		if errors.As(err, &none) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(w.dir, fmt.Sprint("restored", i))
		err = pebbledb.Make(dir, store.EngineOptions{Program: m.Program}, func(e *pebbledb.DB) error {
			return archive.Restore(e, e.Identity(), func(f func(key, row []byte) error) error { return snapshot.Read(t.Context(), place, m, f) })
		})
		if err != nil {
			t.Fatalf("the snapshot %s of node %d: %v", m.Name, i, err)
		}
		w.http[i] = free(t)
		p := exec.Command(w.exe, "--serve", "--data", dir, "--listen", w.http[i])
		p.Stdout, p.Stderr = w.log, w.log
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		w.know(i)
		get := func(path string) int64 { return c.until(i, "/v1/"+path+"/get", "", nil) }
		eventually(t, "what the requests of a snapshot have issued has happened", func() (bool, any) {
			counted, sent, late, hopped := get("Counter/main"), get("Side/sent"), get("Side/late"), get("Side/hopped")
			return counted == sent+hopped && sent == late, fmt.Sprintf("%d counted, %d sent, %d late, %d hopped", counted, sent, late, hopped)
		})
		t.Logf("the snapshot %s of node %d has %d requests", m.Name, i, get("Counter/main"))
		if err := p.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		_ = p.Wait() // the code is that of the signal
		checked++
	}
	if checked < 2 {
		t.Errorf("%d nodes have taken snapshots, and 2 have led", checked)
	}
}
