package row

import (
	"encoding/binary"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// From tick to tick only the due time and the ticks of a timer change. So its payload is the number of its signature, the
// ticks, and the call, which is encoded once.

// AppendTimer appends the payload of a timer after so many ticks; call is what AppendTimerCall has written.
func AppendTimer(b []byte, signature uint32, ticks uint64, call []byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(b, uint64(signature)), ticks), call...)
}

// AppendTimerCall appends the part of a timer's payload that does not change.
func AppendTimerCall(b []byte, t *event.Timer) []byte {
	b = AppendEvent(b, t.Parent)
	b = AppendText(b, t.Name)
	b = AppendActor(b, t.Target)
	b = binary.AppendVarint(b, int64(t.Every))
	return append(b, t.Args...)
}

// ReadTimer reads a payload; the key has the issuer. The call that it returns and the arguments of t are part of the payload.
func ReadTimer(payload []byte) (t event.Timer, signature uint32, ticks uint64, call []byte, err error) {
	in := Read(payload)
	signature, ticks = uint32(in.Uint()), in.Uint()
	call = in.rest
	t = event.Timer{Parent: in.Event(), Name: in.Text(), Target: in.Actor(), Every: time.Duration(in.Int())}
	t.Args = in.Rest()
	return t, signature, ticks, call, in.End()
}

// AppendClientCall appends what a call of an object of a client has in front of its arguments: the number of the object, and the method as stores name it. It
// stands in place of arguments where there is no signature, and no target.
func AppendClientCall(b []byte, object uint64, method string) []byte {
	return AppendText(binary.AppendUvarint(b, object), method)
}

// ReadClientCall reads what AppendClientCall has written, and the arguments behind that, which are part of data.
func ReadClientCall(data []byte) (object uint64, method string, args []byte, err error) {
	in := Read(data)
	object, method, args = in.Uint(), in.Text(), in.Rest()
	return object, method, args, in.End()
}

// TimerKeyMin is how many bytes the key of a timer has behind its section.
const TimerKeyMin = 8 + store.ActorSize + 8

// AppendTimerKey appends the key of a timer that is due at a time, in nanoseconds since 1970. Times before 1970 sort
// first.
func AppendTimerKey(k []byte, issuer event.ActorID, due int64, generation uint64) []byte {
	k = store.AppendSection(k, issuer.Birth, store.Timers)
	k = store.AppendSerial(k, uint64(due)^1<<63)
	return store.AppendSerial(store.AppendActor(k, issuer), generation)
}

// ReadTimerKey reads the part of such a key behind its section.
func ReadTimerKey(rest []byte) (due int64, issuer event.ActorID, generation uint64) {
	return int64(binary.BigEndian.Uint64(rest) ^ 1<<63), store.ActorInKey(rest[8:]), binary.BigEndian.Uint64(rest[8+store.ActorSize:])
}
