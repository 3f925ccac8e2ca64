package row

import (
	"encoding/binary"
	"errors"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// AppendSession appends the payload of a session, of which requests up to ack are over.
func AppendSession(b []byte, ack uint64) []byte { return binary.AppendUvarint(b, ack) }

// ReadSession reads what AppendSession has written.
func ReadSession(payload []byte) (ack uint64, err error) {
	in := Read(payload)
	ack = in.Uint()
	return ack, in.End()
}

// AppendSessionKey appends the key of a session. Behind the section there is only the name.
func AppendSessionKey(k []byte, name string, partitions int) []byte {
	home := event.NamedActor("", name, 0, partitions).Birth
	return append(store.AppendSection(k, home, store.Sessions), name...)
}

// AppendRequest appends a request.
func AppendRequest(b []byte, r *event.Request) []byte {
	b = AppendActor(binary.AppendUvarint(AppendText(b, r.Session), r.Seq), r.Target)
	if r.HasKey() {
		b = binary.BigEndian.AppendUint64(b, uint64(r.Fingerprint))
	}
	return b
}

// Request reads what AppendRequest has written.
func (p *Reader) Request() *event.Request {
	r := &event.Request{Session: p.Text(), Seq: p.Uint(), Target: p.Actor()}
	if r.HasKey() {
		r.Fingerprint = event.Fingerprint(p.Fixed())
	}
	return r
}

// AppendOutcome appends the payload of an outcome.
func AppendOutcome(b []byte, o *event.Outcome) []byte {
	b = append(b, byte(o.Kind))
	if o.Kind == event.Result {
		b = binary.AppendUvarint(b, uint64(o.Signature))
	}
	return append(b, o.Data...)
}

// ReadOutcome reads the row of an outcome. The data of the result are part of the row.
func ReadOutcome(key, row []byte) (o event.Outcome, err error) {
	payload, err := store.Payload(key, row)
	if err != nil {
		return o, err
	}
	o, err = readOutcome(payload)
	return o, Damage(key, err)
}

func readOutcome(payload []byte) (o event.Outcome, err error) {
	if len(payload) == 0 {
		return o, errors.New("it is empty")
	}
	in := Read(payload)
	o.Kind = event.OutcomeKind(in.Byte())
	if o.Kind == event.Result {
		o.Signature = uint32(in.Uint())
	}
	o.Data = in.Rest()
	return o, in.End()
}

// SessionNameMax is how many bytes the name of a session has at most: keys of outcomes have its length in two bytes.
const SessionNameMax = 1<<16 - 1

// OutcomeKeyMin is how many bytes the key of an outcome has behind its section, if the name of the session is empty.
const OutcomeKeyMin = store.ActorSize + 2 + 8

// AppendOutcomeKey appends the key of the outcome of a request, which is in the partition of its target.
func AppendOutcomeKey(k []byte, r *event.Request) []byte {
	k = binary.BigEndian.AppendUint16(store.AppendOf(k, store.Outcomes, r.Target), uint16(len(r.Session)))
	return store.AppendSerial(append(k, r.Session...), r.Seq)
}

// ReadOutcomeKey reads the part of such a key behind its section.
func ReadOutcomeKey(rest []byte) (r event.Request, err error) {
	r.Target, rest = store.ActorInKey(rest), rest[store.ActorSize:]
	n := int(binary.BigEndian.Uint16(rest))
	if len(rest) != 2+n+8 {
		return r, errors.New("its key is of another length")
	}
	r.Session, r.Seq = string(rest[2:2+n]), binary.BigEndian.Uint64(rest[2+n:])
	return r, nil
}
