package row

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
	"pgregory.net/rapid"
)

var (
	actors = rapid.Custom(func(t *rapid.T) event.ActorID {
		return event.ActorID{Birth: event.PartitionID(rapid.Uint16().Draw(t, "partition")), Serial: rapid.Uint64().Draw(t, "serial")}
	})
	events = rapid.Custom(func(t *rapid.T) event.EventID {
		return event.EventID{Origin: rapid.Uint64().Draw(t, "origin"), Seq: rapid.Uint64().Draw(t, "seq")}
	})
	texts    = rapid.StringN(0, 20, 40)
	contents = rapid.SliceOfN(rapid.Byte(), 1, 20)
	stores   = rapid.Custom(func(t *rapid.T) event.StoreID { return event.StoreID(rapid.IntRange(0, 1000).Draw(t, "store")) })
	requests = rapid.Custom(func(t *rapid.T) *event.Request {
		r := &event.Request{Session: texts.Draw(t, "session"), Seq: rapid.Uint64().Draw(t, "seq"), Target: actors.Draw(t, "target")}
		if r.HasKey() {
			r.Fingerprint = event.Fingerprint(rapid.Uint64().Draw(t, "fingerprint"))
		}
		return r
	})
)

// TestFormsAreReadAsTheyWereWritten: each form is read as it was written, and a payload that was cut off is refused.
func TestFormsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Header{Unborn: rapid.Bool().Draw(t, "unborn"), Layout: rapid.Uint32().Draw(t, "layout"), Units: rapid.Uint32().Draw(t, "units")}
		if h.Named = rapid.Bool().Draw(t, "named"); h.Named {
			h.Incarnation, h.Name = rapid.Uint32().Draw(t, "incarnation"), texts.Draw(t, "name")
		}
		if h.Top = rapid.Bool().Draw(t, "top"); !h.Top {
			h.Parent = actors.Draw(t, "parent")
		}
		payload := h.Append(nil)
		var read Header
		if err := read.Read(payload); err != nil || read != h {
			t.Fatalf("header %+v was read as %+v, %v", h, read, err)
		}
		cut := payload[:rapid.IntRange(0, len(payload)-1).Draw(t, "cut")]
		if read.Read(cut) == nil || read.Read(append(payload, 0)) == nil {
			t.Fatalf("a header of another length was read: %x", payload)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		e := event.SubEvent{Signature: rapid.Uint32().Draw(t, "signature"), Parent: events.Draw(t, "parent"), Index: rapid.IntRange(0, 1<<40).Draw(t, "index"),
			Timer: rapid.Uint64().Draw(t, "timer"), Args: contents.Draw(t, "args")}
		if e.Step = rapid.Bool().Draw(t, "step"); e.Step {
			e.Chain.First = events.Draw(t, "first")
			switch rapid.IntRange(0, 2).Draw(t, "requested") {
			case 1:
				e.Request = requests.Draw(t, "request")
			case 2:
				e.Chain.Store, e.Chain.Waits = stores.Draw(t, "store"), event.RequestWaits
			}
		}
		payload := AppendSubEvent(nil, &e)
		if read, err := ReadSubEvent(payload); err != nil || !reflect.DeepEqual(read, e) || Signature(payload) != e.Signature {
			t.Fatalf("sub-event %+v was read as %+v, %v", e, read, err)
		}
		cut := payload[:rapid.IntRange(0, len(payload)-len(e.Args)-1).Draw(t, "cut")]
		if _, err := ReadSubEvent(cut); err == nil {
			t.Fatalf("%x was read, which is a part of %x", cut, payload)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		x := event.Timer{Parent: events.Draw(t, "parent"), Name: texts.Draw(t, "name"), Target: actors.Draw(t, "target"),
			Every: time.Duration(rapid.Int64().Draw(t, "every")), Args: contents.Draw(t, "args")}
		signature, ticks := rapid.Uint32().Draw(t, "signature"), rapid.Uint64().Draw(t, "ticks")
		call := AppendTimerCall(nil, &x)
		payload := AppendTimer(nil, signature, ticks, call)
		read, s, n, again, err := ReadTimer(payload)
		if err != nil || !reflect.DeepEqual(read, x) || s != signature || n != ticks || !bytes.Equal(again, call) {
			t.Fatalf("timer %+v was read as %+v, %d, %d, %x, %v", x, read, s, n, again, err)
		}
		cut := payload[:rapid.IntRange(0, len(payload)-len(x.Args)-1).Draw(t, "cut")]
		if _, _, _, _, err := ReadTimer(cut); err == nil {
			t.Fatalf("%x was read, which is a part of %x", cut, payload)
		}
	})
}

