package nodes_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/aeon-lang/aeon/examples/bank"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// Transfers and audits that no other event is in the way of are not withdrawn, wherever their accounts are. What an attempt has not entered with
// it takes when it gets there; from the second event on it has its place in all stores from the beginning.
func TestNothingIsWithdrawnWithoutConflict(t *testing.T) {
	c, err := nodes.Program(aeonrt.Config{Seed: 1, Scheduled: true}, &bank.AeonPackage, 3, func() (store.Engine, error) { return memengine.New(), nil })
	if err != nil {
		t.Fatal(err)
	}
	opened(t, c)
	before := c.Counts()
	for i := range accounts {
		for n := range event.StoreID(3) {
			cl := c.System(n).Client()
			b := bank.Bank_Ref{Ref: aeonrt.Named(cl, &bank.AeonClassBank_, "b")}
			if err := b.Transfer(cl, owner(i), owner((i+7)%accounts), 1); err != nil {
				t.Fatal(err)
			}
			if sum, err := b.Total(cl); err != nil || sum != accounts*deposit {
				t.Fatalf("an audit finds %d (%v)", sum, err)
			}
		}
	}
	after := c.Counts()
	if after.Withdrawn != before.Withdrawn {
		t.Errorf("%d attempts were withdrawn", after.Withdrawn-before.Withdrawn)
	}
	if n := after.Committed - before.Committed; n < accounts*3 || after.Further-before.Further > n/8 {
		t.Errorf("%d events over several stores have got %d further parts", n, after.Further-before.Further)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A twig is a node of a tree whose nodes are in all stores.
type twig struct {
	aeonrt.Self
	kids aeonrt.Map[string, twigRef]
}

type twigRef struct{ aeonrt.Ref }

func (r twigRef) Compare(other twigRef) int { return r.Ref.CompareKey(other.Ref) }

var twigRows = aeonrt.Entries[string, twigRef]{
	PutKey: aeonrt.PutKeyString[string],
	GetKey: aeonrt.GetKeyString[string],
	Put:    func(e *aeonrt.Encoder, v twigRef) { aeonrt.PutRef(e, v.Ref) },
	Get:    func(d *aeonrt.Decoder) twigRef { return twigRef{aeonrt.GetRef(d)} },
}

func (x *twig) SaveField(w *aeonrt.Writer, _ int)  { aeonrt.SaveMap(w, &x.kids, &twigRows) }
func (x *twig) LoadFields(r *aeonrt.Reader)        { aeonrt.LoadMap(r, 0, &x.kids, &twigRows) }
func (x *twigArgs) Encode(e *aeonrt.Encoder)       { e.Int(x.depth); e.Int(x.kids) }
func (x *twigArgs) Decode(d *aeonrt.Decoder)       { x.depth, x.kids = d.Int(), d.Int() }
func (x *twigArgs) EncodeResult(e *aeonrt.Encoder) { e.Int(x.ret); aeonrt.PutRef(e, x.first) }
func (x *twigArgs) DecodeResult(d *aeonrt.Decoder) { x.ret, x.first = d.Int(), aeonrt.GetRef(d) }
func newTwigArgs() aeonrt.Args                     { return new(twigArgs) }
func twigTouches(m aeonrt.Mode) []aeonrt.ClassMode {
	return []aeonrt.ClassMode{{Shape: &twigClass.Shape, Mode: m}}
}

type twigArgs struct {
	depth, kids int64 // how many each has that has any
	ret         int64
	first       aeonrt.Ref
}

var (
	twigClass = aeonrt.Class{Shape: aeonrt.Shape{Package: "twig", Name: "Twig", SelfRecursive: true,
		Fields: []aeonrt.Field{{Name: "kids", Type: "map<string,actor twig.Twig>", Owning: true}}}}
	twigNew  = aeonrt.Method{Class: &twigClass, Name: "new", Signature: "(int,int)", Params: []string{"depth", "kids"}, Effects: aeonrt.Effects{Self: aeonrt.Write}}
	twigSize = aeonrt.Method{Class: &twigClass, Name: "size", Signature: "(int):int", Params: []string{"depth"},
		Effects: aeonrt.Effects{ReadOnly: true, Self: aeonrt.Read, Below: aeonrt.Any, BelowMode: aeonrt.Read}}
	twigFirst   = aeonrt.Method{Class: &twigClass, Name: "first", Signature: "():actor twig.Twig", Effects: aeonrt.Effects{ReadOnly: true, Self: aeonrt.Read}}
	twigPackage = aeonrt.Package{Name: "twig"}
)

func init() {
	twigClass.New = func() aeonrt.Object { return new(twig) }
	twigClass.Methods, twigClass.Ctor = []*aeonrt.Method{&twigSize, &twigFirst}, &twigNew
	twigNew.NewArgs, twigSize.NewArgs, twigFirst.NewArgs = newTwigArgs, newTwigArgs, newTwigArgs
	twigSize.Touches = twigTouches(aeonrt.Read)
	twigNew.Run = func(cx *aeonrt.Cx, self any, args aeonrt.Args) {
		x, of := self.(*twig), args.(*twigArgs)
		for i := int64(0); i < of.kids && of.depth > 1; i++ {
			aeonrt.MapSetOwned(cx, &x.Self, 0, &x.kids, fmt.Sprint(i), newTwig(cx, of.depth-1, of.kids))
		}
	}
	twigSize.Run = func(cx *aeonrt.Cx, self any, args aeonrt.Args) {
		n := int64(1)
		for x, i := self.(*twig), 0; x.kids.Has(fmt.Sprint(i)); i++ {
			n += x.kids.At(fmt.Sprint(i)).size(cx)
		}
		args.(*twigArgs).ret = n
	}
	twigFirst.Run = func(_ *aeonrt.Cx, self any, args aeonrt.Args) { args.(*twigArgs).first = self.(*twig).kids.At("0").Ref }
	twigPackage.Classes = []*aeonrt.Class{&twigClass}
}

func newTwig(cx *aeonrt.Cx, depth, kids int64) twigRef {
	args := &twigArgs{depth: depth, kids: kids}
	if cx.Elsewhere() {
		return twigRef{aeonrt.CreateRemote(cx, &twigClass, args)}
	}
	x := aeonrt.New[*twig](cx, &twigClass)
	twigNew.Run(cx, x, args)
	aeonrt.Constructed(cx)
	return twigRef{x.Ref()}
}

func (r twigRef) size(cx *aeonrt.Cx) int64 {
	args := &twigArgs{}
	x, ok := aeonrt.Enter[*twig](cx, r.Ref, &twigSize)
	if !ok {
		aeonrt.CallRemote(cx, r.Ref, &twigSize, args)
		return args.ret
	}
	twigSize.Run(cx, x, args)
	cx.Leave()
	return args.ret
}

// A tree over three stores is made, and read, without a withdrawal, however many of its edges go from one store to another. An event that knows of none gets a
// part in each store when it meets it.
func TestATreeOverStoresIsReadAtOnce(t *testing.T) {
	const depth = 6
	c, err := nodes.Program(aeonrt.Config{Seed: 1, Scheduled: true}, &twigPackage, 3, func() (store.Engine, error) { return memengine.New(), nil })
	if err != nil {
		t.Fatal(err)
	}
	cl := c.System(0).Client()
	root, err := cl.New(&twigClass, &twigNew, &twigArgs{depth: depth, kids: 2})
	if err != nil {
		t.Fatal(err)
	}
	c.Settle() // moves of actors in the sequencing tree: what meets one enters again
	made := c.Counts()
	for n := range event.StoreID(3) {
		s := c.System(n)
		for range 3 {
			args := &twigArgs{}
			if err := s.Client().Await(s.Resolve(root.ID()), &twigSize, args); err != nil || args.ret != 1<<depth-1 {
				t.Fatalf("store %d finds %d nodes (%v)", n, args.ret, err)
			}
		}
	}
	read := c.Counts()
	t.Logf("made: %+v, and read 9 times: %+v", made, read)
	if read.Withdrawn > 0 {
		t.Errorf("%d attempts were withdrawn to make the tree, and %d to read it", made.Withdrawn, read.Withdrawn-made.Withdrawn)
	}
	if n := read.Further - made.Further; n > 2*3 {
		t.Errorf("9 events have got %d parts after they had entered", n)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A target remembers that its method goes to another store, and forgets that while an event has entered with a part there which it has not entered with for any other reason. When
// the event is withdrawn, as the session or the store is lost, it enters with that part again.
func TestAnEventKeepsThePartOfAHintThatIsForgotten(t *testing.T) {
	for what, lose := range map[string]func(*nodes.Cluster) error{
		"the session ends": func(c *nodes.Cluster) error {
			c.Cut(0, 1)
			close(gaugeHeld)
			return nil
		},
		"the store fails": func(c *nodes.Cluster) error {
			crashed := make(chan error)
			go func() { crashed <- c.Crash(1, losing(nothingLost)) }()
			synctest.Wait()
			close(gaugeHeld) // its system closes
			return errors.Join(<-crashed, c.Restart(1))
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, all := gauges(t, func(*nodes.Config) {})
				s := c.System(0)
				// one has an event on the gauge of store 0 seek one of another store.
				one := func(of event.StoreID) *aeonrt.Future {
					return s.Client().Issue(all[0], &gaugeSeek, &gaugeArgs{first: s.Resolve(all[of].ID())})
				}
				gaugeHeld, gaugeHails = make(chan struct{}), func(*aeonrt.Cx) {}
				_ = c.System(1).Client().Issue(all[1], &gaugeHold, &gaugeArgs{})
				synctest.Wait()
				first := one(1) // is withdrawn, and enters by TOP: the next four do so at once
				synctest.Wait()
				close(gaugeHeld)
				err := first.Wait()
				for range 3 {
					err = errors.Join(err, one(1).Wait())
				}
				if err != nil {
					t.Fatal(err)
				}
				before := c.Counts()
				gaugeHeld, gaugeHails = make(chan struct{}), func(*aeonrt.Cx) { <-gaugeHeld }
				last := one(1)
				synctest.Wait()
				gaugeHails = func(*aeonrt.Cx) {}
				if n := c.Counts(); n.Unordered > before.Unordered {
					t.Fatal("the event has not entered by TOP")
				}
				if err := one(2).Wait(); err != nil { // it goes out, and meets no other event
					t.Fatal(err)
				}
				if n := c.Counts(); n.Unordered != before.Unordered+1 {
					t.Fatal("the event has entered by TOP")
				}
				if err := lose(c); err != nil {
					t.Fatal(err)
				}
				if err := last.Wait(); err != nil {
					t.Error(err)
				}
				c.Settle()
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
