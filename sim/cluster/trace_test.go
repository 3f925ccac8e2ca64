//go:build linux

package cluster

import (
	"bytes"
	"os"
	"path/filepath"
	"time"

	"github.com/aeon-lang/aeon/spec/trace"
)

// traces is the directory into which a node writes what it has done as a leader.
func (w *world) traces(i int) string { return filepath.Join(w.dir, "trace"+string(rune('0'+i))) }

// checkTraces checks what all nodes have recorded as one history: it is strictly serialisable, what leaders that were paused or cut off have done
// included, and each store has a part of it. All nodes have ended. They have one clock, that of this machine. That what was answered has happened, the tests ask the cluster itself:
// the end of a trace is lost with a node that is killed, and answers are written late.
func (w *world) checkTraces() {
	w.t.Helper()
	began := time.Now()
	names, err := filepath.Glob(filepath.Join(w.dir, "trace?", "*.jsonl"))
	if err != nil || len(names) == 0 {
		w.t.Fatalf("no node has written a trace: %v", err)
	}
	var files []trace.File
	size := int64(0)
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			w.t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			w.t.Fatal(err)
		}
		size += info.Size()
		files = append(files, trace.File{Name: filepath.Base(filepath.Dir(name)) + "/" + filepath.Base(name), In: f})
	}
	rep, err := trace.CheckFiles(files, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	stores := make(map[uint64]bool)
	for i := range rep.Sections {
		stores[rep.Sections[i].Header.Number] = true
	}
	if len(stores) != w.stores {
		w.t.Errorf("%d stores have traces, of %d: %v", len(stores), w.stores, names)
	}
	var text bytes.Buffer
	if err := rep.Write(&text); err != nil {
		w.t.Fatal(err)
	}
	if rep.Violated() > 0 {
		w.t.Errorf("the traces of the nodes:\n%s", text.String())
	}
	w.t.Logf("%d traces of %.1f MB, checked in %v: %s", len(files), float64(size)/1e6, time.Since(began).Round(time.Millisecond), text.String())
}
