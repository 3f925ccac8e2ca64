package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/watch"
)

// eventsMissing is said when what happens in a store is not told.
const eventsMissing = "what happens there meanwhile is missing"

// followAgain is after what time a store is asked again that has not answered at once.
const followAgain = 100 * time.Millisecond

// serveEvents writes what becomes of the events of the stores, as their leaders tell it, until the client has gone or this node ends. When a store gets another leader
// that is followed.
func (n *node) serveEvents(w http.ResponseWriter, r *http.Request, stores []placement.StoreID) {
	ctx, cancel := context.WithCancel(r.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	r = r.WithContext(ctx)
	replies := n.askStores(r, stores)
	if i := slices.IndexFunc(replies, (*reply).refused); i >= 0 {
		replies[i].pass(w)
		closeAll(replies)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	lines := make(chan []byte)
	tell := func(line []byte) bool {
		select {
		case lines <- line:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for _, a := range replies {
		group.Go(func() { n.follow(r, a, tell) })
	}
	out := http.NewResponseController(w)
	if out.Flush() != nil { // the client knows that it follows
		return
	}
	for {
		select {
		case line := <-lines:
			if _, err := w.Write(line); err != nil || out.Flush() != nil {
				return
			}
		case <-ctx.Done():
			return
		case <-n.stop:
			return
		}
	}
}

// follow tells what becomes of the events of a store, of which a is the first answer, until tell returns false.
func (n *node) follow(r *http.Request, a *reply, tell func([]byte) bool) {
	defer func() { a.end() }()
	told := true
	for {
		why := "has lost its leader"
		if a.status == http.StatusOK {
			if !told {
				b, _ := json.Marshal(watch.Line{Time: time.Now(), Kind: watch.Followed}) // never fails
				if told = true; !tell(ofStore(a.store, append(b, '\n'))) {
					return
				}
			}
			if !a.tellLines(tell) {
				return
			}
		} else {
			why = a.why()
		}
		if told {
			if told = false; !tell(missing(a.store, why, eventsMissing)) {
				return
			}
		}
		a.end()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(followAgain):
		}
		a = n.ask(r, a.store)
	}
}

// tellLines tells the lines of an answer up to its end. It returns false if tell does.
func (a *reply) tellLines(tell func([]byte) bool) bool {
	for {
		line, err := a.from.ReadBytes('\n')
		if err != nil {
			return true // what has come of the line is none
		}
		if !tell(ofStore(a.store, line)) {
			return false
		}
	}
}
