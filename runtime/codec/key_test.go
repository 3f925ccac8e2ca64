package codec_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/value"
)

func keyOf[K any](put func(*codec.Encoder, K), k K) []byte {
	var e codec.Encoder
	e.Append(nil)
	put(&e, k)
	return e.Data()
}

// sorts checks that the bytes of keys compare as keys do, that no key is the beginning of
// another one, and that keys are read back as they were.
func sorts[K any](t *testing.T, name string, gen *rapid.Generator[K], order func(a, b K) int, put func(*codec.Encoder, K), get func(*codec.Decoder) K) {
	t.Run(name, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
			ka, kb := keyOf(put, a), keyOf(put, b)
			if got, want := bytes.Compare(ka, kb), order(a, b); got != want {
				t.Fatalf("%x and %x compare as %d, %v and %v as %d", ka, kb, got, a, b, want)
			}
			if order(a, b) != 0 && (bytes.HasPrefix(ka, kb) || bytes.HasPrefix(kb, ka)) {
				t.Fatalf("%x and %x begin alike", ka, kb)
			}
			var d codec.Decoder
			d.Part(slices.Concat(ka, kb), nil)
			if x, y := get(&d), get(&d); d.Close() != nil || order(x, a) != 0 || order(y, b) != 0 {
				t.Fatalf("%v and %v were read as %v and %v (%v)", a, b, x, y, d.Err())
			}
		})
	})
}

// near gives numbers of all sizes, and many that are close to where the size changes.
func near[T value.Integer](lo, hi T, all *rapid.Generator[T]) *rapid.Generator[T] {
	edges := []T{lo, lo + 1, hi - 1, hi, 0, 1, 127}
	for shift := 8; shift < 64; shift += 8 {
		if e := T(1) << shift; e > 0 && e < hi {
			edges = append(edges, e-1, e, e+1)
			if lo < 0 {
				edges = append(edges, -e-1, -e, -e+1)
			}
		}
	}
	return rapid.OneOf(rapid.SampledFrom(edges), all)
}

func TestKeysSort(t *testing.T) {
	sorts(t, "int", near(math.MinInt64, math.MaxInt64, rapid.Int64()), cmp.Compare[int64], codec.PutKeyInt[int64], codec.GetKeyInt[int64])
	sorts(t, "int8", near[int8](-128, 127, rapid.Int8()), cmp.Compare[int8], codec.PutKeyInt[int8], codec.GetKeyInt[int8])
	sorts(t, "int16", near[int16](math.MinInt16, math.MaxInt16, rapid.Int16()), cmp.Compare[int16], codec.PutKeyInt[int16], codec.GetKeyInt[int16])
	sorts(t, "int32", near[int32](math.MinInt32, math.MaxInt32, rapid.Int32()), cmp.Compare[int32], codec.PutKeyInt[int32], codec.GetKeyInt[int32])
	sorts(t, "uint8", rapid.Uint8(), cmp.Compare[uint8], codec.PutKeyUint[uint8], codec.GetKeyUint[uint8])
	sorts(t, "enum", near[uint16](0, math.MaxUint16, rapid.Uint16()), cmp.Compare[uint16], codec.PutKeyUint[uint16], codec.GetKeyUint[uint16])
	sorts(t, "uint64", near[uint64](0, math.MaxUint64, rapid.Uint64()), cmp.Compare[uint64], codec.PutKeyUint[uint64], codec.GetKeyUint[uint64])
	sorts(t, "time", rapid.Map(rapid.Int64(), func(n int64) value.Time { return value.Time(n) }), cmp.Compare[value.Time],
		codec.PutKeyInt[value.Time], codec.GetKeyInt[value.Time])
	sorts(t, "bool", rapid.Bool(), value.CompareBool, codec.PutKeyBool, codec.GetKeyBool)
	zeros := rapid.StringOf(rapid.SampledFrom([]rune{0, 1, 'a', 255, 'é'}))
	sorts(t, "string", rapid.OneOf(rapid.String(), zeros), strings.Compare, codec.PutKeyString[string], codec.GetKeyString[string])
	raw := rapid.Map(rapid.SliceOf(rapid.SampledFrom([]byte{0, 1, 2, 0xfe, 0xff})), func(b []byte) value.BytesKey { return value.BytesKey(b) })
	sorts(t, "bytes", raw, value.BytesKey.Compare, codec.PutKeyString[value.BytesKey], codec.GetKeyString[value.BytesKey])
}

// A wider type reads the keys of a narrower one.
func TestKeysMayBecomeWider(t *testing.T) {
	for n := math.MinInt8; n <= math.MaxInt8; n++ {
		if a, b := keyOf(codec.PutKeyInt, int8(n)), keyOf(codec.PutKeyInt, int64(n)); !bytes.Equal(a, b) {
			t.Errorf("%d is %x as int8 and %x as int64", n, a, b)
		}
	}
}

// FuzzKeys gives hostile bytes to the decoder: what it accepts is written back the same.
func FuzzKeys(f *testing.F) {
	for kind := range byte(5) {
		f.Add(kind, []byte{0x81, 5})
		f.Add(kind, []byte{2, 1, 0})
		f.Add(kind, []byte("a\x00\xff\x00\x01"))
	}
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		var d codec.Decoder
		d.Part(data, nil)
		var e codec.Encoder
		e.Append(nil)
		switch kind % 5 {
		case 0:
			codec.PutKeyInt(&e, codec.GetKeyInt[int64](&d))
		case 1:
			codec.PutKeyInt(&e, codec.GetKeyInt[int16](&d))
		case 2:
			codec.PutKeyUint(&e, codec.GetKeyUint[uint64](&d))
		case 3:
			codec.PutKeyString(&e, codec.GetKeyString[string](&d))
		case 4:
			codec.PutKeyUint(&e, d.GetKeyEnum(300))
		}
		if d.Close() == nil && !bytes.Equal(e.Data(), data) {
			t.Errorf("kind %d: %x was read, and written as %x", kind%5, data, e.Data())
		}
	})
}

func ExamplePutKeyInt() {
	for _, n := range []int64{-256, -1, 0, 1, 255, 256} {
		fmt.Printf("%x ", keyOf(codec.PutKeyInt, n))
	}
	// Output: 7e00 7f 80 8101 81ff 820100
}
