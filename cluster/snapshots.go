package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/placement"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/state/archive"
)

// A snapshot of several stores is what a crash of all of them at one moment would leave, if nothing was lost that was appended. The leader of the first
// store has all halted: none appends anything, and so none tells another one, or a client, of anything new. When all are, at one moment, they go on. Each
// leader then saves what its store had, in its own place.
//
// A snapshot block needs more: what was decided on events over several stores is carried out in all of them, or it would be on what the block has left. So if a store
// has such decisions when it is halted, all stores go on, and decide nothing of the kind until the snapshot has its moment. What was decided before is carried out
// meanwhile, as that waits for no lock, and for no other decision. Then they are halted once more.

const (
	haltMax    = time.Second      // how long a store is halted at most, if what has halted it is lost
	quiesceMax = time.Second      // how long what was decided may take to be carried out
	keptMax    = 10 * time.Second // how long what a store had is kept for the one that has halted it, until that has it saved
)

// snapshotPart is what a node is asked to do for a snapshot of several stores: the leader of a store, and then the node that has halted it.
type snapshotPart struct {
	Do    string       `json:"do"`
	Set   snapshot.Set `json:"set"` // at the store
	Taken time.Time    `json:"taken"`
}

// What the leader of a store is asked to do, in this order.
const (
	doHalt    = "halt"
	doQuiesce = "quiesce" // if that has failed with errUnsettled, and then doHalt again
	doResume  = "resume"  // it fails if the store was not halted up to now
	doSave    = "save"    // returns when that is done
	doPrune   = "prune"   // all have saved their parts
	doDrop    = "drop"    // the snapshot has come to nothing: none of its parts stays
)

// errUnsettled answers doHalt if the stores are to be quiesced before: it stands for an archive.UnsettledError.
var errUnsettled = errors.New("other stores may not have carried out all that it has decided, and classes have snapshot blocks")

// snapshotParts are what the stores that this node leads do for snapshots of several.
type snapshotParts struct {
	mu   sync.Mutex
	list map[snapshot.Set]*aeonrt.Halted
}

// everIn returns all nodes that have ever been in the cluster.
func (n *node) everIn() []event.NodeID {
	return slices.Sorted(maps.Keys(n.placement.State().Members))
}

