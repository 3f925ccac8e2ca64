package row

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Rows of what several stores have to end (docs/rfc/stores.md): what a home has decided, and what is prepared in other stores; which requests have
// chains that go on in other stores, and how such chains have ended. All that a store has lie in its first partition.

// InDoubtKind is a kind of row in section InDoubt.
type InDoubtKind byte

// The kinds.
const (
	KindDecided  InDoubtKind = 'd' // then the attempt; the row lists the stores that have to carry it out, and its time
	KindPrepared InDoubtKind = 'p' // then the home, and the attempt
	KindAway     InDoubtKind = 'a' // then the chain, by its first event, which goes on in another store; the row is the request that it is for
	KindEnded    InDoubtKind = 'e' // then the chain; the row is the store that waits for it, and the outcome
)

// InDoubtKeyMin is how many bytes the key of such a row has behind its section, at least.
const InDoubtKeyMin = 1 + chainSize

const (
	chainSize   = 2 * 8
	attemptSize = 3 * 8
)

// AppendDecisionKey appends the key of a decision: an event and the number of its attempt.
func AppendDecisionKey(k []byte, p event.PartitionID, e event.EventID, number uint64) []byte {
	return appendAttempt(append(store.AppendSection(k, p, store.InDoubt), byte(KindDecided)), e, number)
}

// AppendPreparedKey appends the key of what is prepared for an attempt of an event of store home.
func AppendPreparedKey(k []byte, p event.PartitionID, home event.StoreID, e event.EventID, number uint64) []byte {
	k = append(store.AppendSection(k, p, store.InDoubt), byte(KindPrepared))
	return appendAttempt(binary.BigEndian.AppendUint32(k, uint32(home)), e, number)
}

func appendAttempt(k []byte, e event.EventID, number uint64) []byte {
	return store.AppendSerial(AppendEvent(k, e), number)
}

// AppendChainKey appends the key of a row of a chain, which is one of the kinds that have these.
func AppendChainKey(k []byte, kind InDoubtKind, p event.PartitionID, first event.EventID) []byte {
	return AppendEvent(append(store.AppendSection(k, p, store.InDoubt), byte(kind)), first)
}

// InDoubt is the key of a row in section InDoubt.
type InDoubt struct {
	Kind   InDoubtKind
	Home   event.StoreID // of what is prepared
	Event  event.EventID // or the first one of a chain
	Number uint64        // not of a chain
}

// ReadInDoubtKey reads the part of such a key behind its section.
func ReadInDoubtKey(rest []byte) (k InDoubt, err error) {
	k.Kind = InDoubtKind(rest[0])
	in := Read(rest[1:])
	switch k.Kind {
	case KindPrepared:
		k.Home = event.StoreID(binary.BigEndian.Uint32(in.Bytes(4)))
		k.Event, k.Number = in.Event(), in.Fixed()
	case KindDecided:
		k.Event, k.Number = in.Event(), in.Fixed()
	case KindAway, KindEnded:
		k.Event = in.Event()
	default:
		return k, errors.New("its key is of an unknown kind")
	}
	return k, in.End()
}

// AppendDecision appends the payload of a decision: the stores that have to carry it out, and its time in nanoseconds since 1970, as a number that no
// store has.
func AppendDecision(b []byte, at int64, stores []event.StoreID) []byte {
	for _, s := range stores {
		b = binary.AppendUvarint(b, uint64(s))
	}
	return binary.AppendUvarint(b, uint64(at)+event.StoresMax)
}

// ReadDecision reads what AppendDecision has written. A row of an earlier version has no time: then at is the end of time.
func ReadDecision(payload []byte) (at int64, stores []event.StoreID, err error) {
	at = math.MaxInt64
	in := Read(payload)
	for in.More() {
		if n := in.Uint(); n < event.StoresMax {
			stores = append(stores, event.StoreID(n))
		} else {
			at = int64(n - event.StoresMax)
		}
	}
	return at, stores, in.End()
}

// AppendEnded appends the payload of how a chain has ended that store s waits for.
func AppendEnded(b []byte, s event.StoreID, o *event.Outcome) []byte {
	return AppendOutcome(binary.AppendUvarint(b, uint64(s)), o)
}

// ReadEnded reads the row of how a chain has ended. The data of the result are part of the row.
func ReadEnded(key, row []byte) (s event.StoreID, o event.Outcome, err error) {
	payload, err := store.Payload(key, row)
	if err != nil {
		return 0, o, err
	}
	in := Read(payload)
	s = event.StoreID(in.Uint())
	o, err = readOutcome(in.Rest())
	return s, o, Damage(key, err)
}

// ReadAway reads the payload of a chain that goes on in another store: the request that it is for.
func ReadAway(payload []byte) (*event.Request, error) {
	in := Read(payload)
	r := in.Request()
	return r, in.End()
}

