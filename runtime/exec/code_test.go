package exec

import (
	"reflect"
	"unsafe"

	"github.com/aeon-lang/aeon/runtime/activation"
	"github.com/aeon-lang/aeon/runtime/order"
)

// What code of tests calls, as package runtime has it for generated code.

type GoCall = activation.GoCall

const msgCycle = activation.MsgCycle

var methodDelete = &activation.MethodDelete

func Enter[T order.Object](cx *Cx, target order.Ref, m *Method) (T, bool) {
	return activation.Enter[T](cx, target, m)
}

func New[T order.Object](cx *Cx, c *Class) T { return activation.New[T](cx, c) }

func Constructed(cx *Cx) { activation.Constructed(cx) }

func Async(cx *Cx, target order.Ref, m *Method, args order.Args) {
	activation.Async(cx, target, m, args)
}

func Delete(cx *Cx, target order.Ref) { activation.Delete(cx, target) }

func Named(in activation.Namer, c *Class, name string) order.Ref {
	return activation.Named(in, c, name)
}

func CallRemote(cx *Cx, target order.Ref, m *Method, args order.Args) {
	activation.CallRemote(cx, target, m, args)
}

func Abort(cx *Cx, msg string) { activation.Abort(cx, msg) }

func Require(cx *Cx, cond bool, msg string) { activation.Require(cx, cond, msg) }

func Fault(cx *Cx, msg string) { activation.Fault(cx, msg) }

// eventOf returns the event whose code has cx.
func eventOf(cx *Cx) *Event { return (*Event)(unsafe.Pointer(activation.Of(cx).Run)) }

// branchesOf returns how many branches are kept of the code that has cx.
func branchesOf(cx *Cx) int {
	return reflect.ValueOf(activation.Of(cx)).Elem().FieldByName("branches").Len()
}
