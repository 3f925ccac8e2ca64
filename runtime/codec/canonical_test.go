package codec_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/codec"
)

// written are arguments that a function writes.
type written func(e *codec.Encoder)

func (w written) Encode(e *codec.Encoder) { w(e) }
func (w written) Decode(*codec.Decoder)   {}

// Two arguments have one canonical form exactly if they are equal.
func TestCanonicalTellsArgumentsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := drawNode(t, 1), drawNode(t, 1)
		for _, change := range []func(){ // they seldom differ in one thing only
			func() { y.name = x.name }, func() { y.n = x.n }, func() { y.small = x.small }, func() { y.f = x.f }, func() { y.next = x.next },
			func() { y.list = x.list }, func() { y.marks = x.marks }, func() { y.ids = x.ids }, func() { y.raw = x.raw },
		} {
			if rapid.IntRange(0, 9).Draw(t, "alike") > 0 {
				change()
			}
		}
		args := func(a, b node) []byte {
			return codec.Canonical(written(func(e *codec.Encoder) { putNode(e, a); putNode(e, b) }))
		}
		equal := bytes.Equal(encode(x), encode(y))
		if bytes.Equal(args(x, x), args(y, x)) != equal || bytes.Equal(args(x, x), args(x, y)) != equal {
			t.Fatalf("%x and %x are told apart if they are equal", encode(x), encode(y))
		}
	})
}

// A version that has the fields of a class in another order, or more of them that are null or zero, has the same canonical form.
func TestCanonicalOfVersions(t *testing.T) {
	order := func(fields ...string) []byte {
		var put func(e *codec.Encoder, depth int)
		put = func(e *codec.Encoder, depth int) {
			e.Record(len(fields))
			for _, name := range fields {
				m := e.Field(name)
				switch {
				case name == "long":
					e.String(string(bytes.Repeat([]byte{1}, 200)))
				case name == "n":
					e.Int(7)
				case name == "inner" && depth > 0:
					e.Bool(true)
					put(e, depth-1)
				case name == "zero":
					e.Float(0)
				default:
					e.Bool(false)
				}
				e.EndField(m)
			}
			e.EndRecord()
		}
		return codec.Canonical(written(func(e *codec.Encoder) {
			put(e, 1)
			if slices.Contains(fields, "more") {
				e.Bool(false)
			}
		}))
	}
	want := order("n", "long", "inner")
	for _, fields := range [][]string{{"inner", "n", "long"}, {"long", "note", "inner", "zero", "n"}, {"more", "n", "long", "inner"}} {
		if got := order(fields...); !bytes.Equal(got, want) {
			t.Errorf("%v gives %x, and before %x", fields, got, want)
		}
	}
	if bytes.Equal(order("n", "inner"), want) {
		t.Error("a field that has a value makes no difference")
	}
}
