package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/placement/raftnode"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
)

const (
	tokenLife   = 24 * time.Hour
	proposalMax = 5 * time.Second
)

// public serves clients, and the status to all if no tokens are asked for: then this machine alone reaches it, and no page of a strange host does.
func (n *node) public() http.Handler {
	asks := n.clients.tokens != nil
	mux := http.NewServeMux()
	if !asks {
		mux.HandleFunc("GET "+status.Path, n.serveStatus)
	}
	mux.Handle("GET "+metricsPath, httpdoor.Metrics(n.callers, n.writeMetrics))
	mux.Handle("/", n.front)
	return httpdoor.Guard(mux, asks, func(w http.ResponseWriter, err error) { n.holders.counts.HTTP(httpdoor.Fail(w, err)) })
}

// control serves the operator, over the socket.
func (n *node) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+status.Path, n.serveStatus)
	mux.HandleFunc("POST "+status.TokenPath, n.serveToken)
	mux.HandleFunc("POST "+status.RemovePath, n.serveRemove)
	mux.HandleFunc("POST "+status.TransferPath, n.serveTransfer)
	mux.Handle("GET "+metricsPath, httpdoor.Metrics(gate.New(gate.Config{Log: n.log}), n.writeMetrics))
	mux.HandleFunc("/", n.serveOperator)
	return httpdoor.WholeQuery(mux, func(w http.ResponseWriter, err error) { httpdoor.Fail(w, err) })
}

func (n *node) serveStatus(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(n.status()) // the client has gone if this fails
}

// status asks all nodes what they are doing, and puts the answers together.
func (n *node) status() *status.Status {
	n.askAll()
	p := n.placement.State()
	leader, _ := n.placement.Leader()
	active := 0
	for _, m := range p.Members {
		if m.Membership == placement.Active {
			active++
		}
	}
	s := &status.Status{Cluster: p.Cluster, Program: p.Program, Version: p.Version, By: n.id.Node, WantVoters: raftnode.VotersOf(active), Voters: n.placement.Voters(), Leader: leader, Nodes: []status.Node{}, Stores: []status.Store{}}
	for id, st := range p.Stores {
		s.Stores = append(s.Stores, status.Store{ID: uint32(id), Want: p.Want(), Wanted: st.Replicas, Followed: n.settled(placement.StoreID(id), st.Version), Replicas: []event.NodeID{}, Current: []event.NodeID{}})
	}
	told := n.told()
	noteFailures(s.Stores, told)
	leads := leaders(told, len(s.Stores))
	for id, m := range p.Members {
		if m.Membership == placement.Removed {
			continue
		}
		node := status.Node{ID: id, Name: m.Name, Cluster: m.Address, State: status.Silent, Leaves: m.Membership == placement.Leaving, Leads: []uint32{}, Follows: []uint32{}}
		h, is := told[id]
		if is {
			node.PID, node.Listen, node.Open, node.Asks, node.Interface = h.brief.PID, h.brief.Listen, h.brief.Open, h.brief.Asks, h.brief.Interface
			if ago := time.Since(h.at); ago < staleAfter {
				node.State = status.Serving
			} else {
				node.Heard = ago.Seconds()
			}
		}
		health := n.transport.Heard(id)
		node.Refused = health.Refused
		switch {
		case node.State == status.Silent:
		case h.brief.Ends:
			node.State = status.Ending
		case node.Leaves:
			node.State = status.Leaving
		case id != n.id.Node && !health.At.IsZero() && !health.Progress || id == n.id.Node && !n.driver.Progresses():
			node.State = status.Stalled
		}
		if node.State == status.Silent {
			n.lastLoad(&node, h, is)
		} else {
			node.Sync = h.brief.Sync.Seconds()
			for _, st := range h.brief.Stores {
				switch {
				case int(st.ID) >= len(s.Stores): // this node has not heard of it yet
				case leads[st.ID] == id:
					node.Leads = append(node.Leads, uint32(st.ID))
					node.Actors += st.Load.Actors
					node.Events += st.Load.Events
					node.Commit = max(node.Commit, st.Load.Commit.Seconds())
					node.P99 = max(node.P99, st.Load.P99.Seconds())
					lead(&s.Stores[st.ID], id, st)
				default:
					node.Follows = append(node.Follows, uint32(st.ID))
				}
			}
		}
		s.Nodes = append(s.Nodes, node)
	}
	if every := n.c.Snapshots.Every(); every > 0 {
		s.Snapshots = &status.Snapshots{Every: every.Seconds()}
		if last := n.c.Snapshots.Last(); !last.IsZero() {
			s.Snapshots.Age = new(max(n.clock.Now().Sub(last), 0).Seconds())
		}
	}
	slices.SortFunc(s.Nodes, func(a, b status.Node) int { return int(a.ID) - int(b.ID) })
	s.Judge()
	return s
}

