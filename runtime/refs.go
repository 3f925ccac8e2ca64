package runtime

import (
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Resolver finds actors by id, and client objects by number. Code that decodes a message which may contain references
// puts one into the Decoder's Context.
type Resolver interface {
	// Resolve returns the reference to an actor whose id a message contains.
	Resolve(ActorID) Ref
	// ResolveClient returns the reference to a client object that was stored as this number.
	ResolveClient(number uint64) ClientRef
}

// PutRef appends a reference to an actor: its id.
func PutRef(e *Encoder, r Ref) {
	if e.Visitor != nil {
		e.Visitor.(activation.Visitor).Visit(r)
	}
	id := r.ID()
	e.Uint(uint64(id.Birth))
	e.Uint(id.Serial)
}

// GetRef reads a reference to an actor.
func GetRef(d *Decoder) Ref {
	birth := GetUint[uint32](d)
	return resolve(d, ActorID{Birth: event.PartitionID(birth), Serial: d.Uint()})
}

// resolve returns the reference to the actor whose id a message contains.
func resolve(d *Decoder, id ActorID) Ref {
	if id.IsNull() || d.Err() != nil {
		return Ref{}
	}
	in, ok := d.Context.(Resolver)
	if !ok {
		d.Fail("reference to an actor outside of a system")
		return Ref{}
	}
	return in.Resolve(id)
}

// PutClientRef appends a reference to a client object: a number. The object is in one process;
// read elsewhere, or later, the reference leads to an object of a client that has gone.
func PutClientRef(e *Encoder, r ClientRef) { e.Uint(r.Stored()) }

// GetClientRef reads what PutClientRef wrote.
func GetClientRef(d *Decoder) ClientRef {
	number := d.Uint()
	if number == 0 || d.Err() != nil {
		return ClientRef{}
	}
	in, ok := d.Context.(Resolver)
	if !ok {
		d.Fail("reference to a client object outside of a system")
		return ClientRef{}
	}
	return in.ResolveClient(number)
}

// Labelled returns v, of which code makes a text, when the labels are known of all actors that v refers to: those of other stores are asked for.
// put encodes v. It faults, as that text would, where v nests too deeply for it.
func Labelled[T any](cx *Cx, v T, put func(*Encoder, T)) T {
	if of, abroad := activation.LabelsOf(cx); abroad {
		defer func() {
			switch r := recover().(type) {
			case nil:
			case value.Fault: // values fault here for one reason
				value.FailNesting()
			default:
				panic(r)
			}
		}()
		var e Encoder
		e.VisitWith(of)
		put(&e, v)
	}
	return v
}

// KeyOf returns the name of an actor, null if it has none.
func KeyOf(s *Self) Opt[string] { return value.SomeIf(s.Name()) }
