package runtime

import (
	"github.com/aeon-lang/aeon/runtime/event"
)

// Resolver finds actors by id. Whoever decodes a message that may contain references puts one
// into the Decoder's Context.
type Resolver interface {
	// Resolve returns the reference to an actor of which a message speaks.
	Resolve(ActorID) Ref
}

// PutRef appends a reference to an actor: its id.
func PutRef(e *Encoder, r Ref) {
	id := r.ID()
	e.Uint(uint64(id.Birth))
	e.Uint(id.Serial)
}

// GetRef reads a reference to an actor.
func GetRef(d *Decoder) Ref {
	id := ActorID{Birth: event.PartitionID(GetUint[uint32](d)), Serial: d.Uint()}
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

// PutClientRef appends a reference to a client object. Such an object lives in one process; only
// null can leave it.
func PutClientRef(e *Encoder, r ClientRef) {
	if !r.IsNull() {
		Fail("a client object cannot be reached from another process")
	}
	e.Bool(false)
}

// GetClientRef reads what PutClientRef wrote.
func GetClientRef(d *Decoder) ClientRef {
	if d.Bool() {
		d.Fail("reference to a client object")
	}
	return ClientRef{}
}
