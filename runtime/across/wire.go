package across

import (
	"fmt"
	"math/bits"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/commit"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// A message on the wire is wireVersion, its kind, and then the fields that its kind has, in the order of their bits below. Whatever has several
// forms, as a Question, begins with its form; whatever mostly lacks some of its fields, as a Reply, begins with the set of those that it has. Integers are
// varints, in their shortest form; ids and numbers that a store has given are turned first (number), as the store is in their high bits. A list
// is its length and then its elements. So there is one form of each message, and what is read is what was written: anything else is refused.
//
// Nothing here is kept in a store: stores that talk to each other have to be of one version, or the newer one has to write the older form.
const wireVersion = 11

// set is a set of fields. Each struct has its own bits.
type set uint32

// Fields of a Message.
const (
	inMessageYes set = 1 << iota
	inMessageName
	inMessageHome
	inMessageMethod
	inMessageNumber
	inMessageChain
	inMessageParts
	inMessageWanted
	inMessageCall
	inMessageReply
	inMessageCommit
	inMessageClaim
	inMessageQuestion
	inMessagePlace
	inMessageTick
)

// messages has the fields of each kind.
var messages = [...]set{
	Order:    inMessageName | inMessageHome | inMessageMethod | inMessagePlace | inMessageChain | inMessageParts,
	Turn:     inMessageName | inMessageNumber | inMessagePlace,
	Take:     inMessageName | inMessageHome | inMessageMethod | inMessageNumber | inMessagePlace | inMessageChain | inMessageWanted,
	Taken:    inMessageName | inMessageTick,
	Called:   inMessageName | inMessageNumber | inMessageCall,
	Returned: inMessageName | inMessageNumber | inMessageReply,
	Commit:   inMessageCommit | inMessageClaim | inMessageTick,
	Ask:      inMessageNumber | inMessageQuestion,
	Answer:   inMessageNumber | inMessageQuestion,
	Let:      inMessageYes | inMessageNumber,
	Missed:   inMessageHome,
	Visited:  inMessageName | inMessageHome | inMessageMethod | inMessageNumber | inMessageChain | inMessageCall,

	Cancelled: inMessageChain,
}

// in returns field if what it has is not zero.
func in(field set, has bool) set {
	if has {
		return field
	}
	return 0
}

// has returns the fields of m that are set.
func (m *Message) has() set {
	return in(inMessageYes, m.Yes) | in(inMessageName, m.Name != commit.Name{}) | in(inMessageHome, m.Home != 0) | in(inMessageMethod, m.Method != "") |
		in(inMessageNumber, m.Number != 0) | in(inMessagePlace, m.Place != 0) | in(inMessageChain, m.Chain != event.Chain{}) | in(inMessageParts, len(m.Parts) > 0) | in(inMessageWanted, len(m.Wanted) > 0) |
		in(inMessageCall, m.Call != nil) | in(inMessageReply, m.Reply != nil) | in(inMessageCommit, m.Commit != commit.Message{} || len(m.Also) > 0) |
		in(inMessageClaim, claims(m.Claim) != nil) | in(inMessageQuestion, m.Question != nil) | in(inMessageTick, m.Tick != 0)
}

// Append appends the form of m on the wire.
func (m *Message) Append(b []byte) []byte {
	// Invariant: a message has only fields of its kind.
	if m.Kind == 0 || int(m.Kind) >= len(messages) || m.has()&^messages[m.Kind] != 0 {
		assert.Unreachable("across: message of kind %d with the fields %b", m.Kind, m.has())
	}
	var e codec.Encoder
	e.Append(append(b, wireVersion))
	e.Uint(uint64(m.Kind))
	f := messages[m.Kind]
	if f&inMessageYes != 0 {
		e.Bool(m.Yes)
	}
	if f&inMessageName != 0 {
		putName(&e, m.Name)
	}
	if f&inMessageHome != 0 {
		e.Uint(uint64(m.Home))
	}
	if f&inMessageMethod != 0 {
		e.String(m.Method)
	}
	if f&inMessageNumber != 0 {
		e.Uint(m.Number)
	}
	if f&inMessageChain != 0 {
		putEvent(&e, m.Chain.First)
		e.Uint(uint64(m.Chain.Store))
		e.Uint(uint64(m.Chain.Waits))
	}
	if f&inMessageParts != 0 {
		e.Uint(uint64(len(m.Parts)))
		for i := range m.Parts {
			e.Uint(uint64(m.Parts[i].Store))
			putWanted(&e, m.Parts[i].Wanted)
		}
	}
	if f&inMessageWanted != 0 {
		putWanted(&e, m.Wanted)
	}
	if f&inMessageCall != 0 {
		m.Call.put(&e)
	}
	if f&inMessageReply != 0 {
		m.Reply.put(&e)
	}
	if f&inMessageCommit != 0 {
		putCommit(&e, m.Commit, m.Also)
	}
	if f&inMessageClaim != 0 {
		putWanted(&e, claims(m.Claim))
	}
	if f&inMessageQuestion != 0 {
		m.Question.put(&e, m.Kind)
	}
	if f&inMessagePlace != 0 {
		e.Uint(m.Place)
	}
	if f&inMessageTick != 0 {
		e.Int(m.Tick)
	}
	return e.Data()
}

// Read makes m what Append has appended. b may be hostile: what is allocated is a small multiple of its length, and nothing of m is part of b. The
// error wraps codec.ErrCorrupt.
func (m *Message) Read(b []byte) error {
	*m = Message{}
	if err := codec.ReadPart(b, nil, m.get); err != nil {
		return fmt.Errorf("a message of another store cannot be read: %w", err)
	}
	return nil
}

func (m *Message) get(d *codec.Decoder) {
	if v := d.Uint(); v != wireVersion {
		d.Fail("version %d of messages between stores, and this program reads %d,", v, wireVersion)
		return
	}
	kind := d.Uint()
	if kind == 0 || kind >= uint64(len(messages)) {
		d.Fail("unknown kind of message %d", kind)
		return
	}
	m.Kind = Kind(kind)
	f := messages[m.Kind]
	if f&inMessageYes != 0 {
		m.Yes = d.Bool()
	}
	if f&inMessageName != 0 {
		m.Name = getName(d)
	}
	if f&inMessageHome != 0 {
		m.Home = codec.GetUint[event.StoreID](d)
	}
	if f&inMessageMethod != 0 {
		m.Method = d.String()
	}
	if f&inMessageNumber != 0 {
		m.Number = d.Uint()
	}
	if f&inMessageChain != 0 {
		m.Chain = event.Chain{First: getEvent(d), Store: codec.GetUint[event.StoreID](d), Waits: event.Waiter(d.Enum(uint64(event.RequestWaits) + 1))}
	}
	if f&inMessageParts != 0 {
		m.Parts = list(d, func(d *codec.Decoder) order.Part {
			return order.Part{Store: codec.GetUint[event.StoreID](d), Wanted: getWanted(d)}
		})
	}
	if f&inMessageWanted != 0 {
		m.Wanted = getWanted(d)
	}
	if f&inMessageCall != 0 {
		m.Call = getCall(d)
	}
	if f&inMessageReply != 0 {
		m.Reply = getReply(d)
	}
	if f&inMessageCommit != 0 {
		m.Commit, m.Also = getCommit(d)
	}
	if f&inMessageClaim != 0 {
		m.Claim = claim(d, getWanted(d))
	}
	if f&inMessageQuestion != 0 {
		m.Question = getQuestion(d, m.Kind)
	}
	if f&inMessagePlace != 0 {
		m.Place = d.Uint()
	}
	if f&inMessageTick != 0 {
		m.Tick = d.Int()
	}
}

// list reads a list. Each element takes at least one byte.
func list[T any](d *codec.Decoder, get func(*codec.Decoder) T) (l []T) {
	for n := d.Uint(); n > 0 && d.Err() == nil; n-- {
		l = append(l, get(d))
	}
	return l
}

// given fails if a field that is said to be there is zero.
func given(d *codec.Decoder, has bool, field string) {
	if !has {
		d.Fail("no %s, which is said to be there,", field)
	}
}

func getInt(d *codec.Decoder) int {
	n := d.Int()
	if int64(int(n)) != n {
		d.Fail("%d does not fit", n)
	}
	return int(n)
}

// number returns a number that event.OfStore has made, or the serial of an actor, with its store and its highest bit below its count. Most are small
// then.
func number(n uint64) uint64 { return bits.RotateLeft64(n, event.StoreBits+1) }

func putNumber(e *codec.Encoder, n uint64) { e.Uint(number(n)) }

func getNumber(d *codec.Decoder) uint64 { return bits.RotateLeft64(d.Uint(), -(event.StoreBits + 1)) }

func putActor(e *codec.Encoder, id event.ActorID) {
	e.Uint(uint64(id.Birth))
	putNumber(e, id.Serial)
}

func getActor(d *codec.Decoder) event.ActorID {
	return event.ActorID{Birth: codec.GetUint[event.PartitionID](d), Serial: getNumber(d)}
}

func putEvent(e *codec.Encoder, id event.EventID) {
	putNumber(e, id.Origin)
	putNumber(e, id.Seq)
}

func getEvent(d *codec.Decoder) event.EventID {
	return event.EventID{Origin: getNumber(d), Seq: getNumber(d)}
}

func putName(e *codec.Encoder, n commit.Name) {
	putEvent(e, n.Event)
	putNumber(e, n.Number)
}

func getName(d *codec.Decoder) commit.Name {
	return commit.Name{Event: getEvent(d), Number: getNumber(d)}
}

func putWanted(e *codec.Encoder, l []order.Wanted) {
	e.Uint(uint64(len(l)))
	for _, w := range l {
		putActor(e, w.Actor)
		e.Uint(uint64(w.Mode)<<1 | uint64(in(1, w.Tree)))
	}
}

func getWanted(d *codec.Decoder) []order.Wanted {
	return list(d, func(d *codec.Decoder) order.Wanted {
		w := order.Wanted{Actor: getActor(d)}
		how := d.Enum((uint64(order.Write) + 1) << 1)
		w.Mode, w.Tree = order.Mode(how>>1), how&1 != 0
		return w
	})
}

// claims returns a claim as it is on the wire: a list, which may have more elements one day.
func claims(c order.Wanted) []order.Wanted {
	if c == (order.Wanted{}) {
		return nil
	}
	return []order.Wanted{c}
}

// claim is the reverse of claims.
func claim(d *codec.Decoder, l []order.Wanted) (c order.Wanted) {
	if len(l) > 1 {
		d.Fail("%d claims, and this program reads one,", len(l))
	} else if len(l) == 1 {
		c = l[0]
		given(d, c != order.Wanted{}, "claim")
	}
	return c
}

// Fields of a commit.Message: Kind and Name, and for each kind those that are here.
const (
	inCommitYes set = 1 << iota
	inCommitWrites
	inCommitAt
)

var commits = [...]set{
	commit.Prepare:  inCommitWrites,
	commit.Vote:     inCommitYes,
	commit.Decision: inCommitYes | inCommitAt,
	commit.Done:     0,
	commit.Ask:      0,
	commit.Dropped:  0,
}

func putCommit(e *codec.Encoder, m commit.Message, also []commit.Name) {
	// Invariant: a message has only fields of its kind.
	if has := in(inCommitYes, m.Yes) | in(inCommitWrites, m.Writes) | in(inCommitAt, m.At != 0); m.Kind == 0 || int(m.Kind) >= len(commits) || has&^commits[m.Kind] != 0 || len(also) > 0 && m.Kind != commit.Done {
		assert.Unreachable("across: message of the commit of kind %d with the fields %b, and %d more names", m.Kind, has, len(also))
	}
	e.Uint(uint64(m.Kind))
	putName(e, m.Name)
	if m.Kind == commit.Done {
		e.Uint(uint64(len(also)))
		for _, n := range also {
			putName(e, n)
		}
	}
	f := commits[m.Kind]
	if f&inCommitYes != 0 {
		e.Bool(m.Yes)
	}
	if f&inCommitWrites != 0 {
		e.Bool(m.Writes)
	}
	if f&inCommitAt != 0 {
		e.Int(m.At)
	}
}

func getCommit(d *codec.Decoder) (m commit.Message, also []commit.Name) {
	kind := d.Uint()
	if kind == 0 || kind >= uint64(len(commits)) {
		d.Fail("unknown kind of message of the commit %d", kind)
		return m, nil
	}
	m.Kind, m.Name = commit.Kind(kind), getName(d)
	if m.Kind == commit.Done {
		also = list(d, getName)
	}
	f := commits[m.Kind]
	if f&inCommitYes != 0 {
		m.Yes = d.Bool()
	}
	if f&inCommitWrites != 0 {
		m.Writes = d.Bool()
	}
	if f&inCommitAt != 0 {
		m.At = d.Int()
	}
	return m, also
}
