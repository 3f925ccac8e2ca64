//go:build linux

package cluster

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
)

var callbackKills = flag.Int("callback.kills", 1, "how many nodes are killed under clients that receive callbacks")

// spread waits until the nodes lead the stores as they will, and returns which node leads which.
func (w *world) spread() (leaders []int) {
	w.t.Helper()
	eventually(w.t, "each store has its leader", func() (bool, any) {
		s, err := w.status(0)
		if err != nil {
			return false, err
		}
		leaders = leaders[:0]
		for k, st := range s.Stores {
			of := slices.IndexFunc(s.Nodes, func(n status.Node) bool { return n.ID == st.Leader })
			if len(st.Wanted) != nodes || st.Leader != st.Wanted[k%nodes] || !slices.Contains(s.Nodes[of].Leads, st.ID) {
				return false, s
			}
			leaders = append(leaders, slices.Index(w.http[:], s.Nodes[of].Listen))
		}
		return true, nil
	})
	return leaders
}

// actorsIn lists the actors of a class in a store, as the operator of a node gets them.
func (w *world) actorsIn(of int, class string, store int) (status int, text string) {
	w.t.Helper()
	return w.asked(of, http.MethodGet, fmt.Sprintf("%s?class=%s&store=%d", httpdoor.ActorsPath, class, store))
}

// bells makes bells whose names begin alike, and returns the name of one in each store.
func (w *world) bells(c *crowd, alike string) []string {
	w.t.Helper()
	list := make([]string, w.stores)
	for i := range 8 * w.stores {
		c.until(i, fmt.Sprintf("/v1/Bell/%s%d/get", alike, i), "", nil)
	}
	for store := range list {
		_, text := w.actorsIn(0, "Bell", store)
		_, name, _ := strings.Cut(text, `"Bell/`+alike)
		if name, _, _ = strings.Cut(name, `"`); name == "" {
			w.t.Fatalf("store %d has no bell: %s", store, text)
		}
		list[store] = alike + name
	}
	return list
}

// Callers outside reach all stores at any node.
func TestSeveralStoresFromOutside(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, 4)
	leaders := w.spread()
	w.part("grpc", func(t *testing.T) { callsByGRPC(t, w, leaders) })
	w.part("slashes", func(t *testing.T) { namesWithSlashes(t, w) })
	w.part("callbacks", func(t *testing.T) { callbacksOfStores(t, w, leaders) })
}

// A request by gRPC goes from any node to the one that leads the store of the actor that it calls, and no other one sees it. So its key is that of a request
// by HTTP.
func callsByGRPC(t *testing.T, w *world, leaders []int) {
	c := &crowd{w: w}
	bells := w.bells(c, "called")
	var conns [nodes]*grpc.ClientConn
	for i := range conns {
		conns[i] = w.dial(i)
	}
	performed := func() (n [nodes]float64) {
		for i := range n {
			n[i] = w.figures(i)["aeon_grpc_answers_total{code=0}"]
		}
		return n
	}
	for store, bell := range bells {
		for i := range nodes {
			want := performed()
			want[leaders[store]] += 2
			byID := ":" + event.NamedActor("counter.Bell", bell, 0, int(event.Partitions)).String()
			for _, request := range []struct{ method, key string }{{"ring", bell}, {"get", byID}} {
				if _, err := invoke(t.Context(), conns[i], "/counter.Bell/"+request.method, field(nil, 1, request.key)); err != nil {
					t.Fatal(err)
				}
			}
			if got := performed(); got != want {
				t.Errorf("calls by node %d of an actor in store %d, which node %d leads: the nodes have answered %v calls, expected %v", i, store, leaders[store], got, want)
			}
			key := fmt.Sprint("once ", i)
			ctx := metadata.AppendToOutgoingContext(t.Context(), "idempotency-key", key)
			if _, err := invoke(ctx, conns[(i+1)%nodes], "/counter.Bell/ring", field(nil, 1, bell)); err != nil {
				t.Fatal(err)
			}
			if got := c.until(i, "/v1/Bell/"+byID+"/get", "", nil); got != int64(2*(i+1)) {
				t.Errorf("%s in store %d is called %s, and has rung %d times", bell, store, byID, got)
			}
			if got, want := c.until(i, "/v1/Bell/"+bell+"/ring", key, map[string]any{}), int64(2*(i+1)); got != want {
				t.Errorf("%s in store %d has rung %d times, expected %d: a key of gRPC is another one by HTTP", bell, store, got, want)
			}
		}
	}
}

