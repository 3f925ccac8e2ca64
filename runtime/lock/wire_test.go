package lock_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/lock"
)

type message = lock.Message[event.EventID, event.ActorID]

// idWire writes the ids of events and actors.
var idWire = lock.Wire[event.EventID, event.ActorID]{
	PutEvent: func(e *codec.Encoder, id event.EventID) { e.Uint(id.Origin); e.Uint(id.Seq) },
	GetEvent: func(d *codec.Decoder) event.EventID { return event.EventID{Origin: d.Uint(), Seq: d.Uint()} },
	PutNode:  func(e *codec.Encoder, id event.ActorID) { e.Uint(uint64(id.Birth)); e.Uint(id.Serial) },
	GetNode: func(d *codec.Decoder) event.ActorID {
		return event.ActorID{Birth: codec.GetUint[event.PartitionID](d), Serial: d.Uint()}
	},
}

// messages has one message of each kind and more, with all fields that are its own set.
func messages() []message {
	bank, account := event.NamedActor("bank.Bank", "main", 0, event.Partitions), event.SerialActor(3, 1<<40)
	id := lock.ID[event.EventID]{Event: event.EventID{Origin: 7, Seq: math.MaxUint64}, Attempt: math.MaxUint32}
	now := lock.Session{Sender: 1, Addressee: 1 << 50}
	claims := []lock.Claim[event.ActorID]{{Node: bank, Mode: lock.Read}, {Node: account, Mode: lock.Write}}
	l := []message{
		{Kind: lock.MsgEnter, To: bank, Claims: claims},
		{Kind: lock.MsgEnter, To: bank},
		{Kind: lock.MsgEnqueue, From: bank, To: account, Number: 1, Lazy: true, Claims: claims[1:]},
		{Kind: lock.MsgAcquire, To: bank, Node: account, Claims: claims},
		{Kind: lock.MsgRelease, From: bank, To: account, Withdrawn: true},
		{Kind: lock.MsgRelease, To: account},
		{Kind: lock.MsgAdmitted, From: bank, Mode: lock.Read, Children: []event.ActorID{account, bank}},
		{Kind: lock.MsgAdmitted, From: bank, Mode: lock.Write, Lazy: true},
		{Kind: lock.MsgBounced, From: account, Node: bank},
		{Kind: lock.MsgRefused, From: account, Node: bank, Mode: lock.Write, Reason: lock.Uncovered},
		{Kind: lock.MsgSevered, From: account, Node: bank, Orphan: true},
	}
	for i := range l {
		l[i].ID, l[i].Session = id, now
	}
	return l
}

func encoded(m *message) []byte {
	e := codec.NewEncoder(nil)
	idWire.Put(e, m)
	return e.Data()
}

func decoded(data []byte) (message, error) {
	d := codec.NewDecoder(data)
	m := idWire.Get(d)
	return m, d.Close()
}

func TestMessagesSurviveTheWire(t *testing.T) {
	kinds := map[lock.MessageKind]bool{}
	for _, m := range messages() {
		kinds[m.Kind] = true
		data := encoded(&m)
		got, err := decoded(data)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%v: read %+v, %v; written %+v", m.Kind, got, err, m)
		}
		for n := range data {
			if _, err := decoded(data[:n]); !errors.Is(err, codec.ErrCorrupt) {
				t.Errorf("%v cut at %d of %d: %v", m.Kind, n, len(data), err)
			}
		}
	}
	if len(kinds) != int(lock.MsgSevered) {
		t.Errorf("%d kinds of messages are tried, of %d", len(kinds), lock.MsgSevered)
	}
}

// TestBytesOfAMessage pins the form on the wire.
func TestBytesOfAMessage(t *testing.T) {
	m := message{Kind: lock.MsgEnqueue, ID: lock.ID[event.EventID]{Event: event.EventID{Origin: 5, Seq: 6}, Attempt: 2},
		Session: lock.Session{Sender: 3, Addressee: 4}, From: event.SerialActor(1, 10), To: event.SerialActor(1, 300), Number: 9,
		Claims: []lock.Claim[event.ActorID]{{Node: event.SerialActor(2, 11), Mode: lock.Write}}}
	want := []byte{codec.Version, 2, 3, 4, 5, 6, 2, 1, 10, 1, 0xac, 2, 9, 0, 1, 2, 11, 2}
	if got := encoded(&m); !bytes.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestHostileMessagesAreRefused(t *testing.T) {
	head := func(kind lock.MessageKind, rest ...byte) []byte {
		return append([]byte{codec.Version, byte(kind), 0, 0, 1, 1, 1}, rest...)
	}
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}
	for what, data := range map[string][]byte{
		"no kind":                  head(0, 1, 1, 0),
		"unknown kind":             head(lock.MsgSevered+1, 1, 1, 1, 1, 0),
		"attempt 0":                {codec.Version, byte(lock.MsgBounced), 0, 0, 1, 1, 0, 1, 1, 1, 1},
		"attempt too large":        {codec.Version, byte(lock.MsgBounced), 0, 0, 1, 1, 0x80, 0x80, 0x80, 0x80, 0x10, 1, 1, 1, 1},
		"enqueue without number":   head(lock.MsgEnqueue, 1, 1, 1, 2, 0, 0, 0),
		"claim without mode":       head(lock.MsgEnter, 1, 1, 1, 1, 2, 0),
		"mode beyond write":        head(lock.MsgAdmitted, 1, 1, 3, 0, 0),
		"refused without reason":   head(lock.MsgRefused, 1, 1, 1, 2, 1, 0),
		"reason that is none":      head(lock.MsgRefused, 1, 1, 1, 2, 1, 100),
		"bool 2":                   head(lock.MsgRelease, 1, 1, 1, 2, 2),
		"trailing byte":            head(lock.MsgBounced, 1, 1, 1, 2, 0),
		"more children than bytes": head(lock.MsgAdmitted, append([]byte{1, 1, 1, 0}, huge...)...),
		"more claims than bytes":   head(lock.MsgEnter, append([]byte{1, 1}, huge...)...),
	} {
		if m, err := decoded(data); !errors.Is(err, codec.ErrCorrupt) {
			t.Errorf("%s: read as %+v, %v", what, m, err)
		}
	}
}

// FuzzMessage: no input makes Get panic or allocate what the input does not pay for, and what it reads
// is written as it was.
func FuzzMessage(f *testing.F) {
	for _, m := range messages() {
		f.Add(encoded(&m))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decoded(data)
		if n := cap(m.Children) + cap(m.Claims); n > 8+2*len(data) {
			t.Errorf("room for %d elements is made for %d bytes", n, len(data))
		}
		if err != nil {
			return
		}
		if again := encoded(&m); !bytes.Equal(again, data) {
			t.Errorf("%x is read as %+v, which is written %x", data, m, again)
		}
	})
}
