package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Rows of the former format differ from those of today in three ways. Keys had the serial number of an actor behind the partition, and
// not its id. The issuer of a timer was in the row, and not in its key. And a start had other numbers to give, which those of today
// must not repeat.
const (
	formerSerialSize = 8
	formerStartShift = 10 // a start of the former format gave as many numbers as 1<<formerStartShift of today's
	formerStartsMax  = 1<<13 - 2
)

// Upgraded converts rows of the format 3 into those of the format 4, and of no others: these do not compile.
var (
	_ = [1]struct{}{}[store.UpgradableFormat-3]
	_ = [1]struct{}{}[store.Format-4]
)

// Upgraded returns the rows in the format of today if they are of the former one, and else as they are. They come in the order of their
// former keys, so those of a section may be out of order.
func (rows RowSource) Upgraded() RowSource {
	return func(f func(key, row []byte) error) error {
		former := false
		return rows(func(key, value []byte) error {
			payload, err := store.Payload(key, value)
			if err != nil {
				return err
			}
			if bytes.Equal(key, store.FormatKey()) { // which comes first
				n, _ := binary.Uvarint(payload)
				if former = n == store.UpgradableFormat; !former {
					return f(key, value)
				}
				if err := f(key, store.AppendRow(nil, key, binary.AppendUvarint(nil, store.Format))); err != nil {
					return err
				}
				key = store.NumberKey()
				return f(key, store.AppendRow(nil, key, binary.AppendUvarint(nil, 0)))
			}
			if !former {
				return f(key, value)
			}
			newKey, newPayload, err := upgrade(key, payload)
			if err != nil {
				return row.Damage(key, err)
			}
			return f(newKey, store.AppendRow(nil, newKey, newPayload))
		})
	}
}

// upgrade returns the key and the payload of a row of the former format.
func upgrade(key, payload []byte) (newKey, newPayload []byte, err error) {
	if bytes.Equal(key, store.StartsKey()) {
		starts, _ := binary.Uvarint(payload)
		if starts > formerStartsMax {
			return nil, nil, fmt.Errorf("the store was opened %d times, and can be upgraded after %d at most", starts, formerStartsMax)
		}
		return key, binary.AppendUvarint(nil, (starts+1)<<formerStartShift), nil
	}
	p, section, ok := store.SectionOf(key)
	if !ok {
		return key, payload, nil
	}
	rest := key[store.SectionSize:]
	before := 0 // what is in front of the actor
	switch section {
	case store.Names, store.Sessions, store.DeadLetters:
		return key, payload, nil
	case store.Timers:
		return upgradeTimer(key, rest, payload)
	case store.Keyed:
		before = 8
	}
	if len(rest) < before+formerSerialSize {
		return nil, nil, errors.New("its key is too short")
	}
	head := len(key) - len(rest) + before
	id := event.ActorID{Birth: p, Serial: binary.BigEndian.Uint64(rest[before:])}
	newKey = store.AppendActor(bytes.Clone(key[:head]), id)
	return append(newKey, rest[before+formerSerialSize:]...), payload, nil
}

// upgradeTimer moves the issuer of a timer from the row to its key.
func upgradeTimer(key, rest, payload []byte) (newKey, newPayload []byte, err error) {
	if len(rest) != 8+8 {
		return nil, nil, errors.New("its key is of another length")
	}
	in := row.Read(payload)
	signature, ticks, parent, issuer := in.Uint(), in.Uint(), in.Event(), in.Actor()
	call := in.Rest()
	if err := in.End(); err != nil {
		return nil, nil, err
	}
	newKey = store.AppendActor(bytes.Clone(key[:len(key)-8]), issuer)
	newKey = append(newKey, rest[8:]...)
	newPayload = binary.AppendUvarint(binary.AppendUvarint(nil, signature), ticks)
	return newKey, append(row.AppendEvent(newPayload, parent), call...), nil
}