// told returns what all nodes have told last, and this one tells now.
func (n *node) told() map[event.NodeID]heard {
	list := map[event.NodeID]heard{n.id.Node: {n.tell(), time.Now()}}
	n.mu.Lock()
	defer n.mu.Unlock()
	maps.Copy(list, n.brief)
	return list
}

// leaders returns which node leads each store. One that was deposed may not know it yet: of those that say that they lead, the one of the newest
// term does.
func leaders(told map[event.NodeID]heard, stores int) []event.NodeID {
	list, terms := make([]event.NodeID, stores), make([]uint64, stores)
	for id, h := range told {
		for _, st := range h.brief.Stores {
			if st.Leads && int(st.ID) < stores && st.Term > terms[st.ID] {
				list[st.ID], terms[st.ID] = id, st.Term
			}
		}
	}
	return list
}

// noteFailures notes which nodes could not open the stores, of those that answer.
func noteFailures(stores []status.Store, told map[event.NodeID]heard) {
	for i := range stores {
		stores[i].Failed = []status.Failure{}
		for _, id := range slices.Sorted(maps.Keys(told)) {
			for _, st := range told[id].brief.Stores {
				if uint32(st.ID) == stores[i].ID && st.Cannot != "" && time.Since(told[id].at) < staleAfter {
					stores[i].Failed = append(stores[i].Failed, status.Failure{Node: id, Why: st.Cannot})
				}
			}
		}
	}
}

// lastLoad notes what was heard last of the load of a node that does not answer: in its last answer.
func (n *node) lastLoad(node *status.Node, h heard, is bool) {
	if !is {
		return
	}
	node.About = true
	for _, st := range h.brief.Stores {
		if st.Leads {
			node.Actors += st.Load.Actors
		}
	}
}

// lead notes what the leader of a store tells; of several the one of the newest term counts.
func lead(s *status.Store, id event.NodeID, st storeBrief) {
	if st.Term <= s.Term || !st.Serves {
		return
	}
	s.Leader, s.Term, s.CaughtUp, s.Opened, s.InDoubt = id, st.Term, st.Timings.Lead.Seconds(), st.Timings.Recover.Seconds(), st.Load.InDoubt
	s.Replicas, s.Current = []event.NodeID{}, []event.NodeID{}
	for _, p := range st.Progress {
		if !p.Votes {
			continue // it learns
		}
		s.Replicas = append(s.Replicas, p.Node)
		if p.Active && p.Match+replica.CloseBy >= st.Commit {
			s.Current = append(s.Current, p.Node)
		}
	}
}

