package jsoncodec_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
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

func (register) Client(class, text string) (uint64, error) {
	return 0, fmt.Errorf("there is no stream %q for an object of class %s", text, class)
}

func compile(t testing.TB, signature string, names ...string) (*jsoncodec.Params, *jsoncodec.Type) {
	t.Helper()
	var c jsoncodec.Compiler
	params, result, err := c.Signature(signature, names)
	if err != nil {
		t.Fatal(err)
	}
	return params, result
}

// kind is a type, and how to draw a value of it: as JSON, and as the message.
type kind struct {
	text string
	key  bool // values can be keys
	draw func(t *rapid.T, e *codec.Encoder) (json string)
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// drawKind draws a type. Names of classes and enums begin with prefix, so that all of them differ.
func drawKind(t *rapid.T, prefix string, depth int) kind {
	n := 9
	if depth > 0 {
		n = 14
	}
	switch rapid.IntRange(0, n).Draw(t, prefix) {
	case 0:
		return kind{"int", true, func(t *rapid.T, e *codec.Encoder) string {
			n := rapid.Int64().Draw(t, "n")
			e.Int(n)
			return fmt.Sprint(n)
		}}
	case 1:
		return kind{"uint8", true, func(t *rapid.T, e *codec.Encoder) string {
			n := rapid.Uint8().Draw(t, "n")
			e.Uint(uint64(n))
			return fmt.Sprint(n)
		}}
	case 2:
		return kind{"float", false, func(t *rapid.T, e *codec.Encoder) string {
			f := rapid.Float64().Draw(t, "f")
			e.Float(f)
			b, err := json.Marshal(f)
			if err != nil {
				panic(err)
			}
			return string(b)
		}}
	case 3:
		return kind{"bool", true, func(t *rapid.T, e *codec.Encoder) string {
			b := rapid.Bool().Draw(t, "b")
			e.Bool(b)
			return fmt.Sprint(b)
		}}
	case 4:
		return kind{"string", true, func(t *rapid.T, e *codec.Encoder) string {
			s := rapid.String().Draw(t, "s")
			e.String(s)
			return quote(s)
		}}
	case 5:
		return kind{"bytes", true, func(t *rapid.T, e *codec.Encoder) string {
			b := rapid.SliceOf(rapid.Byte()).Draw(t, "b")
			e.Bytes(value.BytesOf(b))
			return quote(base64.StdEncoding.EncodeToString(b))
		}}
	case 6:
		return kind{"time", true, func(t *rapid.T, e *codec.Encoder) string {
			at := value.Time(rapid.Int64().Draw(t, "at"))
			e.Int(int64(at))
			return quote(at.Str())
		}}
	case 7:
		return kind{"duration", true, func(t *rapid.T, e *codec.Encoder) string {
			d := value.Duration(rapid.Int64Min(-1<<62).Draw(t, "d"))
			e.Int(int64(d))
			return quote(d.Str())
		}}
	case 8:
		return kind{"enum p." + prefix + "E{RED,GREEN,BLUE}", true, func(t *rapid.T, e *codec.Encoder) string {
			i := rapid.IntRange(0, 2).Draw(t, "i")
			e.Uint(uint64(i))
			return quote([]string{"RED", "GREEN", "BLUE"}[i])
		}}
	case 9:
		return kind{"actor p.Bank", true, func(t *rapid.T, e *codec.Encoder) string {
			n := rapid.IntRange(0, 9).Draw(t, "name")
			e.Uint(1)
			e.Uint(uint64(n) + 1)
			return quote("Bank/" + strings.Repeat("n", n))
		}}
	case 10:
		elem := drawKind(t, prefix+"v", depth-1)
		return kind{"vector<" + elem.text + ">", false, func(t *rapid.T, e *codec.Encoder) string {
			var parts []string
			n := rapid.IntRange(0, 3).Draw(t, "size")
			e.Uint(uint64(n))
			for range n {
				parts = append(parts, elem.draw(t, e))
			}
			return "[" + strings.Join(parts, ",") + "]"
		}}
	case 11:
		elem := drawKey(t, prefix+"s")
		return kind{"set<" + elem.text + ">", false, func(t *rapid.T, e *codec.Encoder) string {
			return "[" + strings.Join(drawDistinct(t, e, elem, func(_ *codec.Encoder, key string) string { return key }), ",") + "]"
		}}
	case 12:
		key, elem := drawKey(t, prefix+"k"), drawKind(t, prefix+"m", depth-1)
		return kind{"map<" + key.text + "," + elem.text + ">", false, func(t *rapid.T, e *codec.Encoder) string {
			return "{" + strings.Join(drawDistinct(t, e, key, func(e *codec.Encoder, key string) string {
				if key[0] != '"' {
					key = quote(key)
				}
				return key + ":" + elem.draw(t, e)
			}), ",") + "}"
		}}
	case 13:
		elem := drawKind(t, prefix+"o", depth-1)
		for strings.HasSuffix(elem.text, "?") {
			elem = drawKind(t, prefix+"o", depth-1)
		}
		return kind{elem.text + "?", false, func(t *rapid.T, e *codec.Encoder) string {
			some := rapid.Bool().Draw(t, "some")
			switch {
			case elem.text == "actor p.Bank" && !some:
				e.Uint(0)
				e.Uint(0)
			case elem.text != "actor p.Bank":
				e.Bool(some)
			}
			if !some {
				return "null"
			}
			return elem.draw(t, e)
		}}
	}
	a, b := drawKind(t, prefix+"a", depth-1), drawKind(t, prefix+"b", depth-1)
	return kind{"class p." + prefix + "C{a " + a.text + ";b " + b.text + "}", false, func(t *rapid.T, e *codec.Encoder) string {
		e.Record(2)
		m := e.Field("a")
		one := a.draw(t, e)
		e.EndField(m)
		m = e.Field("b")
		two := b.draw(t, e)
		e.EndField(m)
		e.EndRecord()
		return `{"a":` + one + `,"b":` + two + `}`
	}}
}

func drawKey(t *rapid.T, prefix string) kind {
	return rapid.Custom(func(t *rapid.T) kind { return drawKind(t, prefix, 0) }).Filter(func(k kind) bool { return k.key }).Draw(t, prefix)
}

// drawDistinct draws different keys; each puts what follows the key.
func drawDistinct(t *rapid.T, e *codec.Encoder, key kind, each func(e *codec.Encoder, key string) string) (parts []string) {
	in, n, seen := codec.Encoder{}, 0, map[string]bool{}
	for range rapid.IntRange(0, 3).Draw(t, "size") {
		before := len(in.Data())
		k := key.draw(t, &in)
		if seen[k] {
			in.Append(in.Data()[:before])
			continue
		}
		seen[k] = true
		parts = append(parts, each(&in, k))
		n++
	}
	e.Uint(uint64(n))
	e.Append(append(e.Data(), in.Data()...))
	return parts
}

// Values of all types are the JSON that a programmer would write, and JSON is read as what it was written from.
func TestValuesSurviveJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKind(t, "T", 3)
		var c jsoncodec.Compiler
		params, result, err := c.Signature("("+k.text+",string?):"+k.text, []string{"x", "memo"})
		if err != nil {
			t.Fatalf("%s: %v", k.text, err)
		}
		e := codec.NewEncoder(nil)
		want := k.draw(t, e)
		msg := e.Data()
		got, err := result.Append(nil, msg, register{})
		if err != nil || !equalJSON(got, []byte(want)) {
			t.Fatalf("%s: written as %s, and is %s (%v)", k.text, got, want, err)
		}
		back, err := result.Read(got, register{})
		if err != nil || !bytes.Equal(back, msg) {
			t.Fatalf("%s: %s is read as %x, and is %x (%v)", k.text, got, back, msg, err)
		}
		object := fmt.Sprintf("\n{ \"memo\" : null, \"x\": %s }", want)
		if rapid.Bool().Draw(t, "leave out null") {
			object = `{"x":` + want + `}`
		}
		args, err := params.Read([]byte(object), register{})
		if want := append(bytes.Clone(msg), 0); err != nil || !bytes.Equal(args, want) {
			t.Fatalf("%s: the arguments %s are read as %x, and are %x (%v)", k.text, object, args, want, err)
		}
		text := want
		if text[0] == '"' {
			if err := json.Unmarshal([]byte(text), &text); err != nil {
				t.Fatal(err)
			}
		}
		if again, err := params.ReadTexts(map[string][]string{"x": {text}}, register{}); text != "null" && (err != nil || !bytes.Equal(again, args)) {
			t.Fatalf("%s: the text %q is read as %x, and is %x (%v)", k.text, text, again, args, err)
		}
	})
}

