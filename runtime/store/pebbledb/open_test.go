package pebbledb_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	engine, err := pebbledb.Open(dir, store.EngineOptions{Program: "bank"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(engine, store.Options{Program: "bank", Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What was waited for is there after the next open, in a directory that did not exist.
func TestDataComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := openStore(t, dir)
	id := s.Identity()
	if !s.Fresh() || s.Starts() != 1 || id.Program != "bank" || len(id.Store) != 32 {
		t.Errorf("a new store: fresh %v, starts %d, %v", s.Fresh(), s.Starts(), id)
	}
	b := s.NewBatch()
	b.Set([]byte("k"), []byte("v"))
	if err := s.Wait(t.Context(), s.Append(b)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir)
	defer s.Close()
	value, ok, err := s.Get([]byte("k"), []byte("="))
	if !ok || err != nil || !bytes.Equal(value, []byte("=v")) {
		t.Errorf("Get = %q, %v, %v", value, ok, err)
	}
	if s.Fresh() || s.Starts() != 2 || s.Identity() != id {
		t.Errorf("opened again: fresh %v, starts %d, %v, was %v", s.Fresh(), s.Starts(), s.Identity(), id)
	}
}
