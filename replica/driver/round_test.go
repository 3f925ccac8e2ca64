package driver

import (
	"errors"
	"testing"
)

// A question of a term that is over leaves that of the next one alone.
func TestALateQuestionEndsNoOther(t *testing.T) {
	now := &round{term: 5, done: make(chan struct{})}
	m := &member{}
	m.confirmations.current, m.confirmations.next = &round{term: 5}, now
	if err := m.confirm(4); !errors.Is(err, ErrDeposed) || m.confirmations.next != now || now.err != nil {
		t.Errorf("%v, and that of the next term: %v", err, now.err)
	}
}
