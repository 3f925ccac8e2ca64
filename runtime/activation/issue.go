package activation

import (
	"time"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
)

// What an event issues is stored with its commit. What a part issues stands in the row of what it has prepared, until it is carried out, perhaps by a
// later start.

// EncodeArgs appends the arguments of what is stored of ops, and notes in each where they are.
func EncodeArgs(args []byte, encoder *codec.Encoder, ops []Op) []byte {
	for i := range ops {
		o := &ops[i]
		switch {
		case o.Kind == OpBranch:
			args = EncodeArgs(args, encoder, o.Branch.Ops())
		case o.Kind == OpEmit, o.Kind == OpTail, o.Kind == OpGo, o.Kind == OpTimer && o.IsStored():
			o.Encoded[0] = uint32(len(args))
			if o.Object != nil {
				args = row.AppendClientCall(args, o.Object.Stored(), o.Call.Path())
			}
			args = codec.AppendArgs(args, encoder, o.Args)
			o.Encoded[1] = uint32(len(args))
		}
	}
	return args
}

// issues appends ops as they are stored, in program order. args has their arguments, where Encoded says; number returns the number of the signature of a
// method; hold is told which actors the event holds for writing until it is carried out.
func issues(list []row.Issue, ops []Op, args []byte, number func(*Method) uint32, hold func(*order.Handle)) []row.Issue {
	for i := range ops {
		o := &ops[i]
		if o.Kind == OpBranch {
			list = issues(list, o.Branch.Ops(), args, number, hold)
			continue
		}
		s := row.Issue{Keep: o.Keep, Issuer: o.Issuer.ID, Name: o.Name, Delay: int64(o.Delay), Every: int64(o.Every)}
		switch o.Kind {
		case OpEmit:
			s.Kind = row.IssueEvent
		case OpTail:
			if s.Kind = row.IssueTail; o.Keep {
				hold(o.Target)
			}
		case OpGo:
			s.Kind = row.IssueGo
		case OpTimer, OpCancel:
			hold(o.Issuer)
			if s.Kind = row.IssueTimer; o.Kind == OpCancel || !o.IsStored() {
				s.Kind = row.IssueCancel
			}
		default:
			// Invariant: what a part tells, its home tells.
			assert.Unreachable("activation: a part issues %d", o.Kind)
		}
		if s.Kind != row.IssueCancel {
			s.Signature, s.Target = o.Callee(number)
			s.Args = args[o.Encoded[0]:o.Encoded[1]]
		}
		list = append(list, s)
	}
	return list
}

var issuedKinds = map[row.IssueKind]OpKind{row.IssueEvent: OpEmit, row.IssueTail: OpTail, row.IssueGo: OpGo, row.IssueTimer: OpTimer, row.IssueCancel: OpCancel}

// Issued returns the op that was stored, without what it calls and the arguments.
func Issued(s *row.Issue, handle func(event.ActorID) *order.Handle) Op {
	o := Op{Kind: issuedKinds[s.Kind], Issuer: handle(s.Issuer), Name: s.Name, Delay: time.Duration(s.Delay), Every: time.Duration(s.Every), Keep: s.Keep}
	if s.Signature != 0 {
		o.Target = handle(s.Target)
	}
	return o
}
