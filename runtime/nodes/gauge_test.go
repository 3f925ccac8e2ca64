package nodes_test

import (
	"testing"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/nodes"
)

// A gauge is an actor that is read, held, or reads two others, one after the other or both at a time; it says that it has, and that it is written. It deletes others, seeks one and has it do what hail does, and winds another one, which goes off later.
type gauge struct{ aeonrt.Self }

func (x *gauge) SaveField(*aeonrt.Writer, int)    {}
func (x *gauge) LoadFields(*aeonrt.Reader)        {}
func (x *gaugeArgs) Encode(e *aeonrt.Encoder)     { aeonrt.PutRef(e, x.first); aeonrt.PutRef(e, x.second) }
func (x *gaugeArgs) Decode(d *aeonrt.Decoder)     { x.first, x.second = aeonrt.GetRef(d), aeonrt.GetRef(d) }
func (x *gaugeArgs) EncodeResult(*aeonrt.Encoder) {}
func (x *gaugeArgs) DecodeResult(*aeonrt.Decoder) {}
func newGaugeArgs() aeonrt.Args                   { return new(gaugeArgs) }
func gaugeMethod(name string, e aeonrt.Effects) aeonrt.Method {
	return aeonrt.Method{Class: &gaugeClass, Name: name, Signature: "(actor gauge.Gauge,actor gauge.Gauge)", Params: []string{"first", "second"}, Effects: e, NewArgs: newGaugeArgs}
}

type gaugeArgs struct{ first, second aeonrt.Ref }

var (
	gaugeClass   = aeonrt.Class{Shape: aeonrt.Shape{Package: "gauge", Name: "Gauge"}}
	gaugeNew     = gaugeMethod("new", aeonrt.Effects{Self: aeonrt.Write})
	gaugePeek    = gaugeMethod("peek", aeonrt.Effects{ReadOnly: true, Self: aeonrt.Read})
	gaugeRead    = gaugeMethod("read", aeonrt.Effects{ReadOnly: true, Self: aeonrt.Read})
	gaugeHold    = gaugeMethod("hold", aeonrt.Effects{Self: aeonrt.Write})
	gaugeBoth    = gaugeMethod("both", aeonrt.Effects{ReadOnly: true, Self: aeonrt.Read})
	gaugeTell    = gaugeMethod("tell", aeonrt.Effects{ReadOnly: true, Self: aeonrt.Read})
	gaugeMark    = gaugeMethod("mark", aeonrt.Effects{Self: aeonrt.Write})
	gaugeDrop    = gaugeMethod("drop", aeonrt.Effects{Self: aeonrt.Write})
	gaugeClear   = gaugeMethod("clear", aeonrt.Effects{Self: aeonrt.Write})
	gaugeApart   = gaugeMethod("apart", aeonrt.Effects{ReadOnly: true, Self: aeonrt.Read})
	gaugeHail    = gaugeMethod("hail", aeonrt.Effects{Self: aeonrt.Write})
	gaugeHailing = gaugeMethod("hailing", aeonrt.Effects{Self: aeonrt.Write})
	gaugeWind    = gaugeMethod("wind", aeonrt.Effects{Self: aeonrt.Write})
	gaugeSeek    = gaugeMethod("seek", aeonrt.Effects{Self: aeonrt.Read, Below: aeonrt.Any, BelowMode: aeonrt.Write, Touches: []aeonrt.ClassMode{{Shape: &gaugeClass.Shape, Mode: aeonrt.Write}}})
	gaugePackage = aeonrt.Package{Name: "gauge"}

	gaugeHeld chan struct{} // hold waits until it is closed

	gaugeHails func(*aeonrt.Cx) // is what hail does, and hailing, which first says that it is written
)

// gaugeDelay is after what time a gauge that is wound does what hail does.
const gaugeDelay = 10 * time.Second

