//go:build linux

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/aeon-lang/aeon/internal/freeport"
	"github.com/aeon-lang/aeon/runtime/event"
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
	w := newTracedWorld(t, 1, "--snapshots", place, "--snapshot-every", "1s", "--snapshot-keep", "1000") // those of a former leader grow old, too
	c := w.begin(url.PathEscape(t.Name()))
	c.rest.Store(int64(seldom))
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
		found, err := snapshot.Find(t.Context(), place, snapshot.Wanted{})
		none := new(snapshot.NotFoundError)
		if errors.As(err, &none) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		m := &found.Parts[0].Manifest
		dir := filepath.Join(w.dir, fmt.Sprint("restored", i))
		err = pebbledb.Make(dir, store.EngineOptions{Program: m.Program}, func(e *pebbledb.DB) error {
			return archive.Restore(e, e.Identity(), 0, func(f func(key, row []byte) error) error { return snapshot.Read(t.Context(), place, m, f) })
		})
		if err != nil {
			t.Fatalf("the snapshot %s of node %d: %v", m.Name, i, err)
		}
		w.http[i] = freeport.Address(t)
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

// addedToPurse is what the snapshot block of purses adds.
const addedToPurse = 1000

// logged counts a text in what the nodes log.
func (w *world) logged(text string) int {
	w.t.Helper()
	b, err := os.ReadFile(w.log.Name())
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Count(string(b), text)
}

