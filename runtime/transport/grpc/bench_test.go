package grpc

import (
	"encoding/binary"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
)

// BenchmarkCombining sends messages of 200 bytes by a session, of which up to 8000 are under way, and by a stream of gRPC, one
// by one. It reports how many arrive in a second, and the ratio.
func BenchmarkCombining(b *testing.B) {
	_, l, tr := two(b, nil)
	const some = 1000
	room := make(chan struct{}, b.N/some+8)
	done := make(chan struct{}, 1)
	var arrived atomic.Int64
	l[1].on = func(event.NodeID, []byte) {
		n := arrived.Add(1)
		if n%some == 0 {
			room <- struct{}{}
		}
		if n == int64(b.N) {
			done <- struct{}{}
		}
	}
	for range 8 {
		room <- struct{}{}
	}
	m := make([]byte, 200)
	began := time.Now()
	for n := range b.N {
		if n%some == 0 {
			<-room
		}
		if !tr[0].Send(2, m) {
			b.Fatal("there is no place")
		}
	}
	<-done
	combined := time.Since(began)
	perFrame := float64(b.N) / float64(tr[0].Metrics()[0].Frames)

	// The same session again, by hand.
	arrived.Store(0)
	room = make(chan struct{}, b.N/some+8)
	tr[0].Peers(nil)
	l[1].has(b, "down 1", 1)
	c, err := newClient(&tr[0].cfg, 2)
	if err != nil {
		b.Fatal(err)
	}
	defer c.close()
	st, err := c.NewStream(b.Context(), &sessionDesc, sessionMethod)
	if err == nil {
		err = greet(st, sessionID{tr[0].incarnation, tr[0].opened.Add(1)}, tr[0].cfg.Clock)
	}
	if err != nil {
		b.Fatal(err)
	}
	frame := append(binary.AppendUvarint([]byte{kindMessages}, uint64(len(m))), m...)
	began = time.Now()
	for range b.N {
		if err := st.SendMsg(bytesOf(frame)); err != nil {
			b.Fatal(err)
		}
	}
	<-done
	single := time.Since(began)
	b.ReportMetric(float64(b.N)/combined.Seconds(), "combined/s")
	b.ReportMetric(float64(b.N)/single.Seconds(), "single/s")
	b.ReportMetric(single.Seconds()/combined.Seconds(), "ratio")
	b.ReportMetric(perFrame, "messages/frame")
	b.ReportMetric(0, "ns/op")
}
