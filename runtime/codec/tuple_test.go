package codec_test

import (
	"bytes"
	"cmp"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/codec"
)

// Keys of several parts sort as their parts do, one after the other.
func TestKeysSortAsTheirParts(t *testing.T) {
	type parts struct {
		i int64
		s string
		u uint8
		b bool
		e string
	}
	text := rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 'a', 254, 255}), 0, 4).Draw(t, "s"))
	})
	draw := rapid.Custom(func(t *rapid.T) parts {
		return parts{
			rapid.SampledFrom([]int64{math.MinInt64, -256, -1, 0, 1, 255, math.MaxInt64}).Draw(t, "i"), text.Draw(t, "s"),
			rapid.Uint8().Draw(t, "u"), rapid.Bool().Draw(t, "b"), text.Draw(t, "e"),
		}
	})
	key := func(p parts) []byte {
		var e codec.Encoder
		codec.PutKeyInt(&e, p.i)
		codec.PutKeyString(&e, p.s)
		codec.PutKeyUint(&e, p.u)
		codec.PutKeyBool(&e, p.b)
		codec.PutKeyString(&e, p.e)
		return e.Data()
	}
	prefix := func(p parts) []byte {
		var e codec.Encoder
		codec.PutKeyInt(&e, p.i)
		codec.PutKeyString(&e, p.s)
		return e.Data()
	}
	number := map[bool]int{true: 1}
	rapid.Check(t, func(t *rapid.T) {
		p, q := draw.Draw(t, "p"), draw.Draw(t, "q")
		if rapid.Bool().Draw(t, "near") {
			q.i, q.s = p.i, p.s
		}
		want := cmp.Or(cmp.Compare(p.i, q.i), cmp.Compare(p.s, q.s), cmp.Compare(p.u, q.u), cmp.Compare(number[p.b], number[q.b]), cmp.Compare(p.e, q.e))
		if got := bytes.Compare(key(p), key(q)); got != want {
			t.Fatalf("%v and %v compare as %d, want %d", p, q, got, want)
		}
		if bytes.HasPrefix(key(q), prefix(p)) != (p.i == q.i && p.s == q.s) {
			t.Fatalf("the first parts of %v are a prefix of %v", p, q)
		}
	})
}
