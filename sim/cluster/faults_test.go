//go:build linux

package cluster

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"syscall"
	"testing"
	"time"
)

var (
	kills     = flag.Int("kills", 0, "how many leaders are killed")
	pauses    = flag.Int("pauses", 0, "how many leaders are paused for 5 s")
	cuts      = flag.Int("cuts", 0, "how often the network of a leader is cut for 4 s, in one of five ways")
	stalls    = flag.Int("stalls", 0, "how often the disk of a leader takes nothing for 5 s")
	alls      = flag.Int("alls", 0, "how often all nodes are killed at once")
	transfers = flag.Int("transfers", 0, "how often another node is asked to lead")
	actors    = flag.Int("actors", 0, "how many actors the store has beside, in thousands")
	restarts  = flag.Int("restarts", 0, "how often a leader is ended by SIGTERM, and started again")
)

const (
	nodes = 3 // of a cluster at first
	slots = 6 // for nodes, in all of a test
	pause = 5 * time.Second
	cut   = 4 * time.Second
	flap  = 300 * time.Millisecond

	healMax = 10 * time.Second // until all is well after a cut
)

// Leaders are killed, paused, cut off and asked to hand over, their disks stall, and all nodes are killed at once, under load: what was answered has happened, once, with what
// follows from it, readers see it, and the others go on. What leaves the processes alive comes last, so that a leak is seen.
func TestFaults(t *testing.T) {
	if *kills+*pauses+*cuts+*stalls+*alls+*transfers+*restarts == 0 {
		t.Log("only with flags that ask for faults; CI takes some of each")
		return
	}
	w := newTracedWorld(t, 1)
	before := w.steady()
	c := w.begin(url.PathEscape(t.Name()))
	calm := func() {
		w.well()
		c.goesOn(200)
	}
	// again ends the leader by a signal, and starts it again when the others have gone on.
	again := func(sig syscall.Signal) {
		i := w.leader()
		w.end(i, sig)
		c.goesOn(100)
		w.start(i, "")
		calm()
	}
	for i := range *actors {
		c.until(i, fmt.Sprintf("/v1/Crowd/c%d/grow", i), fmt.Sprint("grow ", i), map[string]int{"k": 1000})
	}
	calm()
	c.outages("before", 0)
	var caughtUp, opened []float64
	for range *kills {
		again(syscall.SIGKILL)
		if s, err := w.status(w.leader()); err == nil {
			caughtUp, opened = append(caughtUp, s.Stores[0].CaughtUp), append(opened, s.Stores[0].Opened)
		}
	}
	c.outages("leaders killed", *kills)
	if len(opened) > 0 {
		slices.Sort(caughtUp)
		slices.Sort(opened)
		t.Logf("of that, in the median: %.0f ms until the new leader had all that was committed, then %.0f ms until its system served; before that is notice and election, behind it the next try of a client",
			1000*caughtUp[len(caughtUp)/2], 1000*opened[len(opened)/2])
	}
	for range *restarts {
		again(syscall.SIGTERM)
	}
	c.planned("leaders restarted", *restarts)
	for range *alls {
		for i := range nodes {
			w.end(i, syscall.SIGKILL)
		}
		for i := range nodes {
			w.start(i, "")
		}
		calm()
	}
	for range *pauses {
		i, began := w.leader(), time.Now()
		w.signal(i, syscall.SIGSTOP)
		c.outlast(began, pause)
		w.signal(i, syscall.SIGCONT)
		calm()
	}
	c.outages("leaders paused", *pauses)
	for k := range *cuts {
		w.cutOff(c, k)
		healed := time.Now()
		calm()
		if took := time.Since(healed); took > healMax {
			t.Errorf("all is well only %v after %s", took, networkFaults[k%len(networkFaults)].name)
		}
	}
	c.outages("leaders cut off", *cuts)
	for range *stalls {
		began := time.Now()
		stalled := w.stall(w.leader(), pause)
		c.outlast(began, pause)
		if err := stalled.Wait(); err != nil {
			t.Fatal(err)
		}
		calm()
	}
	c.outages("leaders with a stalled disk", *stalls)
	for range *transfers {
		i := w.leader()
		w.transfer(i, (i+1+rand.IntN(nodes-1))%nodes)
		calm()
	}
	c.planned("leaders asked to hand over", *transfers)
	c.end()
	w.well()
	w.remainsAs(before)
	w.callInTraces()
	w.compare()
	w.checkTraces()
	w.checkSpans()
}

// cutOff has one of networkFaults happen to the leader, during which the others go on.
func (w *world) cutOff(c *crowd, k int) {
	w.t.Helper()
	f, l := networkFaults[k%len(networkFaults)], w.leader()
	a := (l + 1 + rand.IntN(nodes-1)) % nodes
	list := f.cut(l, a, nodes-l-a)
	began := time.Now()
	w.links.set(true, list...)
	if f.flaps {
		over, ticks := time.After(cut), time.NewTicker(flap)
		defer ticks.Stop()
		for is := false; ; is = !is {
			select {
			case <-ticks.C:
				w.links.set(is, list...)
				continue
			case <-over:
			}
			break
		}
	} else {
		c.outlast(began, cut)
	}
	w.links.set(false, list...)
}
