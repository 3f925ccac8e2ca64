package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
)

// An operator asks any node, by a query that can be read (control). What one actor has is asked of the leader of its store; what all have, of the leaders of all stores, and their answers
// are put together as one store would give them. A store that does not answer is named in a line of its own, status.Missing.

// storeQuery names the store that an operator asks.
const storeQuery = "store"

// operated returns the store that answers a request of an operator: the one that it names, or that of the actor which it shows or calls.
func (n *node) operated(r *http.Request) placement.StoreID {
	if id, err := n.storeNamed(r); err == nil {
		return id
	}
	if r.URL.Path != httpdoor.ActorPath {
		return n.route(r)
	}
	return n.storeOfShown(r.URL.Query().Get("name"))
}

// storeOfShown is storeOf for an actor as operators name it: Class/name, Class:id or the id. Of another name the first store says what is wrong with it.
func (n *node) storeOfShown(text string) placement.StoreID {
	if class, name, named := strings.Cut(text, "/"); named {
		if !strings.Contains(class, ".") {
			class = n.c.Package.Name + "." + class
		}
		return n.storeOf(class, name)
	}
	if _, err := event.ParseActorID(text); err != nil {
		_, text, _ = strings.Cut(text, ":")
	}
	return n.storeOf("", ":"+text)
}

// storeNamed returns the store that a request of an operator names.
func (n *node) storeNamed(r *http.Request) (placement.StoreID, error) {
	text, stores := r.URL.Query().Get(storeQuery), len(n.placement.State().Stores)
	id, err := strconv.ParseUint(text, 10, 32)
	if err != nil || id >= uint64(stores) {
		return 0, &placement.Refusal{Reason: fmt.Sprintf("there is no store %q; there are %d, from 0 on", text, stores)}
	}
	return placement.StoreID(id), nil
}

// serveOperator serves what the systems of the stores answer.
func (n *node) serveOperator(w http.ResponseWriter, r *http.Request) {
	var of []placement.StoreID
	if r.URL.Query().Has(storeQuery) {
		id, err := n.storeNamed(r)
		if err != nil {
			answer(w, "", err)
			return
		}
		of = []placement.StoreID{id}
	}
	stores := len(n.placement.State().Stores)
	if stores == 0 {
		httpdoor.Fail(w, &door.Refusal{Failure: door.Failure{Code: door.Closing, Happened: door.No, Later: true, Msg: errNoStores.Error()}})
		return
	}
	if of == nil {
		for id := range stores {
			of = append(of, placement.StoreID(id))
		}
	}
	switch list := lists[r.URL.Path]; {
	case stores == 1:
	case list != nil && r.Method == http.MethodGet:
		n.serveList(w, r, list, of)
		return
	case r.URL.Path == httpdoor.ActorPath && r.Method == http.MethodGet:
		n.serveActor(w, r)
		return
	case r.URL.Path == httpdoor.EventsPath && r.Method == http.MethodGet:
		n.serveEvents(w, r, of)
		return
	case r.URL.Path == httpdoor.DeadPath && r.Method == http.MethodDelete && len(of) > 1:
		n.serveForget(w, r, of)
		return
	case r.URL.Path == httpdoor.ProfilePath && len(of) > 1:
		if h := n.anyControls(); h != nil { // a profile is of a process, and this one is asked
			h.ServeHTTP(w, r)
			return
		}
	}
	n.operator.ServeHTTP(w, r)
}

// reply is what the leader of a store answers, while it does. The caller calls close.
type reply struct {
	store  placement.StoreID
	head   http.Header
	status int
	from   *bufio.Reader // the body
	end    func()
}

// electionSeconds is how long an operator's question to all stores waits for one that has no leader: an election takes less.
const electionSeconds = "2"

