// Package status says how a cluster is: what each node tells of itself, put together by the one that was asked, and judged. Every node can be asked.
package status

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
)

// The paths at which a node is asked, over the socket in its data directory; Path is served at its address for clients, too, unless that asks for
// tokens. Failures are problems as the doors have them.
const (
	Path         = "/cluster/status"   // GET: a Status, as JSON
	TokenPath    = "/cluster/token"    // POST: a token by which a node may join, as text: TOKEN@HOST:PORT
	RemovePath   = "/cluster/remove"   // POST ?node=NAME[&lost=true]
	TransferPath = "/cluster/transfer" // POST ?store=N&node=NAME
)

// IdentityFile is the name of a file that the directory of a node has, and no other.
const IdentityFile = "identity/node.json" // as package membership/identity writes it

// Missing is a line among those of a list that is put together of several stores, or of what becomes of events: what a store has of it is missing.
type Missing struct {
	Store *uint32 `json:"missing"` // nil: the line is another one
	Why   string  `json:"why"`
}

// MissingPrefix is how such a line begins, and no other.
const MissingPrefix = `{"missing":`

// State is what a node does.
type State string

// The states of nodes.
const (
	Serving State = "serving" // it answers
	Silent  State = "silent"  // it does not answer the node that was asked
	Stalled State = "stalled" // it answers, and its disk makes no progress
	Leaving State = "leaving" // its stores are being given to others
	Ending  State = "ending"  // it answers, and its process was told to end: it leads nothing any more
)

// Node is what is known of one node.
type Node struct {
	ID      event.NodeID `json:"id"`
	Name    string       `json:"name"`
	PID     int          `json:"pid,omitempty"` // 0: it has not told
	State   State        `json:"state"`
	Leaves  bool         `json:"leaves,omitempty"` // its stores are being given to others, whatever its state
	Leads   []uint32     `json:"leads"`            // stores whose actors it runs
	Follows []uint32     `json:"follows"`          // stores of which it keeps a replica
	Listen  string       `json:"listen,omitempty"`
	Open    bool         `json:"open,omitempty"`    // there it asks clients neither for TLS nor for tokens
	Asks    string       `json:"asks,omitempty"`    // what it asks clients for: AsksTokens or AsksNothing; "": it has not told
	Cluster string       `json:"cluster"`           // where other nodes reach it
	Heard   float64      `json:"heard"`             // seconds since it was last heard; 0 if it has answered now
	Refused string       `json:"refused,omitempty"` // why the node that was asked has no session with it, if it says why
	Actors  int          `json:"actors"`            // in memory, of the stores that it leads
	Events  float64      `json:"events"`            // that commit in a second, of these
	P99     float64      `json:"p99"`               // seconds that calls from outside take there, but for one of a hundred; 0: there are none
	Sync    float64      `json:"sync"`              // seconds of a sync of its log, in the mean; 0: there was none lately
	About   bool         `json:"about"`             // the node does not answer, and its figures are those that were heard last
	// Interface is a fingerprint of the names and types of the methods in the version of the program that it runs; "": it has not told.
	Interface string  `json:"interface,omitempty"`
	Commit    float64 `json:"commit"` // seconds until a majority has what commits, in the mean of the slowest of these; 0: nothing does
}

// What nodes ask clients for.
const (
	AsksTokens  = "tokens"
	AsksNothing = "nothing"
)

// Store is what is known of one store.
type Store struct {
	ID       uint32         `json:"id"`
	Leader   event.NodeID   `json:"leader"` // 0: none is known
	Term     uint64         `json:"term"`
	Want     int            `json:"want"`     // how many replicas it is to have with the nodes that there are
	Wanted   []event.NodeID `json:"wanted"`   // the nodes that are to keep it now
	Followed bool           `json:"followed"` // its group has become what Wanted says, and all in it are up to date, as was heard lately
	Replicas []event.NodeID `json:"replicas"` // those that vote, as its leader says
	Current  []event.NodeID `json:"current"`  // of these, those that have all that is committed, but for what is under way
	CaughtUp float64        `json:"caughtUp"` // seconds from the last election to a state that had all that was committed
	Opened   float64        `json:"opened"`   // and from then to a system that served
	InDoubt  int            `json:"inDoubt"`  // events of other stores that have prepared something here, and have not been carried out here
	Failed   []Failure      `json:"failed"`   // nodes that answer, keep it, and could not open it when they led it last
}

