package exec

import (
	"errors"
	"math"
	"testing"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/aeon-lang/aeon/runtime/value"
)

// ledger is an actor with a map that is stored by element.
type ledger struct {
	order.Self
	entries value.Map[int64, int64]
	copied  value.Map[int64, int64]
}

var ledgerEntries = image.Entries[int64, int64]{PutKey: codec.PutKeyInt[int64], GetKey: codec.GetKeyInt[int64], Put: codec.PutInt[int64], Get: codec.GetInt[int64]}

func (l *ledger) SaveField(w *image.Writer, field int) {
	image.SaveMap(w, []*value.Map[int64, int64]{&l.entries, &l.copied}[field], &ledgerEntries)
}

func (l *ledger) LoadFields(r *image.Reader) {
	image.LoadMap(r, 0, &l.entries, &ledgerEntries)
	image.LoadMap(r, 1, &l.copied, &ledgerEntries)
}

type ledgerArgs struct {
	entries value.Map[int64, int64]
	to      order.Ref
	ret     value.Map[int64, int64]
}

func putEntries(e *codec.Encoder, m value.Map[int64, int64]) {
	codec.PutMap(e, m, codec.PutKeyInt[int64], codec.PutInt[int64])
}

func getEntries(d *codec.Decoder) value.Map[int64, int64] {
	return codec.GetMap(d, codec.GetKeyInt[int64], codec.GetInt[int64])
}

func (x *ledgerArgs) Encode(e *codec.Encoder)       { putEntries(e, x.entries); putRef(e, x.to) }
func (x *ledgerArgs) Decode(d *codec.Decoder)       { x.entries, x.to = getEntries(d), getRef(d) }
func (x *ledgerArgs) EncodeResult(e *codec.Encoder) { putEntries(e, x.ret) }
func (x *ledgerArgs) DecodeResult(d *codec.Decoder) { x.ret = getEntries(d) }

var (
	classLedger = Class{Shape: order.Shape{Package: "test", Name: "Ledger", Fields: []order.Field{{Name: "entries", Type: "map<int,int>"}, {Name: "copied", Type: "map<int,int>"}}}}

	constructLedger = Method{Class: &classLedger, Name: "Ledger", Effects: order.Effects{Self: order.Write}, NewArgs: func() order.Args { return nil }, Run: func(*Cx, any, order.Args) {}}
	// ledgerWrite fills the map.
	ledgerWrite = ledgerMethod("write", order.Write, func(cx *Cx, l *ledger, _ *ledgerArgs) {
		for i := range int64(1000) {
			undo.MapSet(cx.UndoLog(), &l.Self, 0, &l.entries, i, 2*i)
		}
	})
	// ledgerReturn returns it.
	ledgerReturn = ledgerMethod("entries", order.Read, func(_ *Cx, l *ledger, x *ledgerArgs) { x.ret = l.entries })
	// ledgerGive sends it to an actor.
	ledgerGive = ledgerMethod("give", order.Read, func(cx *Cx, l *ledger, x *ledgerArgs) { cx.Emit(x.to, &ledgerTake, &ledgerArgs{entries: l.entries}) })
	ledgerTake = ledgerMethod("take", order.Write, func(cx *Cx, l *ledger, x *ledgerArgs) {
		undo.Field(cx.UndoLog(), &l.Self, 1, &l.copied)
		l.copied = x.entries
	})
	// ledgerOffer sends it to an actor that refuses it.
	ledgerOffer  = ledgerMethod("offer", order.Read, func(cx *Cx, l *ledger, x *ledgerArgs) { cx.Emit(x.to, &ledgerRefuse, &ledgerArgs{entries: l.entries}) })
	ledgerRefuse = ledgerMethod("refuse", order.Write, func(cx *Cx, _ *ledger, _ *ledgerArgs) {
		beforeRefusal()
		Require(cx, false, "refused")
	})
	// ledgerCopy assigns it to another field.
	ledgerCopy = ledgerMethod("copy", order.Write, func(cx *Cx, l *ledger, _ *ledgerArgs) {
		undo.Field(cx.UndoLog(), &l.Self, 1, &l.copied)
		l.copied = l.entries
	})
)

var beforeRefusal func()

