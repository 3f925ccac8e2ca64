package exec

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/history"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/trace"
	spectrace "github.com/aeon-lang/aeon/spec/trace"
)

// clusterTrace records the system of a node in one term. Its time is that of the cluster, which all nodes share.
type clusterTrace struct {
	*trace.Writer
	of      *scheduledCluster
	name    string
	crashed bool
	kept    int64 // bytes that a crash has left in the file
}

// Now implements trace.Clocked.
func (t *clusterTrace) Now() int64 {
	t.of.ticks++
	return t.of.ticks
}

// record begins the trace of a system on a node. An error is one of the store, which may have failed since it was opened.
func (c *scheduledCluster) record(node event.NodeID, st *store.Store) (*clusterTrace, error) {
	h, err := history.Header(trace.Header{Program: "test", Node: node}, st)
	if err != nil {
		return nil, err
	}
	t := &clusterTrace{of: c, name: filepath.Join(c.dir, fmt.Sprintf("%.8s-%06d.jsonl", h.Store, h.Run))}
	if t.Writer, err = trace.Create(t.name, trace.Stored, true); err != nil {
		c.fail("node %d: %v", node, err)
	}
	t.Begin(h)
	t.Flush()
	c.traces = append(c.traces, t)
	return t, nil
}

// crash notes what the file has when the node of the system crashes: what is in the buffer then is lost.
func (t *clusterTrace) crash() {
	info, err := os.Stat(t.name)
	if err != nil {
		t.of.fail("%v", err)
	}
	t.crashed, t.kept = true, info.Size()
}

// end ends the trace of a system that has ended.
func (t *clusterTrace) end(closed bool) {
	how := "interrupted"
	if closed {
		how = "closed"
	}
	t.End(how)
	if err := t.Close(); err != nil {
		t.of.fail("%v", err)
	}
	if t.crashed {
		if err := os.Truncate(t.name, t.kept); err != nil {
			t.of.fail("%v", err)
		}
	}
}

// checkTraces checks what the systems of all nodes have recorded as one history, and removes it.
func (c *scheduledCluster) checkTraces() {
	var files []spectrace.File
	for _, t := range c.traces {
		f, err := os.Open(t.name)
		if err != nil {
			c.fail("%v", err)
		}
		defer f.Close()
		files = append(files, spectrace.File{Name: filepath.Base(t.name), In: f})
	}
	rep, err := spectrace.CheckFiles(files, 0)
	if err != nil {
		c.fail("the traces: %v", err)
	}
	if rep.Violated() > 0 {
		var text strings.Builder
		_ = rep.Write(&text) // it never fails
		c.fail("the traces: %s", text.String())
	}
	if err := os.RemoveAll(c.dir); err != nil {
		c.fail("%v", err)
	}
	for i := range rep.Sections {
		c.saw.traced += rep.Sections[i].Counts.Events
		c.saw.lost += rep.Sections[i].Counts.Lost
	}
}