// Failure is why a node could not open a store, so that it cannot lead it.
type Failure struct {
	Node event.NodeID `json:"node"`
	Why  string       `json:"why"`
}

// HasFailed reports whether a node could not open the store.
func (st *Store) HasFailed(n event.NodeID) bool {
	return slices.ContainsFunc(st.Failed, func(f Failure) bool { return f.Node == n })
}

// Snapshots is what is known of the snapshots of a cluster.
type Snapshots struct {
	Every float64  `json:"every"` // seconds from one to the next
	Age   *float64 `json:"age"`   // seconds since the last one that is whole; nil: none is known
}

// String says it in words.
func (s *Snapshots) String() string {
	last := "no snapshot is known"
	if s.Age != nil {
		last = "the last snapshot was taken " + seconds(*s.Age) + " ago"
	}
	return last + ", and one is to be each " + seconds(s.Every)
}

// Health is how a cluster is, from best to worst.
type Health string

// The healths.
const (
	Healthy  Health = "HEALTHY"
	Healing  Health = "HEALING"   // it works, and is making replicas
	Degraded Health = "DEGRADED"  // it works; what is missing does not come by itself
	Stopped  Health = "STOPPED"   // some actors are not served; a node that hears too few others cannot tell, and does not say so
	NoQuorum Health = "NO QUORUM" // the node that was asked is in a minority, of all or of those that keep a store: others may go on
	Single   Health = "SINGLE"    // one node alone, by intention
)

// Status is how a cluster is, as one node sees it.
type Status struct {
	Cluster  string       `json:"cluster"`
	Program  string       `json:"program"`
	Version  uint64       `json:"version"` // of what the cluster has agreed on
	By       event.NodeID `json:"by"`      // the node that was asked
	Health   Health       `json:"health"`
	Survives int          `json:"survives"` // how many more nodes may be lost
	Healed   int          `json:"healed"`   // and how many when it is healed
	Why      []string     `json:"why"`
	Next     []string     `json:"next"`
	Nodes    []Node       `json:"nodes"`
	Stores   []Store      `json:"stores"`
	// Voters are the nodes that agree on members and places; Leader leads them, 0: none is known.
	Voters     []event.NodeID `json:"voters"`
	WantVoters int            `json:"wantVoters"` // how many there are to be with the nodes that there are
	Leader     event.NodeID   `json:"leader"`
	Snapshots  *Snapshots     `json:"snapshots,omitempty"` // nil: the node that was asked takes none
}

