package grpc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/race"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/transport"
)

// numbered returns a message of some length with a number.
func numbered(i uint64, length int) []byte {
	m := binary.BigEndian.AppendUint64(make([]byte, 0, length+8), i)
	for k := range length {
		m = append(m, byte(i)+byte(k))
	}
	return m
}

func TestMessagesArriveInOrderAndOnce(t *testing.T) {
	const count = 3000
	var next [2]uint64
	var done [2]chan struct{}
	c, l, tr := two(t, nil)
	length := func(i uint64) int {
		switch r := rand.New(rand.NewPCG(i, 0)); i % 100 {
		case 0:
			return r.IntN(300_000)
		case 1:
			return frameMax - 20 + r.IntN(40)
		case 2:
			return 0
		default:
			return r.IntN(300)
		}
	}
	for i := range l {
		done[i] = make(chan struct{})
		l[i].on = func(from event.NodeID, m []byte) {
			if n := binary.BigEndian.Uint64(m); n != next[i] || !bytes.Equal(m, numbered(n, length(n))) || from != event.NodeID(2-i) {
				t.Errorf("node %d got %d of %d bytes of node %d behind %d", i+1, n, len(m), from, next[i])
			}
			if next[i]++; next[i] == count {
				close(done[i])
			}
		}
	}
	for i := range tr {
		go func() {
			for n := range uint64(count) {
				if !tr[i].Send(event.NodeID(2-i), numbered(n, length(n))) {
					t.Errorf("message %d found no place", n)
				}
			}
		}()
	}
	for i := range done {
		select {
		case <-done[i]:
		case <-time.After(patience):
			t.Fatalf("too few messages of %d have come: %+v %s", count, tr[i].Metrics(), c.logged())
		}
	}
	for i := range tr {
		m := tr[i].Metrics()[0]
		if m.Sent != count || m.Received != count || m.Frames >= count || m.Frames == 0 || m.Sessions != 1 || !m.Up || m.Dropped != 0 || m.BytesReceived < 8*count {
			t.Errorf("counted: %+v", m)
		}
	}
}

func TestTheLargestMessageArrives(t *testing.T) {
	_, l, tr := two(t, nil)
	got := make(chan []byte, 1)
	l[0].on = func(_ event.NodeID, m []byte) { got <- m }
	m := numbered(7, transport.MessageMax-8)
	tr[1].Send(1, m)
	if !bytes.Equal(<-got, m) {
		t.Error("it is another one")
	}
	defer func() {
		if recover() == nil {
			t.Error("a larger one is taken")
		}
	}()
	tr[1].Send(1, make([]byte, transport.MessageMax+1))
}

// TestANodeRestarts restarts either node of a pair; the other one goes on.
func TestANodeRestarts(t *testing.T) {
	for restarts := range 2 {
		stays := 1 - restarts
		c, l, tr := two(t, nil)
		a, b := event.NodeID(stays+1), event.NodeID(restarts+1)
		sessions := 5
		stop := make(chan struct{})
		var sender sync.WaitGroup
		var mu sync.Mutex // so that no message is sent in another life than it names
		life := 0
		sender.Go(func() { // sends all the time: much is under way when the session ends
			for {
				select {
				case <-stop:
					return
				default:
					mu.Lock()
					tr[stays].Send(b, fmt.Appendf(nil, "to life %d", life))
					mu.Unlock()
				}
			}
		})
		for n := 1; n < sessions; n++ {
			tr[restarts].Send(a, fmt.Appendf(nil, "of life %d", n))
			l[stays].has(t, fmt.Sprintf("of life %d", n), 1)
			if err := tr[restarts].Close(); err != nil {
				t.Fatal(err)
			}
			l[stays].has(t, fmt.Sprintf("down %d", b), n)
			mu.Lock()
			life++
			mu.Unlock()
			l[restarts] = newListens()
			tr[restarts] = c.start(c.config(b, l[restarts]), 2)
			l[stays].has(t, fmt.Sprintf("up %d", b), n+1)
			l[restarts].has(t, fmt.Sprintf("up %d", a), 1)
		}
		close(stop)
		sender.Wait()
		want := []string{fmt.Sprintf("up %d", b)}
		for n := 1; n < sessions; n++ {
			want = append(want, fmt.Sprintf("of life %d", n), fmt.Sprintf("down %d", b), fmt.Sprintf("up %d", b))
		}
		if got := l[stays].all(); !slices.Equal(got, want) {
			t.Errorf("told: %q", got)
		}
		tr[stays].Send(b, []byte("end"))
		l[restarts].has(t, "end", 1)
		told := l[restarts].all()
		if told[0] != fmt.Sprintf("up %d", a) {
			t.Errorf("told first: %q", told[0])
		}
		for _, m := range told[1 : len(told)-1] {
			if m != fmt.Sprintf("to life %d", sessions-1) {
				t.Errorf("told: %q, from the session before", m)
				break
			}
		}
	}
}

