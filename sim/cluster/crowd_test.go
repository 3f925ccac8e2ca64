//go:build linux

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// goesOn waits until so many more requests were answered.
func (c *crowd) goesOn(requests int64) {
	c.w.t.Helper()
	counts(c.w.t, "requests that are answered", c.added.Load, c.added.Load()+requests)
}

// crowd is clients that send requests, each until it is answered, and what they have been told.
type crowd struct {
	w     *world
	stop  chan struct{}
	group sync.WaitGroup
	tag   string
	rest  atomic.Int64 // of a client between two requests, in nanoseconds

	added, relayed atomic.Int64 // what was answered
	reads          atomic.Int64
	again          atomic.Int64 // requests that were sent more than once
	refused        atomic.Int64 // answers that said that no node serves
	answered       atomic.Int64 // when the last request was, in nanoseconds
	mu             sync.Mutex
	gaps           []time.Duration // the longest times without an answer, of which the outages are
	longest        time.Duration   // that a request took, with all that it was sent again
	took           []time.Duration // by each request, since quantile was called
	wrong          []string
}

func (c *crowd) fail(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

var errLater = errors.New("unavailable")

// call calls a method once at a node.
func (c *crowd) call(i int, path, key string, args any) (result int64, err error) {
	body, err := json.Marshal(args)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 12*time.Second)
	defer cancel()
	method := http.MethodPost
	if key == "" {
		method, body = http.MethodGet, nil
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+c.w.http[i]+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	if key != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := sender.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return 0, err
	case answer.StatusCode == http.StatusServiceUnavailable:
		c.refused.Add(1)
		return 0, errLater
	case answer.StatusCode != http.StatusOK:
		c.fail("%s %s: %s: %s", method, path, answer.Status, b)
		return 0, nil
	}
	return strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
}

var sender = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}

// until sends a request to one node after another until it is answered.
func (c *crowd) until(at int, path, key string, args any) int64 {
	return c.untilBy(at, key, func(node, _ int) (int64, error) { return c.call(node, path, key, args) })
}

// untilBy is until for a request that call sends to a node for the n-th time.
func (c *crowd) untilBy(at int, key string, call func(node, n int) (int64, error)) int64 {
	began := time.Now()
	for n := 0; ; n++ {
		known := c.w.clientsKnow()
		result, err := call(known[(at+n)%len(known)], n)
		if err == nil {
			now := time.Now().UnixNano()
			c.mu.Lock()
			c.longest = max(c.longest, time.Since(began))
			c.took = append(c.took, time.Since(began))
			c.mu.Unlock()
			if last := c.answered.Swap(now); key != "" && last != 0 && now-last > int64(100*time.Millisecond) {
				c.mu.Lock()
				c.gaps = append(c.gaps, time.Duration(now-last))
				c.mu.Unlock()
			}
			return result
		}
		c.again.Add(1)
		<-time.After(10 * time.Millisecond) // as clients do that are told to come again
	}
}

// thinks is how long a client rests between two requests: without it clients take all of the processors, and what is to come after a fault waits for them.
const thinks = 10 * time.Millisecond

// seldom is the same for clients whose requests touch several stores, or tell many listeners.
const seldom = 3 * thinks

// another reports, after this time, whether a client sends another request: it has not been stopped.
func another(stop <-chan struct{}) bool { return anotherAfter(stop, thinks) }

func anotherAfter(stop <-chan struct{}, rest time.Duration) bool {
	select {
	case <-stop:
		return false
	case <-time.After(rest):
		return true
	}
}

// another is the same for a client of the crowd, which rests for longer while a fault lasts.
func (c *crowd) another() bool { return anotherAfter(c.stop, time.Duration(c.rest.Load())) }

// last is the end of a fault.
const last = 500 * time.Millisecond

// outlast waits for the end of a fault that began a while ago and lasts for d. All clients see how it begins, and how it ends. In the time between, when
// other nodes have taken over, a tenth of the requests keeps what is tested going.
func (c *crowd) outlast(began time.Time, d time.Duration) {
	c.w.t.Helper()
	c.goesOn(100)
	c.rest.Store(int64(10 * thinks))
	<-time.After(time.Until(began.Add(d - last)))
	c.rest.Store(int64(thinks))
	<-time.After(time.Until(began.Add(d)))
}

// begin starts the clients.
func (w *world) begin(tag string) *crowd {
	c := &crowd{w: w, stop: make(chan struct{}), tag: tag}
	c.rest.Store(int64(thinks))
	for i := range 6 {
		c.group.Go(func() {
			for n := 0; c.another(); n++ {
				key := fmt.Sprintf("%s-%d-%d", tag, i, n)
				if n%5 == 4 {
					c.until(i, "/v1/Counter/main/relay", key, map[string]int{"k": 1})
					c.relayed.Add(1)
				} else {
					c.until(i, "/v1/Counter/main/add", key, map[string]int{"k": 1})
					c.added.Add(1)
				}
			}
		})
	}
	for i := range nodes {
		c.group.Go(func() {
			for c.another() {
				before := c.added.Load() + c.relayed.Load()
				if got := c.until(i, "/v1/Counter/main/get", "", nil); got < before {
					c.fail("a reader has seen %d when %d were answered", got, before)
				}
				c.reads.Add(1)
			}
		})
	}
	return c
}

// end stops the clients, and compares what there is with what was answered.
func (c *crowd) end() {
	t := c.w.t
	t.Helper()
	close(c.stop)
	c.group.Wait()
	added, relayed := c.added.Load(), c.relayed.Load()
	for path, want := range map[string]int64{"Counter/main": added + relayed, "Side/sent": added, "Side/late": added, "Side/hopped": relayed} {
		var got int64
		eventually(t, path+" has what was answered", func() (bool, any) {
			got = c.until(0, "/v1/"+path+"/get", "", nil)
			return got >= want, fmt.Sprintf("%d of %d", got, want)
		})
		if got != want {
			t.Errorf("%s has %d, and %d were answered", path, got, want)
		}
	}
	for _, text := range c.wrong {
		t.Error(text)
	}
	t.Logf("%d additions, %d relays, %d reads; %d were sent again", added, relayed, c.reads.Load(), c.again.Load())
}

// outages writes the longest gaps, and returns how long the longest request took.
func (c *crowd) outages(what string, n int) (longest time.Duration) {
	c.quantile(0)
	c.mu.Lock()
	defer c.mu.Unlock()
	longest, c.longest = c.longest, 0
	if n == 0 {
		c.gaps = nil
		return longest
	}
	slices.Sort(c.gaps)
	list := c.gaps[max(0, len(c.gaps)-n):]
	if len(list) > 0 {
		c.w.t.Logf("outage of %d %s: median %v, p99 %v", n, what, list[len(list)/2].Round(time.Millisecond), list[(len(list)*99-1)/100].Round(time.Millisecond))
	}
	c.w.t.Logf("%d %s: the longest request took %v", n, what, longest.Round(time.Millisecond))
	c.gaps = nil
	return longest
}

// plannedMax is how long a request may take while a leader hands over, on a machine that has other things to do.
const plannedMax = 2 * time.Second

// planned is outages of what an operator does on purpose.
func (c *crowd) planned(what string, n int) {
	c.w.t.Helper()
	if longest := c.outages(what, n); longest > plannedMax {
		c.w.t.Errorf("%d %s: a request took %v", n, what, longest)
	}
}

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
