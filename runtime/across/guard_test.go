package across

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/runtime/commit"
	"github.com/aeon-lang/aeon/runtime/event"
)

// slow is a Network whose first Send waits to be let go.
type slow struct {
	sends, letGo chan struct{}
	began        atomic.Bool
	sent         []uint64
}

func (n *slow) Send(_ event.StoreID, _ uint64, m *Message) {
	if !n.began.Swap(true) {
		n.sends <- struct{}{}
		<-n.letGo
	}
	n.sent = append(n.sent, m.Number)
}

// What is told while messages are sent does not wait for the network, and is sent behind them.
func TestMessagesAreSentOutsideOfTheMutex(t *testing.T) {
	n := &slow{sends: make(chan struct{}), letGo: make(chan struct{})}
	var g guard
	g.network = n
	tell := func(numbers ...uint64) {
		g.Lock()
		defer g.Unlock()
		for _, i := range numbers {
			g.put(1, 1, &Message{Kind: Turn, Number: i})
		}
	}
	first := make(chan struct{})
	go func() {
		defer close(first)
		tell(1, 2)
	}()
	<-n.sends
	tell(3)
	tell(4, 5)
	if len(n.sent) > 0 {
		t.Errorf("%v were sent beside the first", n.sent)
	}
	close(n.letGo)
	<-first
	if want := []uint64{1, 2, 3, 4, 5}; !slices.Equal(n.sent, want) {
		t.Errorf("sent %v, wanted %v", n.sent, want)
	}
	if tell(6); n.sent[len(n.sent)-1] != 6 {
		t.Errorf("sent %v, and not what was told last", n.sent)
	}
}

// A job that panics is a bug whose text the process ends with. The mutex is not unlocked twice meanwhile, which would end it without.
func TestAPanicOfAJobShows(t *testing.T) {
	s := Open(Config{Stores: 1, Ticks: untraced{}})
	p := &Part{s: s, jobs: []func(){func() { panic("a bug") }}}
	for what, do := range map[string]func(){"a job": p.work, "rows are deleted": s.forgetSettled} {
		func() {
			defer func() {
				if got := recover(); got == nil {
					t.Errorf("%s: no panic", what)
				}
				s.mu.Lock() // it is not locked
				s.mu.Unlock()
			}()
			s.settled.list = append(s.settled.list, commit.Name{})
			do() // the Store has no Local
		}()
	}
}
