package exec

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// TestWaitsCanBeWrittenAtAnyTime writes the wait-for graph while events come, wait, go and
// are used again. It is for the race detector.
func TestWaitsCanBeWrittenAtAnyTime(t *testing.T) {
	s := Open(Config{Log: quiet})
	defer s.Close()
	nodes, err := workload{nodes: 2}.plant(s)
	if err != nil {
		t.Fatal(err)
	}
	in, leave := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = s.Client().Await(nodes[0].Ref, &methodLocal, &wargs{steps: []wstep{
			{op: wAdd, n: 1}, {op: wPause, hook: func() { close(in); <-leave }}}})
	})
	<-in
	for range 2 {
		wg.Go(func() { _ = s.Client().Await(nodes[0].Ref, &methodLocal, &wargs{steps: []wstep{{op: wAdd, n: 1}}}) })
	}
	until(func() bool { return s.Waiting() == 2 })
	var b bytes.Buffer
	until(func() bool { // one that is just being listed is left out
		b.Reset()
		s.WriteWaits(&b)
		return strings.Count(b.String(), "event ") == 2
	})
	for _, want := range []string{"holders without an entry", "behind"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no event waits because of %q in\n%s", want, b.String())
		}
	}
	close(leave)
	for range 8 {
		wg.Go(func() {
			cl := s.Client()
			for range 300 {
				_ = cl.Await(nodes[0].Ref, &methodPair, &wargs{steps: []wstep{{op: wAdd, n: 1}, {op: wPause}, {op: wCallRef, ref: nodes[1], sub: []wstep{{op: wGet}}}}})
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for {
		s.WriteWaits(&b)
		b.Reset()
		select {
		case <-done:
			return
		default:
		}
	}
}
