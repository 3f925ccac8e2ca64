package server

import (
	"errors"
	"testing"
	"time"
)

// What the server's children use counts, too.
func TestCPUCountsChildren(t *testing.T) {
	s := shell(t, `trap 'kill $!; exit' TERM; while :; do :; done & wait`)
	defer s.Stop()
	if err := s.await(func() error {
		if s.CPU() < 50*time.Millisecond {
			return errors.New("has used little yet")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