// ledElsewhere returns the ids of the stores that other nodes lead, as far as these have told them. Other clusters may send to the place of this one: their
// stores are not among them.
func (n *node) ledElsewhere() []string {
	ids := make(map[string]bool)
	n.mu.Lock()
	for _, h := range n.brief {
		for _, st := range h.brief.Stores {
			ids[st.Identity] = true
		}
	}
	n.mu.Unlock()
	delete(ids, "")
	for _, h := range n.holders.all() {
		if s := h.runs(); s != nil {
			delete(ids, s.Store.Identity().Store)
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// takeSnapshots takes snapshots of all stores while this node leads the first of several, and deletes old ones that this node has sent of stores which
// others lead now. Of those that it leads it does so behind each snapshot, and what one that failed has sent is there for the next.
func (n *node) takeSnapshots() {
	every := n.c.Snapshots.Every()
	if every == 0 {
		return
	}
	ctx, cancel := n.whileItRuns()
	defer cancel()
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if stores := len(n.placement.State().Stores); stores > 1 && n.holders.of(n, firstStore).runs() != nil {
			if err := n.newTaking(stores).take(ctx); err != nil && ctx.Err() == nil {
				n.log.Error("no snapshot of the stores was taken, and the next try is in "+every.String()+"; `aeond status` says which store lacks its leader, which disk is stalled and how old the last snapshot is", "error", err)
			}
		}
		n.c.Snapshots.Prune(ctx, n.ledElsewhere(), n.log)
	}
}

// whileItRuns returns a context that is done when the node ends. The caller calls cancel.
func (n *node) whileItRuns() (ctx context.Context, cancel context.CancelFunc) {
	ctx, cancel = context.WithCancel(context.Background())
	go func() {
		select {
		case <-n.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// taking is a snapshot of several stores that this node takes.
type taking struct {
	n     *node
	set   snapshot.Set
	taken time.Time
	at    []event.NodeID // of each store the node that was last asked to halt it, and has the part, whatever node leads the store behind that; 0: none
}

// newTaking returns a snapshot of so many stores as they are now.
func (n *node) newTaking(stores int) *taking {
	now := n.clock.Now()
	return &taking{n, snapshot.NewSet(now, stores), now, make([]event.NodeID, stores)}
}

// take takes the snapshot.
func (k *taking) take(ctx context.Context) error {
	if err := k.save(ctx); err != nil {
		// A store that does not hear of it goes on by itself. Its part stays, and does not count: see snapshot.Prune. One that hears of it deletes its
		// part, however long that takes.
		_ = k.ask(context.WithoutCancel(ctx), doDrop)
		return err
	}
	k.n.log.Info("snapshot", "name", k.set.Name, "stores", k.set.Stores, "took", time.Since(k.taken))
	k.n.c.Snapshots.Note(k.taken)
	// From here on the snapshot is there, and no part may be dropped any more.
	if err := k.ask(ctx, doPrune); err != nil && ctx.Err() == nil {
		k.n.log.Warn("not all stores have deleted what is old", "error", err)
	}
	return nil
}

// save halts all stores at one moment, and has them save what they had then.
func (k *taking) save(ctx context.Context) error {
	err := k.ask(ctx, doHalt)
	if errors.Is(err, errUnsettled) {
		err = k.inTurn(ctx, doDrop, doQuiesce, doHalt)
	}
	if err != nil {
		return err
	}
	return k.inTurn(ctx, doResume, doSave)
}

// inTurn asks for one thing after the other, until one fails.
func (k *taking) inTurn(ctx context.Context, list ...string) error {
	for _, do := range list {
		if err := k.ask(ctx, do); err != nil {
			return err
		}
	}
	return nil
}

// ask asks for all parts at once, and waits for that.
func (k *taking) ask(ctx context.Context, do string) error {
	if do != doSave && do != doPrune {
		limit := haltMax
		if do == doQuiesce {
			limit += quiesceMax // so that what is not carried out is told
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	failed := make([]error, k.set.Stores)
	var group sync.WaitGroup
	for store := range k.set.Stores {
		group.Go(func() {
			if err := k.askFor(ctx, store, do); err != nil {
				failed[store] = fmt.Errorf("store %d: %w", store, err)
			}
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

// node returns the node that is asked for the part of a store: its leader if it is to be halted, and then the node that has halted it. 0: there is none.
func (k *taking) node(store int, do string) event.NodeID {
	if do == doHalt {
		_, place, _ := k.n.holders.of(k.n, placement.StoreID(store)).known()
		if k.at[store] = place.Node; place.Here != nil {
			k.at[store] = k.n.id.Node
		}
	}
	return k.at[store]
}

// askFor asks for the part of a store.
func (k *taking) askFor(ctx context.Context, store int, do string) error {
	n, p, at := k.n, snapshotPart{do, k.set.At(store), k.taken}, k.node(store, do)
	switch at {
	case 0:
		return errors.New("it has no leader")
	case n.id.Node:
		return n.doPart(ctx, p)
	}
	b, _ := json.Marshal(p) // never fails
	answer, err := n.transport.Call(ctx, at, append([]byte{callSnapshot}, b...))
	if err == nil && len(answer) > 0 {
		err = errUnsettled
	}
	return err
}

// servePart is doPart for another node.
func (n *node) servePart(ctx context.Context, body []byte) ([]byte, error) {
	var p snapshotPart
	if err := json.Unmarshal(body, &p); err != nil {
		return nil, err
	}
	err := n.doPart(ctx, p)
	if errors.Is(err, errUnsettled) {
		return []byte{1}, nil
	}
	return nil, err
}

// doPart does what is asked for of a store that this node leads, or has led when it was halted.
func (n *node) doPart(ctx context.Context, p snapshotPart) error {
	parts := &n.snapshots
	switch s := n.holders.of(n, placement.StoreID(p.Set.Store)).runs(); {
	case p.Do == doHalt:
		return n.halt(s, p)
	case p.Do == doQuiesce:
		return quiesce(ctx, s)
	case s != nil && (p.Do == doResume || p.Do == doDrop):
		defer s.GoOn()
	}
	parts.mu.Lock()
	h := parts.list[p.Set]
	if p.Do == doPrune || p.Do == doDrop { // nothing is asked of the part behind that
		delete(parts.list, p.Set)
	}
	parts.mu.Unlock()
	switch {
	case h == nil && p.Do == doDrop:
		return nil
	case h == nil:
		return errors.New("its leader takes no part in the snapshot: it was another one when that began, or it has given up")
	}
	switch p.Do {
	case doResume:
		if !h.Resume() {
			return fmt.Errorf("it was to be halted for %v, and that is over", haltMax)
		}
		return nil
	case doSave:
		return h.Save(ctx, p.Set, p.Taken)
	case doPrune:
		h.Prune(ctx)
	case doDrop:
		ctx, cancel := n.whileItRuns()
		defer cancel()
		h.Drop(ctx)
	}
	return nil
}

// errLed answers for a store that another node leads.
var errLed = errors.New("another node leads it now")

// quiesce has a system decide nothing that other stores would have to carry out, until the snapshot has its moment, and waits until they have what was decided before.
func quiesce(ctx context.Context, s *system) error {
	if s == nil {
		return errLed
	}
	ctx, cancel := context.WithTimeout(ctx, quiesceMax)
	defer cancel()
	return s.Quiesce(ctx, quiesceMax+haltMax)
}

// halt halts a store whose system, s, this node runs.
func (n *node) halt(s *system, p snapshotPart) error {
	if s == nil {
		return errLed
	}
	h, err := s.Halt(haltMax)
	if unsettled := new(archive.UnsettledError); errors.As(err, &unsettled) {
		return errUnsettled
	}
	if err != nil {
		return err
	}
	n.snapshots.mu.Lock()
	defer n.snapshots.mu.Unlock()
	if n.snapshots.list == nil {
		n.snapshots.list = make(map[snapshot.Set]*aeonrt.Halted)
	}
	for set, old := range n.snapshots.list {
		if set.Store == p.Set.Store && old.Abandon() { // what has asked for it has not come back
			delete(n.snapshots.list, set)
		}
	}
	n.snapshots.list[p.Set] = h
	time.AfterFunc(keptMax, func() { h.Abandon() })
	return nil
}
