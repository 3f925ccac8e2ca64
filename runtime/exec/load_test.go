package exec

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// countingEngine counts the rows that are read.
type countingEngine struct {
	replicatest.Engine
	read memengine.Counting
}

func (e *countingEngine) Get(key, buf []byte) ([]byte, bool, error) { return e.read.Get(key, buf) }
func (e *countingEngine) Scan(from, to []byte) store.Iterator       { return e.read.Scan(from, to) }

// airport is a system that was opened on a store with a table, and the engine that counts the rows that it reads.
type airport struct {
	*node
	engine *countingEngine
	main   order.Ref
}

func openAirport(t *testing.T) *airport {
	n := startNode(t, Config{})
	mustNot(t, n.cl.Await(Named(n.cl, &classHangar, "main"), &methodFly, &hangarArgs{seed: 1, steps: 699}))
	n.close()
	a := &airport{node: n, engine: &countingEngine{Engine: n.engine.Reopen()}}
	a.engine.read.Reader = a.engine.Engine
	n.engine = a.engine.Engine
	n.store = openStore(t, a.engine, nil)
	s, err := Recover(Config{Log: quiet, Classes: testClasses, Clock: n.cfg.Clock, Store: n.store})
	mustNot(t, err)
	n.sys, n.cl = s, s.Client()
	a.main = Named(n.cl, &classHangar, "main")
	return a
}

// board shows the table, and how many rows were read for that.
func (a *airport) board() (text string, reads int64) {
	a.t.Helper()
	before := a.engine.read.Reads()
	var x hangarArgs
	mustNot(a.t, a.cl.Await(a.main, &methodBoard, &x))
	return x.text, a.engine.read.Reads() - before
}

// A table that was read from the store comes into memory, if the budget has room for it, and leaves it with
// its actor. Snapshots are the same wherever it is.
func TestTablesComeIntoMemoryWithinTheBudget(t *testing.T) {
	a := openAirport(t)
	rows := int64(0)
	m := &a.sys.durable.Memory
	live := uint64(90)
	m.Max, m.Measure = 100, func() (uint64, uint64) { return live, 1 }
	want, _ := a.board()
	before, _ := takeActor(t, a.node, a.main)
	for range 3 {
		text, reads := a.board()
		if text != want || reads < 300 {
			t.Fatalf("no room: %d rows are read for\n%s\nwant\n%s", reads, text, want)
		}
		rows = reads
	}
	m.Max, live = 10<<20, 0
	for i := range 2 {
		if text, reads := a.board(); text != want || reads > rows {
			t.Errorf("with room, %d: %d rows are read for\n%s\nwant\n%s", i, reads, text, want)
		}
	}
	if taken, settled := m.Reserved(); taken != 0 || settled < rows {
		t.Errorf("%d bytes are taken, %d settled", taken, settled)
	}
	for range 2 {
		if text, reads := a.board(); text != want || reads > 0 {
			t.Errorf("in memory: %d rows are read for\n%s\nwant\n%s", reads, text, want)
		}
	}
	if after, _ := takeActor(t, a.node, a.main); !slices.EqualFunc(before, after, func(x, y [2][]byte) bool { return string(x[1]) == string(y[1]) }) {
		t.Error("a snapshot of it is another one")
	}
	a.sys.Unload(1)
	if text, reads := a.board(); text != want || reads == 0 {
		t.Errorf("unloaded: %d rows are read for\n%s\nwant\n%s", reads, text, want)
	}
	a.close()
}

// An event that fails after it has brought a table into memory has changed nothing.
func TestFailedEventMayHaveBroughtATable(t *testing.T) {
	a := openAirport(t)
	at, _ := a.board()
	a.close()
	for _, steps := range []int{99, 300, 2000} {
		want, a := at, openAirport(t)
		x := hangarArgs{seed: 5, steps: steps, fails: true}
		if err := a.cl.Await(a.main, &methodFly, &x); !isAbort(err) {
			t.Fatal(err)
		}
		for range 3 {
			if text, _ := a.board(); text != want {
				t.Errorf("%d steps:\n%s\nwant\n%s", steps, text, want)
			}
		}
		x.fails = false
		mustNot(t, a.cl.Await(a.main, &methodFly, &x))
		want, _ = a.board()
		a.reopen()
		if text, _ := a.boardAgain(); text != want {
			t.Errorf("%d steps, reopened:\n%s\nwant\n%s", steps, text, want)
		}
		a.close()
	}
}

// boardAgain is board after the system was opened again.
func (a *airport) boardAgain() (string, int64) {
	a.main = Named(a.cl, &classHangar, "main")
	return a.board()
}

// Readers and writers use a table side by side while it comes into memory and leaves it.
func TestTableComesAndGoesWhileEventsRun(t *testing.T) {
	a := openAirport(t)
	var wg sync.WaitGroup
	stop := again(func(i int) {
		if i%8 == 0 {
			a.sys.Unload(1)
		}
	})
	for i := range 4 {
		wg.Go(func() {
			cl := a.sys.Client()
			for k := range lessIfShort(200) {
				var err error
				x := hangarArgs{seed: uint64(100*i + k), steps: 40, fails: k%3 == 0}
				if i == 0 && k%4 == 0 {
					err = cl.Await(a.main, &methodFly, &x)
				} else if err = cl.Await(a.main, &methodBoard, &x); err == nil {
					err = seenTwice(x.text)
				}
				if err != nil && !isAbort(err) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	stop()
	want, _ := a.board()
	a.reopen()
	if text, _ := a.boardAgain(); text != want {
		t.Errorf("reopened:\n%s\nwant\n%s", text, want)
	}
	a.close()
}

// seenTwice compares what a board shows by the key with what it shows by the index.
func seenTwice(board string) error {
	count := map[string]int{}
	for _, row := range strings.Fields(board) {
		count[strings.TrimRight(row, "RomeOslRiset")]++
	}
	for _, id := range slices.Sorted(maps.Keys(count)) {
		if count[id] != 2 {
			return errors.New(fmt.Sprint("row ", id, " is seen ", count[id], " times in ", board))
		}
	}
	return nil
}