// TestKeysAreReadAsTheyWereWritten, and sort by their last number.
func TestKeysAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, n := actors.Draw(t, "a"), actors.Draw(t, "b"), rapid.Uint64Range(0, 1<<63).Draw(t, "n")
		rest := func(key []byte, of store.Section) []byte {
			s, rest, id, ok := SplitKey(key)
			if !ok || s != of || id != a {
				t.Fatalf("key %x is split into section %c of %v", key, s, id)
			}
			return rest
		}
		key := AppendOutboxKey(nil, a, b, n)
		if x, y, m := ReadOutboxKey(rest(key, store.Outbox)); x != a || y != b || m != n {
			t.Fatalf("%v, %v, %d became %v, %v, %d", a, b, n, x, y, m)
		}
		if bytes.Compare(key, AppendOutboxKey(nil, a, b, n+1)) >= 0 {
			t.Fatal("sub-events do not sort by their numbers")
		}
		key = AppendContinuationKey(nil, a, n)
		if x, m := ReadContinuationKey(rest(key, store.Continuations)); x != a || m != n {
			t.Fatalf("%v, %d became %v, %d", a, n, x, m)
		}
		due := rapid.Int64Range(-1<<62, 1<<62).Draw(t, "due")
		key = AppendTimerKey(nil, a, due, n)
		if d, x, m := ReadTimerKey(rest(key, store.Timers)); d != due || x != a || m != n {
			t.Fatalf("%d, %v, %d became %d, %v, %d", due, a, n, d, x, m)
		}
		if bytes.Compare(key, AppendTimerKey(nil, event.ActorID{Birth: a.Birth}, due+1, 0)) >= 0 {
			t.Fatal("timers do not sort by their due times")
		}
		r := event.Request{Session: texts.Draw(t, "session"), Seq: n, Target: a}
		key = AppendOutcomeKey(nil, &r)
		if x, err := ReadOutcomeKey(rest(key, store.Outcomes)); err != nil || x != r {
			t.Fatalf("%+v became %+v, %v", r, x, err)
		}
		r = event.Request{Session: r.Session, Target: a, Fingerprint: event.Fingerprint(rapid.Uint64().Draw(t, "fingerprint"))}
		key = AppendKeyedKey(nil, n, &r)
		if in := rest(key, store.Keyed); store.ActorInKey(in) != a || string(in[store.ActorSize:]) != r.Session {
			t.Fatalf("%+v became %x", r, in)
		}
		o := event.Outcome{Kind: event.Abort, Data: []byte("no")}
		if mark, back, err := ReadKeyed(key, store.AppendRow(nil, key, AppendKeyed(nil, r.Fingerprint, &o))); err != nil || mark != r.Fingerprint || !reflect.DeepEqual(back, o) {
			t.Fatalf("%+v became %x, %+v, %v", o, mark, back, err)
		}
		units := rapid.IntRange(1, 1<<40).Draw(t, "units")
		key = AppendEdgeKey(nil, b, a)
		if e, err := ReadEdge(rest(key, store.Edges), AppendEdge(nil, units)); err != nil || e != (Edge{b, a, units}) {
			t.Fatalf("%v owns %v became %+v, %v", b, a, e, err)
		}
	})
}

// A decision is read as it was written, also by an earlier version, which has stored no time.
func TestDecisionsAreReadAsTheyWereWritten(t *testing.T) {
	stores := []event.StoreID{0, 7, event.StoresMax - 1}
	for _, at := range []int64{0, 1, event.StoresMax, time.Now().UnixNano(), math.MaxInt64} {
		if got, list, err := ReadDecision(AppendDecision(nil, at, stores)); err != nil || got != at || !slices.Equal(list, stores) {
			t.Errorf("a decision at %d for %v was read as one at %d for %v (%v)", at, stores, got, list, err)
		}
	}
	if at, list, err := ReadDecision([]byte{0, 7}); err != nil || at != math.MaxInt64 || !slices.Equal(list, stores[:2]) {
		t.Errorf("a decision without a time was read as one at %d for %v (%v)", at, list, err)
	}
}