func TestANodeThatStandsStillIsSilent(t *testing.T) {
	const silence = 300 * time.Millisecond
	var first [2]*listens
	c, l, tr := two(t, func(cfg *Config) {
		if cfg.Node == 1 {
			cfg.Silence, cfg.Beat, cfg.QueueMax = silence, silence/10, 1<<20
		}
		cfg.DialMax = silence
	})
	first = l
	stands := c.hang(2)
	stands.Lock()
	began := time.Now()
	m := make([]byte, 10_000)
	sent := 0
	for first[0].all()[len(first[0].all())-1] != "down 2" {
		before := time.Now()
		for range 100 {
			if tr[0].Send(2, m) {
				sent++
			}
		}
		if took := time.Since(before); took > time.Second {
			t.Errorf("100 times Send took %v", took)
		}
		if time.Since(began) > patience {
			stands.Unlock() // it ends with the test
			t.Fatal("it is not silent")
		}
	}
	if took := time.Since(began); took < silence/2 || took > silence+5*time.Second {
		t.Errorf("silent after %v", took)
	}
	dropped := tr[0].Metrics()[0].Dropped
	if n := strings.Count(c.logged(), "too much waits for a node"); dropped == 0 || n != 1 {
		t.Errorf("%d messages were dropped, and the log says so %d times", dropped, n)
	}
	h := tr[0].Heard(2)
	if h.Up || time.Since(h.At) < silence/2 {
		t.Errorf("heard: %+v", h)
	}
	if tr[0].Send(2, m) {
		t.Error("there is no session")
	}
	stands.Unlock()
	l[0].has(t, "up 2", 2)
	l[1].has(t, "up 1", 2)
	tr[0].Send(2, []byte("again"))
	l[1].has(t, "again", 1)
	if told := l[1].all(); !slices.Equal(told[len(told)-3:], []string{"down 1", "up 1", "again"}) {
		t.Errorf("told: %q", told[len(told)-3:])
	}
}

func TestWhatIsHeardOfANode(t *testing.T) {
	var hung atomic.Bool
	_, _, tr := two(t, func(cfg *Config) {
		cfg.Beat = 2 * time.Millisecond
		if cfg.Node == 2 {
			cfg.Progress = func() bool { return !hung.Load() }
		}
	})
	if h := tr[0].Heard(7); h != (transport.Health{}) {
		t.Errorf("heard of a node that is not there: %+v", h)
	}
	poll(t, "a disk that makes progress", func() bool {
		h := tr[0].Heard(2)
		return h.Up && h.Progress && time.Since(h.At) < time.Second && h.RoundTrip > 0 && h.RoundTrip < time.Second
	})
	hung.Store(true)
	poll(t, "a disk that hangs", func() bool { return !tr[0].Heard(2).Progress })
	poll(t, "a disk that makes progress", func() bool { return tr[1].Heard(1).Progress })
	hung.Store(false)
	poll(t, "a disk that goes on", func() bool { return tr[0].Heard(2).Progress })
}

