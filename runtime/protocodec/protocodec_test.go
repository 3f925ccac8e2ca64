package protocodec_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/protocodec"
	"github.com/aeon-lang/aeon/runtime/value"
)

// register is the actors of the tests: those of class p.Bank that have a name.
type register struct{}

func (register) Actor(class, text string) (event.ActorID, error) {
	name, ok := strings.CutPrefix(text, "Bank/")
	if class != "p.Bank" || !ok {
		return event.ActorID{}, fmt.Errorf("there is no actor %q of class %s", text, class)
	}
	return event.ActorID{Birth: 1, Serial: uint64(len(name)) + 1}, nil
}

func (register) ActorText(_ string, id event.ActorID) string {
	return "Bank/" + strings.Repeat("n", int(id.Serial-1))
}

func (register) Client(class, text string) (n uint64, err error) {
	_, err = fmt.Sscanf(text, "Ear:%d", &n)
	if err != nil || class != "p.Ear" {
		return 0, fmt.Errorf("there is no client %q of class %s", text, class)
	}
	return n, nil
}

// described is the services of a program, as protobuf's own library knows them.
type described struct {
	*protocodec.Schema
	files *protoregistry.Files
}

func compile(t testing.TB, classes ...protocodec.Class) described {
	t.Helper()
	s, err := protocodec.Compile(protocodec.Program{Classes: classes})
	if err != nil {
		t.Fatal(err)
	}
	return registered(t, s)
}

// registered has protobuf's own library read the descriptors of a schema.
func registered(t testing.TB, s *protocodec.Schema) described {
	t.Helper()
	d := described{s, new(protoregistry.Files)}
	for _, f := range s.Files {
		var of descriptorpb.FileDescriptorProto
		if err := proto.Unmarshal(f.Descriptor(), &of); err != nil {
			t.Fatal(err)
		}
		if len(of.ProtoReflect().GetUnknown()) > 0 {
			t.Fatalf("the descriptor has fields that are not known: %v", &of)
		}
		made, err := protodesc.NewFile(&of, resolver{d.files})
		if err != nil {
			t.Fatalf("%v\n%s", err, f.Source())
		}
		if err := d.files.RegisterFile(made); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// resolver finds the program's files, and those that each program has.
type resolver struct{ *protoregistry.Files }

func (r resolver) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if f, err := r.Files.FindFileByPath(path); err == nil {
		return f, nil
	}
	return protoregistry.GlobalFiles.FindFileByPath(path)
}

func (r resolver) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if d, err := r.Files.FindDescriptorByName(name); err == nil {
		return d, nil
	}
	return protoregistry.GlobalFiles.FindDescriptorByName(name)
}

// message returns a new message of a name.
func (d described) message(t testing.TB, name string) *dynamicpb.Message {
	t.Helper()
	found, err := d.files.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		t.Fatal(err)
	}
	return dynamicpb.NewMessage(found.(protoreflect.MessageDescriptor))
}

// one is a class with one method.
func one(signature string, params ...string) protocodec.Class {
	return protocodec.Class{Package: "p", Name: "Bank", Methods: []protocodec.Method{{Name: "echo", Signature: signature, Params: params}}}
}

// kind is a type, and how to draw a value of it.
type kind struct {
	text string
	draw func(t *rapid.T, e *codec.Encoder)
}

