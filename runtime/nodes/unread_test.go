package nodes_test

import (
	"errors"
	"testing"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/value"
)

// lostArgs are the arguments of a method whose result cannot be read.
type lostArgs struct{ tillArgs }

var errDisk = errors.New("the disk is gone")

func (x *lostArgs) EncodeResult(*aeonrt.Encoder) { panic(&value.Unreadable{Err: errDisk}) }

var (
	tillLose = aeonrt.Method{Class: &tillClass, Name: "lose", Signature: "():int", Effects: aeonrt.Effects{Self: aeonrt.Write}}
	tillSeek = aeonrt.Method{Class: &tillClass, Name: "seek", Signature: "(int)", Effects: aeonrt.Effects{Self: aeonrt.Write}}
)

func init() {
	tillClass.Methods = append(tillClass.Methods, &tillLose, &tillSeek)
	tillLose.NewArgs = func() aeonrt.Args { return new(lostArgs) }
	tillLose.Run = func(*aeonrt.Cx, any, aeonrt.Args) {}
	tillSeek.NewArgs = func() aeonrt.Args { return new(tillArgs) }
	tillSeek.ArgRefs = tillAll.ArgRefs
	tillSeek.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
		aeonrt.CallRemote(cx, args.(*tillArgs).of[0], &tillLose, new(lostArgs))
	}
}

// A call whose result its store cannot read any more fails, as one that cannot read it itself does.
func TestStoreFailsUnderAnAnswer(t *testing.T) {
	c, in, cl := tills(t, 1, 0, func() store.Engine { return memengine.New() })
	var abort *event.AbortError
	if err := cl.Await(in[0][0], &tillSeek, &tillArgs{of: in[1]}); !errors.As(err, &abort) || !abort.Fault || abort.Msg != errDisk.Error() {
		t.Errorf("the event has ended with %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
