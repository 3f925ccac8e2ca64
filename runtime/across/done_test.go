package across

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aeon-lang/aeon/runtime/commit"
	"github.com/aeon-lang/aeon/runtime/event"
)

// heard is a Network, and lists what it was told.
type heard []string

func (n *heard) Send(to event.StoreID, _ uint64, m *Message) {
	list := []uint64{m.Commit.Name.Number}
	for _, also := range m.Also {
		list = append(list, also.Number)
	}
	*n = append(*n, fmt.Sprintf("%v %v to %d", m.Commit.Kind, list, to))
}

type untraced struct{}

func (untraced) Time() int64 { return 0 }
func (untraced) Heard(int64) {}

// What was carried out together is told in one message to each store. Its home forgets all of that.
func TestDonesShareAMessage(t *testing.T) {
	var n heard
	s := Open(Config{Store: 0, Stores: 3, Network: &n, Ticks: untraced{}})
	s.sessions = []uint64{0, 1, 1}
	done := func(number uint64, to event.StoreID) commit.Effect {
		name := commit.Name{Number: number}
		return commit.Effect{Act: commit.Send, Name: name, To: to, Message: commit.Message{Kind: commit.Done, Name: name}}
	}
	vote := done(6, 2)
	vote.Message.Kind, vote.Message.Yes = commit.Vote, true
	s.mu.Lock()
	s.carryOut([]commit.Effect{done(1, 1), done(2, 1), done(3, 1), done(4, 2), done(5, 1), vote, done(7, 2), done(8, 2)})
	s.mu.Unlock()
	if want := []string{"done [1 2 3] to 1", "done [4] to 2", "done [5] to 1", "vote [6] to 2", "done [7 8] to 2"}; !slices.Equal(n, want) {
		t.Errorf("told %q, wanted %q", n, want)
	}

	for number := range uint64(3) {
		s.RestoreDecision(commit.Name{Number: number + 1}, 0, []event.StoreID{1})
	}
	s.settled.busy = true // so that no worker takes them
	s.Receive(1, 1, &Message{Kind: Commit, Commit: commit.Message{Kind: commit.Done, Name: commit.Name{Number: 1}}, Also: []commit.Name{{Number: 2}, {Number: 3}}})
	s.Up(7, 1) // there is no such store
	s.Receive(7, 1, &Message{Kind: Commit, Commit: commit.Message{Kind: commit.Ask, Name: commit.Name{Number: 9}}})
	if len(n) != 5 {
		t.Errorf("told %q", n[5:])
	}
	if _, _, undone := s.Open(); undone > 0 || len(s.settled.list) != 3 {
		t.Errorf("%d decisions are left, %v are to be forgotten", undone, s.settled.list)
	}
}
