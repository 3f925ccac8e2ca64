package codec_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/value"
)

// node is a class as generated code would encode it: a recursive value.
type node struct {
	name  string
	n     int64
	small uint8
	f     float64
	next  value.Box[node]
	list  value.Vector[node]
	marks value.Map[string, value.Opt[int16]]
	ids   value.Set[uint32]
	raw   value.Bytes
}

func putNode(e *codec.Encoder, x node) {
	e.Record(9)
	m := e.Field("name")
	e.String(x.name)
	e.EndField(m)
	m = e.Field("n")
	e.Int(x.n)
	e.EndField(m)
	m = e.Field("small")
	codec.PutUint(e, x.small)
	e.EndField(m)
	m = e.Field("f")
	e.Float(x.f)
	e.EndField(m)
	m = e.Field("next")
	codec.PutBox(e, x.next, putNode)
	e.EndField(m)
	m = e.Field("list")
	codec.PutVector(e, x.list, putNode)
	e.EndField(m)
	m = e.Field("marks")
	codec.PutMap(e, x.marks, (*codec.Encoder).String, func(e *codec.Encoder, o value.Opt[int16]) { codec.PutOpt(e, o, codec.PutInt) })
	e.EndField(m)
	m = e.Field("ids")
	codec.PutSet(e, x.ids, codec.PutUint)
	e.EndField(m)
	m = e.Field("raw")
	e.Bytes(x.raw)
	e.EndField(m)
	e.EndRecord()
}

func getNode(d *codec.Decoder) (x node) {
	for n := d.Record(); n > 0; n-- {
		switch string(d.Field()) {
		case "name":
			x.name = d.String()
		case "n":
			x.n = d.Int()
		case "small":
			x.small = codec.GetUint[uint8](d)
		case "f":
			x.f = d.Float()
		case "next":
			x.next = codec.GetBox(d, getNode)
		case "list":
			x.list = codec.GetVector(d, getNode)
		case "marks":
			x.marks = codec.GetMap(d, (*codec.Decoder).String, func(d *codec.Decoder) value.Opt[int16] { return codec.GetOpt(d, codec.GetInt[int16]) })
		case "ids":
			x.ids = codec.GetSet(d, codec.GetUint[uint32])
		case "raw":
			x.raw = d.Bytes()
		}
		d.EndField()
	}
	d.EndRecord()
	return x
}

func encode(x node) []byte {
	e := codec.NewEncoder(nil)
	putNode(e, x)
	return e.Data()
}

func drawNode(t *rapid.T, depth int) (x node) {
	x.name = rapid.String().Draw(t, "name")
	x.n = rapid.Int64().Draw(t, "n")
	x.small = rapid.Uint8().Draw(t, "small")
	x.f = rapid.Float64().Draw(t, "f")
	for range rapid.IntRange(0, 3).Draw(t, "marks") {
		value.SetEntry(&x.marks, rapid.String().Draw(t, "key"), value.SomeIf(rapid.Int16().Draw(t, "mark"), rapid.Bool().Draw(t, "some")))
	}
	for range rapid.IntRange(0, 3).Draw(t, "ids") {
		value.AddMember(&x.ids, rapid.Uint32().Draw(t, "id"))
	}
	x.raw = value.BytesOf(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "raw"))
	if depth > 0 {
		if rapid.Bool().Draw(t, "next") {
			x.next = value.BoxOf(drawNode(t, depth-1))
		}
		for range rapid.IntRange(0, 2).Draw(t, "list") {
			value.Push(&x.list, drawNode(t, depth-1))
		}
	}
	return x
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msg := encode(drawNode(t, 2))
		d := codec.NewDecoder(msg)
		back := getNode(d)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encode(back), msg) {
			t.Fatal("the decoded value encodes differently")
		}
		cut := rapid.IntRange(0, len(msg)-1).Draw(t, "cut")
		d = codec.NewDecoder(msg[:cut])
		getNode(d)
		if err := d.Close(); !errors.Is(err, codec.ErrCorrupt) {
			t.Fatalf("a message cut at %d of %d gave the error %v", cut, len(msg), err)
		}
	})
}