func TestCalls(t *testing.T) {
	_, l, tr := two(t, nil)
	running := make(chan struct{}, 1)
	for i := range l {
		l[i].call = func(ctx context.Context, from event.NodeID, q []byte) ([]byte, error) {
			switch string(q) {
			case "refuse":
				return nil, fmt.Errorf("not today, node %d", from)
			case "hang":
				running <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return append(q, '!'), nil
		}
	}
	ctx := t.Context()
	for i := range tr {
		to := event.NodeID(2 - i)
		if got, err := tr[i].Call(ctx, to, []byte("hello")); string(got) != "hello!" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		big := make([]byte, transport.CallMax-1)
		if got, err := tr[i].Call(ctx, to, big); len(got) != transport.CallMax || err != nil {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
		var refusal *transport.Refusal
		if _, err := tr[i].Call(ctx, to, []byte("refuse")); !errors.As(err, &refusal) || *refusal != (transport.Refusal{By: to, Text: fmt.Sprintf("not today, node %d", i+1)}) {
			t.Errorf("got %v", err)
		}
		short, cancel := context.WithCancel(ctx)
		go func() {
			<-running
			cancel()
		}()
		if _, err := tr[i].Call(short, to, []byte("hang")); !errors.Is(err, transport.ErrUnknown) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if _, err := tr[i].Call(short, to, nil); !errors.Is(err, transport.ErrNotSent) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	late, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := tr[0].Call(late, 2, []byte("hang")); !errors.Is(err, transport.ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	<-running
	if _, err := tr[0].Call(ctx, 3, nil); !errors.Is(err, transport.ErrNotSent) {
		t.Errorf("got %v from a node that is not there", err)
	}
	go func() {
		<-running
		tr[1].Break(1)
	}()
	if _, err := tr[0].Call(ctx, 2, []byte("hang")); !errors.Is(err, transport.ErrUnknown) {
		t.Errorf("got %v when the session broke", err)
	}
	l[0].has(t, "up 2", 2)
	go func() {
		<-running
		_ = tr[1].Close()
	}()
	if _, err := tr[0].Call(ctx, 2, []byte("hang")); !errors.Is(err, transport.ErrUnknown) {
		t.Errorf("got %v when the node was closed", err)
	}
	l[0].has(t, "down 2", 2)
	if _, err := tr[0].Call(ctx, 2, nil); !errors.Is(err, transport.ErrNotSent) {
		t.Errorf("got %v", err)
	}
}

// TestACallOfAnotherSessionDoesNotRun has a request arrive at a node that has begun another session.
func TestACallOfAnotherSessionDoesNotRun(t *testing.T) {
	_, l, tr := two(t, nil)
	var ran atomic.Int64
	l[1].call = func(context.Context, event.NodeID, []byte) ([]byte, error) {
		ran.Add(1)
		return nil, nil
	}
	old := tr[0].present(2)
	tr[0].Break(2)
	l[0].has(t, "up 2", 2)
	l[1].has(t, "up 1", 2)
	c, err := newClient(&tr[0].cfg, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	st, err := c.NewStream(t.Context(), &callDesc, callMethod)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.SendMsg(bytesOf(old.id.append(nil))); err != nil {
		t.Fatal(err)
	}
	if _, err := answer(t.Context(), st, 2); !errors.Is(err, transport.ErrNotSent) || ran.Load() != 0 {
		t.Errorf("got %v; ran: %d", err, ran.Load())
	}
}

func TestSessionsThatWereOvertakenAreRefused(t *testing.T) {
	_, l, tr := two(t, nil)
	old := tr[0].present(2).id
	tr[0].Break(2)
	l[0].has(t, "up 2", 2)
	l[1].has(t, "up 1", 2)
	c, err := newClient(&tr[0].cfg, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	st, err := c.NewStream(t.Context(), &sessionDesc, sessionMethod)
	if err != nil {
		t.Fatal(err)
	}
	if err := greet(st, old, tr[0].cfg.Clock); err == nil || !strings.Contains(err.Error(), errReplaced.Error()) {
		t.Errorf("got %v", err)
	}
	tr[0].Send(2, []byte("on"))
	l[1].has(t, "on", 1)
	if got := l[1].all(); !slices.Equal(got, []string{"up 1", "down 1", "up 1", "on"}) {
		t.Errorf("told: %q", got)
	}
}

// The hello of a process that has ended comes behind that of the one that runs, and interrupts its session; the process that runs has another one at once.
func TestAHelloOfAFormerStart(t *testing.T) {
	nodes, l, tr := two(t, nil)
	c, err := newClient(&tr[0].cfg, 2)
	if err != nil {
		t.Fatal(err)
	}
	st, err := c.NewStream(t.Context(), &sessionDesc, sessionMethod)
	if err == nil {
		err = st.SendMsg(bytesOf(hello(sessionID{tr[0].incarnation - 1, 7}, tr[0].cfg.Clock.Now())))
	}
	if err != nil {
		t.Fatal(err)
	}
	l[1].has(t, "up 1", 2)
	c.close()
	l[0].has(t, "up 2", 2)
	l[1].has(t, "up 1", 3)
	tr[0].Send(2, []byte("on"))
	l[1].has(t, "on", 1)
	if got := l[1].all(); !slices.Equal(got, []string{"up 1", "down 1", "up 1", "down 1", "up 1", "on"}) {
		t.Errorf("told: %q", got)
	}
	if n := strings.Count(nodes.logged(), "level=WARN"); n != 1 || !strings.Contains(nodes.logged(), "from a process of it that has ended") {
		t.Errorf("there are %d warnings in %q", n, nodes.logged())
	}
}

// When a process of a node has begun, from which something has come, one of former times has no session any more: it may have stood still.
func TestAFormerProcessIsRefused(t *testing.T) {
	nodes, l, tr := two(t, nil)
	c, err := newClient(&tr[0].cfg, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	st, err := c.NewStream(t.Context(), &sessionDesc, sessionMethod)
	if err == nil {
		err = greet(st, sessionID{tr[0].incarnation + 1, 1}, tr[0].cfg.Clock)
	}
	if err == nil {
		err = st.SendMsg(bytesOf(beat{}.append(nil)))
	}
	if err != nil {
		t.Fatal(err)
	}
	l[1].has(t, "up 1", 2)
	poll(t, "the former process is refused", func() bool { return strings.Contains(nodes.logged(), "a former process of a node still runs") })
	tries := tr[0].opened.Load()
	poll(t, "it asks again", func() bool { return tr[0].opened.Load() > tries+3 })
	if n := strings.Count(strings.Join(l[1].all(), ","), "up 1"); n != 2 {
		t.Errorf("told: %q", l[1].all())
	}
	if n := strings.Count(nodes.logged(), "level=WARN"); n != 1 {
		t.Errorf("there are %d warnings in %q", n, nodes.logged())
	}
}

func TestOnlyPeersHaveSessions(t *testing.T) {
	c, l, tr := two(t, nil)
	tr[1].Peers(nil)
	l[0].has(t, "down 2", 1)
	l[1].has(t, "down 1", 1)
	poll(t, "a refusal", func() bool { return tr[0].opened.Load() > 3 })
	if got := l[1].all(); !slices.Equal(got, []string{"up 1", "down 1"}) {
		t.Errorf("told: %q", got)
	}
	tr[1].Peers([]event.NodeID{1})
	l[1].has(t, "up 1", 2)
	tr[0].Peers(nil)
	l[1].has(t, "down 1", 2)
	tr[0].Peers([]event.NodeID{2})
	l[1].has(t, "up 1", 3)

	// Node 3 has the address of node 2.
	c.mu.Lock()
	c.addrs[3] = c.addrs[2]
	c.mu.Unlock()
	dial := tr[0].cfg.Dial
	cfg := tr[0].cfg
	cfg.Dial = func(ctx context.Context, _ event.NodeID) (net.Conn, error) { return dial(ctx, 2) }
	wrong, err := newClient(&cfg, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer wrong.close()
	if _, err := wrong.NewStream(t.Context(), &sessionDesc, sessionMethod); err == nil || !strings.Contains(err.Error(), "node 2 instead of 3") {
		t.Errorf("got %v", err)
	}
}

func TestBulksThatFail(t *testing.T) {
	_, l, tr := two(t, nil)
	begun, ended := make(chan struct{}, 1), make(chan error, 1)
	for i := range l {
		l[i].bulk = func(_ event.NodeID, header []byte, r io.Reader) error {
			switch string(header) {
			case "refuse":
				return errors.New("the disk is full")
			case "leave":
				_, err := io.ReadFull(r, make([]byte, 10))
				return err
			}
			begun <- struct{}{}
			n, err := io.Copy(io.Discard, r)
			ended <- err
			if err == nil && n != 1<<20 {
				return fmt.Errorf("%d bytes have come", n)
			}
			return err
		}
	}
	data := make([]byte, 1<<20)
	whole := func(w io.Writer) error { _, err := w.Write(data); return err }
	ctx := t.Context()
	for i := range tr {
		to := event.NodeID(2 - i)
		if err := tr[i].Bulk(ctx, to, nil, whole); err != nil {
			t.Errorf("got %v", err)
		}
		<-begun
		<-ended
		var refusal *transport.Refusal
		for header, text := range map[string]string{"refuse": "the disk is full", "leave": "the handler has left a part of the bulk"} {
			endless := func(w io.Writer) (err error) {
				for err == nil {
					_, err = w.Write(data)
				}
				return err
			}
			if err := tr[i].Bulk(ctx, to, []byte(header), endless); !errors.As(err, &refusal) || refusal.Text != text {
				t.Errorf("%s: got %v", header, err)
			}
		}
		failure := errors.New("a chunk is damaged")
		err := tr[i].Bulk(ctx, to, nil, func(w io.Writer) error {
			_, err := w.Write(data)
			<-begun
			return errors.Join(err, failure)
		})
		if !errors.Is(err, failure) || !errors.Is(err, transport.ErrUnknown) {
			t.Errorf("got %v", err)
		}
		if err := <-ended; err == nil {
			t.Error("a bulk that failed was taken for whole")
		}
	}
	if err := tr[0].Bulk(ctx, 3, nil, whole); !errors.Is(err, transport.ErrNotSent) {
		t.Errorf("got %v", err)
	}
	err := tr[0].Bulk(ctx, 2, nil, func(w io.Writer) error {
		_, err := w.Write(data)
		<-begun
		tr[1].Break(1)
		if err := <-ended; err == nil {
			t.Error("a bulk without its session was taken for whole")
		}
		return err
	})
	if !errors.Is(err, transport.ErrUnknown) {
		t.Errorf("got %v", err)
	}
}

// TestABulkEndsWithItsSession has the sender of a bulk stand still.
func TestABulkEndsWithItsSession(t *testing.T) {
	const silence = 200 * time.Millisecond
	c, l, tr := two(t, func(cfg *Config) {
		cfg.Beat = silence / 10
		if cfg.Node == 2 {
			cfg.Silence = silence
		}
	})
	begun, ended := make(chan struct{}), make(chan error, 1)
	l[1].bulk = func(_ event.NodeID, _ []byte, r io.Reader) error {
		close(begun)
		_, err := io.Copy(io.Discard, r)
		ended <- err
		return err
	}
	stands := c.hang(1)
	err := tr[0].Bulk(t.Context(), 2, nil, func(w io.Writer) error {
		_, err := w.Write(make([]byte, 1000))
		<-begun
		stands.Lock()
		defer stands.Unlock()
		select {
		case err := <-ended:
			if err == nil {
				t.Error("a bulk without its session was taken for whole")
			}
		case <-time.After(patience):
			t.Error("the bulk of a node that is silent goes on")
		}
		return err
	})
	if err == nil {
		t.Error("the sender was told that its bulk has arrived")
	}
}

// TestASessionWaitsForTheEndOfTheFormerOne offers a session while a message of the former one is handled.
func TestASessionWaitsForTheEndOfTheFormerOne(t *testing.T) {
	_, l, tr := two(t, nil)
	handling, goOn, begun := make(chan struct{}), make(chan struct{}), make(chan struct{})
	l[1].on = func(event.NodeID, []byte) {
		close(handling)
		<-goOn
		l[1].tell("handled")
	}
	l[1].up = func(event.NodeID) { close(begun) }
	former := tr[0].present(2).id
	tr[0].Send(2, []byte("hello"))
	<-handling
	tr[0].Break(2)
	to := tr[1].link(1)
	poll(t, "another session", func() bool {
		to.mu.Lock()
		defer to.mu.Unlock()
		return to.mu.newest.id != former
	})
	select {
	case <-begun:
		t.Error("two sessions at once")
	case <-time.After(50 * time.Millisecond): // in which it would begin
	}
	close(goOn)
	l[1].has(t, "up 1", 2)
	if got := l[1].all(); !slices.Equal(got, []string{"up 1", "handled", "down 1", "up 1"}) {
		t.Errorf("told: %q", got)
	}
}

// TestMessagesPassABulk sends 200 MB beside messages that go to and fro.
func TestMessagesPassABulk(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // the heap is measured
	size := (200 << 20) / race.Slower
	_, l, tr := two(t, nil)
	runtime.GC() // of other tests
	back := make(chan struct{}, 1)
	l[1].on = func(_ event.NodeID, m []byte) { tr[1].Send(1, m) }
	l[0].on = func(event.NodeID, []byte) { back <- struct{}{} }
	var got int64
	l[1].bulk = func(_ event.NodeID, _ []byte, r io.Reader) (err error) {
		got, err = io.Copy(io.Discard, r)
		return err
	}
	done := make(chan error, 1)
	began := time.Now()
	go func() {
		chunk := make([]byte, 1<<20)
		done <- tr[0].Bulk(t.Context(), 2, []byte("state"), func(w io.Writer) error {
			for range size / len(chunk) {
				if _, err := w.Write(chunk); err != nil {
					return err
				}
			}
			return nil
		})
	}()
	var trips []time.Duration
	var stats runtime.MemStats
	most := uint64(0)
	for under := true; under; {
		before := time.Now()
		tr[0].Send(2, make([]byte, 200))
		<-back
		trips = append(trips, time.Since(before))
		if len(trips)%100 == 0 {
			runtime.ReadMemStats(&stats)
			most = max(most, stats.HeapAlloc)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			under = false
		default:
		}
	}
	if got != int64(size) {
		t.Errorf("%d of %d bytes have come", got, size)
	}
	slices.Sort(trips)
	p99 := trips[len(trips)*99/100]
	t.Logf("%d MB in %v; %d round trips, p50 %v, p99 %v, longest %v; heap up to %d MB", size>>20, time.Since(began), len(trips), trips[len(trips)/2], p99, trips[len(trips)-1], most>>20)
	if p99 > 100*time.Millisecond*race.Slower {
		t.Errorf("p99 of messages beside a bulk: %v", p99)
	}
	if most > 64<<20 {
		t.Errorf("the heap had %d MB", most>>20)
	}
}

// TestPairsComeAndGo begins and closes pairs of nodes, at moments of all kinds.
func TestPairsComeAndGo(t *testing.T) {
	before := runtime.NumGoroutine()
	c := newCluster(t)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		var l [2]*listens
		var tr [2]*Transport
		for k := range l {
			l[k] = newListens()
			cfg := c.config(event.NodeID(k+1), l[k])
			tr[k] = New(cfg)
		}
		for k := range tr {
			tr[k].Peers([]event.NodeID{1, 2})
		}
		switch r.IntN(4) {
		case 0: // at once
		case 1:
			l[1].has(t, "up 1", 1)
		case 2:
			l[0].has(t, "up 2", 1)
			tr[0].Send(2, []byte("hello"))
		default:
			l[0].has(t, "up 2", 1)
			tr[0].Send(2, []byte("hello"))
			l[1].has(t, "hello", 1)
		}
		first := r.IntN(2)
		_ = tr[first].Close()
		_ = tr[1-first].Close()
		for k := range l {
			told := l[k].all()
			up := false
			for _, what := range told {
				switch {
				case strings.HasPrefix(what, "up"):
					if up {
						t.Fatalf("%d: told %q", i, told)
					}
					up = true
				case !up:
					t.Fatalf("%d: told %q", i, told)
				case strings.HasPrefix(what, "down"):
					up = false
				}
			}
			if up {
				t.Fatalf("%d: told %q, and the transport is closed", i, told)
			}
		}
		c.mu.Lock()
		clear(c.addrs)
		c.mu.Unlock()
	}
	poll(t, "goroutines as before", func() bool { return runtime.NumGoroutine() <= before })
}

// TestReliableMessagesAlwaysHavePlace sends more of them to a node that stands still than may wait of others.
func TestReliableMessagesAlwaysHavePlace(t *testing.T) {
	const count, length = 300, 100_000
	c, l, tr := two(t, func(cfg *Config) { cfg.QueueMax = 1 << 20 })
	var next, before int // of the reliable messages, and how many have come before the other one
	ended := make(chan struct{})
	l[1].on = func(_ event.NodeID, m []byte) {
		if len(m) < length {
			before = next
			return
		}
		if n := binary.BigEndian.Uint64(m); n != uint64(next) {
			t.Errorf("reliable message %d behind %d", n, next-1)
		}
		if next++; next == count {
			close(ended)
		}
	}
	stands := c.hang(2)
	stands.Lock()
	for n := range uint64(count) {
		if !tr[0].SendReliable(2, numbered(n, length-8)) {
			stands.Unlock() // it ends with the test
			t.Fatalf("message %d has no place: %+v", n, tr[0].Metrics())
		}
	}
	if !tr[0].Send(2, []byte("overtakes")) {
		t.Error("a message has no place beside reliable ones")
	}
	stands.Unlock()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatalf("too few messages have come: %+v", tr[0].Metrics())
	}
	if before == 0 || before > count/2 {
		t.Errorf("a message came behind %d of %d reliable ones", before, count)
	}
	if m := tr[0].Metrics()[0]; m.Dropped != 0 || m.Sessions != 1 {
		t.Errorf("counted: %+v", m)
	}
}
