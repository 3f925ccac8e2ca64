package row

import (
	"encoding/binary"
	"errors"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Rows of events over several stores: what a home has decided, and what is prepared in other stores (docs/rfc/stores.md). All that a store
// has lie in its first partition.

// The kinds of row in section InDoubt.
const (
	decided  = 'd' // then the attempt; the row lists the stores that have to carry it out
	prepared = 'p' // then the home, and the attempt
)

// AppendDecisionKey appends the key of a decision: an event and the number of its attempt.
func AppendDecisionKey(k []byte, p event.PartitionID, e event.EventID, number uint64) []byte {
	return appendAttempt(append(store.AppendSection(k, p, store.InDoubt), decided), e, number)
}

// AppendPreparedKey appends the key of what is prepared for an attempt of an event of store home.
func AppendPreparedKey(k []byte, p event.PartitionID, home event.StoreID, e event.EventID, number uint64) []byte {
	k = append(store.AppendSection(k, p, store.InDoubt), prepared)
	return appendAttempt(binary.BigEndian.AppendUint32(k, uint32(home)), e, number)
}

func appendAttempt(k []byte, e event.EventID, number uint64) []byte {
	return store.AppendSerial(store.AppendSerial(store.AppendSerial(k, e.Origin), e.Seq), number)
}

// AppendStores appends the stores of a decision.
func AppendStores(b []byte, stores []event.StoreID) []byte {
	for _, s := range stores {
		b = binary.AppendUvarint(b, uint64(s))
	}
	return b
}

// InDoubt is a row of an event over several stores.
type InDoubt struct {
	Decided bool // by this store, which is the home
	Home    event.StoreID
	Event   event.EventID
	Number  uint64          // of the attempt
	Stores  []event.StoreID // of a decision
	Payload []byte          // of what is prepared
}

// ReadInDoubt reads a row of section InDoubt; rest is its key behind the section.
func ReadInDoubt(rest, payload []byte) (r InDoubt, err error) {
	bad := errors.New("the key of an event over several stores is damaged")
	switch {
	case len(rest) == 25 && rest[0] == decided:
		r.Decided, rest = true, rest[1:]
		for len(payload) > 0 {
			s, n := binary.Uvarint(payload)
			if n <= 0 || s >= event.StoresMax {
				return r, errors.New("the stores of a decision are damaged")
			}
			r.Stores, payload = append(r.Stores, event.StoreID(s)), payload[n:]
		}
	case len(rest) == 29 && rest[0] == prepared:
		r.Home, r.Payload, rest = event.StoreID(binary.BigEndian.Uint32(rest[1:])), payload, rest[5:]
		if r.Home >= event.StoresMax {
			return r, bad
		}
	default:
		return r, bad
	}
	r.Event = event.EventID{Origin: binary.BigEndian.Uint64(rest), Seq: binary.BigEndian.Uint64(rest[8:])}
	r.Number = binary.BigEndian.Uint64(rest[16:])
	return r, nil
}