// equalJSON compares two texts without regard to the form of their strings and numbers.
func equalJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}

func TestWrongArguments(t *testing.T) {
	const price = "class p.Price{cents int8;memo string?}"
	params, _ := compile(t, "(string,vector<"+price+">,set<int>,map<bool,float>,enum p.E{RED,BLUE}?,actor p.Bank?,duration?,time?,bytes?,uint64?,client p.Screen?)",
		"who", "prices", "marks", "rates", "colour", "bank", "wait", "at", "raw", "big", "screen")
	for _, c := range []struct{ text, says string }{
		{`{"who": "ann", "prices": [], "marks": [], "rates": {}}`, ""},
		{`{"who": "ann", "prices": [{"cents": 1}], "marks": [1, 2], "rates": {"true": 1e3}, "colour": "BLUE", "bank": "Bank/main", "wait": "1m30s", "at": "2026-01-02T03:04:05Z", "raw": "aGk=", "big": 18446744073709551615, "screen": null}`, ""},
		{``, "who: it is missing; its type is string"},
		{`[]`, `an array at byte 0, where an object with the parameters was expected`},
		{`{"who": "ann"`, `the text ends where "," or "}" is missing`},
		{`{"who": "ann", "who": "bob"}`, "who: it is there twice"},
		{`{"hwo": "ann"}`, `the method has no parameter "hwo"; did you mean "who"?`},
		{`{"x": 1}`, `the method has no parameter "x"; the parameters are who, prices, marks, rates, colour, bank, wait, at, raw, big, screen`},
		{`{"who": 7}`, `who: the number 7 at byte 8, where a string was expected`},
		{`{"who": ["\u00e9"]}`, "who: an array at byte 8, where a string was expected"},
		{`{"who": "a", "prices": "one"}`, `prices: the string "one" at byte 23, where "[" was expected`},
		{`{"who": null}`, `who: null at byte 8, where a string was expected`},
		{"{\"who\": \"a\nb\"}", "who: control character 0x0a in the string at byte 8"},
		{"{\"who\": \"a\xffb\"}", "who: the string at byte 8 is no JSON"},
		{`{"who": "a`, "who: the string at byte 8 does not end"},
		{`{"who": "ann", "prices": [{"cents": 1}, {"cents": 200}]}`, "prices[1].cents: 200 is no int8: that is a whole number from -128 to 127"},
		{`{"who": "ann", "prices": [{"cents": 1.0}]}`, "prices[0].cents: 1.0 is no int8: that is a whole number from -128 to 127"},
		{`{"who": "ann", "prices": [{"cent": 1}]}`, `prices[0]: class Price has no field "cent"; did you mean "cents"?`},
		{`{"who": "ann", "prices": [{}]}`, "prices[0].cents: it is missing; its type is int8"},
		{`{"who": "ann", "prices": [{"cents": 1},]}`, `prices[1]: "]" at byte 39, where an object with the fields was expected`},
		{`{"who": "ann", "prices": [], "marks": [1, 2, 1]}`, "marks[2]: the element is in the set already"},
		{`{"who": "ann", "prices": [], "marks": [01]}`, `marks: the number 1 at byte 40, where "," or "]" was expected`},
		{`{"rates": {"yes": 1}}`, `rates["yes"]: "y" at byte 0, where true or false was expected`},
		{`{"rates": {"true": 1, "true": 2}}`, `rates["true"]: the key is there twice`},
		{`{"rates": {"true": 1e999}}`, `rates["true"]: 1e999 is beyond the range of float`},
		{`{"rates": {"true": "much"}}`, `rates["true"]: "much" is neither a number nor NaN, Infinity or -Infinity`},
		{`{"colour": "GREEN"}`, `colour: "GREEN" is none of "RED", "BLUE"`},
		{`{"bank": "Shop/main"}`, `bank: there is no actor "Shop/main" of class p.Bank`},
		{`{"wait": "90"}`, `wait: "90" is no duration as 1m30s`},
		{`{"at": "yesterday"}`, `at: "yesterday" is no time as 2006-01-02T15:04:05Z, between the years 1678 and 2262`},
		{`{"raw": "?"}`, `raw: "?" is no base64`},
		{`{"big": -1}`, "big: -1 is no uint64: that is a whole number from 0 to 18446744073709551615"},
		{`{"screen": "s"}`, `screen: there is no stream "s" for an object of class p.Screen`},
		{`{"who": "ann", "prices": [], "marks": [], "rates": {}} {}`, `an object at byte 55, where the end was expected`},
	} {
		_, err := params.Read([]byte(c.text), register{})
		switch wrong := new(jsoncodec.Error); {
		case err == nil && c.says == "":
		case err == nil || err.Error() != c.says:
			t.Errorf("%s: %v\nexpected: %s", c.text, err, c.says)
		case !errors.As(err, &wrong):
			t.Errorf("%s: %T", c.text, err)
		}
	}
	for _, c := range []struct {
		texts map[string][]string
		says  string
	}{
		{map[string][]string{"who": {"a"}, "prices": {"[]"}, "marks": {"[3]"}, "rates": {"{}"}, "colour": {"RED"}, "big": {"7"}}, ""},
		{map[string][]string{"who": {"a", "b"}}, "who: it is there twice"},
		{map[string][]string{"marks": {"[3],"}}, `marks: "," at byte 3, where the end was expected`},
		{map[string][]string{"colour": {"null"}}, `colour: "null" is none of "RED", "BLUE"`},
	} {
		if _, err := params.ReadTexts(c.texts, register{}); (err == nil) != (c.says == "") || err != nil && err.Error() != c.says {
			t.Errorf("%v: %v\nexpected: %s", c.texts, err, c.says)
		}
	}
}

