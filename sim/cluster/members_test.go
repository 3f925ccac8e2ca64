//go:build linux

package cluster

import (
	"flag"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/cluster/status"
)

var away = flag.Duration("away", time.Second, "how long a node is away under load")

// slowerMax is how much slower requests may become while a node is brought up to date.
const slowerMax = 2

// A node that one node does not hear, and another one does, is not taken out as lost: it would end at once.
func aNodeThatAnotherOneHearsIsNotLost(t *testing.T, w *world) {
	by := w.leader()
	unheard := w.follower()
	path := status.RemovePath + "?lost=true&node=" + w.name(by, unheard)
	w.links.set(true, [2]int{by, unheard}, [2]int{unheard, by})
	eventually(t, "the node is not heard", func() (bool, any) {
		s := w.node(by, unheard).State
		return s == status.Silent, s
	})
	if code, text := w.orders(by, path); code != http.StatusBadRequest || !strings.Contains(text, "is not lost, it answers") {
		t.Errorf("%d: %s", code, text)
	}
	w.links.set(false, [2]int{by, unheard}, [2]int{unheard, by})
	w.well()
}

// Nodes come and go under load: one is away for a time, one loses its disk and is replaced, members are removed while they live, the leader
// among them. The others go on; what was answered has happened, once; and no answer says that the cluster does not serve.
func TestMembers(t *testing.T) {
	t.Parallel()
	w := newTracedWorld(t, 1)
	c := w.begin(url.PathEscape(t.Name()))
	c.goesOn(100)
	many := int64(100) // requests that are measured
	if *away >= time.Minute {
		many = 1000
	} else {
		c.rest.Store(int64(seldom)) // it is enough that some are always under way
	}

	before := c.measure(many)
	f := w.follower()
	w.end(f, syscall.SIGKILL)
	<-time.After(*away)
	without := c.measure(many / 2)
	c.quantile(0)
	back := time.Now()
	w.start(f, "")
	w.well()
	c.goesOn(many / 2)
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
	c.goesOn(100)
	w.order(w.leader(), status.RemovePath+"?lost=true&node="+name)
	replaced := time.Now()
	w.join(3, w.order(w.leader(), status.TokenPath))
	t.Logf("a node that has lost its disk was replaced after %v", time.Since(replaced).Round(time.Millisecond))
	c.goesOn(100)

	w.join(4, w.order(w.leader(), status.TokenPath))
	for _, of := range []struct {
		what string
		node func() int
	}{{"a follower", w.follower}, {"the leader", w.leader}} {
		gone, refused := of.node(), c.refused.Load()
		by := w.without(gone)[0]
		path := status.RemovePath + "?node=" + w.name(by, gone)
		if code, text := w.orders(gone, path); code != http.StatusBadRequest || !strings.Contains(text, "ask another node") {
			t.Errorf("%s is asked to remove itself: %d: %s", of.what, code, text)
		}
		began := time.Now()
		w.order(by, path)
		w.mu.Lock()
		p := w.procs[gone]
		w.mu.Unlock()
		w.ended(gone, p) // by itself
		t.Logf("%s was removed after %v", of.what, time.Since(began).Round(time.Millisecond))
		w.know(w.without(gone)...)
		w.well()
		c.goesOn(100)
		if n := c.refused.Load() - refused; n > 0 {
			t.Errorf("%d answers said that no node serves while %s was removed", n, of.what)
		}
		if of.what == "a follower" {
			w.join(5, w.order(w.leader(), status.TokenPath))
		}
	}
	c.end()
	w.compare()
	w.checkTraces()
}
