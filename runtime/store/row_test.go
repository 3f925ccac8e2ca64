package store_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Every flipped bit of a row, every cut and another key are noticed.
func TestDamagedRowIsNoticed(t *testing.T) {
	key := store.HeaderKey(event.SerialActor(3, 77))
	row := store.AppendRow(nil, key, []byte("payload"))
	got, err := store.Payload(key, row)
	if err != nil || string(got) != "payload" {
		t.Fatalf("Payload = %q, %v", got, err)
	}
	check := func(key, row []byte) {
		t.Helper()
		var corrupt *store.CorruptError
		if _, err := store.Payload(key, row); !errors.As(err, &corrupt) || !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("Payload(%x, %x): %v", key, row, err)
		}
	}
	for i := range row {
		for bit := range 8 {
			bad := bytes.Clone(row)
			bad[i] ^= 1 << bit
			check(key, bad)
		}
		check(key, row[:i])
	}
	check(store.HeaderKey(event.SerialActor(3, 78)), row)
}

func TestKeysSortByPartitionSectionAndActor(t *testing.T) {
	a, b := event.SerialActor(1, 255), event.SerialActor(1, 256)
	list := [][]byte{
		store.HeaderKey(a), store.HeaderKey(b),
		store.AppendField(nil, a, 0), store.AppendField(nil, a, 1), store.AppendField(nil, b, 0),
		store.HeaderKey(event.SerialActor(2, 0)),
	}
	for i := 1; i < len(list); i++ {
		if bytes.Compare(list[i-1], list[i]) >= 0 {
			t.Errorf("key %d %x is not before %x", i-1, list[i-1], list[i])
		}
	}
	from, to := store.FieldsRange(a)
	for _, key := range list {
		in := bytes.Compare(from, key) <= 0 && bytes.Compare(key, to) < 0
		if want := bytes.HasPrefix(key, from); in != want {
			t.Errorf("%s in the range of the fields of a: %v, want %v", store.DescribeKey(key), in, want)
		}
	}
}

func TestAfterIsBehindEverythingWithThePrefix(t *testing.T) {
	for prefix, want := range map[string]string{"a": "b", "a\xff": "b", "\xff\xff": "", "a\xffb": "a\xffc"} {
		if got := store.After([]byte(prefix)); string(got) != want {
			t.Errorf("After(%q) = %q, want %q", prefix, got, want)
		}
	}
}

func TestDescribeKey(t *testing.T) {
	for want, key := range map[string][]byte{
		"actor 3:4d":                       nil,
		"field 2 of actor 3:4d":            store.AppendField(nil, event.SerialActor(3, 77), 2),
		`row "starts" of the store itself`: store.MetaKey("starts"),
		`schema of class "bank.Bank"`:      store.SchemaKey("bank.Bank"),
		"row 7878":                         []byte("xx"),
	} {
		if key == nil {
			key, want = store.HeaderKey(event.SerialActor(3, 77)), "actor of 3:4d"
		}
		if got := store.DescribeKey(key); got != want {
			t.Errorf("DescribeKey(%x) = %s, want %s", key, got, want)
		}
	}
}