// Judge fills in Health, Survives, Healed, Why and Next from the rest.
func (s *Status) Judge() {
	s.Why, s.Next = []string{}, []string{}
	up := func(n event.NodeID) bool {
		i := slices.IndexFunc(s.Nodes, func(o Node) bool { return o.ID == n })
		return i >= 0 && s.Nodes[i].State != Silent
	}
	s.Survives, s.Healed = spare(s.Voters, up), (max(s.WantVoters, 1)-1)/2
	s.Health = Healthy
	if len(s.Nodes) == 1 {
		s.Health = Single
	}
	worse := func(h Health, why string, next ...string) {
		if rank[h] > rank[s.Health] {
			s.Health = h
		}
		if !slices.Contains(s.Why, why) {
			s.Why = append(s.Why, why)
		}
		for _, n := range next {
			if !slices.Contains(s.Next, n) {
				s.Next = append(s.Next, n)
			}
		}
	}
	minority := spare(s.Voters, up) < 0 // and what this node does not hear may be there
	const askOthers = "ask the other nodes, each at its machine: aeond status --data DIR; if they hear each other, mend the network of this node, and restart none"
	if minority {
		worse(NoQuorum, fmt.Sprintf("%d of %d nodes that vote are heard: members and places cannot change", count(s.Voters, up), len(s.Voters)), askOthers)
	}
	var unheard []uint32 // stores that nodes may lead which are silent: so many that they need no others
	for _, st := range s.Stores {
		if st.Leader == 0 && (minority || spare(st.Wanted, func(n event.NodeID) bool { return !up(n) }) >= 0) {
			unheard = append(unheard, st.ID)
		}
	}
	if list, _ := storeList(unheard); len(unheard) > 0 && !minority {
		worse(NoQuorum, fmt.Sprintf("too few of the nodes that keep %s are heard", list), askOthers)
	}
	for _, n := range s.Nodes {
		if n.Refused != "" {
			worse(Degraded, fmt.Sprintf("%s is refused: %s", n.Name, n.Refused), fmt.Sprintf("set the clocks of all nodes by a time service, then restart %s", n.Name))
			continue
		}
		switch n.State {
		case Silent:
			next := fmt.Sprintf("restart %s, or give its place to a new node: aeond replace %s --data DIR", n.Name, n.Name)
			stores := s.needed(n.ID)
			switch list, have := storeList(stores); {
			case minority || slices.ContainsFunc(stores, func(id uint32) bool { return slices.Contains(unheard, id) }):
				next = fmt.Sprintf("restart %s if it does not run", n.Name)
			case len(stores) > 0:
				next = fmt.Sprintf("restart %s: without it %s %s no leader", n.Name, list, have)
			}
			worse(Degraded, fmt.Sprintf("%s is silent for %s", n.Name, seconds(n.Heard)), next)
		case Ending:
			worse(Degraded, fmt.Sprintf("%s ends", n.Name), fmt.Sprintf("start %s again when it has ended", n.Name))
		case Stalled:
			worse(Degraded, fmt.Sprintf("the disk of %s makes no progress", n.Name), fmt.Sprintf("see to the disk of %s", n.Name))
		}
	}
	if ask, others := s.asking(AsksTokens), s.asking(AsksNothing); ask != "" && others != "" {
		worse(Degraded, fmt.Sprintf("clients need a token at %s, and none at %s: what the former forward to the latter is refused", ask, others),
			"start all nodes with --tokens, or none")
	}
	failures, failed := s.failures()
	for _, why := range failures {
		worse(Degraded, why, fmt.Sprintf("start %s with the version of the program from before the update, if there was one (\"aeonc compat\" tells beforehand which versions go on with the data); else mend what is wrong there, and restart", failed))
	}
	if versions := s.versions(); len(versions) > 1 {
		var next []string
		if len(failures) == 0 { // else the new one is to go
			next = []string{"restart the nodes that have the old version with the new one, one after the other"}
		}
		worse(Healthy, "nodes run different versions of the program: "+strings.Join(versions, "; ")+": an event over several stores waits at a method that one does not have, or has with other types", next...)
	}
	if !minority && s.Leader == 0 {
		worse(Healing, "the nodes that vote choose their leader: members and places change when there is one")
	}
	var lacks lacks
	for _, st := range s.Stores {
		current := func(n event.NodeID) bool { return up(n) && slices.Contains(st.Current, n) }
		opens := func(n event.NodeID) bool { return current(n) && !st.HasFailed(n) }
		s.Survives = min(s.Survives, spare(st.Replicas, current), count(st.Replicas, opens)-1) // what cannot open the store votes, and cannot lead it
		s.Healed = min(s.Healed, st.Want-(st.Want/2+1))
		if len(st.Wanted) < st.Want {
			lacks.of(st.ID, Healing, fmt.Sprintf("%%s %%s %d of %d replicas", len(st.Wanted), st.Want))
		}
		if slices.Contains(unheard, st.ID) {
			lacks.of(st.ID, NoQuorum, "this node knows no leader of %s")
			continue
		}
		if st.Leader == 0 {
			able := func(n event.NodeID) bool { return up(n) && !st.HasFailed(n) }
			switch {
			case spare(st.Wanted, up) < 0:
				lacks.of(st.ID, Stopped, "no node runs the actors of %s", "bring back nodes that are silent")
			case count(st.Wanted, able) == 0:
				lacks.of(st.ID, Stopped, "no node runs the actors of %s, as none that answers can open what is stored")
			default:
				lacks.of(st.ID, Stopped, "no node runs the actors of %s", "wait: the nodes that keep the store choose its leader, which takes a second or two")
			}
			continue
		}
		for _, n := range st.Wanted {
			if up(n) && !current(n) {
				lacks.of(st.ID, Healing, s.name(n)+" is being brought up to date with %s")
			}
		}
	}
	for _, n := range s.Nodes {
		switch {
		case !n.Leaves || s.leaves(&lacks, n, up):
		case slices.Contains(s.Voters, n.ID):
			why, next := s.outvoted(n, up)
			worse(Healing, LeavesPrefix(n.Name)+", and votes on members and places still: "+why, next...)
		default:
			worse(Healing, LeavesPrefix(n.Name)+": it keeps nothing any more, and is removed next")
		}
	}
	for _, l := range lacks {
		stores, have := storeList(l.stores)
		worse(l.health, fmt.Sprintf(l.text, []any{stores, have}[:strings.Count(l.text, "%s")]...), l.next...)
	}
	s.Survives, s.Healed = max(s.Survives, 0), max(s.Healed, 0)
	if s.Healed == 0 && len(s.Nodes) > 1 {
		worse(Degraded, fmt.Sprintf("%d nodes are too few: the loss of one stops the actors that it runs", len(s.Nodes)))
	}
	if s.Healed == 0 && len(s.Nodes) > 0 {
		s.Next = append(s.Next, "join nodes until there are three: then it survives the loss of one (aeond join-token --data DIR)")
	}
}