var keys = []kind{
	{"int", func(t *rapid.T, e *codec.Encoder) { e.Int(rapid.Int64().Draw(t, "n")) }},
	{"int8", func(t *rapid.T, e *codec.Encoder) { e.Int(int64(rapid.Int8().Draw(t, "n"))) }},
	{"uint16", func(t *rapid.T, e *codec.Encoder) { e.Uint(uint64(rapid.Uint16().Draw(t, "n"))) }},
	{"uint64", func(t *rapid.T, e *codec.Encoder) { e.Uint(rapid.Uint64().Draw(t, "n")) }},
	{"bool", func(t *rapid.T, e *codec.Encoder) { e.Bool(rapid.Bool().Draw(t, "b")) }},
	{"string", func(t *rapid.T, e *codec.Encoder) { e.String(rapid.String().Draw(t, "s")) }},
	{"bytes", func(t *rapid.T, e *codec.Encoder) {
		e.Bytes(value.BytesOf(rapid.SliceOf(rapid.Byte()).Draw(t, "b")))
	}},
	{"time", func(t *rapid.T, e *codec.Encoder) { e.Int(rapid.Int64().Draw(t, "at")) }},
	{"duration", func(t *rapid.T, e *codec.Encoder) { e.Int(rapid.Int64().Draw(t, "d")) }},
	{"enum q.Colour{RED,GREEN,BLUE}", func(t *rapid.T, e *codec.Encoder) { e.Uint(uint64(rapid.IntRange(0, 2).Draw(t, "i"))) }},
	{"actor p.Bank", func(t *rapid.T, e *codec.Encoder) {
		e.Uint(1)
		e.Uint(uint64(rapid.IntRange(1, 9).Draw(t, "name")))
	}},
}

var scalars = append([]kind{
	{"float", func(t *rapid.T, e *codec.Encoder) { e.Float(rapid.Float64().Draw(t, "f")) }},
	{"client p.Ear", func(t *rapid.T, e *codec.Encoder) { e.Uint(rapid.Uint64Min(1).Draw(t, "number")) }},
}, keys...)

// drawKind draws a type. Names of classes begin with prefix, so that all of them differ.
func drawKind(t *rapid.T, prefix string, depth int) kind {
	form := 0
	if depth > 0 {
		form = rapid.IntRange(0, 5).Draw(t, prefix)
	}
	switch form {
	case 1:
		elem := drawKind(t, prefix+"v", depth-1)
		return kind{"vector<" + elem.text + ">", func(t *rapid.T, e *codec.Encoder) {
			n := rapid.IntRange(0, 3).Draw(t, "size")
			e.Uint(uint64(n))
			for range n {
				elem.draw(t, e)
			}
		}}
	case 2:
		elem := rapid.SampledFrom(keys).Draw(t, prefix+"s")
		return kind{"set<" + elem.text + ">", func(t *rapid.T, e *codec.Encoder) {
			drawDistinct(t, e, elem, func(*codec.Encoder) {})
		}}
	case 3:
		key, elem := rapid.SampledFrom(keys).Draw(t, prefix+"k"), drawKind(t, prefix+"m", depth-1)
		return kind{"map<" + key.text + "," + elem.text + ">", func(t *rapid.T, e *codec.Encoder) {
			drawDistinct(t, e, key, func(e *codec.Encoder) { elem.draw(t, e) })
		}}
	case 4:
		elem := drawKind(t, prefix+"o", depth-1)
		if strings.HasSuffix(elem.text, "?") {
			return elem
		}
		return kind{elem.text + "?", func(t *rapid.T, e *codec.Encoder) {
			some := rapid.Bool().Draw(t, "some")
			switch {
			case elem.text == "actor p.Bank" && !some:
				e.Uint(0)
				e.Uint(0)
			case elem.text == "client p.Ear" && !some:
				e.Uint(0)
			case elem.text != "actor p.Bank" && elem.text != "client p.Ear":
				e.Bool(some)
			}
			if some {
				elem.draw(t, e)
			}
		}}
	case 5:
		a, b := drawKind(t, prefix+"a", depth-1), drawKind(t, prefix+"b", depth-1)
		return kind{"class p." + prefix + "C{a_Value " + a.text + ";aValue " + b.text + ";key int?}", func(t *rapid.T, e *codec.Encoder) {
			e.Record(3)
			for _, f := range []struct {
				name string
				put  func()
			}{{"a_Value", func() { a.draw(t, e) }}, {"aValue", func() { b.draw(t, e) }}, {"key", func() { e.Bool(false) }}} {
				m := e.Field(f.name)
				f.put()
				e.EndField(m)
			}
			e.EndRecord()
		}}
	}
	return rapid.SampledFrom(scalars).Draw(t, prefix)
}