func ledgerMethod(name string, self order.Mode, run func(*Cx, *ledger, *ledgerArgs)) Method {
	return Method{Class: &classLedger, Name: name, Signature: "(map<int,int>,actor test.Ledger?):map<int,int>", Effects: order.Effects{Self: self, Below: order.None},
		NewArgs: func() order.Args { return &ledgerArgs{} },
		Run:     func(cx *Cx, self any, args order.Args) { run(cx, self.(*ledger), args.(*ledgerArgs)) }}
}

func init() {
	classLedger.New = func() order.Object { return &ledger{} }
	classLedger.Construct = &constructLedger
	classLedger.Methods = []*Method{&ledgerWrite, &ledgerReturn, &ledgerGive, &ledgerTake, &ledgerOffer, &ledgerRefuse, &ledgerCopy}
}

// faultyEngine is an engine whose reads fail from one on.
type faultyEngine struct {
	replicatest.Engine
	read memengine.Faulty
}

func (e *faultyEngine) Get(key, buf []byte) ([]byte, bool, error) { return e.read.Get(key, buf) }
func (e *faultyEngine) Scan(from, to []byte) store.Iterator       { return e.read.Scan(from, to) }

var errDisk = errors.New("the disk is gone")

// openLedger opens a system on a store that has a ledger, which is in memory but for the elements of its map.
func openLedger(t *testing.T) (s *System, e *faultyEngine, l order.Ref) {
	e = &faultyEngine{Engine: replicatest.New()}
	e.read.Err = errDisk
	open := func() (*System, *store.Store) {
		e.read.Reader = e.Engine
		e.read.Left.Store(math.MaxInt64)
		st := openStore(t, e, func(error) {})
		s, err := Recover(Config{Store: st, Classes: []*Class{&classLedger}, Log: quiet})
		mustNot(t, err)
		return s, st
	}
	s, st := open()
	cl := s.Client()
	mustNot(t, cl.Await(Named(cl, &classLedger, "main"), &ledgerWrite, &ledgerArgs{}))
	s.Close()
	mustNot(t, st.Close())
	e.Engine = e.Engine.Reopen()
	s, st = open()
	t.Cleanup(func() {
		s.Close()
		if err := st.Close(); !errors.Is(err, errDisk) {
			t.Errorf("the store is closed: %v", err)
		}
	})
	cl = s.Client()
	s.durable.Memory.Max, s.durable.Memory.Measure = 100, func() (uint64, uint64) { return 90, 1 } // no room for the map
	l = Named(cl, &classLedger, "main")
	mustNot(t, cl.Await(l, &ledgerReturn, &ledgerArgs{}))
	return s, e, l
}

// An event whose code has run, and whose commit has to read what the store cannot give any more, ends as one whose store has failed.
func TestStoreFailsUnderACommit(t *testing.T) {
	for name, c := range map[string]struct {
		method *Method
		key    string
	}{
		"a result is stored":     {&ledgerReturn, "k"},
		"an argument is stored":  {&ledgerGive, ""},
		"a field is stored":      {&ledgerCopy, ""},
		"a field, with a result": {&ledgerCopy, "k"},
	} {
		t.Run(name, func(t *testing.T) {
			s, e, l := openLedger(t)
			e.read.Left.Store(100)
			_, err := s.Perform(&Call{Target: l, Method: c.method, Args: &ledgerArgs{to: l}, Key: c.key})
			if unknown := (*event.UnknownError)(nil); !errors.As(err, &unknown) || !errors.Is(err, errDisk) {
				t.Errorf("the call has ended with %v", err)
			}
			if e.read.Fails.Load() == 0 {
				t.Error("no read has failed")
			}
		})
	}
}

// So does the dead letter of a sub-event, whose arguments it has to read.
func TestStoreFailsUnderALetter(t *testing.T) {
	s, e, l := openLedger(t)
	answered := make(chan struct{})
	beforeRefusal = func() {
		<-answered
		e.read.Left.Store(0)
	}
	_, err := s.Perform(&Call{Target: l, Method: &ledgerOffer, Args: &ledgerArgs{to: l}})
	mustNot(t, err)
	close(answered)
	s.settle()
	if e.read.Fails.Load() == 0 {
		t.Error("no read has failed")
	}
}
