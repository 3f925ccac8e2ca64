package grpc

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/runtime/sched"
)

// paper is a stream that notes what is sent, and when.
type paper struct {
	mu    sync.Mutex
	began time.Time
	at    map[byte][]time.Duration // by the kind of the frame
}

func (p *paper) SendMsg(m any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	kind := m.(*packet).out.Materialize()[0]
	p.at[kind] = append(p.at[kind], time.Since(p.began))
	return nil
}

func (p *paper) RecvMsg(any) error { return errors.New("nothing is received") }

// Heartbeats go behind other frames if there are any, at the same moment, and else alone. None is late.
func TestHeartbeatsGoWithFrames(t *testing.T) {
	const beat = 100 * time.Millisecond
	for name, every := range map[string]time.Duration{"as often": beat, "more often": 7 * time.Millisecond, "never": 2 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at := &Transport{began: time.Now(), cfg: Config{Beat: beat, QueueMax: 1 << 20, Clock: sched.NewHybrid(sched.RealClock{}), Progress: func() bool { return true }}}
				p := &paper{began: time.Now(), at: make(map[byte][]time.Duration)}
				s := newSession(context.Background(), newLink(at, 2), sessionID{}, func() {})
				var sends sync.WaitGroup
				sends.Go(func() { _ = s.sendAll(p, false) })
				for range 2 * time.Second / every {
					time.Sleep(every)
					s.send(lossy, []byte("a message"))
				}
				s.end(errAsked)
				sends.Wait()
				beats, frames := p.at[kindBeat], p.at[kindMessages]
				for i := 1; i < len(beats); i++ {
					if beats[i]-beats[i-1] > beat+beat/4 || beats[i]-beats[i-1] < beat*3/4 {
						t.Errorf("a heartbeat comes %v after another", beats[i]-beats[i-1])
					}
					if every <= beat && !slices.Contains(frames, beats[i]) {
						t.Errorf("a heartbeat goes alone at %v", beats[i])
					}
				}
				if len(beats) < 16 {
					t.Errorf("there were %d heartbeats in two seconds", len(beats))
				}
			})
		})
	}
}
