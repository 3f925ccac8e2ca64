package activation

import (
	"slices"
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
		case o.Kind == OpEmit, o.Kind == OpTail, o.Kind == OpGo, o.Kind == OpTimer && o.Object == nil:
			o.Encoded[0] = uint32(len(args))
			args = codec.AppendArgs(args, encoder, o.Args)
			o.Encoded[1] = uint32(len(args))
		}
	}
	return args
}

// heldScanMax is up to how many actors of a row it is looked up whether it has one already.
const heldScanMax = 32

// Prepared returns what the row of a part has, but Changes. For args and number see issues.
func (r *Run) Prepared(args []byte, number func(*Method) uint32) *row.Prepared {
	p := &row.Prepared{Chain: r.Wide().Part.Chain}
	stays := func(h *order.Handle) bool { return !r.Deleting(h) || !h.Is(order.Fresh) } // what is made and deleted was never there
	var many map[event.ActorID]bool                                                     // Held, if they are more than heldScanMax
	has := func(h *order.Handle) bool {
		if many != nil {
			return many[h.ID]
		}
		return slices.Contains(p.Held, h.ID)
	}
	hold := func(h *order.Handle) {
		if h.Is(order.Fresh) || has(h) {
			return
		}
		if p.Held = append(p.Held, h.ID); many != nil {
			many[h.ID] = true
		} else if len(p.Held) > heldScanMax {
			many = make(map[event.ActorID]bool, 2*len(p.Held))
			for _, id := range p.Held {
				many[id] = true
			}
		}
	}
	entries := r.Root.UndoLog().Entries()
	for i := range entries {
		hold(order.HandleOf(entries[i].Self().Ref()))
	}
	for _, h := range r.Fresh {
		if stays(h) {
			p.Fresh = append(p.Fresh, row.Made{ID: h.ID, Layout: h.Layout})
		}
	}
	for _, h := range r.Born {
		hold(h)
		p.Born = append(p.Born, h.ID)
	}
	for _, h := range r.Deletes {
		if stays(h) {
			hold(h)
			p.Deletes = append(p.Deletes, h.ID)
		}
	}
	for _, e := range r.Edges {
		if stays(e.Owner) && stays(e.Child) {
			hold(e.Owner)
			p.Edges = append(p.Edges, row.Edge{Owner: e.Owner.ID, Child: e.Child.ID, Units: e.Units})
		}
	}
	for _, e := range r.Abroad {
		if stays(e.Owner) {
			hold(e.Owner)
			p.Abroad = append(p.Abroad, row.Edge{Owner: e.Owner.ID, Child: e.Child.ID, Units: e.Units})
		}
	}
	p.Issues = issues(nil, r.Root.Ops, args, number, hold)
	for h := range r.Holding() {
		// Invariant: what a part holds is in its store.
		if h.Is(order.Elsewhere) {
			assert.Unreachable("activation: a part holds %v of another store", h.ID)
		}
		if !h.Is(order.Fresh) && !has(h) {
			p.Reads = append(p.Reads, h.ID)
		}
	}
	return p
}

// issues appends ops as they are stored, in program order. args has their arguments, where Encoded says; number returns the number of the signature of a
// method; hold is told which actors the event holds for writing until it is carried out. Timers that call clients end with the process, as these do.
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
			if s.Kind = row.IssueTimer; o.Kind == OpCancel || o.Object != nil {
				s.Kind = row.IssueCancel
			}
		default:
			// Invariant: what a part tells, its home tells.
			assert.Unreachable("activation: a part issues %d", o.Kind)
		}
		if s.Kind != row.IssueCancel {
			s.Target, s.Signature, s.Args = o.Target.ID, number(o.Method), args[o.Encoded[0]:o.Encoded[1]]
		}
		list = append(list, s)
	}
	return list
}

var issuedKinds = map[row.IssueKind]OpKind{row.IssueEvent: OpEmit, row.IssueTail: OpTail, row.IssueGo: OpGo, row.IssueTimer: OpTimer, row.IssueCancel: OpCancel}

// Issued returns the op that was stored, without its method and arguments.
func Issued(s *row.Issue, handle func(event.ActorID) *order.Handle) Op {
	o := Op{Kind: issuedKinds[s.Kind], Issuer: handle(s.Issuer), Name: s.Name, Delay: time.Duration(s.Delay), Every: time.Duration(s.Every), Keep: s.Keep}
	if o.Kind != OpCancel {
		o.Target = handle(s.Target)
	}
	return o
}