// drawDistinct draws different keys; each puts what follows the key.
func drawDistinct(t *rapid.T, e *codec.Encoder, key kind, each func(e *codec.Encoder)) {
	in, n, seen := codec.Encoder{}, 0, map[string]bool{}
	for range rapid.IntRange(0, 3).Draw(t, "size") {
		before := len(in.Data())
		key.draw(t, &in)
		k := string(in.Data()[before:])
		if seen[k] {
			in.Append(in.Data()[:before])
			continue
		}
		seen[k] = true
		each(&in)
		n++
	}
	e.Uint(uint64(n))
	e.Append(append(e.Data(), in.Data()...))
}

// The nanoseconds of a time count forwards, also before 1970.
func TestTimesBefore1970(t *testing.T) {
	d := compile(t, one("(time,string?):time", "key", "Key"))
	rpc := d.Services["p.Bank"].Methods[0]
	for at, want := range map[time.Duration][2]int64{-1500 * time.Millisecond: {-2, 500_000_000}, -1: {-1, 999_999_999}, -2 * time.Second: {-2, 0}, 1: {0, 1}} {
		e := codec.NewEncoder(nil)
		e.Int(int64(at))
		b, err := rpc.Append(nil, e.Data(), register{})
		if err != nil {
			t.Fatal(err)
		}
		answer := d.message(t, "p.BankEchoResponse")
		if err := proto.Unmarshal(b, answer); err != nil {
			t.Fatal(err)
		}
		got := answer.Get(answer.Descriptor().Fields().ByName("result")).Message()
		fields := got.Descriptor().Fields()
		if s, n := got.Get(fields.ByName("seconds")).Int(), got.Get(fields.ByName("nanos")).Int(); s != want[0] || n != want[1] {
			t.Errorf("%v before or after 1970 is %d s and %d ns, want %v", at, s, n, want)
		}
	}
}

// Values of all types are what protobuf's own library reads, and what it writes of them is read as what they were. It may
// write the entries of maps in another order.
func TestValuesSurviveProtobuf(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := drawKind(rt, "T", 3)
		d := compile(t, one("("+k.text+",string?):"+k.text, "key", "Key"))
		rpc := d.Services["p.Bank"].Methods[0]
		e := codec.NewEncoder(nil)
		k.draw(rt, e)
		msg := e.Data()
		b, err := rpc.Append(nil, msg, register{})
		if err != nil {
			rt.Fatalf("%s: %v", k.text, err)
		}
		answer, request := d.message(t, "p.BankEchoResponse"), d.message(t, "p.BankEchoRequest")
		if err := proto.Unmarshal(b, answer); err != nil || hasUnknown(answer) {
			rt.Fatalf("%s: the library reads %x as %v (%v)", k.text, b, answer, err)
		}
		fields := request.Descriptor().Fields()
		request.Set(fields.ByNumber(1), protoreflect.ValueOf("main"))
		from := answer.Descriptor().Fields().ByName("result")
		if answer.Has(from) {
			// The types of the two fields may be two, inside their messages; the bytes are the same.
			if err := proto.Unmarshal(retag(b), request); err != nil {
				rt.Fatal(err)
			}
			request.Set(fields.ByNumber(1), protoreflect.ValueOf("main"))
		}
		written, err := proto.Marshal(request)
		if err != nil {
			rt.Fatal(err)
		}
		key, args, err := rpc.Read(written, register{})
		if err != nil || key != "main" {
			rt.Fatalf("%s: %x is read with %q: %v", k.text, written, key, err)
		}
		if want := append(bytes.Clone(msg), 0); !bytes.Equal(args, want) && !strings.Contains(k.text, "map<") {
			rt.Fatalf("%s: %x is read as %x, and is %x", k.text, written, args, want)
		}
		if again, err := rpc.Append(nil, args[:len(args)-1], register{}); err != nil || len(again) != len(b) {
			rt.Fatalf("%s: %x is written again as %x (%v)", k.text, b, again, err)
		}
	})
}

// retag makes of the field result of an answer the first parameter of a request: number 1 becomes 2, wherever it stands.
func retag(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		wire := b[0] & 7
		n := sizeOf(b)
		out = append(append(out, 2<<3|wire), b[1:n]...)
		b = b[n:]
	}
	return out
}