// A value of a recursive class may nest as deep as the bound, and no deeper.
func TestDeepValues(t *testing.T) {
	params, result := compile(t, "(class p.List{next class p.List?}):class p.List{next class p.List?}", "list")
	deep := func(n int) []byte {
		return []byte(`{"list":` + strings.Repeat(`{"next":`, n) + `{}` + strings.Repeat("}", n) + `}`)
	}
	msg, err := params.Read(deep(900), register{})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := result.Append(nil, msg, register{}); err != nil || strings.Count(string(b), "next") != 901 {
		t.Errorf("%.50s (%v)", b, err)
	}
	if _, err := params.Read(deep(100_000), register{}); err == nil || err.Error() != "it nests deeper than 1000" {
		t.Error(err)
	}
}

// FuzzRead: no text makes Read panic, what it accepts is JSON, and is written as what is read alike.
func FuzzRead(f *testing.F) {
	const text = "(string,vector<class p.L{n int8;next class p.L?;at time}>,map<uint16,set<bytes>>,float?,enum p.E{A,B}?)"
	for _, s := range []string{`{"a":"\u00e9\ud83d\ude00","b":[{"n":-3,"next":{"n":1,"at":"2026-01-02T03:04:05Z"},"at":"1999-01-01T00:00:00.5Z"}],"c":{"7":["aGk="]},"d":-1e-7}`, `{"e":"B"}`, "{"} {
		f.Add([]byte(s))
	}
	params, _ := compile(f, text, "a", "b", "c", "d", "e")
	_, object := compile(f, "():class p.O{a string;b vector<class p.L{n int8;next class p.L?;at time}>;c map<uint16,set<bytes>>;d float?;e enum p.E{A,B}?}")
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := params.Read(text, register{})
		msg, again := object.Read(text, register{})
		if (err == nil) != (again == nil) {
			t.Fatalf("as arguments %v, as an object %v", err, again)
		}
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatal("it is no JSON")
		}
		b, err := object.Append(nil, msg, register{})
		if err != nil || !json.Valid(b) {
			t.Fatalf("is written as %s (%v)", b, err)
		}
		if back, err := object.Read(b, register{}); err != nil || !bytes.Equal(back, msg) {
			t.Fatalf("%s is read as %x, and is %x (%v)", b, back, msg, err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	params, _ := compile(b, "(string,int)", "owner", "amount")
	text := []byte(`{"owner":"ann","amount":5}`)
	b.ReportAllocs()
	for range b.N {
		if _, err := params.Read(text, register{}); err != nil {
			b.Fatal(err)
		}
	}
}