// Prepared is what an attempt of another store's event is to change here if it commits.
type Prepared struct {
	Chain   event.Chain     // that the event is a step of, or would begin
	Held    []event.ActorID // for writing
	Reads   []event.ActorID // held, too, without being written
	Fresh   []Made
	Born    []event.ActorID // named actors that it has constructed
	Deletes []event.ActorID
	Edges   []Edge // changes of units
	Abroad  []Edge // of these, to actors of other stores
	Issues  []Issue
	Changes []byte // of fields: store.Recording
}

// Reset makes p empty. It keeps memory for what most attempts have.
func (p *Prepared) Reset() {
	const keptMax = 64
	held, reads := p.Held[:0], p.Reads[:0]
	if *p = (Prepared{}); max(cap(held), cap(reads)) <= keptMax {
		p.Held, p.Reads = held, reads
	}
}

// Made is an actor that an attempt has created.
type Made struct {
	ID     event.ActorID
	Layout uint32
}

// IssueKind says what an Issue is. The kinds are numbered for ever.
type IssueKind byte

// The kinds.
const (
	IssueEvent  IssueKind = iota + 1 // a sub-event
	IssueTail                        // a tail call
	IssueGo                          // a call of a Go function
	IssueTimer                       // a timer is set
	IssueCancel                      // a timer is ended
)

// Issue is what an attempt issues here once it has committed: it gets its numbers then. Comments name the kinds that a field is of, if not all.
type Issue struct {
	Kind      IssueKind
	Keep      bool // IssueTail: it keeps its actor
	Issuer    event.ActorID
	Target    event.ActorID // all but IssueCancel
	Signature uint32        // as Target
	Name      string        // of a timer
	Delay     int64         // of a timer, in nanoseconds
	Every     int64         // as Delay
	Args      []byte
}

// Append appends the payload.
func (p *Prepared) Append(b []byte) []byte {
	b = binary.AppendUvarint(append(AppendEvent(b, p.Chain.First), byte(p.Chain.Waits)), uint64(p.Chain.Store))
	for _, list := range [...][]event.ActorID{p.Held, p.Reads, p.Born, p.Deletes} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, id := range list {
			b = AppendActor(b, id)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(p.Fresh)))
	for _, m := range p.Fresh {
		b = binary.AppendUvarint(AppendActor(b, m.ID), uint64(m.Layout))
	}
	for _, list := range [...][]Edge{p.Edges, p.Abroad} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, e := range list {
			b = binary.AppendVarint(AppendActor(AppendActor(b, e.Owner), e.Child), int64(e.Units))
		}
	}
	b = binary.AppendUvarint(b, uint64(len(p.Issues)))
	for i := range p.Issues {
		x := &p.Issues[i]
		b = AppendBool(append(b, byte(x.Kind)), x.Keep)
		b = AppendActor(AppendActor(b, x.Issuer), x.Target)
		b = binary.AppendUvarint(b, uint64(x.Signature))
		b = AppendText(b, x.Name)
		b = binary.AppendVarint(binary.AppendVarint(b, x.Delay), x.Every)
		b = append(binary.AppendUvarint(b, uint64(len(x.Args))), x.Args...)
	}
	return append(b, p.Changes...)
}

// ReadPrepared reads what Append has written. Arguments and changes are part of the payload.
func ReadPrepared(payload []byte) (p Prepared, err error) {
	in := Read(payload)
	p.Chain.First, p.Chain.Waits, p.Chain.Store = in.Event(), event.Waiter(in.Byte()), event.StoreID(in.Uint())
	for _, list := range [...]*[]event.ActorID{&p.Held, &p.Reads, &p.Born, &p.Deletes} {
		for n := in.Uint(); n > 0 && !in.bad; n-- {
			*list = append(*list, in.Actor())
		}
	}
	for n := in.Uint(); n > 0 && !in.bad; n-- {
		p.Fresh = append(p.Fresh, Made{in.Actor(), uint32(in.Uint())})
	}
	for _, list := range [...]*[]Edge{&p.Edges, &p.Abroad} {
		for n := in.Uint(); n > 0 && !in.bad; n-- {
			*list = append(*list, Edge{Owner: in.Actor(), Child: in.Actor(), Units: int(in.Int())})
		}
	}
	for n := in.Uint(); n > 0 && !in.bad; n-- {
		x := Issue{Kind: IssueKind(in.Byte()), Keep: in.Bool(), Issuer: in.Actor(), Target: in.Actor(), Signature: uint32(in.Uint()), Name: in.Text(),
			Delay: in.Int(), Every: in.Int()}
		x.Args = in.Bytes(in.Uint())
		if x.Kind < IssueEvent || x.Kind > IssueCancel {
			return p, errors.New("it issues something of an unknown kind")
		}
		p.Issues = append(p.Issues, x)
	}
	p.Changes = in.Rest()
	return p, in.End()
}
