package snapshot

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// rowsIn makes a chunk of rows.
func rowsIn(t testing.TB, content map[string]string) []byte {
	t.Helper()
	c := chunker{buf: []byte(chunkHead)}
	for _, k := range slices.Sorted(maps.Keys(content)) {
		if _, err := c.add([]byte(k), []byte(content[k])); err != nil {
			t.Fatal(err)
		}
	}
	return c.buf
}

// drawn is content with a few keys, of which two have many in common.
func drawn(rng *rand.Rand) map[string]string {
	content := map[string]string{}
	for range rng.IntN(20) {
		key := string([]byte{byte(rng.IntN(4)), byte(rng.IntN(3))}[:1+rng.IntN(2)])
		content[key] = string(make([]byte, rng.IntN(3)*3))
	}
	return content
}

// An edit turns one chunk into another, and two that were merged do what they do one after the other.
func TestEdits(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		a, b, c := rowsIn(t, drawn(rng)), rowsIn(t, drawn(rng)), rowsIn(t, drawn(rng))
		ab, err := diff(a, b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := apply(a, ab); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("seed %d: %x with %x is %x, want %x, %v", seed, a, ab, got, b, err)
		}
		bc, err := diff(b, c)
		if err != nil {
			t.Fatal(err)
		}
		ac, err := compose(ab, bc)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := apply(a, ac); err != nil || !bytes.Equal(got, c) {
			t.Fatalf("seed %d: %x with %x is %x, want %x, %v", seed, a, ac, got, c, err)
		}
	}
}

// Whatever stands in a file, reading it ends with an error or without.
func FuzzEdit(f *testing.F) {
	f.Add([]byte(chunkHead+"\x01a\x01b"), []byte("\x02a\x01c"))
	f.Add([]byte(chunkHead), []byte("\x03a"))
	f.Fuzz(func(t *testing.T, chunk, edit []byte) {
		got, err := apply(chunk, edit)
		if err != nil {
			return
		}
		back, err := diff(chunk, got)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := apply(chunk, back); err == nil && !bytes.Equal(same, got) && ascends(chunk) && ascends(got) {
			t.Errorf("%x is %x and not %x", chunk, same, got)
		}
	})
}

func ascends(chunk []byte) bool {
	var last []byte
	ok := true
	_, err := eachRow(chunk, func(key, _ []byte) error {
		ok = ok && (last == nil || bytes.Compare(key, last) > 0)
		last = append([]byte{}, key...)
		return nil
	})
	return ok && err == nil
}
