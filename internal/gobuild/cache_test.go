package gobuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
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

// A directory that holds the files of others is not made a cache: its README would be overwritten, and what is old there would go.
func TestADirectoryOfOthersBecomesNoCache(t *testing.T) {
	for _, theirs := range []string{"README", "thesis.txt", "build.sh"} {
		c := NewCache(t.TempDir())
		name := filepath.Join(c.dir, theirs)
		if err := os.WriteFile(name, []byte("years"), 0o666); err != nil {
			t.Fatal(err)
		}
		old := filepath.Join(c.dir, "build", "old")
		if err := os.MkdirAll(old, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(old, time.Time{}, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		_, err := c.stage()
		var refused *CacheError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "such as "+theirs+"\n\tset AEONCACHE to a directory that you can write, and that is empty or does not exist") {
			t.Errorf("%s: error %v", theirs, err)
		}
		c.trim(time.Now())
		if _, err := c.Clean(); !errors.As(err, &refused) {
			t.Errorf("%s: Clean: error %v", theirs, err)
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != "years" || !isDir(old) {
			t.Errorf("%s: %q, error %v; build/old there: %v", theirs, text, err, isDir(old))
		}
		if entries, _ := os.ReadDir(c.dir); len(entries) != 2 {
			t.Errorf("%s: there are %d entries now instead of 2", theirs, len(entries))
		}
	}
}

// What others put into a cache stays when it is cleaned, and it serves again.
func TestCleanLeavesTheFilesOfOthers(t *testing.T) {
	c := NewCache(t.TempDir())
	files := []File{{Name: "a.go", Data: []byte("package a\n")}}
	if err := c.store(filepath.Join(c.dir, "build", "0"), files); err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(c.dir, "notes.txt")
	if err := os.WriteFile(notes, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Clean(); err != nil {
			t.Fatal(err)
		}
		if !isFile(notes) || isDir(filepath.Join(c.dir, "build")) {
			t.Errorf("after Clean: notes.txt there: %v, build there: %v", isFile(notes), isDir(filepath.Join(c.dir, "build")))
		}
		if err := c.store(filepath.Join(c.dir, "build", "0"), files); err != nil {
			t.Fatal(err)
		}
	}
}

// What a Clean that was interrupted has left, which is without a README at worst, another one deletes, and a build uses.
func TestAnInterruptedCleanIsRepeated(t *testing.T) {
	c := NewCache(t.TempDir())
	if err := c.store(filepath.Join(c.dir, "build", "0"), []File{{Name: "a.go", Data: []byte("package a\n")}}); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"build", "tmp", "README"} {
		if err := os.RemoveAll(filepath.Join(c.dir, gone)); err != nil {
			t.Fatal(err)
		}
		if dir, err := c.stage(); err != nil || os.RemoveAll(dir) != nil {
			t.Fatalf("without %s: %v", gone, err)
		}
	}
	if _, err := c.Clean(); err != nil || isDir(c.dir) {
		t.Errorf("error %v, still there: %v", err, isDir(c.dir))
	}
}

// A cache that a link leads to is emptied, and the link leads there still.
func TestCleanFollowsALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := errors.Join(os.Mkdir(real, 0o777), os.Symlink(real, link)); err != nil {
		t.Fatal(err)
	}
	c := NewCache(link)
	for range 2 {
		if err := c.store(filepath.Join(c.dir, "build", "0"), []File{{Name: "a.go", Data: []byte("package a\n")}}); err != nil {
			t.Fatal(err)
		}
		if freed, err := c.Clean(); err != nil || freed < 10 {
			t.Errorf("freed %d bytes, error %v", freed, err)
		}
		if entries, err := os.ReadDir(real); err != nil || len(entries) != 0 {
			t.Errorf("%v is left, error %v", entries, err)
		}
	}
}
