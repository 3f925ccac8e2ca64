//go:build linux

package cluster

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

var untouchedKills = flag.Int("untouched.kills", 3, "of how many outages of another store TestUntouchedStores takes the half that is better; it stops when that is known")

// probes is the time between two looks at the machine, so short that a pause of it is hardly missed.
const probes = 4 * time.Millisecond

// sample is how long a request took, and when it was due.
type sample struct {
	at   time.Time
	took time.Duration
}

func p99(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[(len(list)-1)*99/100]
}

// outage is a time in which a store has had no leader, and how long untouched events took before and meanwhile.
type outage struct {
	took           time.Duration
	before, during []time.Duration
	sync, plain    time.Duration // the longest of what is measured beside
}

// isWithin reports whether the events took no longer than before, as far as the machine allows that.
func (o outage) isWithin() bool {
	return p99(o.during) <= max(2*p99(o.before), o.took/4, 2*o.sync, 2*o.plain)
}

func (o outage) String() string {
	return fmt.Sprintf("an outage of %v: p99 of %d untouched events before it %v, of %d while it lasts %v; the longest %v, of a sync %v, of a request without a store %v",
		o.took, len(o.before), p99(o.before), len(o.during), p99(o.during), slices.Max(o.during), o.sync, o.plain)
}

// While a store has no leader, events on actors of another one go on as before, also beside events that touch both and wait. The node that is killed has a replica of either store.
// So they need the disks of both other nodes, which are one, and processors, which other tests use, too: how long a sync and a request that needs no store take is
// measured beside. One outage tells little: it has some requests of a few clients, and one pause of the machine makes all of them late. That of a runtime makes them late in
// each outage.
func TestUntouchedStores(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, nodes)
	c := &crowd{w: w, stop: make(chan struct{}), tag: t.Name()}
	lists := make(map[uint32][]string) // the purses of each store
	for i := 0; len(lists[0]) < 4 || len(lists[1]) < 4; i++ {
		name := fmt.Sprint("purse", i)
		c.until(i, "/v1/Purse/"+name+"/fill", "fill "+name, map[string]any{"k": inPurse})
		for _, l := range w.told(0, httpdoor.ActorsPath+"?class=Purse") {
			if l.Actor == "Purse/"+name {
				lists[*l.Store] = append(lists[*l.Store], name)
			}
		}
	}
	from, to := lists[0][3], lists[1][3]
	for _, name := range []string{from, to} {
		c.until(0, "/v1/Till/both/join", "join "+name, map[string]any{"name": name, "p": "Purse/" + name})
	}
	spread := func() (touched, untouched int) { // the leaders of the stores 0 and 1
		w.await("each store is led by the node that is to lead it", func(s *status.Status) bool {
			return s.Health == status.Healthy && !slices.ContainsFunc(s.Stores, func(st status.Store) bool {
				return len(st.Wanted) != nodes || st.Leader != st.Wanted[int(st.ID)%nodes]
			})
		}, 0, 1, 2)
		return w.leaderOf(0, 0), w.leaderOf(0, 1)
	}
	var mu sync.Mutex
	var samples, syncs, plain []sample
	var group sync.WaitGroup
	file, err := os.Create(filepath.Join(t.TempDir(), "synced"))
	if err != nil {
		t.Fatal(err)
	}
	group.Go(func() {
		defer file.Close()
		for anotherAfter(c.stop, probes) {
			at := time.Now()
			if _, err := file.Write(make([]byte, 100)); err != nil {
				c.fail("%v", err)
			}
			if err := file.Sync(); err != nil {
				c.fail("%v", err)
			}
			mu.Lock()
			syncs = append(syncs, sample{at, time.Since(at)})
			mu.Unlock()
		}
	})
	touched, at := spread()
	for node := range nodes {
		if node == touched {
			continue // no event needs it during the outage
		}
		group.Go(func() {
			for anotherAfter(c.stop, probes) {
				began := time.Now()
				answer, err := sender.Get("http://" + w.http[node] + "/healthz")
				if err != nil {
					c.fail("%v", err)
					return
				}
				_, _ = io.Copy(io.Discard, answer.Body) // so that the connection is used again
				_ = answer.Body.Close()
				mu.Lock()
				plain = append(plain, sample{began, time.Since(began)})
				mu.Unlock()
			}
		})
	}
	// each sends a request every few milliseconds, or half as often as this machine could, until the test ends. What one takes counts from when it
	// was due: one that waits makes those behind it late.
	each := func(note bool, at int, path, key string, args map[string]any) {
		group.Go(func() {
			const first = 50
			began := time.Now()
			for n := range first {
				c.until(at, path, fmt.Sprint(key, n), args)
			}
			due := time.Now()
			pace := max(10*time.Millisecond, 2*due.Sub(began)/first)
			for n := first; ; n++ {
				due = due.Add(pace)
				select {
				case <-c.stop:
					return
				case <-time.After(time.Until(due)):
				}
				c.until(at, path, fmt.Sprint(key, n), args)
				if note {
					mu.Lock()
					samples = append(samples, sample{due, time.Since(due)})
					mu.Unlock()
				}
			}
		})
	}
	for _, name := range lists[1][:3] {
		each(true, at, "/v1/Purse/"+name+"/fill", name+" untouched ", map[string]any{"k": 0})
	}
	each(false, at, "/v1/Till/both/give", "both ", map[string]any{"from": from, "to": to, "k": 1})
	// between returns what requests took that were sent in some time.
	between := func(from, to time.Time) (list []time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		for _, s := range samples {
			if s.at.After(from) && s.at.Before(to) {
				list = append(list, s.took)
			}
		}
		return list
	}
	var all []outage
	good, bad := 0, 0
	for 2*good <= *untouchedKills && 2*bad <= *untouchedKills {
		kill, stays := spread()
		if stays != at || kill != touched {
			t.Fatalf("node %d leads the store that is not touched, and node %d the other one", stays, kill)
		}
		began := time.Now()
		eventually(t, "requests are measured", func() (bool, any) { list := between(began, time.Now()); return len(list) >= 200, len(list) })
		killed := time.Now()
		w.end(kill, syscall.SIGKILL)
		c.until(at, "/v1/Purse/"+lists[0][0]+"/fill", fmt.Sprint("touched ", killed), map[string]any{"k": 0})
		over := time.Now()
		eventually(t, "requests of the outage are answered", func() (bool, any) { list := between(over, time.Now()); return len(list) >= 20, len(list) })
		mu.Lock()
		slowest := func(list []sample) (longest time.Duration) {
			for _, s := range list {
				if s.at.Before(over) && s.at.Add(s.took).After(killed) {
					longest = max(longest, s.took)
				}
			}
			return longest
		}
		o := outage{took: over.Sub(killed), sync: slowest(syncs), plain: slowest(plain)}
		mu.Unlock()
		o.before, o.during = between(began, killed), between(killed, over)
		w.start(kill, "")
		if o.took < 100*time.Millisecond {
			t.Fatalf("an outage took %v: the store has had a leader throughout", o.took)
		}
		switch all = append(all, o); {
		case len(o.during) < 20: // a slow machine sends so few requests that an outage does not show much
			if len(all) > *untouchedKills+10 {
				t.Fatalf("too few requests were sent in the outages %v", all)
			}
		case o.isWithin():
			good++
		default:
			bad++
		}
	}
	close(c.stop)
	group.Wait()
	for _, o := range all {
		t.Log(o)
	}
	if 2*good <= *untouchedKills {
		t.Errorf("while one store has no leader, events that do not touch it take longer: in %d outages of %d", bad, good+bad)
	}
	for _, wrong := range c.wrong {
		t.Error(wrong)
	}
}
