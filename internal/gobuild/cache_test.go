package gobuild

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
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
