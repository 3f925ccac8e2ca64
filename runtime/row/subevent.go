package row

import (
	"encoding/binary"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// What a chain is for, in the row of a step.
const (
	forNone    = iota
	forRequest // the request follows
	forOther   // what waits in another store, which follows
)

// AppendSubEvent appends the payload of a sub-event or of the next step of a chain. Like that of every waiting call, it
// begins with the number of the signature, so that WaitingCalls can count without reading the rest.
func AppendSubEvent(b []byte, e *event.SubEvent) []byte {
	b = binary.AppendUvarint(b, uint64(e.Signature))
	b = AppendEvent(b, e.Parent)
	b = binary.AppendUvarint(b, uint64(e.Index))
	b = binary.AppendUvarint(b, e.Timer)
	b = AppendBool(b, e.Step)
	if e.Step {
		b = AppendEvent(b, e.Chain.First)
		switch {
		case e.Request != nil:
			b = AppendRequest(append(b, forRequest), e.Request)
		case e.Chain.Waits != event.NoWaiter:
			b = binary.AppendUvarint(append(b, forOther), uint64(e.Chain.Store))
		default:
			b = append(b, forNone)
		}
	}
	return append(b, e.Args...)
}

// ReadSubEvent reads what AppendSubEvent has written. The arguments are part of the payload.
func ReadSubEvent(payload []byte) (e event.SubEvent, err error) {
	in := Read(payload)
	e.Signature = uint32(in.Uint())
	e.Parent, e.Index, e.Timer = in.Event(), int(in.Uint()), in.Uint()
	if e.Step = in.Bool(); e.Step {
		e.Chain.First = in.Event()
		switch in.Byte() {
		case forNone:
		case forRequest:
			e.Request = in.Request()
		case forOther:
			e.Chain.Store, e.Chain.Waits = event.StoreID(in.Uint()), event.RequestWaits
		default:
			in.fail()
		}
	}
	e.Args = in.Rest()
	return e, in.End()
}

// Signature reads the number of the signature of a call that waits.
func Signature(payload []byte) uint32 {
	in := Read(payload)
	return uint32(in.Uint())
}

// OutboxKeyMin is how many bytes the key of a sub-event has behind its section; ContinuationKeyMin is that of a step
// which keeps its actor.
const (
	OutboxKeyMin       = 2*store.ActorSize + 8
	ContinuationKeyMin = store.ActorSize + 8
)

// AppendOutboxKey appends the key of a sub-event, or of a step of a chain on another actor. seq orders the rows of one
// issuer and one target as they were issued.
func AppendOutboxKey(k []byte, issuer, target event.ActorID, seq uint64) []byte {
	return store.AppendSerial(store.AppendActor(store.AppendOf(k, store.Outbox, issuer), target), seq)
}

// ReadOutboxKey reads the part of such a key behind its section.
func ReadOutboxKey(rest []byte) (issuer, target event.ActorID, seq uint64) {
	return store.ActorInKey(rest), store.ActorInKey(rest[store.ActorSize:]), binary.BigEndian.Uint64(rest[2*store.ActorSize:])
}

// AppendContinuationKey appends the key of the next step of a chain that keeps its actor.
func AppendContinuationKey(k []byte, target event.ActorID, seq uint64) []byte {
	return store.AppendSerial(store.AppendOf(k, store.Continuations, target), seq)
}

// ReadContinuationKey reads the part of such a key behind its section.
func ReadContinuationKey(rest []byte) (target event.ActorID, seq uint64) {
	return store.ActorInKey(rest), binary.BigEndian.Uint64(rest[store.ActorSize:])
}
