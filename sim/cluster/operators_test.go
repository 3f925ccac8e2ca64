//go:build linux

package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
)

// toldLine is a line that a node answers an operator with, of any list.
type toldLine struct {
	Store                   *uint32
	ID, Actor               string
	Due, Time               time.Time
	Event, Method, At       string
	For, Why, Kind, Failure string
	Home, ForHome           *uint32
	Holds                   []string
	ForStores               []uint32
	Missing                 *uint32
}

// asked asks a node what an operator asks.
func (w *world) asked(i int, method, path string) (int, string) {
	w.t.Helper()
	client, err := httpdoor.ClientOf(w.data(i))
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := http.NewRequest(method, "http://localhost"+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.StatusCode, string(b)
}

// told returns the lines of a list.
func (w *world) told(i int, path string) (list []toldLine) {
	w.t.Helper()
	code, text := w.asked(i, http.MethodGet, path)
	if code != http.StatusOK {
		w.t.Fatalf("%s: %d %s", path, code, text)
	}
	return readLines(w.t, text)
}

func readLines(t *testing.T, text string) (list []toldLine) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var l toldLine
		if err := d.Decode(&l); err == io.EOF {
			return list
		} else if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		list = append(list, l)
	}
}

// missing returns the stores of which a list has no part.
func missing(list []toldLine) (stores []uint32) {
	for _, l := range list {
		if l.Missing != nil {
			stores = append(stores, *l.Missing)
		}
	}
	return stores
}

// leaderOf returns the node that leads a store, as node by says; -1: it knows of none.
func (w *world) leaderOf(by int, store uint32) int {
	s, err := w.status(by)
	if err != nil || int(store) >= len(s.Stores) {
		return -1
	}
	for _, n := range s.Nodes {
		if n.ID == s.Stores[store].Leader {
			return slices.Index(w.http[:], n.Listen)
		}
	}
	return -1
}

// Operators of a cluster of several stores see all of it at any node, in the order of one store; what an event waits for is found in all stores that it touches; and a store that
// the node does not reach is named.
func TestOperators(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, 4)
	w.spread() // before that a store moves to another leader, and lists say meanwhile that they have no part of it
	c := &crowd{w: w, stop: make(chan struct{}), tag: t.Name()}
	spread := make(map[uint32]string) // a purse in each store
	for i := 0; i < purses || len(spread) < w.stores; i++ {
		name := fmt.Sprint("purse", i)
		c.until(i, "/v1/Purse/"+name+"/fill", "fill "+name, map[string]any{"k": inPurse})
		for _, l := range w.told(i%nodes, httpdoor.ActorsPath+"?class=Purse") {
			spread[*l.Store] = strings.TrimPrefix(l.Actor, "Purse/")
		}
	}
	w.part("lists", func(t *testing.T) { lists(t, w, c, spread) })
	w.part("waits", func(t *testing.T) { waitsOverStores(t, w, c, spread) })
	w.part("figures", func(t *testing.T) { figuresOfStores(t, w, c, spread) })
	w.part("unreachable", func(t *testing.T) { unreachable(t, w, c, spread) })
	w.part("transfers", func(t *testing.T) { transfersLast(t, w) })
	for _, wrong := range c.wrong {
		t.Error(wrong)
	}
}

