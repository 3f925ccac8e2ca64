package exec

import (
	"testing"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
)

// This file has by hand, for the classes of the tests, what codegen writes for the store.

func putRef(e *codec.Encoder, r order.Ref) {
	e.Uint(uint64(r.ID().Birth))
	e.Uint(r.ID().Serial)
}

func getRef(d *codec.Decoder) order.Ref {
	id := event.ActorID{Birth: event.PartitionID(d.Uint()), Serial: d.Uint()}
	return d.Context.(interface{ Resolve(event.ActorID) order.Ref }).Resolve(id)
}

func (a *account) SaveField(w *image.Writer, field int) {
	switch field {
	case 0:
		w.Row().Int(a.balance)
	case 1:
		w.Row().String(a.owner)
	}
}

func (a *account) LoadFields(r *image.Reader) {
	if d := r.Row(0); d != nil {
		a.balance = d.Int()
	}
	if d := r.Row(1); d != nil {
		a.owner = d.String()
	}
}

var accountEntries = image.Entries[string, accountRef]{
	PutKey: codec.PutKeyString[string], GetKey: codec.GetKeyString[string],
	Put: func(e *codec.Encoder, r accountRef) { putRef(e, r.Ref) }, Get: func(d *codec.Decoder) accountRef { return accountRef{getRef(d)} },
}

func (b *bank) SaveField(w *image.Writer, field int) {
	switch field {
	case 0:
		image.SaveMap(w, &b.accounts, &accountEntries)
	case 1:
		w.Row().Int(b.made)
	}
}

func (b *bank) LoadFields(r *image.Reader) {
	image.LoadMap(r, 0, &b.accounts, &accountEntries)
	if d := r.Row(1); d != nil {
		b.made = d.Int()
	}
}

var wrefElems = image.Elems[wref]{Put: func(e *codec.Encoder, r wref) { putRef(e, r.Ref) }, Get: func(d *codec.Decoder) wref { return wref{getRef(d)} }}

func (n *wnode) SaveField(w *image.Writer, field int) {
	switch field {
	case 0:
		w.Row().Int(n.value)
	case 1:
		image.SaveVector(w, &n.kids, &wrefElems)
	}
}

func (n *wnode) LoadFields(r *image.Reader) {
	if d := r.Row(0); d != nil {
		n.value = d.Int()
	}
	image.LoadVector(r, 1, &n.kids, &wrefElems)
}

var (
	deskElems   = image.Elems[deskRef]{Put: func(e *codec.Encoder, r deskRef) { putRef(e, r.Ref) }, Get: func(d *codec.Decoder) deskRef { return deskRef{getRef(d)} }}
	nameEntries = image.Entries[string, int64]{PutKey: codec.PutKeyString[string], GetKey: codec.GetKeyString[string], Put: codec.PutInt[int64], Get: codec.GetInt[int64]}
	tagMembers  = image.Members[int64]{PutKey: codec.PutKeyInt[int64], GetKey: codec.GetKeyInt[int64]}
)

func (d *desk) SaveField(w *image.Writer, field int) {
	switch field {
	case 0:
		w.Row().Int(d.n)
	case 1:
		w.Row().String(d.text)
	case 2:
		w.Row().Bool(d.ok)
	case 3:
		w.Row().Float(d.rate)
	case 4:
		image.SaveVector(w, &d.kids, &deskElems)
	case 5:
		image.SaveMap(w, &d.names, &nameEntries)
	case 6:
		image.SaveSet(w, &d.tags, &tagMembers)
	case 7:
		putRef(w.Row(), d.boss.Ref)
	}
}

func (d *desk) LoadFields(r *image.Reader) {
	if in := r.Row(0); in != nil {
		d.n = in.Int()
	}
	if in := r.Row(1); in != nil {
		d.text = in.String()
	}
	if in := r.Row(2); in != nil {
		d.ok = in.Bool()
	}
	if in := r.Row(3); in != nil {
		d.rate = in.Float()
	}
	image.LoadVector(r, 4, &d.kids, &deskElems)
	image.LoadMap(r, 5, &d.names, &nameEntries)
	image.LoadSet(r, 6, &d.tags, &tagMembers)
	if in := r.Row(7); in != nil {
		d.boss = deskRef{getRef(in)}
	}
}

func (x *depositArgs) Encode(e *codec.Encoder)       { e.Int(x.amount) }
func (x *depositArgs) Decode(d *codec.Decoder)       { x.amount = d.Int() }
func (x *depositArgs) EncodeResult(e *codec.Encoder) { e.Int(x.ret) }
func (x *depositArgs) DecodeResult(d *codec.Decoder) { x.ret = d.Int() }

func init() {
	classAccount.Methods = []*Method{&methodDeposit, &methodBalance, &methodPay}
	classBank.Methods = []*Method{&methodOpen, &methodTransfer, &methodAudit}
	classNode.Methods = nodeMethods
	methodDeposit.NewArgs = func() order.Args { return &depositArgs{} }
	methodBalance.NewArgs = func() order.Args { return &depositArgs{} }
}

// testClasses are the classes of the programs of the tests.
var testClasses = []*Class{&classAccount, &classBank, &classNode, &classDesk, &classHangar}

// openStore opens a store on an engine. A failure fails the test unless fatal is given.
func openStore(t testing.TB, e store.Engine, fatal func(error)) *store.Store {
	t.Helper()
	if fatal == nil {
		fatal = func(err error) { t.Errorf("the store has failed: %v", err) }
	}
	st, err := store.Open(e, store.Options{Program: "test", Partitions: 4, Log: quiet, Fatal: fatal})
	mustNot(t, err)
	return st
}

// node is a system on a store that can crash and be opened again.
type node struct {
	t      testing.TB
	cfg    Config
	engine replicatest.Engine
	store  *store.Store
	sys    *System
	cl     *Client
}

// archive makes snapshots of the node.
func (n *node) archive() *archive.Live {
	a, err := n.sys.Archive()
	if err != nil {
		n.t.Fatal(err)
	}
	return a
}

// startNode opens a system on an empty store.
func startNode(t testing.TB, cfg Config) *node {
	t.Cleanup(writtenArgs.Clear) // they lead to all systems that there were
	n := &node{t: t, cfg: cfg, engine: replicatest.New()}
	n.cfg.Log, n.cfg.Classes = quiet, testClasses
	if n.cfg.Clock == nil {
		n.cfg.Clock = sched.NewSimClock(time.Unix(1000, 0))
	}
	n.open()
	return n
}

func (n *node) open() {
	n.t.Helper()
	n.store = openStore(n.t, n.engine, nil)
	cfg := n.cfg
	cfg.Store = n.store
	s, err := Recover(cfg)
	mustNot(n.t, err)
	n.sys, n.cl = s, s.Client()
}

// close closes system and store, and checks the ownership graph.
func (n *node) close() {
	n.t.Helper()
	n.sys.Close()
	mustNot(n.t, n.sys.host.Graph.Validate())
	mustNot(n.t, n.store.Close())
}

// reopen closes everything and opens it again.
func (n *node) reopen() {
	n.t.Helper()
	n.close()
	n.engine = n.engine.Reopen()
	n.open()
}

// crash opens what a crash may leave now: of what is not synced yet, as much as kept says. The
// old system is closed afterwards, which leaves nothing there.
func (n *node) crash(kept func(unsynced int) int) {
	n.t.Helper()
	left := n.engine.Crash(kept)
	n.close()
	n.engine = left
	n.open()
}
