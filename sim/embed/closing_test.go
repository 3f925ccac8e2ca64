package embed_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door/godoor"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/value"
	"github.com/aeon-lang/aeon/sim/embed/hall"
)

// Close waits for calls whose events have ended, and whose results are still read from the store. The first result of each hall is.
func TestCloseWaitsForResults(t *testing.T) {
	const halls, evenings, callers = 20, 2000, 4
	dir, ctx := t.TempDir(), t.Context()
	main := func(db *hall.DB, i int) hall.Hall { return db.Hall(fmt.Sprint("main", i%halls)) }
	db, err := hall.Open(ctx, aeon.Dir(dir))
	mustNot(t, err)
	for i := range halls {
		mustNot(t, main(db, i).Plan(ctx, evenings))
	}
	mustNot(t, db.Close())
	for results := range halls / 2 {
		db, err := hall.Open(ctx, aeon.Dir(dir))
		mustNot(t, err)
		var calls sync.WaitGroup
		ended := make(chan struct{}, halls)
		for k := range callers {
			calls.Go(func() {
				for i := k * halls / callers; ; i++ {
					planned, err := main(db, i).Planned(ctx)
					if errors.Is(err, aeon.ErrClosed) {
						return
					}
					if err != nil || len(planned) != evenings {
						t.Errorf("%d evenings, %v", len(planned), err)
						return
					}
					select {
					case ended <- struct{}{}:
					default: // enough
					}
				}
			})
		}
		for range results {
			<-ended
		}
		mustNot(t, db.Close())
		calls.Wait()
	}
}

// A Go program does not open what a cluster has begun with, and leaves it as it is.
func TestWhatAClusterHasIsNotOpened(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	db, err := hall.Open(ctx, aeon.Dir(dir))
	mustNot(t, err)
	mustNot(t, db.Close())
	mustNot(t, archive.Adopt(archive.AdoptedError{Dir: dir, Cluster: "abcdefghijkl", Node: "/a node"}))
	for range 2 {
		if _, err := hall.Open(ctx, aeon.Dir(dir)); err == nil || !strings.Contains(err.Error(), dir+" was adopted by the node in /a node") {
			t.Errorf("it is opened: %v", err)
		}
	}
}

// A result that the store cannot give any more is that of a call whose outcome is unknown.
func TestResultThatCannotBeRead(t *testing.T) {
	db, err := hall.Open(t.Context(), aeon.InMemory())
	mustNot(t, err)
	main, disk := db.Hall("main"), errors.New("the disk is gone")
	mustNot(t, main.Leave(t.Context()))
	classes := aeonrt.AllClasses(&hall.AeonPackage)
	class := classes[slices.IndexFunc(classes, func(c *aeonrt.Class) bool { return c.Name == "Hall" })]
	m := class.Methods[slices.IndexFunc(class.Methods, func(m *aeonrt.Method) bool { return m.Name == "planned" })]
	err = godoor.Fetch(t.Context(), &main.Handle, m, m.NewArgs(), nil, func() { panic(&value.Unreadable{Err: disk}) })
	if failed := new(aeon.Error); !errors.As(err, &failed) || !errors.Is(err, aeon.ErrUnknown) || !errors.Is(err, disk) || failed.Happened != aeon.Unknown {
		t.Errorf("the call has ended with %v", err)
	}
	mustNot(t, db.Close())
}
