package row

import (
	"encoding/binary"

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
