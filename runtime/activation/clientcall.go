package activation

import (
	"bytes"
	"slices"

	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
)

// Calls of clients of other stores. A timer that makes one is stored, as its client may be there when its store starts again. What is found then is handed on as
// it is: the store of the client reads it, and this version of the program need not have the method.

// storedCall names a method of client objects which the program may not have.
type storedCall string

// Path implements Callback.
func (c storedCall) Path() string { return string(c) }

// storedArgs are the arguments of a callback, encoded.
type storedArgs []byte

// ReadClientCall reads the call that a stored timer makes: the number of the object, the method, and its arguments.
func ReadClientCall(data []byte) (object uint64, call Callback, args order.Args, err error) {
	object, method, encoded, err := row.ReadClientCall(data)
	return object, storedCall(method), storedArgs(bytes.Clone(encoded)), err
}

// Line returns a callback as other stores get it; number is its number among those of its event, 0 if that is not known.
func (o *Op) Line(number int) across.Line {
	args, stored := o.Args.(storedArgs)
	if !stored {
		args = codec.ArgsOf(o.Args)
	}
	return across.Line{Number: number, Object: o.Object.Stored(), Method: o.Call.Path(), Args: args, Issuer: o.Issuer.ID}
}

// IsStored reports whether a timer is stored. One that calls a client of its own store ends with that, as the client does.
func (o *Op) IsStored() bool { return o.Object == nil || o.Object.Elsewhere() }

// Callee returns what is stored of a call besides its arguments: the number of its signature and its target; none if it is one of a client.
func (o *Op) Callee(number func(*Method) uint32) (signature uint32, target event.ActorID) {
	if o.Object != nil {
		return 0, event.ActorID{}
	}
	return number(o.Method), o.Target.ID
}

// Holding names callbacks of an event that another store holds: see across.Held.
type Holding struct {
	Store  event.StoreID
	Number uint64
	Lines  []across.Line
	Gone   bool // their clients, for good
}

// HoldCallbacks adds to list the callbacks among ops to which other stores are to give places. Those of clients of this store need nothing. before is how many
// callbacks were issued before; HoldCallbacks returns how many are now. number numbers what is held.
func HoldCallbacks(list []Holding, ops []Op, before int, number func() uint64) ([]Holding, int) {
	n := before
	for i := range ops {
		switch o := &ops[i]; o.Kind {
		case OpBranch:
			list, n = HoldCallbacks(list, o.Branch.Ops(), n, number)
		case OpCallback:
			if n++; !o.Object.Elsewhere() {
				continue
			}
			store := event.StoreIn(o.Object.Stored())
			k := slices.IndexFunc(list, func(h Holding) bool { return h.Store == store })
			if k < 0 {
				k, list = len(list), append(list, Holding{Store: store, Number: number()})
			}
			list[k].Lines = append(list[k].Lines, o.Line(n))
		}
	}
	return list, n
}
