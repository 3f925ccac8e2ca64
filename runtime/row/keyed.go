package row

import (
	"encoding/binary"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// KeyMax is how many bytes the key of a request by itself has at most: 255 that a caller chooses, and a name of 64 of the
// caller in front of them, which a door puts there.
const KeyMax = 255 + 1 + 64

// AppendGenerationKey appends the prefix of the keys of one generation of outcomes in a partition.
func AppendGenerationKey(k []byte, p event.PartitionID, generation uint64) []byte {
	return store.AppendSerial(store.AppendSection(k, p, store.Keyed), generation)
}

// AppendKeyedKey appends the key of the outcome of a request by itself, which is in the partition of its target.
func AppendKeyedKey(k []byte, generation uint64, r *event.Request) []byte {
	return append(store.AppendActor(AppendGenerationKey(k, r.Target.Birth, generation), r.Target), r.Session...)
}

// AppendKeyed appends the payload of the outcome of a request by itself.
func AppendKeyed(b []byte, fingerprint event.Fingerprint, o *event.Outcome) []byte {
	return AppendOutcome(binary.BigEndian.AppendUint64(b, uint64(fingerprint)), o)
}

// ReadKeyed reads the row of the outcome of a request by itself. The data of the result are part of the row.
func ReadKeyed(key, row []byte) (fingerprint event.Fingerprint, o event.Outcome, err error) {
	payload, err := store.Payload(key, row)
	if err != nil {
		return 0, o, err
	}
	in := Read(payload)
	fingerprint = event.Fingerprint(in.Fixed())
	o, err = readOutcome(in.Rest())
	return fingerprint, o, Damage(key, err)
}

// Generations returns the generations of outcomes that a partition has, in ascending order, reading one row of each.
func Generations(view store.Reader, p event.PartitionID) (list []uint64, err error) {
	from, to := store.SectionRange(p, store.Keyed)
	for from != nil {
		it := view.Scan(from, to)
		var generation uint64
		some := it.Next()
		if some {
			in := Read(it.Key()[store.SectionSize:])
			generation = in.Fixed()
		}
		if err := it.Close(); err != nil || !some {
			return list, err
		}
		list = append(list, generation)
		from = store.After(AppendGenerationKey(nil, p, generation))
	}
	return list, nil
}