// Snapshots of several stores are taken at one moment, through a change of leaders. A cluster that begins with the newest one has all money, has of what
// was answered one after the other the first, and goes on with what was under way.
func TestSnapshotsOfSeveralStores(t *testing.T) {
	t.Parallel()
	const stores, marks = 4, 5
	place := t.TempDir()
	w := newWorldOf(t, stores, "--snapshots", place, "--snapshot-every", "1s", "--snapshot-keep", "3")
	c := &crowd{w: w, stop: make(chan struct{}), tag: t.Name()}
	purse := func(i int) string { return fmt.Sprint("purse", i) }
	for i := range purses {
		c.until(i, "/v1/Purse/"+purse(i)+"/fill", fmt.Sprint("fill ", i), map[string]any{"k": inPurse})
		c.until(i, "/v1/Till/till/join", fmt.Sprintf("join %d", i), map[string]any{"name": purse(i), "p": "Purse/" + purse(i)})
	}
	mark := func(i int) string { return fmt.Sprintf("/v1/Purse/mark%d/", i) }
	for i := range 4 {
		c.group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			for n := 0; anotherAfter(c.stop, seldom); n++ {
				args := map[string]any{"from": purse(r.IntN(purses)), "to": purse(r.IntN(purses)), "k": 1 + r.Int64N(20)}
				c.until(r.IntN(nodes), "/v1/Till/till/"+[]string{"give", "pass"}[n%2], fmt.Sprintf("%d-%d", i, n), args)
				c.added.Add(1)
			}
		})
	}
	c.group.Go(func() {
		for n := 0; ; n++ {
			for i := range marks {
				if !another(c.stop) {
					return
				}
				c.until(n, mark(i)+"fill", fmt.Sprintf("mark %d %d", i, n), map[string]any{"k": 1})
			}
		}
	})
	at := snapshot.Dir(place)
	newest := func(after string) (f *snapshot.Found) {
		t.Helper()
		eventually(t, "a snapshot of all stores is taken", func() (bool, any) {
			var err error
			f, err = snapshot.Find(t.Context(), at, snapshot.Wanted{})
			return err == nil && f.Name > after, fmt.Sprint(f, err)
		})
		return f
	}
	first := newest("")
	c.goesOn(50)
	w.end(w.leader(), syscall.SIGKILL)
	c.goesOn(50)
	last := newest(newest(first.Name).Name)
	if n := w.logged("classes have snapshot blocks"); n > 0 {
		t.Errorf("%d snapshots were not taken, as events over several stores were under way", n)
	}
	close(c.stop)
	c.group.Wait()
	for i := range nodes {
		w.end(i, syscall.SIGKILL)
	}
	if list, _, err := snapshot.All(t.Context(), at); err != nil || len(list) < 3 {
		t.Errorf("%d snapshots are there (%v)", len(list), err)
	}
	dir := filepath.Join(w.dir, "restored")
	for i := range last.Parts {
		p := &last.Parts[i]
		err := pebbledb.Make(archive.StoreDir(dir, i), store.EngineOptions{Program: p.Program, Part: true}, func(e *pebbledb.DB) error {
			return archive.Restore(e, e.Identity(), event.StoreID(i), func(f func(key, row []byte) error) error { return snapshot.Read(t.Context(), p.Place, &p.Manifest, f) })
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	name, text := archive.StoresFile(len(last.Parts), last.Name)
	if err := pebbledb.FinishParts(dir, name, text); err != nil {
		t.Fatal(err)
	}
	w.dir, w.more = t.TempDir(), []string{"--adopt", dir}
	w.start(0, "")
	w.know(0)
	get := func(path string) int64 { return c.until(0, path, "", nil) }
	if sum := get("/v1/Till/till/sum"); sum != purses*(inPurse+addedToPurse) { // what was decided before is not behind the blocks
		t.Errorf("an audit finds %d", sum)
	}
	var marked []int64
	for i := range marks {
		n := get(mark(i) + "get")
		if marked = append(marked, n); n > marked[max(i, 1)-1] || n < marked[0]-1 {
			t.Errorf("of what was answered one after the other there is %v", marked)
		}
	}
	eventually(t, "chains that were under way go on", func() (bool, any) {
		got := get("/v1/Till/till/passed")
		return got >= 0, got
	})
	for _, wrong := range c.wrong {
		t.Error(wrong)
	}
	t.Logf("%s has %v, of %d requests", last.Name, marked, c.added.Load())
}

// Several stores have snapshots together, and their parts go with them.
func TestPartsOfSnapshots(t *testing.T) {
	t.Parallel()
	place := t.TempDir()
	w := newWorldOf(t, nodes, "--snapshots", place, "--snapshot-every", "1s", "--snapshot-keep", "2")
	w.part("failed", func(t *testing.T) { snapshotsFail(t, w, place) })
	w.part("former", func(t *testing.T) { partsOfFormerLeadersGo(t, w, place) })
}

// While the place of a node fails no snapshot of several stores is made, nothing stays of the parts that other nodes have saved, and the one that was made last
// stays. Once the place is repaired the next one is whole.
func snapshotsFail(t *testing.T, w *world, place string) {
	files := func(of, suffix string) []string {
		list, err := filepath.Glob(filepath.Join(place, of, "*", "snapshots", "*"+suffix))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	// A leader that goes while it saves leaves its part until newer snapshots are whole: so each node leads the store that it is to lead.
	eventually(t, "all nodes save parts, and nothing is left of earlier ones", func() (bool, any) {
		s, err := w.status(0)
		if err != nil {
			return false, err
		}
		leaders := map[event.NodeID]bool{}
		for _, st := range s.Stores {
			leaders[st.Leader] = true
		}
		delete(leaders, 0)
		left := files("node*", ".pending")
		return len(leaders) == nodes && len(files("node2", ".json")) > 0 && len(left) == 0, fmt.Sprint(leaders, left)
	})
	newest := func() (name string) {
		eventually(t, "a snapshot is whole", func() (bool, any) {
			f, err := snapshot.Find(t.Context(), snapshot.Dir(place), snapshot.Wanted{})
			if err == nil {
				name = f.Name
			}
			return err == nil, err
		})
		return name
	}
	dir, away := filepath.Join(place, "node2"), filepath.Join(place, "away")
	if err := errors.Join(os.Rename(dir, away), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	const failed, saved = "no snapshot of the stores was taken", ` of="store `
	first := w.logged(failed)
	eventually(t, "a snapshot fails", func() (bool, any) { n := w.logged(failed); return n > first, n }) // the one before may have had all its parts when the place failed
	before := newest()
	failedBefore, savedBefore := w.logged(failed), w.logged(saved)
	eventually(t, "snapshots fail, and nothing is left of the parts that were saved", func() (bool, any) {
		failed, saved, left := w.logged(failed)-failedBefore, w.logged(saved)-savedBefore, files("node*", ".pending")
		return failed > 3 && saved > 3 && len(left) == 0, fmt.Sprint(failed, saved, left)
	})
	if now := newest(); now != before {
		t.Errorf("the newest snapshot was %s, and is %s", before, now)
	}
	// ages are how old the last snapshot is by the figures of the nodes, and by the status.
	ages := func() (list []float64) {
		for i := range nodes {
			list = append(list, w.figures(i)["aeon_snapshot_age_seconds{}"])
		}
		if s, err := w.status(0); err == nil && s.Snapshots != nil && s.Snapshots.Age != nil {
			list = append(list, *s.Snapshots.Age)
		}
		return list
	}
	grown := ages()
	if len(grown) != nodes+1 || slices.Min(grown) < 3 { // four have failed since, a second apart
		t.Errorf("four snapshots have failed, and the last one is %v seconds old", grown)
	}
	if err := errors.Join(os.Remove(dir), os.Rename(away, dir)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the next snapshot is whole, and its parts are told so", func() (bool, any) {
		now, pending := newest(), files("*", ".pending")
		return now > before && len(pending) == 0, fmt.Sprint(now, pending)
	})
	eventually(t, "all nodes know of the next one", func() (bool, any) {
		list := ages()
		return len(list) == len(grown) && slices.Max(list) < slices.Min(grown), list
	})
}

// When a store has another leader the parts that the former one has sent go as they grow old, though that sends none any more.
func partsOfFormerLeadersGo(t *testing.T, w *world, place string) {
	// seen returns how many snapshots are whole, how many are there in part, and the places that have parts of store 0.
	seen := func() (whole, partly int, places map[string]bool) {
		places = map[string]bool{}
		list, _, err := snapshot.All(t.Context(), snapshot.Dir(place))
		for i := 0; err == nil && i < len(list); i++ {
			f := list[i]
			if len(f.Missing) > 0 {
				partly++
				continue
			}
			whole++
			places[f.Parts[0].Place.String()] = true
		}
		return whole, partly, places
	}
	eventually(t, "two nodes have sent parts of store 0", func() (bool, any) {
		whole, partly, places := seen()
		// The leader goes when it has sent some, and the next one has time to. The nodes may move the store on, as each is to lead as many.
		if from := w.leader(); len(places) == 1 && places[filepath.Join(place, fmt.Sprintf("node%d", w.node(from, from).ID))] {
			w.transfer(from, (from+1)%nodes)
		}
		return len(places) > 1, fmt.Sprint(whole, partly, places)
	})
	eventually(t, "what is old is gone, in both places", func() (bool, any) {
		whole, partly, places := seen()
		return whole == 2 && partly == 0, fmt.Sprint(whole, partly, places)
	})
}