// A name with a slash is the same by HTTP, where it is escaped, and by gRPC: so is the store in which the outcome of a request is kept.
func namesWithSlashes(t *testing.T, w *world) {
	c := &crowd{w: w}
	conn := w.dial(0)
	for i := range 8 {
		name := fmt.Sprintf("bell/%d", i)
		c.untilBy(0, "once", func(int, int) (int64, error) {
			return c.callGRPC(conn, "/counter.Bell/ring", "once", field(nil, 1, name))
		})
		if got := c.until(1, "/v1/Bell/"+url.PathEscape(name)+"/ring", "once", map[string]any{}); got != 1 {
			t.Errorf("%s has rung %d times for one request", name, got)
		}
	}
	for _, wrong := range c.wrong {
		t.Error(wrong)
	}
}

// A client at any node, by HTTP or by gRPC, gets what actors of any store tell it, in the order of the commits. It is in a store that its node leads.
func callbacksOfStores(t *testing.T, w *world, leaders []int) {
	c := &crowd{w: w}
	bells := w.bells(c, "heard")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var ears []*ear
	heard := make(map[*ear]chan rung)
	for i := range nodes {
		for _, conn := range []*grpc.ClientConn{nil, w.dial(i)} {
			e := &ear{w: w, at: i, conn: conn}
			if err := e.begin(ctx); err != nil {
				t.Fatal(err)
			}
			_, digits, _ := strings.Cut(e.id, "-")
			store := 0
			if digits != "" {
				_, _ = fmt.Sscan(digits, &store)
			}
			if leaders[store] != i {
				t.Errorf("a client of node %d is in store %d, which node %d leads", i, store, leaders[store])
			}
			for _, bell := range bells {
				if err := e.listen(ctx, bell); err != nil {
					t.Fatal(err)
				}
			}
			// Its stream may be at another node than the one where it began.
			e.at = (i + len(ears)) % nodes
			if e.conn != nil {
				e.conn = w.dial(e.at)
			}
			ch := make(chan rung, 100)
			heard[e] = ch
			go func() { _ = e.hear(ctx, 0, func(r rung) { ch <- r }) }() // ends with the test
			ears = append(ears, e)
		}
	}
	for i, bell := range bells {
		c.until(i, "/v1/Tower/tower/hang", fmt.Sprint("hang ", i), map[string]any{"name": bell, "b": "Bell/" + bell})
	}
	var want []rung
	rings := make(map[string]int64)
	rang := func(bell string) {
		rings[bell]++
		want = append(want, rung{uint64(len(want) + 1), bell, rings[bell]})
	}
	for round := range 3 {
		for i, bell := range bells {
			c.until(round+i, "/v1/Bell/"+bell+"/ring", fmt.Sprint("ring ", round), map[string]any{})
			rang(bell)
		}
		c.until(round, "/v1/Tower/tower/peal", fmt.Sprint("peal ", round), map[string]any{})
		for _, bell := range slices.Sorted(slices.Values(bells)) { // as keys of maps come
			rang(bell)
		}
	}
	for e, ch := range heard {
		for _, want := range want {
			if got := next(t, ch); got != want {
				t.Fatalf("a client of node %d hears %v, expected %v", e.at, got, want)
			}
		}
	}
	// What comes later than its event comes by itself.
	for i, bell := range bells {
		c.until(i, "/v1/Bell/"+bell+"/later", "later", map[string]any{})
		for range 2 {
			rang(bell)
			want := want[len(want)-1]
			for e, ch := range heard {
				if got := next(t, ch); got != want {
					t.Fatalf("a client of node %d hears %v, expected %v", e.at, got, want)
				}
			}
		}
	}
	for _, e := range ears {
		if err := e.end(ctx); err != nil {
			t.Error(err)
		}
		for _, bell := range bells {
			if err := e.listen(ctx, bell); err == nil || !strings.Contains(err.Error(), "there is no client") {
				t.Errorf("%s takes the reference of a client that has ended: %v", bell, err)
			}
		}
	}
	for _, object := range []string{"Ear:1", "Ear:9000000000000000000", "Ear:18446744073709551615"} {
		e := &ear{w: w, object: object}
		if err := e.listen(ctx, bells[0]); err == nil || !strings.Contains(err.Error(), "there is no client") {
			t.Errorf("the reference %s is taken: %v", object, err)
		}
	}
}

// next returns what an ear hears next.
func next(t *testing.T, ch <-chan rung) rung {
	t.Helper()
	select {
	case r := <-ch:
		return r
	case <-time.After(20 * time.Second):
		t.Fatal("nothing is heard within 20 s")
		return rung{}
	}
}