// TestOutcomesAreReadAsTheyWereWritten: outcomes of each kind are, and an empty one is damage.
func TestOutcomesAreReadAsTheyWereWritten(t *testing.T) {
	key := AppendOutcomeKey(nil, &event.Request{Session: "s", Seq: 1})
	for _, o := range []event.Outcome{
		{Kind: event.Result, Signature: 300, Data: []byte{7}}, {Kind: event.Result, Data: []byte{}},
		{Kind: event.Abort, Data: []byte("no")}, {Kind: event.Fault, Data: []byte("index 3 of 2")},
		{Kind: event.AbortBehind, Data: []byte("no")}, {Kind: event.FaultBehind, Data: []byte("index 3 of 2")},
	} {
		read, err := ReadOutcome(key, store.AppendRow(nil, key, AppendOutcome(nil, &o)))
		if err != nil || !reflect.DeepEqual(read, o) {
			t.Errorf("outcome %+v was read as %+v, %v", o, read, err)
		}
	}
	if _, err := ReadOutcome(key, store.AppendRow(nil, key, nil)); err == nil {
		t.Error("an empty outcome was read")
	}
}

// TestTracesAreReadAsTheyWereWritten: the version of an actor and how far a trace has come, in a store that has others, too.
func TestTracesAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := actors.Draw(t, "actor")
		view := rowsOf{}
		if v, err := GetVersion(view, id); err != nil || v != (Version{}) {
			t.Fatalf("of no row version %+v was read, %v", v, err)
		}
		v := Version{Epoch: rapid.Uint64().Draw(t, "epoch"), Version: rapid.Uint64().Draw(t, "version"), Label: texts.Draw(t, "label")}
		x := Traced{Order: rapid.Int64().Draw(t, "order"), Epoch: v.Epoch}
		view.set(AppendVersionKey(nil, id), v.Append(nil))
		view.set(TracedKey(), x.Append(nil))
		if read, err := GetVersion(view, id); err != nil || read != v {
			t.Fatalf("version %+v was read as %+v, %v", v, read, err)
		}
		if read, err := GetTraced(view); err != nil || read != x {
			t.Fatalf("%+v was read as %+v, %v", x, read, err)
		}
		payload := x.Append(nil)
		view.set(TracedKey(), payload[:rapid.IntRange(0, len(payload)-1).Draw(t, "cut")])
		var damage *store.CorruptError
		if _, err := GetTraced(view); !errors.As(err, &damage) {
			t.Fatalf("a part of a row was read, %v", err)
		}
	})
}

// TestRowsOfChainsAreReadAsTheyWereWritten: those of requests whose chains end in another store.
func TestRowsOfChainsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, kind := events.Draw(t, "first"), rapid.SampledFrom([]InDoubtKind{KindAway, KindEnded}).Draw(t, "kind")
		key := AppendChainKey(nil, kind, 3, first)
		if k, err := ReadInDoubtKey(key[store.SectionSize:]); err != nil || k != (InDoubt{Kind: kind, Event: first}) {
			t.Fatalf("the key of %c %v was read as %+v, %v", kind, first, k, err)
		}
		r := requests.Draw(t, "request")
		payload := AppendRequest(nil, r)
		if read, err := ReadAway(payload); err != nil || *read != *r {
			t.Fatalf("request %+v was read as %+v, %v", r, read, err)
		}
		if read, err := ReadAway(payload[:rapid.IntRange(0, len(payload)-1).Draw(t, "cut")]); err == nil {
			t.Fatalf("a part of %+v was read as %+v", r, read)
		}
		to, o := stores.Draw(t, "to"), event.Outcome{Kind: event.OutcomeKind(rapid.IntRange(0, int(event.Fault)).Draw(t, "outcome")), Data: contents.Draw(t, "data")}
		if o.Kind == event.Result {
			o.Signature = rapid.Uint32().Draw(t, "signature")
		}
		s, read, err := ReadEnded(key, store.AppendRow(nil, key, AppendEnded(nil, to, &o)))
		if err != nil || s != to || !reflect.DeepEqual(read, o) {
			t.Fatalf("%+v for store %d was read as %+v for %d, %v", o, to, read, s, err)
		}
	})
}

// rowsOf is a view of some rows.
type rowsOf map[string][]byte

func (r rowsOf) set(key, payload []byte) { r[string(key)] = store.AppendRow(nil, key, payload) }

func (r rowsOf) Get(key, buf []byte) ([]byte, bool, error) {
	value, ok := r[string(key)]
	return append(buf, value...), ok, nil
}

func (rowsOf) Scan([]byte, []byte) store.Iterator { return nil }