// failures says which stores nodes cannot open, and why, and lists these nodes. What a node cannot open for one reason is said once.
func (s *Status) failures() (list []string, nodes string) {
	stores := make(map[Failure][]uint32)
	var order []Failure
	for _, st := range s.Stores {
		for _, f := range st.Failed {
			if stores[f] == nil {
				order = append(order, f)
			}
			stores[f] = append(stores[f], st.ID)
		}
	}
	slices.SortStableFunc(order, func(a, b Failure) int { return cmp.Compare(a.Node, b.Node) })
	for _, f := range order {
		of, _ := storeList(stores[f])
		list = append(list, fmt.Sprintf("%s cannot open %s, and so cannot take over there: %s", s.name(f.Node), of, f.Why))
	}
	return list, s.names(func(n *Node) bool { return slices.ContainsFunc(order, func(f Failure) bool { return f.Node == n.ID }) })
}

// needed returns the stores that a node keeps and no node leads. It is not taken out as lost, as it may be the one that lacks for a majority.
func (s *Status) needed(n event.NodeID) (stores []uint32) {
	for _, st := range s.Stores {
		if st.Leader == 0 && slices.Contains(st.Wanted, n) {
			stores = append(stores, st.ID)
		}
	}
	return stores
}

// LeavesPrefix begins what Why has of a node that is to be removed.
func LeavesPrefix(name string) string { return name + " leaves" }

// leaves notes what the removal of a node waits for, which is each store whose group may count on it still. It reports whether there is one.
func (s *Status) leaves(l *lacks, n Node, up func(event.NodeID) bool) (waits bool) {
	for i := range s.Stores {
		st := &s.Stores[i]
		keeps := slices.Contains(st.Wanted, n.ID)
		if !keeps && st.Followed {
			continue
		}
		text := LeavesPrefix(n.Name) + " when nothing of %s counts on it any more: "
		if keeps || slices.Contains(st.Replicas, n.ID) {
			text = LeavesPrefix(n.Name) + ", and keeps %s still: "
		}
		why, next := s.awaited(st, n, up)
		l.of(st.ID, Healing, text+why, next...)
		waits = true
	}
	return waits
}

