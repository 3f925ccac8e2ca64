package activation

import (
	"hash/fnv"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Visitor is what an Encoder shows the references to.
type Visitor interface{ Visit(order.Ref) }

// Fingerprint returns the hash of a call, which is stored with its outcome. Versions of a program agree on it as far as codec.Canonical says. All actors
// of a name are one in it, as they are for a key: a request that has deleted one finds the next when it comes again. before are the hashes of earlier
// versions of aeon, which were of the encoded arguments, and told these actors apart.
//
// first returns the first actor of the name of one, and references the context of a Decoder, whose references resolve finds. The error is that of first, or of arguments that nest too deeply.
func Fingerprint(m *Method, args order.Args, first func(order.Ref) (order.Ref, error), references func(resolve func(event.ActorID) order.Ref) any) (now event.Fingerprint, before []event.Fingerprint, err error) {
	of, ok := args.(codec.Args)
	if !ok {
		return event.FingerprintOf(hash(m, nil)), []event.Fingerprint{event.Fingerprint(hash(m, nil))}, nil
	}
	found := firsts{of: first}
	e := codec.NewEncoder(nil)
	e.Visitor = &found
	if err := value.Try(func() { of.Encode(e) }); err != nil {
		return 0, nil, &event.AbortError{Msg: err.Error(), Fault: true, Cause: err}
	}
	before = append(before, event.Fingerprint(hash(m, e.Data())))
	if found.err != nil {
		return 0, nil, found.err
	}
	if found.others {
		// The ids alone are not enough: by those of the first actors, sets and maps may have another order.
		args = m.NewArgs()
		of = args.(codec.Args)
		if err := codec.ReadArgs(e.Data(), references(func(id event.ActorID) order.Ref { return found.refs[id] }), args); err != nil {
			return 0, nil, err
		}
		before = append(before, event.Fingerprint(hash(m, codec.ArgsOf(args))))
	}
	return event.FingerprintOf(hash(m, codec.Canonical(of))), before, nil
}

func hash(m *Method, args []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(m.Name)) // a hash does not fail
	_, _ = h.Write(args)
	return h.Sum64()
}

// firsts are the first actors of the names of those that arguments refer to.
type firsts struct {
	of     func(order.Ref) (order.Ref, error)
	refs   map[event.ActorID]order.Ref // the actor itself, if it has no name
	others bool                        // some are not those that the arguments have
	err    error
}

// Visit implements Visitor.
func (f *firsts) Visit(r order.Ref) {
	id, first := r.ID(), r
	if _, known := f.refs[id]; known || r.IsNull() || f.err != nil {
		return
	}
	if id.Named() {
		if first, f.err = f.of(r); f.err != nil {
			return
		}
	}
	if f.refs == nil {
		f.refs = make(map[event.ActorID]order.Ref)
	}
	f.refs[id], f.others = first, f.others || first != r
}