// TestOlderAndNewerPrograms reads a record with a field that is unknown and one that is missing.
func TestOlderAndNewerPrograms(t *testing.T) {
	e := codec.NewEncoder(nil)
	e.Record(2)
	m := e.Field("colour")
	e.String(string(make([]byte, 200)))
	e.EndField(m)
	m = e.Field("n")
	e.Int(7)
	e.EndField(m)
	e.EndRecord()
	d := codec.NewDecoder(e.Data())
	x := getNode(d)
	if err := d.Close(); err != nil || x.n != 7 || x.name != "" {
		t.Errorf("got n %d, name %q, error %v", x.n, x.name, err)
	}
}

func TestHostileInput(t *testing.T) {
	deep := []byte{codec.Version}
	for range 20_000 {
		deep = append(deep, 1)
	}
	cases := map[string][]byte{
		"empty":                {},
		"newer version":        {codec.Version + 1, 0},
		"huge length":          {codec.Version, 1, 4, 'n', 'a', 'm', 'e', 9, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"field beyond the end": {codec.Version, 1, 1, 'n', 90, 1},
		"overlong integer":     {codec.Version, 1, 1, 'n', 2, 0x80, 0x00},
		"trailing bytes":       {codec.Version, 0, 0},
		"set element twice":    {codec.Version, 1, 3, 'i', 'd', 's', 3, 2, 5, 5},
		"too wide":             {codec.Version, 1, 5, 's', 'm', 'a', 'l', 'l', 2, 0x80, 0x02},
	}
	for name, msg := range cases {
		d := codec.NewDecoder(msg)
		getNode(d)
		if err := d.Close(); !errors.Is(err, codec.ErrCorrupt) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestDepth: what nests too deeply is refused in both directions instead of exhausting the stack.
func TestDepth(t *testing.T) {
	x := node{}
	for range 9_000 {
		x = node{next: value.BoxOf(x)}
	}
	x.next = value.BoxOf(x)
	if d := codec.NewDecoder(encode(x)); getNode(d).n != 0 || d.Close() != nil {
		t.Errorf("9000 levels: %v", d.Close())
	}
	for range 2_000 {
		x = node{next: value.BoxOf(x)}
	}
	defer func() {
		if r := recover(); r != (value.Fault{Msg: codec.MsgDepth}) {
			t.Errorf("11000 levels: %v", r)
		}
	}()
	encode(x)
}

// FuzzDecode: no input makes the decoder panic or accept what it would not write.
func FuzzDecode(f *testing.F) {
	f.Add(encode(node{name: "x", n: 5, next: value.BoxOf(node{n: 1}), ids: value.SetOf[uint32](1, 9)}))
	f.Add([]byte{codec.Version, 1, 3, 'i', 'd', 's', 3, 2, 5, 5})
	f.Fuzz(func(t *testing.T, msg []byte) {
		d := codec.NewDecoder(msg)
		x := getNode(d)
		if d.Close() != nil {
			return
		}
		again := encode(x)
		d = codec.NewDecoder(again)
		if y := getNode(d); d.Close() != nil || !bytes.Equal(encode(y), again) {
			t.Errorf("%x is read as a value that does not survive encoding", msg)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	x := node{name: "ann", n: 1 << 40}
	e := codec.NewEncoder(nil)
	b.ReportAllocs()
	for range b.N {
		e.Reset()
		putNode(e, x)
	}
}

func BenchmarkDecode(b *testing.B) {
	msg := encode(node{name: "ann", n: 1 << 40})
	b.ReportAllocs()
	for range b.N {
		getNode(codec.NewDecoder(msg))
	}
}
