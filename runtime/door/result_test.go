package door

import (
	"errors"
	"log/slog"
	"math"
	"testing"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/aeon-lang/aeon/runtime/value"
)

// shelf is an actor with a map that is stored by element.
type shelf struct {
	order.Self
	books value.Map[int64, int64]
}

var bookEntries = image.Entries[int64, int64]{PutKey: codec.PutKeyInt[int64], GetKey: codec.GetKeyInt[int64], Put: codec.PutInt[int64], Get: codec.GetInt[int64]}

func (s *shelf) SaveField(w *image.Writer, _ int) { image.SaveMap(w, &s.books, &bookEntries) }
func (s *shelf) LoadFields(r *image.Reader)       { image.LoadMap(r, 0, &s.books, &bookEntries) }

type shelfArgs struct{ ret value.Map[int64, int64] }

func (x *shelfArgs) Encode(*codec.Encoder) {}
func (x *shelfArgs) Decode(*codec.Decoder) {}

func (x *shelfArgs) EncodeResult(e *codec.Encoder) {
	codec.PutMap(e, x.ret, codec.PutKeyInt[int64], codec.PutInt[int64])
}

func (x *shelfArgs) DecodeResult(d *codec.Decoder) {
	x.ret = codec.GetMap(d, codec.GetKeyInt[int64], codec.GetInt[int64])
}

func shelfMethod(name string, self order.Mode, run func(*exec.Cx, *shelf, *shelfArgs)) exec.Method {
	return exec.Method{Class: &classShelf, Name: name, Signature: "():map<int,int>", Effects: order.Effects{Self: self, Below: order.None},
		NewArgs: func() order.Args { return &shelfArgs{} },
		Run:     func(cx *exec.Cx, self any, args order.Args) { run(cx, self.(*shelf), args.(*shelfArgs)) }}
}

var (
	classShelf  = exec.Class{Shape: order.Shape{Package: "test", Name: "Shelf", Fields: []order.Field{{Name: "books", Type: "map<int,int>"}}}}
	makeShelf   = exec.Method{Class: &classShelf, Name: "Shelf", Effects: order.Effects{Self: order.Write}, NewArgs: func() order.Args { return nil }, Run: func(*exec.Cx, any, order.Args) {}}
	methodBooks = shelfMethod("books", order.Read, func(_ *exec.Cx, s *shelf, x *shelfArgs) { x.ret = s.books })
	methodFill  = shelfMethod("fill", order.Write, func(cx *exec.Cx, s *shelf, _ *shelfArgs) {
		for i := range int64(1000) {
			undo.MapSet(cx.UndoLog(), &s.Self, 0, &s.books, i, 2*i)
		}
	})
)

func init() {
	classShelf.New = func() order.Object { return &shelf{} }
	classShelf.Construct = &makeShelf
	classShelf.Methods = []*exec.Method{&methodBooks, &methodFill}
}

// faultyEngine is an engine whose reads fail from one on.
type faultyEngine struct {
	replicatest.Engine
	read memengine.Faulty
}

func (e *faultyEngine) Get(key, buf []byte) ([]byte, bool, error) { return e.read.Get(key, buf) }
func (e *faultyEngine) Scan(from, to []byte) store.Iterator       { return e.read.Scan(from, to) }

// plain is the form of package codec.
type plain struct{}

func (plain) Append(b, msg []byte, _ jsoncodec.Names) ([]byte, error) { return append(b, msg...), nil }

// A result that is read from the store when its event has committed, and that the store cannot give any more, is one of a store that has failed.
func TestStoreFailsUnderAResult(t *testing.T) {
	e := &faultyEngine{Engine: replicatest.New()}
	e.read.Err = errors.New("the disk is gone")
	open := func() (*exec.System, *store.Store) {
		e.read.Reader = e.Engine
		e.read.Left.Store(math.MaxInt64)
		st, err := store.Open(e, store.Options{Program: "test", Log: slog.New(slog.DiscardHandler), Fatal: func(error) {}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := exec.Recover(exec.Config{Store: st, Classes: []*exec.Class{&classShelf}, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return s, st
	}
	s, st := open()
	cl := s.Client()
	if err := cl.Await(activation.Named(cl, &classShelf, "main"), &methodFill, &shelfArgs{}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	e.Engine = e.Engine.Reopen()
	s, st = open()
	defer func() {
		s.Close()
		_ = st.Close() // it has failed
	}()
	cl = s.Client()
	main := activation.Named(cl, &classShelf, "main")
	if err := cl.Await(main, &methodBooks, &shelfArgs{}); err != nil {
		t.Fatal(err)
	}
	program, err := ProgramOf([]*exec.Class{&classShelf}, nil)
	if err != nil {
		t.Fatal(err)
	}
	class, err := program.Class("test.Shelf")
	if err != nil {
		t.Fatal(err)
	}
	books, err := class.Method("books")
	if err != nil {
		t.Fatal(err)
	}
	e.read.Left.Store(100)
	_, err = Open(Config{System: s, Program: program}).Call(t.Context(), &Call{Target: main, Method: books, Args: codec.ArgsOf(&shelfArgs{}), Form: plain{}})
	if err == nil {
		t.Fatal("the call has a result, and the disk is gone")
	}
	if f := Explain(err); f.Code != NoOutcome || f.Happened != Unknown || !f.Later || !errors.Is(err, e.read.Err) {
		t.Errorf("the call has ended with %v: %+v", err, f)
	}
}
