package activation

import (
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// reachArgs are the arguments of methodReach: actors; and its result: what they reach in other stores, and whether they reach an actor.
type reachArgs struct {
	of, found []event.ActorID
}

// methodReach finds what actors of one store reach. It runs no code of the program.
var methodReach = Method{Name: "reach", Effects: order.Effects{ReadOnly: true, Self: order.Read, Below: order.Any, BelowMode: order.Read},
	NewArgs: func() order.Args { return &reachArgs{} }}

// Encode implements codec.Args.
func (x *reachArgs) Encode(e *codec.Encoder) { putActors(e, x.of) }

// Decode implements codec.Args.
func (x *reachArgs) Decode(d *codec.Decoder) { x.of = getActors(d) }

// EncodeResult implements codec.Result.
func (x *reachArgs) EncodeResult(e *codec.Encoder) { putActors(e, x.found) }

// DecodeResult implements codec.Result.
func (x *reachArgs) DecodeResult(d *codec.Decoder) { x.found = getActors(d) }

func putActors(e *codec.Encoder, list []event.ActorID) {
	e.Uint(uint64(len(list)))
	for _, id := range list {
		e.Uint(uint64(id.Birth))
		e.Uint(id.Serial)
	}
}

func getActors(d *codec.Decoder) (list []event.ActorID) {
	for range d.Uint() {
		if d.Err() != nil {
			break
		}
		list = append(list, event.ActorID{Birth: event.PartitionID(d.Uint()), Serial: d.Uint()})
	}
	return list
}

// checkAbroad faults if p, an actor of this store, is reached from actors of other stores.
func (cx *Activation) checkAbroad(p *order.Handle, ask []event.ActorID) {
	s := cx.Run.sys
	seen := make(map[event.ActorID]bool)
	for len(ask) > 0 {
		id := ask[0]
		ask = ask[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		if s.Across.IsHere(id) {
			reach, abroad := cx.reach(s.State.Handle(id))
			if slices.Contains(reach, p) {
				fault(MsgCycle)
			}
			ask = append(ask, abroad...)
			continue
		}
		args := &reachArgs{of: []event.ActorID{id}}
		if err := codec.ReadResult(cx.call(id, &methodReach, args).Result, s, args); err != nil {
			assert.Unreachable("activation: what actors reach cannot be read: %v", err)
		}
		ask = append(ask, args.found...)
	}
}

// found is methodReach.
func (cx *Activation) found(x *reachArgs) (out Outcome) {
	done := false
	defer func() {
		if done {
			return
		}
		p := recover()
		if w, ok := p.(order.Withdrawal); ok && !cx.Run.IsPart() {
			panic(w) // the home need not tell
		}
		out, _ = cx.caught(p)
	}()
	for _, id := range x.of {
		_, abroad := cx.reach(cx.Run.sys.State.Handle(id))
		x.found = append(x.found, abroad...)
	}
	done = true
	return out
}
