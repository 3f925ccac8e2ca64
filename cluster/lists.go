package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/outbox"
)

// list is a list of lines of JSON that each store has a part of.
type list struct {
	missing string // what is said if a part is missing
	// place says where a line stands among those of other stores; lines of one place stand in the order of the stores.
	place func(*line) [2]uint64
}

// line is what a line is ordered by.
type line struct {
	ID        string    // of an actor
	Due, Time time.Time // of a timer, a dead letter
}

// lists are the lists, by their paths.
var lists = map[string]*list{
	httpdoor.ActorsPath: {"its actors are missing", func(l *line) [2]uint64 {
		id, _ := event.ParseActorID(l.ID) // a store has written it
		return [2]uint64{uint64(id.Birth), id.Serial}
	}},
	httpdoor.TimersPath: {"its timers are missing", func(l *line) [2]uint64 { return [2]uint64{uint64(l.Due.UnixNano())} }},
	httpdoor.DeadPath:   {"its dead letters are missing", func(l *line) [2]uint64 { return [2]uint64{uint64(l.Time.UnixNano())} }},
	httpdoor.WaitsPath:  {"its events are missing", func(*line) [2]uint64 { return [2]uint64{} }},
}

// part is what a store has of a list, up to a line.
type part struct {
	*reply
	line  []byte // nil: there is none any more
	place [2]uint64
}

// next takes the next line.
func (p *part) next(of *list) (err error) {
	if p.line, err = p.from.ReadBytes('\n'); err != nil {
		if p.line = nil; err == io.EOF {
			return nil
		}
		return err
	}
	var l line
	if err = json.Unmarshal(p.line, &l); err != nil {
		p.line = nil
		return err
	}
	p.place = of.place(&l)
	return nil
}

// serveList puts together what the stores have of a list. It keeps a line of each. What is missing is said in the last lines.
func (n *node) serveList(w http.ResponseWriter, r *http.Request, of *list, stores []placement.StoreID) {
	replies := n.askStores(r, stores)
	defer closeAll(replies)
	if i := slices.IndexFunc(replies, (*reply).refused); i >= 0 {
		replies[i].pass(w)
		return
	}
	limit, _ := strconv.ParseUint(r.URL.Query().Get("limit"), 10, 31) // else a store has refused it, or it is 0: all
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	var absent [][]byte
	var parts []*part
	gone := func(a *reply, why string) { absent = append(absent, missing(a.store, why, of.missing)) }
	next := func(p *part) {
		if err := p.next(of); err != nil {
			gone(p.reply, "was cut off under way")
		}
		if p.line == nil {
			parts = slices.DeleteFunc(parts, func(o *part) bool { return o == p })
		}
	}
	for _, a := range replies {
		if a.status != http.StatusOK {
			gone(a, a.why())
			continue
		}
		p := &part{reply: a}
		parts = append(parts, p)
		next(p)
	}
	for count := uint64(0); len(parts) > 0 && (limit == 0 || count < limit); count++ {
		first := slices.MinFunc(parts, func(p, q *part) int { return slices.Compare(p.place[:], q.place[:]) })
		if _, err := w.Write(ofStore(first.store, first.line)); err != nil {
			return // the client has gone
		}
		next(first)
	}
	for _, line := range absent {
		_, _ = w.Write(line) // and here
	}
}

// serveForget deletes dead letters, in the stores that have them. All stores are asked for theirs before any is deleted.
func (n *node) serveForget(w http.ResponseWriter, r *http.Request, stores []placement.StoreID) {
	events, all := r.URL.Query()["event"], r.URL.Query().Get("all") == "true"
	if all == (len(events) > 0) {
		n.operator.ServeHTTP(w, r) // any store refuses that
		return
	}
	letters, err := n.letters(r, stores)
	if err != nil {
		httpdoor.Fail(w, err)
		return
	}
	if unknown := slices.DeleteFunc(slices.Clone(events), func(e string) bool {
		return slices.ContainsFunc(letters, func(of []string) bool { return slices.Contains(of, e) })
	}); len(unknown) > 0 {
		httpdoor.Fail(w, &door.NotFoundError{Msg: fmt.Sprintf("%v: %s; nothing was forgotten", outbox.ErrNoLetter, strings.Join(unknown, ", "))})
		return
	}
	total := 0
	for i, id := range stores {
		query := url.Values{"all": {"true"}}
		if !all {
			query = url.Values{"event": slices.DeleteFunc(slices.Clone(events), func(e string) bool { return !slices.Contains(letters[i], e) })}
			if len(query["event"]) == 0 {
				continue
			}
		}
		of := r.Clone(r.Context())
		of.URL.RawQuery = query.Encode()
		count, err := n.forget(of, id, total)
		if err != nil {
			httpdoor.Fail(w, err)
			return
		}
		total += count
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(total) // the client has gone if this fails
}

// forget has a store delete dead letters, and returns how many. Of other stores so many were forgotten before.
func (n *node) forget(r *http.Request, store placement.StoreID, before int) (count int, err error) {
	a := n.ask(r, store)
	defer a.end()
	if a.status != http.StatusOK {
		why, happened := a.why(), door.No
		if a.head.Get(httpdoor.CodeHeader) == door.NoOutcome || before > 0 {
			happened = "" // a part has, or may have
		}
		if a.head.Get(httpdoor.CodeHeader) == door.NoOutcome {
			why = "has lost its leader, and has forgotten its dead letters or not"
		}
		return 0, errNotAnswered(store, happened, why, fmt.Sprintf("%d of other stores were forgotten", before))
	}
	return count, json.NewDecoder(a.from).Decode(&count)
}

// letters returns the events of the dead letters of each store.
func (n *node) letters(r *http.Request, stores []placement.StoreID) ([][]string, error) {
	r = r.Clone(r.Context())
	r.Method, r.URL.RawQuery = http.MethodGet, ""
	replies := n.askStores(r, stores)
	defer closeAll(replies)
	list := make([][]string, len(stores))
	for i, a := range replies {
		if a.status != http.StatusOK {
			return nil, errNotAnswered(a.store, door.No, a.why(), "nothing was forgotten")
		}
		for d := json.NewDecoder(a.from); ; {
			var l struct{ Event string }
			if err := d.Decode(&l); err == io.EOF {
				break
			} else if err != nil {
				return nil, errNotAnswered(a.store, door.No, "was cut off under way", "nothing was forgotten")
			}
			list[i] = append(list[i], l.Event)
		}
	}
	return list, nil
}