// named returns the member of a name.
func (n *node) named(name string) (event.NodeID, error) {
	s := n.placement.State()
	var names []string
	for id, m := range s.Members {
		if m.Membership == placement.Removed {
			continue
		}
		if m.Name == name {
			return id, nil
		}
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return 0, fmt.Errorf("there is no node called %q; there are %v", name, names)
}

func (n *node) propose(c placement.Command) error {
	ctx, cancel := context.WithTimeout(context.Background(), proposalMax)
	defer cancel()
	_, err := n.placement.Propose(ctx, c)
	return err
}

// answer answers an operator: a failure, or the text.
func answer(w http.ResponseWriter, text string, err error) {
	var refused *placement.Refusal
	switch {
	case err == nil:
		_, _ = io.WriteString(w, text) // the client has gone if this fails
	case errors.As(err, &refused):
		httpdoor.Fail(w, door.Refuse(door.BadArgs, "%s", refused.Reason))
	default:
		httpdoor.Fail(w, door.Refuse(door.Full, "%v", err))
	}
}

func (n *node) serveToken(w http.ResponseWriter, _ *http.Request) {
	t := n.id.NewToken(time.Now().Add(tokenLife))
	err := n.propose(placement.Command{Token: &placement.Token{Hash: t.Hash(), Expires: t.Expires.UTC()}})
	answer(w, t.Text()+"@"+n.c.Address()+"\n", err)
}

func (n *node) serveRemove(w http.ResponseWriter, r *http.Request) {
	id, err := n.named(r.FormValue("node"))
	if err != nil {
		answer(w, "", &placement.Refusal{Reason: err.Error()})
		return
	}
	if r.FormValue("lost") == "true" {
		n.askAll()
		if refused := whyNeeded(n.placement.State(), id, n.id.Node, n.told()); refused != nil {
			answer(w, "", refused)
			return
		}
		answer(w, "it is removed\n", n.propose(placement.Command{Remove: &placement.Remove{Node: id, Lost: true}}))
		return
	}
	if refused := whyByAnother(n.placement.State(), id, n.id.Node); refused != nil {
		answer(w, "", refused)
		return
	}
	stores := n.status().Stores
	if refused := whyOpensAlone(n.placement.State(), stores, id); refused != nil {
		answer(w, "", refused)
		return
	}
	n.handOver(r.Context(), stores, id)
	answer(w, "it gives its stores away, and is removed then\n", n.propose(placement.Command{Leave: &placement.Leave{Node: id}}))
}

// whyByAnother returns why another node than the one that an operator has asked is to remove a node. That one's process ends with its removal, and could not
// say that it is done. The last node of a cluster has no other one, and placement says why it stays.
func whyByAnother(s *placement.State, id, asked event.NodeID) error {
	for other, m := range s.Members {
		if id == asked && other != id && m.Membership != placement.Removed {
			return &placement.Refusal{Reason: fmt.Sprintf("%s is asked to remove itself, and ends with that: ask another node, by \"aeond remove %s\" with the directory of that one", s.Members[id].Name, s.Members[id].Name)}
		}
	}
	return nil
}

// whyNeeded returns why a node is not taken out as one that is lost: it answers a node, or keeps a store that no node leads without it. Of such a store the
// others have no majority, and perhaps no copy: a list of replicas has nodes that are still to get one. asked is the node that an operator has asked for
// that. told is what nodes have told; what is old does not count, nor what the node has told itself, which may have ended right behind that.
func whyNeeded(s *placement.State, id, asked event.NodeID, told map[event.NodeID]heard) error {
	told = maps.Clone(told)
	maps.DeleteFunc(told, func(by event.NodeID, h heard) bool { return by == id || time.Since(h.at) >= staleAfter })
	refuse := func(format string, args ...any) error {
		return &placement.Refusal{Reason: fmt.Sprintf("%s "+format, append([]any{s.Members[id].Name}, args...)...)}
	}
	hears := func(h heard) bool { return slices.Contains(h.brief.Hears, id) }
	if id == asked || slices.ContainsFunc(slices.Collect(maps.Values(told)), hears) {
		return refuse("is not lost, it answers: \"aeond remove %s\" takes it out when others have what it keeps; if its process is of no use any more, end that first", s.Members[id].Name)
	}
	leads := leaders(told, len(s.Stores))
	kept := slices.DeleteFunc(s.Of(id), func(st placement.StoreID) bool { return leads[st] != 0 })
	if len(kept) > 0 {
		return refuse("keeps stores that no node leads without it, the first of %d is %d: bring it back, or restore a snapshot into a new cluster; if it has led them up to now, others do in a second or two", len(kept), kept[0])
	}
	return nil
}

// whyOpensAlone returns why a node is not removed that can be: it leads a store, and all others that keep this could not open it. Without the node they would
// hand the store from one to the next.
func whyOpensAlone(p *placement.State, stores []status.Store, id event.NodeID) error {
	for _, st := range stores {
		others := slices.DeleteFunc(slices.Clone(st.Wanted), func(n event.NodeID) bool { return n == id })
		if st.Leader != id || len(others) == 0 || slices.ContainsFunc(others, func(n event.NodeID) bool { return !st.HasFailed(n) }) {
			continue
		}
		why := ""
		for _, f := range st.Failed {
			why += fmt.Sprintf("%s: %s; ", p.Members[f.Node].Name, f.Why)
		}
		return &placement.Refusal{Reason: fmt.Sprintf("%s leads store %d, and no other node that keeps it could open it, so its actors would stop: %smend that, and restart these nodes, or have one try again, by \"aeond transfer %[2]d %[4]s\"",
			p.Members[id].Name, st.ID, why, p.Members[others[0]].Name)}
	}
	return nil
}

// handOver has other nodes lead the stores that a node leads, if one is up to date: else there is an election when its replicas are taken from it,
// which takes longer.
func (n *node) handOver(ctx context.Context, stores []status.Store, id event.NodeID) {
	for _, st := range stores {
		if st.Leader != id {
			continue
		}
		for _, to := range successors(&st, id) {
			if n.mayLead(to, placement.StoreID(st.ID)) && n.transferTo(ctx, placement.StoreID(st.ID), to, false) == nil {
				break
			}
		}
	}
}

// successors returns the nodes that may lead a store after one that gives it away: they are up to date, and could open it.
func successors(st *status.Store, from event.NodeID) []event.NodeID {
	return slices.DeleteFunc(slices.Clone(st.Current), func(to event.NodeID) bool { return to == from || st.HasFailed(to) })
}

func (n *node) serveTransfer(w http.ResponseWriter, r *http.Request) {
	store, err := n.storeNamed(r)
	if err != nil {
		answer(w, "", err)
		return
	}
	to, err := n.named(r.FormValue("node"))
	if err != nil {
		answer(w, "", &placement.Refusal{Reason: err.Error()})
		return
	}
	if s := n.placement.State(); !s.Keeps(to, store) {
		answer(w, "", &placement.Refusal{Reason: fmt.Sprintf("%s has no replica of store %d, which it would lead with", s.Members[to].Name, store)})
		return
	}
	answer(w, "", n.transferTo(r.Context(), store, to, true))
}

// electionsMax is in how many terms a node may come to lead a store that it is given. It is one as a rule; others may stand for election meanwhile.
const electionsMax = 16

// transferTo gives a store to a node, and waits until that leads it. If the store stays there, the node is told of that before it leads, as it could give the
// store away at once, and again when the term is known.
func (n *node) transferTo(ctx context.Context, id placement.StoreID, to event.NodeID, stays bool) error {
	ctx, cancel := context.WithTimeout(ctx, proposalMax)
	defer cancel()
	g := replica.Group(id)
	for {
		role, _, _ := n.holders.of(n, id).known() // the driver knows the leaders of its own groups alone
		term := role.Term
		if role.Leader != to {
			term += electionsMax
		}
		var err error
		if stays {
			err = n.tellStay(ctx, to, stay{id, term})
		}
		switch {
		case err != nil:
		case role.Leader == to:
			return nil
		case role.Leader == 0:
			err = errors.New("no node leads it")
		case role.Leader == n.id.Node:
			err = n.driver.Transfer(g, to)
		default:
			b, _ := json.Marshal(transfer{id, to}) // never fails
			_, err = n.transport.Call(ctx, role.Leader, append([]byte{callTransfer}, b...))
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("node %d has not taken store %d within %v: is it up to date?", to, id, proposalMax), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