// awaited says what a store waits for before a node can leave.
func (s *Status) awaited(st *Store, leaving Node, up func(event.NodeID) bool) (why string, next []string) {
	var silent, behind []string
	for _, n := range st.Wanted {
		switch {
		case n == leaving.ID:
		case !up(n):
			silent = append(silent, s.name(n))
		case !slices.Contains(st.Current, n):
			behind = append(behind, s.name(n))
		}
	}
	free := slices.ContainsFunc(s.Nodes, func(n Node) bool { return n.State != Silent && !n.Leaves && !slices.Contains(st.Wanted, n.ID) })
	switch {
	case st.Leader == 0:
		return "no leader is known there", nil // more is said of that elsewhere
	case len(silent) > 0:
		return "silent: " + strings.Join(silent, ", "), nil
	case len(behind) > 0:
		return "not up to date yet: " + strings.Join(behind, ", "), nil
	case !st.Followed:
		return "the leader is changing the members", nil
	case !free && len(st.Wanted) <= st.Want:
		return "there is no other node that answers and can take its place", []string{"bring back nodes that are silent, or join a node (aeond join-token --data DIR)"}
	}
	return "another node takes its place next", nil
}

// outvoted says what the vote of a node that leaves is waited for.
func (s *Status) outvoted(leaving Node, up func(event.NodeID) bool) (why string, next []string) {
	others := slices.DeleteFunc(slices.Clone(s.Voters), func(n event.NodeID) bool { return n == leaving.ID })
	var silent []string
	for _, n := range s.Nodes {
		if n.State == Silent && n.ID != leaving.ID {
			silent = append(silent, n.Name)
		}
	}
	if spare(others, up) >= 0 || len(silent) == 0 {
		return "the leader is changing the nodes that vote", nil
	}
	names := strings.Join(silent, ", ")
	return "without it no majority is heard, silent: " + names,
		[]string{fmt.Sprintf("bring back %s, or take out what is lost: aeond remove NODE --lost --data DIR", names)}
}

// asking lists the nodes that answer and ask clients for this; "": there are none.
func (s *Status) asking(what string) string {
	return s.names(func(n *Node) bool { return n.Asks == what })
}

// versions lists the nodes that run versions of the program which call each other alike, as far as they have told.
func (s *Status) versions() (list []string) {
	var seen []string
	for _, n := range s.Nodes {
		if n.Interface == "" || n.State == Silent || slices.Contains(seen, n.Interface) {
			continue
		}
		seen = append(seen, n.Interface)
		list = append(list, s.names(func(o *Node) bool { return o.Interface == n.Interface }))
	}
	return list
}

// names lists the nodes that are not silent, and so.
func (s *Status) names(so func(*Node) bool) string {
	var names []string
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.State != Silent && so(n) {
			names = append(names, n.Name)
		}
	}
	return strings.Join(names, ", ")
}

var rank = map[Health]int{Single: 0, Healthy: 0, Healing: 1, Degraded: 2, NoQuorum: 3, Stopped: 4}

func count(list []event.NodeID, up func(event.NodeID) bool) (n int) {
	for _, id := range list {
		if up(id) {
			n++
		}
	}
	return n
}

// lacks are what is missing of stores. What several of them lack is said once.
type lacks []*lack

type lack struct {
	health Health
	text   string // with a place for the stores, and perhaps one for has or have
	next   []string
	stores []uint32
}

// of notes what a store lacks.
func (l *lacks) of(store uint32, h Health, text string, next ...string) {
	i := slices.IndexFunc(*l, func(o *lack) bool { return o.text == text })
	if i < 0 {
		i = len(*l)
		*l = append(*l, &lack{h, text, next, nil})
	}
	(*l)[i].stores = append((*l)[i].stores, store)
}

// storeList names stores, which ascend, and returns the verb for them: store 3 has, stores 0 to 2, 5 have.
func storeList(stores []uint32) (text, have string) {
	if len(stores) == 1 {
		return fmt.Sprintf("store %d", stores[0]), "has"
	}
	var runs []string
	for i := 0; i < len(stores); {
		end := i + 1
		for end < len(stores) && stores[end] == stores[end-1]+1 {
			end++
		}
		switch end - i {
		case 1:
			runs = append(runs, fmt.Sprint(stores[i]))
		case 2:
			runs = append(runs, fmt.Sprint(stores[i]), fmt.Sprint(stores[end-1]))
		default:
			runs = append(runs, fmt.Sprintf("%d to %d", stores[i], stores[end-1]))
		}
		i = end
	}
	return "stores " + strings.Join(runs, ", "), "have"
}

