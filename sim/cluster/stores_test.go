//go:build linux

package cluster

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/aeon-lang/aeon/cluster/status"
)

var storeKills = flag.Int("store.kills", 3, "how often a node of a cluster of several stores is killed, is told to end, or gives away the stores that it leads")

const (
	purses  = 12
	inPurse = 1000
	tills   = 3
)

// endsMax is how long a node may take to end under load, on a machine that has other things to do: requests wait there for stores that have no leader, and the
// node for these requests, up to 5 s.
const endsMax = 4 * time.Second

// Money goes between purses in four stores that three nodes lead, by requests to tills anywhere, by HTTP and by gRPC, while nodes are killed, end, start again, and give away what they lead: each request happens
// once, with what follows from it and with chains through several stores, and readers find all money at any time.
func TestSeveralStores(t *testing.T) {
	t.Parallel()
	w := newTracedWorld(t, 4)
	c := &crowd{w: w, stop: make(chan struct{}), tag: t.Name()}
	purse := func(i int) string { return fmt.Sprint("purse", i) }
	path := func(i int) string { return fmt.Sprintf("/v1/Till/till%d/", i%tills) }
	var conns [nodes]*grpc.ClientConn
	for i := range conns {
		conns[i] = w.dial(i)
	}
	for i := range purses {
		c.until(i, "/v1/Purse/"+purse(i)+"/fill", fmt.Sprint("fill ", i), map[string]any{"k": inPurse})
		for k := range tills {
			c.until(i, path(k)+"join", fmt.Sprintf("join %d %d", i, k), map[string]any{"name": purse(i), "p": "Purse/" + purse(i)})
		}
	}
	var given, passed, audits atomic.Int64
	goesOn := func(n int64) {
		t.Helper()
		looked := audits.Load()
		counts(t, "requests that are answered", c.added.Load, c.added.Load()+n)
		counts(t, "audits that are answered", audits.Load, looked+n/10)
	}
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for n := 0; anotherAfter(c.stop, seldom); n++ {
				k, key, till := 1+r.Int64N(20), fmt.Sprintf("%d-%d", i, n), r.IntN(tills)
				from, to := purse(r.IntN(purses)), purse(r.IntN(purses))
				args := map[string]any{"from": from, "to": to, "k": k}
				if n%3 == 0 {
					first := c.until(r.IntN(nodes), path(till)+"pass", key, args)
					if again := c.until(r.IntN(nodes), path(till)+"pass", key, args); again != first {
						c.fail("a chain with the key %s ends with %d, and with %d when it is sent again", key, first, again)
					}
					passed.Add(k)
					c.added.Add(1)
					continue
				}
				c.untilBy(r.IntN(nodes), key, func(node, again int) (int64, error) {
					if (n+again)%2 == 0 { // what is sent again goes by the other protocol
						return c.call(node, path(till)+"give", key, args)
					}
					in := field(field(field(field(nil, 1, fmt.Sprint("till", till)), 2, from), 3, to), 4, uint64(k))
					return c.callGRPC(conns[node], "/counter.Till/give", key, in)
				})
				given.Add(k)
				c.added.Add(1)
			}
		})
	}
	group.Go(func() {
		for n := 0; anotherAfter(c.stop, seldom); n++ {
			if got := c.until(n, path(n)+"sum", "", nil); got != purses*inPurse {
				c.fail("an audit finds %d", got)
			}
			audits.Add(1)
		}
	})
	goesOn(50)
	for k := range *storeKills {
		i := k / 3 % nodes
		switch k % 3 {
		case 0, 1:
			began := time.Now()
			w.end(i, [...]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[k%3])
			if took := time.Since(began); took > endsMax {
				t.Errorf("node %d has ended after %v: what it leads was not led elsewhere at once", i, took)
			}
			goesOn(50)
			w.start(i, "")
			w.well()
		case 2:
			for store := range uint32(w.stores) {
				if w.leaderOf(i, store) == i {
					w.order(i, fmt.Sprintf("%s?store=%d&node=%s", status.TransferPath, store, w.name(i, (i+1)%nodes)))
				}
			}
		}
		goesOn(50)
	}
	close(c.stop)
	group.Wait()
	eventually(t, "what was issued has happened, once", func() (bool, any) {
		got := c.until(0, "/v1/Side/given/get", "", nil)
		return got == given.Load(), fmt.Sprint(got, " of ", given.Load(), c.wrong)
	})
	eventually(t, "all steps of chains have been taken, once", func() (bool, any) {
		got := c.until(0, path(0)+"passed", "", nil)
		return got == passed.Load(), fmt.Sprint(got, " of ", passed.Load())
	})
	for _, wrong := range c.wrong {
		t.Error(wrong)
	}
	listStores(t, w, 4)
	for i := range nodes {
		w.callInTrace(i, i+1, http.MethodPost, path(i)+"give", fmt.Sprintf(`{"from":%q,"to":%q,"k":1}`, purse(i), purse(i+1)))
	}
	for i := range nodes {
		w.end(i, syscall.SIGTERM)
	}
	w.checkTraces()
	w.checkGives()
	t.Logf("%d nodes killed, ended or relieved: %d transfers, %d audits, %d requests sent again; the longest took %v", *storeKills, c.added.Load(), audits.Load(), c.again.Load(), c.longest)
}

// spreads is time in which a leader would give away twice what it has of a store that another node is to lead.
const spreads = 7 * time.Second

// A node that an operator empties stays so: what was transferred does not go back to the node that is to lead it. When the node with it has ended, it does.
func transfersLast(t *testing.T, w *world) {
	leaders := func() (list []int) {
		for store := range uint32(w.stores) {
			list = append(list, w.leaderOf(0, store))
		}
		return list
	}
	lead := func(what string, nodes ...int) {
		t.Helper()
		eventually(t, what, func() (bool, any) {
			list := leaders()
			return !slices.ContainsFunc(nodes, func(i int) bool { return !slices.Contains(list, i) }), list
		})
	}
	lead("all nodes lead stores", 0, 1, 2)
	for store, i := range leaders() {
		if i == 2 {
			w.order(0, fmt.Sprintf("%s?store=%d&node=%s", status.TransferPath, store, w.name(0, 1)))
		}
	}
	<-time.After(spreads)
	if list := leaders(); slices.Contains(list, 2) {
		t.Errorf("node 2 leads again what was transferred: %v", list)
	}
	w.end(1, syscall.SIGTERM)
	w.start(1, "")
	lead("node 2 leads again when the other one has ended, and all replicas are up to date", 2)
}

// listStores fails unless the operator of a node finds each purse in one of the stores, and is told which stores there are.
func listStores(t *testing.T, w *world, stores int) {
	t.Helper()
	found, used := 0, 0
	for store := range stores {
		status, text := w.actorsIn(0, "Purse", store)
		if status != http.StatusOK {
			t.Errorf("store %d: %d %s", store, status, text)
		}
		n := strings.Count(text, "\n")
		found, used = found+n, used+min(n, 1)
	}
	if found != purses || used < 2 {
		t.Errorf("the stores have %d purses, in %d of them; there are %d", found, used, purses)
	}
	if status, text := w.actorsIn(0, "Purse", stores); status != http.StatusBadRequest || !strings.Contains(text, fmt.Sprintf("there are %d, from 0 on", stores)) {
		t.Errorf("a store that is not there: %d %s", status, text)
	}
}
