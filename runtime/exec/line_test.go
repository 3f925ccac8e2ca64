package exec

import (
	"bytes"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/replica/replicatest"
)

// slowDisk does not sync while it is held.
type slowDisk struct {
	replicatest.Engine
	held sync.Mutex
}

func (d *slowDisk) Sync() error {
	d.held.Lock()
	defer d.held.Unlock()
	return d.Engine.Sync()
}

// A client that has seen what an event did prints behind the lines of that event, also when
// these lines have to wait for the disk.
func TestALineComesBehindThoseThatItsClientHasSeen(t *testing.T) {
	var out bytes.Buffer // the system writes to it one at a time
	disk := &slowDisk{Engine: replicatest.New()}
	st := openStore(t, disk, nil)
	s, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet, Stdout: &out})
	mustNot(t, err)
	d := newDesk(t, s.Client())
	lines := func(n uint64) func() bool {
		return func() bool {
			return s.output.Queued(func(outgoing) {}) == n
		}
	}
	disk.held.Lock()
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := d.await(s.Client(), func(cx *Cx, _ *desk) { cx.Print("event") }); err != nil {
			t.Error(err)
		}
	})
	until(lines(1))
	wg.Go(func() { s.Client().Print("client") })
	until(lines(2))
	disk.held.Unlock()
	wg.Wait()
	s.Close()
	mustNot(t, st.Close())
	if got := out.String(); got != "event\nclient\n" {
		t.Errorf("the lines are in another order:\n%s", got)
	}
}
