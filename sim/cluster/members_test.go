//go:build linux

package cluster

import (
	"flag"
	"net/url"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/cluster/status"
)

var away = flag.Duration("away", time.Second, "how long a node is away under load")

// quantile returns how long requests took at most, but for a share of them, since it was called last.
func (c *crowd) quantile(share float64) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.took
	c.took = nil
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[int(float64(len(list)-1)*share)]
}

// measure returns the p99 of requests, of which so many are answered meanwhile.
func (c *crowd) measure(requests int64) time.Duration {
	c.w.t.Helper()
	c.quantile(0)
	c.goesOn(requests)
	return c.quantile(0.99)
}

func (w *world) follower() int {
	w.t.Helper()
	l := w.leader()
	list := w.clientsKnow()
	return list[(slices.Index(list, l)+1)%len(list)]
}

func (w *world) without(i int) []int {
	return slices.DeleteFunc(slices.Clone(w.clientsKnow()), func(j int) bool { return j == i })
}

// join starts a node that joins, and waits until all is well.
func (w *world) join(i int, token string) {
	w.t.Helper()
	w.start(i, token)
	w.know(append(slices.Clone(w.clientsKnow()), i)...)
	w.well()
}

func (w *world) well() {
	w.t.Helper()
	w.await("all is well", func(s *status.Status) bool { return s.Health == status.Healthy }, w.clientsKnow()...)
}

// slowerMax is how much slower requests may become while a node is brought up to date.
const slowerMax = 2

// Nodes come and go under load: one is away for a time, one loses its disk and is replaced, members are removed while they live, the leader
// among them. The others go on; what was answered has happened, once; and no answer says that the cluster does not serve.
func TestMembers(t *testing.T) {
	w := newWorld(t)
	c := w.begin(url.PathEscape(t.Name()))
	c.goesOn(500)

	before := c.measure(1000)
	f := w.follower()
	w.end(f, syscall.SIGKILL)
	<-time.After(*away)
	without := c.measure(500)
	c.quantile(0)
	back := time.Now()
	w.start(f, "")
	w.well()
	c.goesOn(500)
	with := c.quantile(0.99)
	t.Logf("a node was away for %v, and back after %v: p99 of requests %v before, %v without it, %v while it came back", *away, time.Since(back).Round(time.Millisecond), before, without, with)
	if *away >= time.Minute && with > slowerMax*before { // in a short time the start of a process is all that is seen
		t.Errorf("a node that comes back has requests take %v (p99), and %v before", with, before)
	}

	lost := w.follower()
	name := w.name(w.leader(), lost)
	w.end(lost, syscall.SIGKILL)
	if err := os.RemoveAll(w.data(lost)); err != nil {
		t.Fatal(err)
	}
	w.know(w.without(lost)...)
	c.goesOn(200)
	w.order(w.leader(), status.RemovePath+"?lost=true&node="+name)
	replaced := time.Now()
	w.join(3, w.order(w.leader(), status.TokenPath))
	t.Logf("a node that has lost its disk was replaced after %v", time.Since(replaced).Round(time.Millisecond))
	c.goesOn(200)

	w.join(4, w.order(w.leader(), status.TokenPath))
	for _, of := range []struct {
		what string
		node func() int
	}{{"a follower", w.follower}, {"the leader", w.leader}} {
		gone, refused := of.node(), c.refused.Load()
		by := w.without(gone)[0]
		began := time.Now()
		w.order(by, status.RemovePath+"?node="+w.name(by, gone))
		w.mu.Lock()
		p := w.procs[gone]
		w.mu.Unlock()
		_, _ = p.Process.Wait() // it ends by itself
		t.Logf("%s was removed after %v", of.what, time.Since(began).Round(time.Millisecond))
		w.know(w.without(gone)...)
		w.mu.Lock()
		w.procs[gone] = nil
		w.mu.Unlock()
		w.well()
		c.goesOn(200)
		if n := c.refused.Load() - refused; n > 0 {
			t.Errorf("%d answers said that no node serves while %s was removed", n, of.what)
		}
		if of.what == "a follower" {
			w.join(5, w.order(w.leader(), status.TokenPath))
		}
	}
	c.end()
	w.compare()
}