// ask has the leader of a store answer a request, and waits for the head of the answer.
func (n *node) ask(r *http.Request, store placement.StoreID) *reply {
	ctx, cancel := context.WithCancel(r.Context())
	r = r.Clone(ctx)
	query := r.URL.Query()
	query.Set(storeQuery, number(store))
	r.URL.RawQuery = query.Encode()
	if r.Header.Get("Prefer") == "" {
		r.Header.Set("Prefer", "wait="+electionSeconds)
	}
	from, to := io.Pipe()
	begun, over := make(chan struct{}), make(chan struct{})
	a := &reply{store: store, from: bufio.NewReader(from), end: func() {
		cancel()
		_ = from.Close() // never fails
		<-over
	}}
	go func() { // ends with end, or with the answer
		defer close(over)
		out := &piped{of: a, begun: begun, to: to, head: make(http.Header)}
		defer func() {
			out.WriteHeader(http.StatusOK)
			if err := recover(); err != nil {
				if err != http.ErrAbortHandler { // what the proxy and the doors cut off
					panic(err)
				}
				to.CloseWithError(io.ErrUnexpectedEOF)
			}
			to.Close()
		}()
		n.operator.ServeHTTP(out, r)
	}()
	<-begun
	return a
}

// askStores is ask for several stores at once.
func (n *node) askStores(r *http.Request, of []placement.StoreID) []*reply {
	list := make([]*reply, len(of))
	var group sync.WaitGroup
	for i, id := range of {
		group.Go(func() { list[i] = n.ask(r, id) })
	}
	group.Wait()
	return list
}

func closeAll(list []*reply) {
	for _, a := range list {
		a.end()
	}
}

// refused reports whether the store has refused the question itself, as all others do.
func (a *reply) refused() bool {
	return a.status >= http.StatusBadRequest && a.status < http.StatusInternalServerError
}

// hasLeader reports whether what answers is the leader of the store, for good or ill: not this node for one that it does not know, or that has gone meanwhile.
func (a *reply) hasLeader() bool {
	code := a.head.Get(httpdoor.CodeHeader)
	return code != door.Closing && code != door.NoOutcome
}

// pass hands on an answer.
func (a *reply) pass(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.head)
	w.WriteHeader(a.status)
	if _, err := io.Copy(w, a.from); err != nil {
		panic(http.ErrAbortHandler) // an answer that is cut off is no answer
	}
}

// why says why the store has not answered.
func (a *reply) why() string {
	if !a.hasLeader() {
		return "has no leader"
	}
	var problem struct{ Detail string }
	if err := json.NewDecoder(a.from).Decode(&problem); err != nil {
		return fmt.Sprintf("answers with the status %d", a.status)
	}
	return "does not answer, " + problem.Detail
}

// serveActor shows an actor.
func (n *node) serveActor(w http.ResponseWriter, r *http.Request) {
	a := n.ask(r, n.operated(r))
	defer a.end()
	if !a.hasLeader() {
		httpdoor.Fail(w, errNotAnswered(a.store, door.No, a.why(), lists[httpdoor.ActorsPath].missing))
		return
	}
	a.pass(w)
}

// missing is the line that says that what a store has of an answer is missing.
func missing(store placement.StoreID, why, what string) []byte {
	id := uint32(store)
	b, _ := json.Marshal(status.Missing{Store: &id, Why: fmt.Sprintf("store %d %s: %s", store, why, what)}) // never fails
	return append(b, '\n')
}

// errNotAnswered is the failure of a request that a store would have to answer.
func errNotAnswered(store placement.StoreID, happened door.Happened, why, what string) error {
	return &door.Refusal{Failure: door.Failure{Code: door.Closing, Happened: happened, Later: true, Msg: fmt.Sprintf("store %d %s: %s", store, why, what)}}
}

// piped writes an answer to what reads it meanwhile.
type piped struct {
	of    *reply
	begun chan struct{} // closed when there is a head
	to    *io.PipeWriter
	head  http.Header // as it will be
}

// Header implements http.ResponseWriter.
func (p *piped) Header() http.Header { return p.head }

// WriteHeader implements http.ResponseWriter.
func (p *piped) WriteHeader(status int) {
	if status >= 200 && p.of.status == 0 {
		p.of.head, p.of.status = p.head.Clone(), status
		close(p.begun)
	}
}

// Write implements http.ResponseWriter.
func (p *piped) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	return p.to.Write(b)
}

// FlushError lets http.ResponseController send what is written.
func (p *piped) FlushError() error {
	p.WriteHeader(http.StatusOK)
	return nil
}

// ofStore marks a line, an object of JSON, with the store that it is of.
func ofStore(store placement.StoreID, line []byte) []byte {
	b := append([]byte(`{"`+storeQuery+`":`), number(store)...)
	return append(append(b, ','), line[1:]...)
}
