package gobuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
)

// An entry that one process has stored stays while others store the same: builds read it already.
func TestEntriesThatOthersStoreStay(t *testing.T) {
	c := NewCache(t.TempDir())
	files := []File{{Name: "a.go", Data: []byte("package a\n")}, {Name: "deep/b.go", Data: []byte("package b\n")}}
	const rounds, stores, looks = 300, 4, 5
	for round := range rounds {
		dir := filepath.Join(c.Dir(), "build", fmt.Sprint(round))
		var all sync.WaitGroup
		begin := make(chan struct{})
		for range stores {
			all.Go(func() {
				<-begin
				if err := c.store(dir, files); err != nil {
					t.Error(err)
				}
				for range looks {
					if !intact(dir, files) {
						t.Errorf("round %d: what was stored has gone", round)
						return
					}
				}
			})
		}
		close(begin)
		all.Wait()
		if t.Failed() {
			return
		}
	}
}

func TestBuildsOfOneExecutableWait(t *testing.T) {
	c := NewCache(t.TempDir())
	dir := filepath.Join(c.Dir(), "build", "0")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { // it ends when the one that was cancelled has ended, which opens the file
		unlock, err := c.lock(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.lock(ctx, dir); !errors.Is(err, context.Canceled) {
			t.Errorf("a second build does not wait: %v", err)
		}
		unlock()
		if unlock, err = c.lock(t.Context(), dir); err != nil { // the one that was cancelled keeps no lock
			t.Fatal(err)
		}
		unlock()
	})
}

// A cache whose file system has no locks serves all the same.
func TestWithoutALockBuildsGoOn(t *testing.T) {
	c := NewCache(t.TempDir())
	unlock, err := c.lock(t.Context(), filepath.Join(c.Dir(), "nowhere"))
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
