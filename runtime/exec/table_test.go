package exec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/table"
	"github.com/aeon-lang/aeon/runtime/undo"
)

// hangar is an actor with a table whose rows own actors, as codegen would write it.
type hangar struct {
	order.Self
	planes table.Table[int64, plane]
}

type plane struct {
	id   int64
	to   string
	crew wref
}

// EachRef implements RefHolder.
func (p plane) EachRef(f func(order.Ref)) { p.crew.EachRef(f) }

var planeShape = table.Shape[int64, plane]{
	Key:    func(p *plane) int64 { return p.id },
	PutKey: codec.PutKeyInt[int64],
	Put: func(e *codec.Encoder, p plane) {
		e.Int(p.id)
		e.String(p.to)
		putRef(e, p.crew.Ref)
	},
	Get: func(d *codec.Decoder) (p plane) {
		p.id, p.to = d.Int(), d.String()
		p.crew = wref{getRef(d)}
		return p
	},
	Indexes: []func(*codec.Encoder, *plane){func(e *codec.Encoder, p *plane) { codec.PutKeyString(e, p.to) }},
	Names:   []string{"to"},
}

func (h *hangar) SaveField(w *image.Writer, _ int) { table.Save(w, &h.planes) }
func (h *hangar) LoadFields(r *image.Reader)       { table.Load(r, 0, &h.planes) }

// hangarArgs says what an event does: it draws its writes from seed, and fails at the end if fails is set.
type hangarArgs struct {
	seed  uint64
	steps int
	fails bool
	text  string
}

var (
	classHangar = Class{Shape: order.Shape{
		Package: "test",
		Name:    "Hangar",
		Fields:  []order.Field{{Name: "planes", Type: "table<int>", Owning: true}},
		New:     func() order.Object { return &hangar{planes: table.New(&planeShape)} },
	}}
	methodFly = Method{Class: &classHangar, Name: "fly", Signature: "(int,int,bool)", Index: 0, Effects: order.Effects{Self: order.Write, Below: order.None},
		NewArgs: func() order.Args { return &hangarArgs{} },
		Run: func(cx *Cx, self any, args order.Args) {
			x := args.(*hangarArgs)
			self.(*hangar).fly(cx, rand.New(rand.NewPCG(x.seed, 0)), x.steps)
			Require(cx, !x.fails, "grounded")
		}}
	methodBoard = Method{Class: &classHangar, Name: "board", Signature: "():string", Index: 1, Effects: order.Effects{Self: order.Read, Below: order.None},
		NewArgs: func() order.Args { return &hangarArgs{} },
		Run:     func(_ *Cx, self any, args order.Args) { args.(*hangarArgs).text = self.(*hangar).board() }}
	constructHangar = Method{Class: &classHangar, Name: "Hangar", Index: 2, Effects: order.Effects{Self: order.Write, Below: order.None},
		NewArgs: func() order.Args { return &hangarArgs{} }, Run: func(*Cx, any, order.Args) {}}
)

func init() {
	classHangar.Methods = []*Method{&methodFly, &methodBoard}
	classHangar.Construct = &constructHangar
}

var towns = []string{"Rome", "Oslo", "Rio"}

// fly writes to the table by all functions that log writes.
func (h *hangar) fly(cx *Cx, r *rand.Rand, steps int) {
	for range steps {
		p := plane{id: r.Int64N(400), to: towns[r.IntN(len(towns))]}
		id := p.id
		if steps < 100 || h.planes.Size() == 0 || !h.planes.Has(0) {
			crew := New[*wnode](cx, &classNode)
			Constructed(cx)
			p.crew = wref{crew.Self.Ref()}
		} else {
			p.crew = h.planes.At(0).crew // an actor that several rows own
		}
		switch n := r.IntN(100); {
		case n < 50:
			undo.TablePutOwned(cx.UndoLog(), &h.Self, 0, &h.planes, p)
		case n < 60 && !h.planes.Has(id):
			undo.TableInsertOwned(cx.UndoLog(), &h.Self, 0, &h.planes, p)
		case n < 85 && h.planes.Has(id):
			undo.TableUpdate(cx.UndoLog(), &h.Self, 0, &h.planes, id, func(q *plane) { q.to = p.to })
		case n < 86 && h.planes.Has(id):
			p.to = "set"
			undo.TablePutOwned(cx.UndoLog(), &h.Self, 0, &h.planes, p)
		case n < 98:
			undo.TableRemoveOwned(cx.UndoLog(), &h.Self, 0, &h.planes, id)
		case n == 99 && steps%7 == 0:
			undo.TableClearOwned(cx.UndoLog(), &h.Self, 0, &h.planes)
		}
	}
}

// board shows the table by its key and by its index.
func (h *hangar) board() string {
	var b strings.Builder
	for p := range h.planes.All() {
		fmt.Fprint(&b, p.id, p.to, " ")
	}
	for _, town := range append(towns, "set") {
		for p := range h.planes.Rows(table.Equal(0, func(e *codec.Encoder) { codec.PutKeyString(e, town) })) {
			fmt.Fprint(&b, p.id, " ")
		}
	}
	return b.String()
}

// A table on a node that crashes again and again equals the table of a node that never crashes.
func TestTableOutlivesCrashes(t *testing.T) {
	n := startNode(t, Config{})
	calm := Open(Config{Log: quiet})
	defer calm.Close()
	client := calm.Client()
	r := rand.New(rand.NewPCG(1, 2))
	named := func(cl *Client) order.Ref { return Named(cl, &classHangar, "main") }
	for round := range lessIfShort(60) {
		x := hangarArgs{seed: r.Uint64(), steps: []int{3, 40, 200, 700}[r.IntN(4)], fails: r.IntN(4) == 0}
		y := x
		err, want := n.cl.Await(named(n.cl), &methodFly, &x), client.Await(named(client), &methodFly, &y)
		if (err == nil) != (want == nil) {
			t.Fatalf("round %d: %v, want %v", round, err, want)
		}
		switch r.IntN(3) {
		case 0:
			n.reopen()
		case 1:
			n.crash(func(int) int { return 0 })
		}
		var got, wanted hangarArgs
		mustNot(t, n.cl.Await(named(n.cl), &methodBoard, &got))
		mustNot(t, client.Await(named(client), &methodBoard, &wanted))
		if got.text != wanted.text {
			t.Fatalf("round %d:\n%s\nwant\n%s", round, got.text, wanted.text)
		}
	}
	n.close()
}