// lists looks at actors, timers and dead letters.
func lists(t *testing.T, w *world, c *crowd, spread map[uint32]string) {
	all := w.told(0, httpdoor.ActorsPath)
	place := func(l toldLine) event.ActorID {
		id, err := event.ParseActorID(l.ID)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if !slices.IsSortedFunc(all, func(a, b toldLine) int {
		if place(a).Less(place(b)) {
			return -1
		}
		return 1
	}) {
		t.Errorf("the actors are not in the order of their ids: %+v", all)
	}
	parts := 0
	for store := range w.stores {
		of := w.told(1, fmt.Sprintf("%s?store=%d", httpdoor.ActorsPath, store))
		parts += len(of)
		for _, l := range of {
			if *l.Store != uint32(store) || !slices.ContainsFunc(all, func(o toldLine) bool { return o.ID == l.ID && *o.Store == *l.Store }) {
				t.Errorf("store %d has %v, which is not in the list of all", store, l)
			}
			if code, text := w.asked(2, http.MethodGet, httpdoor.ActorPath+"?name="+url.QueryEscape(l.Actor)); code != http.StatusOK || !strings.Contains(text, l.ID) {
				t.Errorf("%s is not shown: %d %s", l.Actor, code, text)
			}
		}
	}
	if parts != len(all) {
		t.Errorf("the stores have %d actors, and all of them %d", parts, len(all))
	}
	if first := w.told(0, httpdoor.ActorsPath+"?limit=5"); len(first) != 5 || first[4].ID != all[4].ID {
		t.Errorf("the first five are %v", first)
	}
	for _, path := range []string{httpdoor.ActorsPath + "?class=Nothing", httpdoor.ActorPath + "?name=Purse/nothing"} {
		if code, text := w.asked(0, http.MethodGet, path); code != http.StatusNotFound || !strings.Contains(text, "there is no actor") && !strings.Contains(text, "has no actorclass") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	hours := 0
	for _, name := range spread {
		for range 2 {
			hours++
			c.until(0, "/v1/Purse/"+name+"/later", fmt.Sprint("later ", hours), map[string]any{"k": 0, "hours": 1 + hours*7%11})
		}
	}
	timers := w.told(1, httpdoor.TimersPath)
	if len(timers) != hours || !slices.IsSortedFunc(timers, func(a, b toldLine) int { return a.Due.Compare(b.Due) }) {
		t.Errorf("of %d timers there are %v", hours, timers)
	}
	if first := w.told(2, httpdoor.TimersPath+"?limit=1"); len(first) != 1 || first[0].Due != timers[0].Due {
		t.Errorf("the first timer is %v", first)
	}
	for i := range 2 {
		for _, name := range spread {
			c.until(0, "/v1/Purse/"+name+"/fails", fmt.Sprint("fails ", i, name), map[string]any{})
		}
	}
	var dead []toldLine
	eventually(t, "what has failed is a dead letter", func() (bool, any) {
		dead = w.told(2, httpdoor.DeadPath)
		return len(dead) == 2*w.stores, dead
	})
	if !slices.IsSortedFunc(dead, func(a, b toldLine) int { return a.Time.Compare(b.Time) }) {
		t.Errorf("the letters are not in the order of time: %v", dead)
	}
	last := dead[len(dead)-1]
	if code, text := w.asked(0, http.MethodDelete, httpdoor.DeadPath+"?event=1-1&event="+last.Event); code != http.StatusNotFound || !strings.Contains(text, "1-1; nothing was forgotten") {
		t.Errorf("a letter that is not there: %d %s", code, text)
	}
	two := slices.IndexFunc(dead, func(l toldLine) bool { return *l.Store != *last.Store })
	if code, text := w.asked(0, http.MethodDelete, httpdoor.DeadPath+"?event="+dead[two].Event+"&event="+last.Event); code != http.StatusOK || text != "2\n" {
		t.Errorf("letters of two stores: %d %s", code, text)
	}
	if code, text := w.asked(1, http.MethodDelete, httpdoor.DeadPath+"?all=true"); code != http.StatusOK || text != fmt.Sprintln(2*w.stores-2) {
		t.Errorf("all letters: %d %s", code, text)
	}
	if left := w.told(0, httpdoor.DeadPath); len(left) > 0 {
		t.Errorf("letters are left: %v", left)
	}
}

// waitsOverStores has a transfer wait for a reader in another store, and a request for the transfer in a third one.
func waitsOverStores(t *testing.T, w *world, c *crowd, spread map[uint32]string) {
	const home, from, to = 0, 1, 2 // stores
	till := ""
	for i := 0; till == ""; i++ {
		name := fmt.Sprint("till", i)
		for _, store := range []uint32{from, to} {
			c.until(0, "/v1/Till/"+name+"/join", "join "+name+spread[store], map[string]any{"name": spread[store], "p": "Purse/" + spread[store]})
		}
		for _, l := range w.told(0, fmt.Sprintf("%s?class=Till&store=%d", httpdoor.ActorsPath, home)) {
			till = strings.TrimPrefix(l.Actor, "Till/")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.http[0]+"/v1/Purse/"+spread[to]+"/spin?rounds=1000000000000", nil)
		if err != nil {
			t.Error(err)
			return
		}
		for ctx.Err() == nil { // a call may take 30 s
			if answer, err := http.DefaultClient.Do(r); err == nil {
				_ = answer.Body.Close()
			}
		}
	})
	defer func() {
		cancel()
		group.Wait()
		eventually(t, "nothing waits any more", func() (bool, any) {
			list := w.told(1, httpdoor.WaitsPath)
			return len(list) == 0, list
		})
	}()
	seen := func(list []toldLine, what func(toldLine) bool) *toldLine {
		if i := slices.IndexFunc(list, what); i >= 0 {
			return &list[i]
		}
		return nil
	}
	isOf := func(p *uint32, store uint32) bool { return p != nil && *p == store }
	group.Go(func() { // again, as one may come before the reader
		for ctx.Err() == nil {
			c.until(1, "/v1/Till/"+till+"/give", fmt.Sprint("give ", time.Now().UnixNano()), map[string]any{"from": spread[from], "to": spread[to], "k": 1})
		}
	})
	var give string
	eventually(t, "the transfer is seen in its stores", func() (bool, any) {
		list := w.told(2, httpdoor.WaitsPath)
		atHome := seen(list, func(l toldLine) bool {
			return isOf(l.Store, home) && isOf(l.Home, home) && slices.Equal(l.ForStores, []uint32{to}) && l.Why == "a call there" && slices.Contains(l.Holds, "read Till/"+till)
		})
		if atHome == nil {
			return false, list
		}
		give = atHome.Event
		holds := seen(list, func(l toldLine) bool {
			return l.Event == give && isOf(l.Store, from) && isOf(l.Home, home) && slices.Contains(l.Holds, "write Purse/"+spread[from])
		})
		waits := seen(list, func(l toldLine) bool {
			return l.Event == give && isOf(l.Store, to) && isOf(l.Home, home) && l.At == "Purse/"+spread[to]
		})
		return holds != nil && waits != nil, list
	})
	group.Go(func() {
		c.until(0, "/v1/Till/"+till+"/pay", "pay behind", map[string]any{"a": "Purse/" + spread[to], "b": "Purse/" + spread[from], "k": 1})
	})
	eventually(t, "what a part waits for is seen while its event waits elsewhere", func() (bool, any) {
		list := w.told(1, httpdoor.WaitsPath)
		return seen(list, func(l toldLine) bool {
			return isOf(l.Store, from) && l.At == "Purse/"+spread[from] && l.Method == "Till.pay" && l.For == give && isOf(l.Home, home) && isOf(l.ForHome, home)
		}) != nil, list
	})
	group.Go(func() {
		c.until(2, "/v1/Purse/"+spread[from]+"/fill", "fill behind", map[string]any{"k": 0})
	})
	eventually(t, "what waits for the transfer names its home", func() (bool, any) {
		list := w.told(0, httpdoor.WaitsPath)
		return seen(list, func(l toldLine) bool {
			return isOf(l.Store, from) && l.At == "Purse/"+spread[from] && l.Method == "Purse.fill" && l.Home == nil && isOf(l.ForHome, home)
		}) != nil, list
	})
}

// figuresOfStores looks at the figures of the nodes while transfers go on.
func figuresOfStores(t *testing.T, w *world, c *crowd, spread map[uint32]string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	lines := w.follow(ctx, 2)
	stop := make(chan struct{})
	var group sync.WaitGroup
	for i := range nodes {
		group.Go(func() {
			for n := 0; anotherAfter(stop, thinks); n++ {
				till := fmt.Sprintf("/v1/Till/busy%d-%d/", i, n%8)
				for store := range uint32(2) {
					of := spread[(store+uint32(n))%uint32(w.stores)]
					c.until(i, till+"join", fmt.Sprintf("busy %d %d %s", i, n, of), map[string]any{"name": of, "p": "Purse/" + of})
				}
				c.until(i, till+"give", fmt.Sprintf("busy %d %d", i, n), map[string]any{"from": spread[uint32(n)%uint32(w.stores)], "to": spread[uint32(n+1)%uint32(w.stores)], "k": 1})
			}
		})
	}
	doubt := func() (n int) {
		s, err := w.status(0)
		if err != nil {
			return -1
		}
		for _, st := range s.Stores {
			n += st.InDoubt
		}
		return n
	}
	eventually(t, "an event is seen in doubt", func() (bool, any) { n := doubt(); return n > 0, n })
	lines.await(t, "an attempt is withdrawn that has found that it needs another store", func(l toldLine) bool {
		return l.Kind == "withdrawn" && l.Method == "give" && strings.HasPrefix(l.Actor, "Till/busy") && strings.Contains(l.Failure, " in store ")
	})
	close(stop)
	group.Wait()
	eventually(t, "no event is in doubt", func() (bool, any) { n := doubt(); return n == 0, n })
	s, err := w.status(0)
	if err != nil || !strings.Contains(s.String(), "STORE  LEADER  REPLICAS  CURRENT  IN DOUBT\n0      node") {
		t.Errorf("%v\n%v", err, s)
	}
	for i := range nodes {
		eventually(t, "a node counts what the stores do that it leads, each for itself", func() (bool, any) { // stores may go to other nodes meanwhile
			f := w.figures(i)
			_, bare := f["aeon_events_committed_total{}"]
			if _, once := f["go_goroutines{}"]; bare || !once {
				return false, f
			}
			for store := range uint32(w.stores) {
				series := fmt.Sprintf("aeon_events_committed_total{store=%d}", store)
				before, is := f[series]
				if leads := w.leaderOf(i, store) == i; is != leads {
					return false, fmt.Sprintf("node %d leads store %d: %v, and has its figures: %v", i, store, leads, is)
				}
				if is {
					c.until(i, "/v1/Purse/"+spread[store]+"/fill", fmt.Sprint("counted ", time.Now().UnixNano()), map[string]any{"k": 0})
					now := w.figures(i)
					if after := now[series]; after != before+1 {
						return false, fmt.Sprintf("store %d: %v events, and after one more %v", store, before, after)
					}
					f = now
				}
			}
			return true, nil
		})
	}
}

// unreachable cuts a node off from the leader of a store, and kills that.
func unreachable(t *testing.T, w *world, c *crowd, spread map[uint32]string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	lines := w.follow(ctx, 0)
	w.await("each store is led by the node that is to lead it", func(s *status.Status) bool { // else its leader would give it away
		return !slices.ContainsFunc(s.Stores, func(st status.Store) bool {
			return len(st.Wanted) != nodes || st.Leader != st.Wanted[int(st.ID)%nodes]
		})
	}, 0)
	lost, others := uint32(0), uint32(0)
	for store := range uint32(w.stores) {
		if w.leaderOf(0, store) == 0 {
			others = store
		} else {
			lost = store
		}
	}
	at := w.leaderOf(0, lost)
	cut := [][2]int{{0, at}, {at, 0}}
	w.links.set(true, cut...)
	eventually(t, "the store is named", func() (bool, any) {
		list := w.told(0, httpdoor.ActorsPath+"?class=Purse")
		is := missing(list)
		return slices.Contains(is, lost) && !slices.Contains(is, others) && list[len(list)-1].Missing != nil &&
			strings.Contains(list[len(list)-1].Why, "has no leader: its actors are missing"), list
	})
	lines.await(t, "the store is not followed", func(l toldLine) bool { return l.Missing != nil && *l.Missing == lost })
	for _, path := range []string{httpdoor.TimersPath, httpdoor.DeadPath, httpdoor.WaitsPath} {
		if is := missing(w.told(0, path)); !slices.Contains(is, lost) {
			t.Errorf("%s: %v are missing", path, is)
		}
	}
	for _, q := range [][3]string{{http.MethodGet, httpdoor.ActorPath + "?name=Purse/" + spread[lost], "its actors are missing"},
		{http.MethodDelete, httpdoor.DeadPath + "?all=true", "nothing was forgotten"}} {
		want := fmt.Sprintf("store %d has no leader: %s", lost, q[2])
		if code, text := w.asked(0, q[0], q[1]); code != http.StatusServiceUnavailable || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s, and not %s", q[1], code, text, want)
		}
	}
	w.links.set(false, cut...)
	w.well()
	lines.await(t, "the store is followed again", func(l toldLine) bool { return l.Kind == "followed" && *l.Store == lost })
	if at = w.leaderOf(0, lost); at == 0 { // it has taken over
		at = 1
		w.order(0, fmt.Sprintf("%s?store=%d&node=%s", status.TransferPath, lost, w.name(0, at)))
	}
	w.end(at, syscall.SIGKILL) // the others take over within the time that is waited for a leader, or soon
	eventually(t, "all stores answer again", func() (bool, any) {
		list := w.told(0, httpdoor.ActorsPath+"?class=Purse")
		return len(missing(list)) == 0, list
	})
	// What happens before is not told.
	lines.await(t, "the new leader is followed", func(l toldLine) bool { return l.Kind == "followed" && *l.Store == lost })
	c.until(0, "/v1/Purse/"+spread[lost]+"/fill", "fill of another leader", map[string]any{"k": 0})
	lines.await(t, "what happens is told by the new leader", func(l toldLine) bool {
		return l.Kind == "committed" && l.Actor == "Purse/"+spread[lost] && *l.Store == lost
	})
	w.start(at, "")
	w.well()
}

// followed are the lines of a node that is followed.
type followed struct{ lines chan toldLine }

// follow follows what becomes of events, as node i tells it.
func (w *world) follow(ctx context.Context, i int) *followed {
	w.t.Helper()
	client, err := httpdoor.ClientOf(w.data(i))
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+httpdoor.EventsPath, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	f := &followed{lines: make(chan toldLine, 1<<16)}
	go func() { // ends with ctx
		defer answer.Body.Close()
		defer close(f.lines)
		for s := bufio.NewScanner(answer.Body); s.Scan(); {
			var l toldLine
			if json.Unmarshal(s.Bytes(), &l) == nil {
				f.lines <- l
			}
		}
	}()
	return f
}

// await waits for a line.
func (f *followed) await(t *testing.T, what string, is func(toldLine) bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case l, ok := <-f.lines:
			if !ok {
				t.Fatalf("%s: the lines have ended", what)
			}
			if is(l) {
				return
			}
		case <-deadline:
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}