// Clients hear bells of all stores while nodes are killed: each client each ring once, in order, from the first one that it hears until its end.
func TestCallbacksThroughKills(t *testing.T) {
	t.Parallel()
	const stores = 4
	w := newWorldOf(t, stores)
	c := &crowd{w: w, stop: make(chan struct{})}
	bells := w.bells(c, "bell")
	for i, bell := range bells {
		c.until(i, "/v1/Tower/tower/hang", fmt.Sprint("hang ", i), map[string]any{"name": bell, "b": "Bell/" + bell})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var begun, heard atomic.Int64
	var newest []*newestRings // that each listener has heard
	var listeners, ringers sync.WaitGroup
	for i := range nodes {
		for _, conn := range []*grpc.ClientConn{nil, w.dial(i)} {
			of := &newestRings{heard: &heard, of: make(map[string]int64)}
			newest = append(newest, of)
			listeners.Go(func() {
				for ctx.Err() == nil {
					if e := (&ear{w: w, at: i, conn: conn}); c.follow(ctx, e, bells, of) {
						begun.Add(1)
					}
				}
			})
		}
	}
	for i := range 4 {
		ringers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 2))
			for n := 0; anotherAfter(c.stop, seldom); n++ {
				key := fmt.Sprintf("%d-%d", i, n)
				if r.IntN(4) == 0 {
					c.until(r.IntN(nodes), "/v1/Tower/tower/peal", key, map[string]any{})
				} else {
					c.until(r.IntN(nodes), "/v1/Bell/"+bells[r.IntN(stores)]+"/ring", key, map[string]any{})
				}
				c.added.Add(1)
			}
		})
	}
	goesOn := func() {
		t.Helper()
		c.goesOn(50)
		before := heard.Load()
		eventually(t, "callbacks come", func() (bool, any) { return heard.Load() >= before+200, heard.Load() - before })
	}
	goesOn()
	for k := range *callbackKills {
		w.end(k%nodes, syscall.SIGKILL)
		goesOn()
		w.start(k%nodes, "")
		w.well()
		goesOn()
	}
	close(c.stop)
	ringers.Wait()
	last := 0
	eventually(t, "each client hears each bell", func() (bool, any) { // one that has begun since a ring hears the next one
		last++
		rings := make(map[string]int64)
		for k, bell := range bells {
			rings[bell] = c.until(k%nodes, "/v1/Bell/"+bell+"/ring", fmt.Sprint("last ", last), map[string]any{})
		}
		var deaf []string
		for range 100 {
			deaf = nil
			for i, of := range newest {
				if lacks := of.lacks(rings); lacks != "" {
					deaf = append(deaf, fmt.Sprintf("listener %d has not heard %s", i, lacks))
				}
			}
			if len(deaf) == 0 {
				break
			}
			<-time.After(10 * time.Millisecond)
		}
		return len(deaf) == 0, deaf
	})
	cancel()
	listeners.Wait()
	for _, wrong := range c.wrong {
		t.Error(wrong)
	}
	t.Logf("%d nodes killed: %d requests, %d callbacks, %d clients", *callbackKills, c.added.Load(), heard.Load(), begun.Load())
}

// newestRings are the newest rings that a listener has heard, by bell, over all clients that it has been.
type newestRings struct {
	heard *atomic.Int64 // by all listeners
	mu    sync.Mutex
	of    map[string]int64
}

func (r *newestRings) hear(of rung) {
	r.heard.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[of.bell] = max(r.of[of.bell], of.n)
}

// lacks says which of the rings, or a later one, was not heard, if one was not.
func (r *newestRings) lacks(rings map[string]int64) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for bell, n := range rings {
		if r.of[bell] < n {
			return fmt.Sprintf("ring %d of %s", n, bell)
		}
	}
	return ""
}

// follow is one life of a client that listens to bells: it goes on behind what it has got when its stream breaks, until it is told that it has ended. It
// reports whether it has begun.
func (c *crowd) follow(ctx context.Context, e *ear, bells []string, of *newestRings) bool {
	within := func(f func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, 12*time.Second)
		defer cancel()
		return f(ctx)
	}
	again := func() { <-time.After(50 * time.Millisecond) } // as clients do that are told to come again
	if err := within(e.begin); err != nil {
		again()
		return false
	}
	for _, bell := range bells {
		if within(func(ctx context.Context) error { return e.listen(ctx, bell) }) != nil {
			again() // the bell may tell it, or not, and would tell it twice what it asks for twice
			_ = within(e.end)
			return false
		}
	}
	last, after := make(map[string]int64), uint64(0)
	for ctx.Err() == nil {
		err := e.hear(ctx, after, func(r rung) {
			if n, known := last[r.bell]; r.number != after+1 || known && r.n != n+1 {
				c.fail("client %s has got callback %d, ring %d of %s, and gets callback %d with ring %d", e.id, after, n, r.bell, r.number, r.n)
			}
			after, last[r.bell] = r.number, r.n
			of.hear(r)
		})
		if text := err.Error(); strings.Contains(text, "there is no such client") || strings.Contains(text, `"code":"`) || strings.Contains(text, "may be missing") {
			return true
		}
		again()
	}
	return true
}
