package runtime

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/store"
)

// stalledEngine is on a disk that ends no sync until it is told to.
type stalledEngine struct {
	replicatest.Engine
	stalls atomic.Bool
	resume chan struct{}
}

func (e *stalledEngine) Sync() error {
	if e.stalls.Load() {
		<-e.resume
	}
	return e.Engine.Sync()
}

// A program that gets a signal while its disk is stalled says what it has waited for, and what is safe.
func TestToldToEndOnAStalledDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &stalledEngine{Engine: replicatest.New(), resume: make(chan struct{})}
		k := &keeping{}
		k.Dir = "d"
		s, err := store.Open(e, store.Options{Program: "demo", Fatal: func(err error) { t.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
		k.store = s
		e.stalls.Store(true)
		b := s.NewBatch()
		b.Set(store.MetaKey("x"), []byte("1"))
		s.Append(b)
		err = k.flush()
		if err == nil || err.Error() != "the disk of d has not ended a sync in 5s: what was not answered yet may be lost" {
			t.Errorf("flush: %v", err)
		}
		if safe := k.afterFailure(err); !strings.HasPrefix(safe, "what was answered is in d; ") {
			t.Errorf("it is told: %s", safe)
		}
		e.stalls.Store(false)
		close(e.resume)
		if err := k.end(); err != nil {
			t.Error(err)
		}
	})
}
