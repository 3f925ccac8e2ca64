package row

import (
	"encoding/binary"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// A timer is the same timer from tick to tick, and only its due time and its ticks change. So its payload is the number of its
// signature, the ticks, and the call, which is written once.

// AppendTimer appends the payload of a timer that has ticked so often; call is what AppendTimerCall has written.
func AppendTimer(b []byte, signature uint32, ticks uint64, call []byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(b, uint64(signature)), ticks), call...)
}

// AppendTimerCall appends what does not change in the payload of a timer.
func AppendTimerCall(b []byte, t *event.Timer) []byte {
	b = AppendEvent(b, t.Parent)
	b = AppendActor(b, t.Issuer)
	b = AppendText(b, t.Name)
	b = AppendActor(b, t.Target)
	b = binary.AppendVarint(b, int64(t.Every))
	return append(b, t.Args...)
}

// ReadTimer reads a payload. What it returns of the call, and the arguments of t, are part of it.
func ReadTimer(payload []byte) (t event.Timer, signature uint32, ticks uint64, call []byte, err error) {
	in := Read(payload)
	signature, ticks = uint32(in.Uint()), in.Uint()
	call = in.rest
	t = event.Timer{Parent: in.Event(), Issuer: in.Actor(), Name: in.Text(), Target: in.Actor(), Every: time.Duration(in.Int())}
	t.Args = in.Rest()
	return t, signature, ticks, call, in.End()
}

// TimerKeyMin is how many bytes the key of a timer has behind its section.
const TimerKeyMin = 8 + 8

// AppendTimerKey appends the key of a timer that is due at a time, in nanoseconds since 1970. Times before that sort first.
func AppendTimerKey(k []byte, issuer event.ActorID, due int64, generation uint64) []byte {
	k = store.AppendSection(k, issuer.Birth, store.Timers)
	return store.AppendSerial(store.AppendSerial(k, uint64(due)^1<<63), generation)
}

// ReadTimerKey reads the rest of such a key, behind its section.
func ReadTimerKey(rest []byte) (due int64, generation uint64) {
	return int64(binary.BigEndian.Uint64(rest) ^ 1<<63), binary.BigEndian.Uint64(rest[8:])
}