func init() {
	gaugeClass.New = func() aeonrt.Object { return new(gauge) }
	gaugeClass.Methods, gaugeClass.Ctor = []*aeonrt.Method{&gaugePeek, &gaugeRead, &gaugeHold, &gaugeBoth, &gaugeTell, &gaugeMark, &gaugeDrop, &gaugeClear, &gaugeApart, &gaugeHail, &gaugeHailing, &gaugeWind, &gaugeSeek}, &gaugeNew
	nothing := func(*aeonrt.Cx, any, aeonrt.Args) {}
	gaugeNew.Run, gaugePeek.Run, gaugeRead.Run = nothing, nothing, nothing
	gaugeHold.Run = func(*aeonrt.Cx, any, aeonrt.Args) { <-gaugeHeld }
	gaugeBoth.Effects.ArgRefs = func(args aeonrt.Args, f *aeonrt.Footprint) {
		f.Add(args.(*gaugeArgs).first, aeonrt.Read)
		f.Add(args.(*gaugeArgs).second, aeonrt.Read)
	}
	gaugeBoth.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
		aeonrt.CallRemote(cx, args.(*gaugeArgs).first, &gaugePeek, &gaugeArgs{})
		if _, here := aeonrt.Enter[*gauge](cx, args.(*gaugeArgs).second, &gaugeRead); here {
			cx.Leave()
			return
		}
		aeonrt.CallRemote(cx, args.(*gaugeArgs).second, &gaugeRead, &gaugeArgs{})
	}
	gaugeSeek.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) { // as if it had the gauge from a field
		aeonrt.CallRemote(cx, args.(*gaugeArgs).first, &gaugeHail, &gaugeArgs{})
	}
	gaugeTell.Effects.ArgRefs = gaugeBoth.Effects.ArgRefs
	gaugeTell.Run = func(cx *aeonrt.Cx, self any, args aeonrt.Args) {
		gaugeBoth.Run(cx, self, args)
		cx.Print("told")
	}
	gaugeMark.Run = func(cx *aeonrt.Cx, _ any, _ aeonrt.Args) { cx.Print("marked") }
	gaugeHail.Run = func(cx *aeonrt.Cx, _ any, _ aeonrt.Args) { gaugeHails(cx) }
	gaugeHailing.Run = func(cx *aeonrt.Cx, _ any, _ aeonrt.Args) {
		cx.Print("marked")
		gaugeHails(cx)
	}
	gaugeDrop.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) { aeonrt.Delete(cx, args.(*gaugeArgs).first) }
	gaugeClear.Effects.ArgRefs = func(args aeonrt.Args, f *aeonrt.Footprint) {
		f.Add(args.(*gaugeArgs).first, aeonrt.Write)
		f.Add(args.(*gaugeArgs).second, aeonrt.Write)
	}
	gaugeClear.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
		aeonrt.CallRemote(cx, args.(*gaugeArgs).second, &gaugeMark, &gaugeArgs{})
		aeonrt.Delete(cx, args.(*gaugeArgs).first)
	}
	gaugeApart.Effects.ArgRefs = gaugeBoth.Effects.ArgRefs
	gaugeApart.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
		aeonrt.Async(cx, args.(*gaugeArgs).first, &gaugeRead, &gaugeArgs{})
		aeonrt.CallRemote(cx, args.(*gaugeArgs).second, &gaugePeek, &gaugeArgs{})
		<-gaugeHeld
	}
	gaugeWind.Run = func(cx *aeonrt.Cx, _ any, args aeonrt.Args) {
		if to := args.(*gaugeArgs).first; !to.IsNull() {
			aeonrt.CallRemote(cx, to, &gaugeWind, &gaugeArgs{second: to})
			return
		}
		cx.EmitAfter(args.(*gaugeArgs).second, &gaugeHail, &gaugeArgs{}, gaugeDelay, "")
	}
	gaugePackage.Classes = []*aeonrt.Class{&gaugeClass}
}

// gauges opens a cluster with a gauge in each of three stores.
func gauges(t *testing.T, change func(*nodes.Config)) (c *nodes.Cluster, all [3]aeonrt.Ref) {
	c = openProgram(t, &gaugePackage, len(all), func(cfg *nodes.Config) { cfg.Partitions, cfg.Spread = len(all), false }, change)
	for s := range all {
		var err error
		if all[s], err = c.System(event.StoreID(s)).Client().New(&gaugeClass, &gaugeNew, &gaugeArgs{}); err != nil {
			t.Fatal(err)
		}
	}
	return c, all
}
