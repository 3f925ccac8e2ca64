//go:build linux

package cluster

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// steady are figures of a node without load that do not grow, whatever has gone wrong before.
type steady struct {
	goroutines float64
	files      int   // open files and connections, but for the tables of its engines, which keep open what they read: more with more rows
	log        int64 // bytes of its log on the disk
	resident   float64
}

const (
	moreMax = 60        // goroutines, or open files, beyond those of a cluster that has just begun: some connections stay open
	logMax  = 512 << 20 // bytes: a log is cut when a state was handed 16 MiB; its engine has files of 64 MiB, of which it keeps five to write them again
)

// steady returns the figures of each node.
func (w *world) steady() (list [nodes]steady) {
	w.t.Helper()
	sender.CloseIdleConnections()
	for i := range nodes {
		f := w.figures(i)
		s := steady{goroutines: f["go_goroutines{}"], files: w.open(i), resident: f["process_resident_memory_bytes{}"]}
		err := filepath.WalkDir(filepath.Join(w.data(i), "replica"), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.Contains(path, "/states/") {
				return nil // a file that is gone meanwhile
			}
			if info, err := e.Info(); err == nil {
				s.log += info.Size()
			}
			return nil
		})
		if err != nil || s.goroutines == 0 || s.files == 0 || s.log == 0 {
			w.t.Fatalf("node %d has the figures %+v (%v)", i, s, err)
		}
		list[i] = s
	}
	return list
}

// open returns how many files and connections a node has open, but for tables of its engines.
func (w *world) open(i int) (n int) {
	w.t.Helper()
	w.mu.Lock()
	dir := fmt.Sprintf("/proc/%d/fd", w.procs[i].Process.Pid)
	w.mu.Unlock()
	list, err := os.ReadDir(dir)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range list {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && !strings.HasSuffix(to, ".sst") { // an error: it is closed by now
			n++
		}
	}
	return n
}

// remainsAs checks that nodes without load have no more goroutines, open files and log than before.
func (w *world) remainsAs(before [nodes]steady) {
	w.t.Helper()
	var worst steady
	for _, s := range before {
		worst = steady{goroutines: max(worst.goroutines, s.goroutines), files: max(worst.files, s.files)}
	}
	var now [nodes]steady
	eventually(w.t, "nodes have no more goroutines, open files and log than at first", func() (bool, any) {
		now = w.steady()
		for _, s := range now {
			if s.goroutines > worst.goroutines+moreMax || s.files > worst.files+moreMax || s.log > logMax {
				return false, now
			}
		}
		return true, nil
	})
	for i, s := range now {
		w.t.Logf("node %d at the end: %.0f goroutines (%.0f at first), %d open files (%d), %.1f MB of log, %.0f MB of memory (%.0f)", i,
			s.goroutines, before[i].goroutines, s.files, before[i].files, float64(s.log)/1e6, s.resident/1e6, before[i].resident/1e6)
	}
}