// spare returns how many of those that are up may be lost, so that a majority of the list is left; negative if there is none.
func spare(list []event.NodeID, up func(event.NodeID) bool) int {
	return count(list, up) - (len(list)/2 + 1)
}

func (s *Status) name(n event.NodeID) string {
	for _, o := range s.Nodes {
		if o.ID == n {
			return o.Name
		}
	}
	return fmt.Sprintf("node %d", n)
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}

// ExitCode is that of the command that shows the status: 0 if all is well, 1 if the cluster works and something is missing, 2 if it does not work.
func (s *Status) ExitCode() int {
	switch rank[s.Health] {
	case 0:
		return 0
	case 1, 2:
		return 1
	}
	return 2
}

// String writes the status as people read it.
func (s *Status) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cluster %s  %s  survives: %d more %s", s.Program, s.Health, s.Survives, plural(s.Survives, "failure"))
	if s.Healed != s.Survives {
		fmt.Fprintf(&b, " (%d when healed)", s.Healed)
	}
	b.WriteByte('\n')
	for i, w := range s.Why {
		fmt.Fprintf(&b, "%-5s %s\n", first(i, "why"), w)
	}
	for i, n := range s.Next {
		fmt.Fprintf(&b, "%-5s %s\n", first(i, "next"), n)
	}
	if s.Snapshots != nil {
		fmt.Fprintf(&b, "%-5s %s\n", "saved", s.Snapshots)
	}
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NODE\tSTATE\tLEADS\tFOLLOWS\tACTORS\tEV/S\tP99\tSYNC\tPID\tLISTEN\tHEARD")
	for _, n := range s.Nodes {
		heard, pid := "now", "-"
		if n.Heard > 0 {
			heard = seconds(n.Heard)
		} else if n.State == Silent {
			heard = "-"
		}
		if n.PID != 0 {
			pid = strconv.Itoa(n.PID)
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", n.Name, n.State, len(n.Leads), len(n.Follows),
			n.figure(float64(n.Actors), 0, ""), n.figure(n.Events, 0, ""), n.figure(1000*n.P99, 1, "ms"), n.figure(1000*n.Sync, 1, "ms"), pid, cmp.Or(n.Listen, "-"), heard)
	}
	_ = table.Flush() // a builder does not fail
	if len(s.Stores) > 1 {
		s.writeStores(&b)
	}
	return b.String()
}

// writeStores writes the stores as a table. What is not known without a leader is "-".
func (s *Status) writeStores(b *strings.Builder) {
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "STORE\tLEADER\tREPLICAS\tCURRENT\tIN DOUBT")
	for _, st := range s.Stores {
		if st.Leader == 0 {
			fmt.Fprintf(table, "%d\tnone\t-\t-\t-\n", st.ID)
			continue
		}
		leader := strconv.FormatUint(uint64(st.Leader), 10)
		for _, n := range s.Nodes {
			if n.ID == st.Leader {
				leader = n.Name
			}
		}
		fmt.Fprintf(table, "%d\t%s\t%d\t%d\t%d\n", st.ID, leader, len(st.Replicas), len(st.Current), st.InDoubt)
	}
	_ = table.Flush() // a builder does not fail
}

// figure writes a figure of a node; "-" if none is known.
func (n *Node) figure(f float64, digits int, unit string) string {
	text := strconv.FormatFloat(f, 'f', digits, 64) + unit
	switch {
	case f == 0 && (unit != "" || n.About || len(n.Leads) == 0):
		return "-"
	case n.About:
		return "~" + text
	}
	return text
}

// first returns the text for the first of several lines, and nothing for the others.
func first(i int, text string) string {
	if i > 0 {
		return ""
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