// sizeOf returns how many bytes the first field of b takes, whose tag takes one.
func sizeOf(b []byte) int {
	n := 1
	switch b[0] & 7 {
	case 1:
		return n + 8
	case 0:
		for b[n]&0x80 != 0 {
			n++
		}
		return n + 1
	}
	size, shift := 0, 0
	for {
		c := b[n]
		size |= int(c&0x7f) << shift
		n, shift = n+1, shift+7
		if c&0x80 == 0 {
			return n + size
		}
	}
}

// hasUnknown reports whether the library has found fields in m that the description does not have.
func hasUnknown(m protoreflect.Message) (found bool) {
	found = len(m.GetUnknown()) > 0
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		look := func(f protoreflect.FieldDescriptor, v protoreflect.Value) {
			if f.Kind() == protoreflect.MessageKind {
				found = found || hasUnknown(v.Message())
			}
		}
		switch {
		case f.IsMap():
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				look(f.MapValue(), v)
				return true
			})
		case f.IsList():
			for i := range v.List().Len() {
				look(f, v.List().Get(i))
			}
		default:
			look(f, v)
		}
		return true
	})
	return found
}

// Bytes that are no request are refused, with the place.
func TestWrongRequests(t *testing.T) {
	d := compile(t, one("(int8,vector<class p.Price{cents int;at time}>,set<int>,map<string,bool>,enum p.E{RED,BLUE},duration,string,actor p.Bank?,float?)",
		"small", "prices", "marks", "by_name", "colour", "wait", "text", "bank", "rate"))
	rpc := d.Services["p.Bank"].Methods[0]
	const rest = "\x30\x01\x3a\x00" // a colour and no time to wait
	for _, c := range []struct{ bytes, says string }{
		{rest, ""},
		{"\x0a\x01m\x10\x7f\x1a\x02\x12\x00\x22\x02\x05\x07\x20\x01\x2a\x05\x0a\x01a\x10\x01\x42\x01t\x4a\x06Bank/a\x51\x00\x00\x00\x00\x00\x00\x00\x00" + rest, ""},
		{"", "colour: it is missing; its type is E"},
		{"\x30\x00\x3a\x00", "colour: it is missing; its type is E"},
		{"\x30\x03\x3a\x00", "colour: enum p.E has no constant 3"},
		{"\x30\x01", "wait: it is missing; its type is duration"},
		{"\x10\x80\x01" + rest, "small: 128 is no int8: that is a whole number from -128 to 127"},
		{"\x10\x01\x10\x01" + rest, "small: it is there twice"},
		{"\x12\x01a" + rest, "small: the value has type 2 of protobuf, which is no int8"},
		{"\x1a\x00" + rest, "prices[0].at: it is missing; its type is time"},
		{"\x1a\x0c\x12\x0a\x10\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + rest, "prices[0].at: 0 s and 9223372036854775807 ns are no time"},
		{"\x22\x02\x05\x05" + rest, "marks[1]: the element is in the set already"},
		{"\x2a\x00\x2a\x00" + rest, "by_name[1]: the key is there twice"},
		{"\x42\x01\xff" + rest, "text: it is no string in UTF-8"},
		{"\x4a\x01x" + rest, `bank: there is no actor "x" of class p.Bank`},
		{"\x7a\x00" + rest, "message p.BankEchoRequest has no field 15; compile the client with the program's present .proto file"},
		{"\x1a\x05" + rest, "the message is no protobuf: a value of 5 bytes does not end"},
		{"\x80", "the message is no protobuf: a number does not end"},
		{"\x03", "the message is no protobuf: a field has number 0"},
		{"\x13", "the message is no protobuf: a value has type 3"},
		{"\x30\x01\x3a\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "wait: 9223372036854775807 s is beyond the range of duration"},
		{"\x30\x01\x3a\x0d\x08\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "wait: 1 s and -1 ns are no duration"},
	} {
		_, _, err := rpc.Read([]byte(c.bytes), register{})
		switch wrong := new(jsoncodec.Error); {
		case err == nil && c.says == "":
		case err == nil || err.Error() != c.says:
			t.Errorf("%q: %v\nexpected: %s", c.bytes, err, c.says)
		case !errors.As(err, &wrong):
			t.Errorf("%q: %T", c.bytes, err)
		}
	}
}

// A result that protobuf cannot have is an error, and no other text.
func TestTextThatIsNone(t *testing.T) {
	rpc := compile(t, one("():vector<string>")).Services["p.Bank"].Methods[0]
	e := codec.NewEncoder(nil)
	e.Uint(1)
	e.String("a\xff")
	if _, err := rpc.Append(nil, e.Data(), register{}); err == nil || err.Error() != `a string of protobuf is UTF-8, and "a\xff" is not` {
		t.Error(err)
	}
}

// Zero is not null: it is sent where null is another value.
func TestZeroIsNotNull(t *testing.T) {
	rpc := compile(t, one("():int?")).Services["p.Bank"].Methods[0]
	e := codec.NewEncoder(nil)
	e.Bool(true)
	e.Int(0)
	if b, err := rpc.Append(nil, e.Data(), register{}); err != nil || string(b) != "\x08\x00" {
		t.Errorf("%x (%v)", b, err)
	}
}

// Values nest no deeper than the bound.
func TestDeepValues(t *testing.T) {
	rpc := compile(t, one("(class p.List{next class p.List?})", "list")).Services["p.Bank"].Methods[0]
	deep := func(n int) []byte {
		b := []byte{}
		for range n {
			b = append(append([]byte{0x0a}, uvarint(len(b))...), b...)
		}
		return append(append([]byte{0x12}, uvarint(len(b))...), b...)
	}
	if _, _, err := rpc.Read(deep(900), register{}); err != nil {
		t.Error(err)
	}
	if _, _, err := rpc.Read(deep(3000), register{}); err == nil || err.Error() != "it nests deeper than 1000" {
		t.Error(err)
	}
}

func uvarint(n int) (b []byte) {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// Names that protobuf takes for one are told apart, and fields keep their numbers when others come behind them.
func TestNames(t *testing.T) {
	text := func(c ...protocodec.Class) (all string) {
		for _, f := range compile(t, c...).Files {
			all += f.Source()
		}
		return all
	}
	const price = "class q.Price{a_b int;aB map<time,vector<int>?>;AB int}"
	small := text(one("("+price+")", "key"))
	large := text(one("("+price+",int?)", "key", "more"), protocodec.Class{Package: "p", Name: "B", Methods: []protocodec.Method{{Name: "ankEcho", Signature: "():class p.BankEchoRequest{x int}"}}})
	for _, line := range []string{"int64 a_b = 1;", "repeated .q.Price.AB2Entry aB2 = 2;", "int64 AB3 = 3;", "string key = 1;", ".q.Price key2 = 2;"} {
		if !strings.Contains(small, line+"\n") || !strings.Contains(large, line+"\n") {
			t.Errorf("%q is missing in\n%s\nor\n%s", line, small, large)
		}
	}
	if !strings.Contains(large, "message BankEchoRequest_ {") || !strings.Contains(large, "optional int64 more = 3;") {
		t.Error(large)
	}
}

// FuzzRead: no bytes make Read panic, and what it accepts is written as what is read alike.
func FuzzRead(f *testing.F) {
	const of = "class p.O{a string;b vector<class p.L{n int8;next class p.L?;at time}>;c map<uint16,set<bytes>>;d float?;e enum p.E{A,B}?;f vector<duration?>?}"
	rpc := compile(f, one("("+of+"):"+of, "o")).Services["p.Bank"].Methods[0]
	f.Add([]byte("\x12\x00"))
	f.Add([]byte("\x12\x19\x0a\x01a\x12\x04\x08\x01\x1a\x00\x1a\x0a\x08\x07\x12\x06\x0a\x01x\x0a\x01y\x28\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, args, err := rpc.Read(b, register{})
		if err != nil {
			return
		}
		again, err := rpc.Append(nil, args, register{})
		if err != nil {
			t.Fatal(err)
		}
		_, back, err := rpc.Read(append([]byte{0x12}, again[1:]...), register{})
		if err != nil || !bytes.Equal(back, args) {
			t.Fatalf("%x is read as %x (%v)", again, back, err)
		}
	})
}
