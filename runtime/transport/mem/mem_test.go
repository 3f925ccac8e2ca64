package mem

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listener is a handler that notes what it is told. Its mutex is never held over a hand-over.
type listener struct {
	id    event.NodeID
	clock *int // counts what is told in the whole network
	trace *strings.Builder
	say   func(string)
	on    func(from event.NodeID, m []byte)
	call  func(ctx context.Context, from event.NodeID, request []byte) ([]byte, error)
	bulk  func(from event.NodeID, header []byte, r io.Reader) error

	mu   sync.Mutex
	up   map[event.NodeID]bool
	told map[event.NodeID][]string // of each node
}

func listen(id event.NodeID) *listener {
	return &listener{id: id, up: make(map[event.NodeID]bool), told: make(map[event.NodeID][]string)}
}

func (l *listener) tell(from event.NodeID, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told[from] = append(l.told[from], what)
	if l.trace != nil {
		fmt.Fprintf(l.trace, "%d<%d %s\n", l.id, from, what)
	}
}

func (l *listener) Up(n event.NodeID) {
	l.tell(n, "up")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.up[n] = true
}

func (l *listener) Down(n event.NodeID) {
	l.tell(n, "down")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.up[n] = false
}

func (l *listener) Message(from event.NodeID, m []byte) {
	l.tell(from, string(m))
	if l.on != nil {
		l.on(from, m)
	}
}

func (l *listener) Call(ctx context.Context, from event.NodeID, request []byte) ([]byte, error) {
	return l.call(ctx, from, request)
}

func (l *listener) Bulk(from event.NodeID, header []byte, r io.Reader) error {
	return l.bulk(from, header, r)
}

// of returns what was told of a node.
func (l *listener) of(n event.NodeID) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.told[n])
}

func (l *listener) sees(n event.NodeID, up bool) func() bool {
	return func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.up[n] == up
	}
}

// check returns what is wrong with what was told of a node, whose messages are "session.number".
func check(told []string) string {
	up, session, number := false, 0, 0
	for _, what := range told {
		switch what {
		case "up":
			if up {
				return "up twice"
			}
			up, number = true, 0
		case "down":
			if !up {
				return "down twice"
			}
			up = false
		default:
			var s, n int
			if _, err := fmt.Sscanf(what, "%d.%d", &s, &n); err != nil {
				return what
			}
			switch {
			case !up:
				return what + " without a session"
			case number == 0 && s <= session:
				return what + ", of an older session"
			case number > 0 && s != session:
				return what + " in another session"
			case n != number+1:
				return fmt.Sprintf("%s behind number %d", what, number)
			}
			session, number = s, n
		}
	}
	return ""
}

// chatter is a node that says "session.number" to the others.
type chatter struct {
	*listener
	transport transport.Transport
	session   map[event.NodeID]int
	number    map[event.NodeID]int
}

var sessions int // of a run; each is numbered once

func (c *chatter) Up(n event.NodeID) {
	sessions++
	c.session[n], c.number[n] = sessions, 0
	c.listener.Up(n)
}

func (c *chatter) say(to event.NodeID) {
	if c.transport.Send(to, fmt.Appendf(nil, "%d.%d", c.session[to], c.number[to]+1)) {
		c.number[to]++
	}
}

// run has four nodes talk under all faults, and returns what they were told, in one order.
func run(t *testing.T, seed uint64) (string, Counts) {
	s := sched.New(seed, func() string { return "nothing" })
	r := rand.New(rand.NewPCG(seed, 1))
	net := New(Config{Scheduler: s, Rand: rand.New(rand.NewPCG(seed, 2)), Delay: 5, Loss: 0.05, Clock: sched.NewSimClock(time.Unix(0, 0))})
	sessions = 0
	var trace strings.Builder
	ids := []event.NodeID{1, 2, 3, 4}
	nodes := map[event.NodeID]*chatter{}
	var lives []*chatter
	join := func(id event.NodeID) {
		c := &chatter{listener: listen(id), session: map[event.NodeID]int{}, number: map[event.NodeID]int{}}
		c.trace = &trace
		c.call = func(_ context.Context, from event.NodeID, request []byte) ([]byte, error) {
			s.Yield()
			fmt.Fprintf(&trace, "%d<%d call %s\n", id, from, request)
			if len(request)%3 == 0 {
				return nil, errors.New("no")
			}
			return bytes.ToUpper(request), nil
		}
		c.bulk = func(from event.NodeID, header []byte, r io.Reader) error {
			b, err := io.ReadAll(r)
			fmt.Fprintf(&trace, "%d<%d bulk %s %d %v\n", id, from, header, len(b), err)
			return err
		}
		c.transport = net.Join(id, c)
		c.transport.Peers(ids)
		nodes[id] = c
		lives = append(lives, c)
	}
	for _, id := range ids {
		join(id)
	}
	var group sync.WaitGroup
	asked := 0
	ask := func(from *chatter, to event.NodeID) {
		asked++
		s.Go(&group, func() {
			defer func() { asked-- }()
			request := strings.Repeat("q", r.IntN(9)+1)
			reply, err := from.transport.Call(context.Background(), to, []byte(request))
			fmt.Fprintf(&trace, "%d call %d: %s %v\n", from.id, to, reply, err)
			if err == nil && string(reply) != strings.ToUpper(request) {
				t.Errorf("seed %d: %s is the answer to %s", seed, reply, request)
			}
			err = from.transport.Bulk(context.Background(), to, []byte("h"), func(w io.Writer) error {
				_, err := w.Write(make([]byte, 3*pipeMax))
				return err
			})
			fmt.Fprintf(&trace, "%d bulk %d: %v\n", from.id, to, err)
		})
	}
	for range 600 {
		from, to := ids[r.IntN(4)], ids[r.IntN(4)]
		if from == to {
			continue
		}
		switch k := r.IntN(100); {
		case k < 2:
			net.Crash(from)
			s.Yield()
			join(from)
		case k < 4:
			net.Cut(from, to)
		case k < 5:
			net.CutBoth(from, to)
		case k < 9:
			net.Heal(from, to)
			net.Heal(to, from)
		case k < 10:
			nodes[from].transport.Break(to)
		case k < 14:
			ask(nodes[from], to)
		case k < 50:
			s.Yield()
		default:
			nodes[from].say(to)
		}
	}
	net.HealAll()
	for _, a := range ids {
		for _, b := range ids {
			if a != b {
				s.Until(nodes[a].sees(b, true))
			}
		}
	}
	s.Until(func() bool { return asked == 0 })
	net.Close()
	for _, c := range lives {
		for _, id := range ids {
			if bad := check(c.of(id)); bad != "" {
				t.Errorf("seed %d: node %d was told of node %d: %s", seed, c.id, id, bad)
			}
		}
	}
	return trace.String(), net.Counts()
}

// TestASeedIsOneRun checks at once that sessions deliver in order, and that nothing crosses their ends.
func TestASeedIsOneRun(t *testing.T) {
	seen := map[string]bool{}
	var all Counts
	for seed := range uint64(40) {
		trace, saw := run(t, seed)
		if again, _ := run(t, seed); again != trace {
			t.Fatalf("seed %d is two runs", seed)
		}
		seen[trace] = true
		all.Sessions += saw.Sessions
		all.Broken += saw.Broken
		all.Crashes += saw.Crashes
		all.Cuts += saw.Cuts
		all.Delivered += saw.Delivered
		all.Lost += saw.Lost
		all.Dropped += saw.Dropped
		all.Held += saw.Held
		all.Calls += saw.Calls
		all.Bulks += saw.Bulks
		all.NotSent += saw.NotSent
		all.Unknown += saw.Unknown
	}
	if len(seen) != 40 {
		t.Errorf("40 seeds are %d runs", len(seen))
	}
	if min(all.Sessions, all.Broken, all.Crashes, all.Cuts, all.Lost, all.Dropped, all.Held, all.Calls, all.Bulks, all.NotSent, all.Unknown) < 20 || all.Delivered < 1000 {
		t.Errorf("too little has happened: %+v", all)
	}
	t.Logf("%+v", all)
}

// scheduled returns a network of nodes 1 and 2 with a session, on a scheduled system.
func scheduled(t *testing.T, cfg Config) (*sched.Scheduler, *Network, [2]*listener, [2]transport.Transport) {
	s := sched.New(7, func() string { return "nothing" })
	cfg.Scheduler, cfg.Rand = s, rand.New(rand.NewPCG(7, 7))
	net := New(cfg)
	l := [2]*listener{listen(1), listen(2)}
	tr := [2]transport.Transport{net.Join(1, l[0]), net.Join(2, l[1])}
	tr[0].Peers([]event.NodeID{2})
	s.Until(func() bool { return l[0].sees(2, true)() && l[1].sees(1, true)() })
	t.Cleanup(func() {
		net.Close()
	})
	return s, net, l, tr
}

func TestACutInOneDirection(t *testing.T) {
	clock := sched.NewSimClock(time.Unix(1, 0))
	s, net, l, tr := scheduled(t, Config{Silence: 1000, Clock: clock})
	net.Cut(1, 2)
	clock.Set(time.Unix(2, 0))
	if !tr[0].Send(2, []byte("held")) || !tr[1].Send(1, []byte("through")) {
		t.Fatal("there is a session")
	}
	s.Until(func() bool { return slices.Contains(l[0].of(2), "through") })
	for range 100 {
		s.Yield()
	}
	if got := l[1].of(1); !slices.Equal(got, []string{"up"}) {
		t.Errorf("over a link that is cut came %v", got)
	}
	if a, b := tr[0].Heard(2), tr[1].Heard(1); !a.At.Equal(time.Unix(2, 0)) || !b.At.Equal(time.Unix(1, 0)) || !a.Up || !b.Up {
		t.Errorf("heard: %+v, %+v", a, b)
	}
	net.Heal(1, 2)
	s.Until(func() bool { return slices.Contains(l[1].of(1), "held") })

	net.Cut(1, 2)
	tr[0].Send(2, []byte("gone"))
	s.Until(func() bool { return l[0].sees(2, false)() && l[1].sees(1, false)() })
	if tr[0].Send(2, []byte("nowhere")) || tr[0].Heard(2).Up {
		t.Error("there is no session")
	}
	net.Heal(1, 2)
	s.Until(func() bool { return l[0].sees(2, true)() && l[1].sees(1, true)() })
	tr[0].Send(2, []byte("again"))
	s.Until(func() bool { return slices.Contains(l[1].of(1), "again") })
	if got := l[1].of(1); !slices.Equal(got, []string{"up", "held", "down", "up", "again"}) {
		t.Errorf("told: %v", got)
	}
}

func TestCallsEndWithWhatIsTrue(t *testing.T) {
	s, net, l, tr := scheduled(t, Config{})
	ran := make(chan struct{})
	l[1].call = func(_ context.Context, _ event.NodeID, q []byte) ([]byte, error) {
		switch string(q) {
		case "refuse":
			return nil, errors.New("not today")
		case "hang":
			close(ran)
			s.Until(func() bool { return !l[0].sees(2, true)() })
		}
		return q, nil
	}
	ctx := context.Background()
	if got, err := tr[0].Call(ctx, 2, []byte("hello")); string(got) != "hello" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	var refusal *transport.Refusal
	if _, err := tr[0].Call(ctx, 2, []byte("refuse")); !errors.As(err, &refusal) || *refusal != (transport.Refusal{By: 2, Text: "not today"}) {
		t.Errorf("got %v", err)
	}
	if _, err := tr[0].Call(ctx, 3, nil); !errors.Is(err, transport.ErrNotSent) {
		t.Errorf("got %v from a node that is not there", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := tr[0].Call(ended, 2, nil); !errors.Is(err, transport.ErrNotSent) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	var group sync.WaitGroup
	s.Go(&group, func() {
		s.Wait(ran)
		net.Crash(2)
	})
	if _, err := tr[0].Call(ctx, 2, []byte("hang")); !errors.Is(err, transport.ErrUnknown) {
		t.Errorf("got %v from a node that crashed in the middle", err)
	}
	s.Until(func() bool { return l[0].sees(2, false)() })
	if _, err := tr[0].Call(ctx, 2, nil); !errors.Is(err, transport.ErrNotSent) {
		t.Errorf("got %v", err)
	}
	if tr[1].Send(1, nil) {
		t.Error("a node that has crashed sends")
	}
}

func TestABulkBreaksInTheMiddle(t *testing.T) {
	s, net, l, tr := scheduled(t, Config{})
	var got []byte
	var ended error
	l[1].bulk = func(_ event.NodeID, header []byte, r io.Reader) error {
		switch string(header) {
		case "refuse":
			return errors.New("full")
		case "leave":
			return nil
		}
		got, ended = io.ReadAll(r)
		return ended
	}
	ctx := context.Background()
	data := bytes.Repeat([]byte("0123456789"), pipeMax/3)
	whole := func(w io.Writer) error { _, err := w.Write(data); return err }
	if err := tr[0].Bulk(ctx, 2, nil, whole); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%v, %d of %d bytes", err, len(got), len(data))
	}
	var refusal *transport.Refusal
	for header, text := range map[string]string{"refuse": "full", "leave": "the handler has left a part of the bulk"} {
		if err := tr[0].Bulk(ctx, 2, []byte(header), whole); !errors.As(err, &refusal) || refusal.Text != text {
			t.Errorf("%s: %v", header, err)
		}
	}
	failure := errors.New("a chunk is damaged")
	err := tr[0].Bulk(ctx, 2, nil, func(w io.Writer) error {
		_, _ = w.Write(data) // it has no session that ends
		return failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	s.Until(func() bool { return ended != nil })
	if len(got) > len(data) {
		t.Errorf("got %d bytes", len(got))
	}
	ended = nil
	err = tr[0].Bulk(ctx, 2, nil, func(w io.Writer) error {
		_, _ = w.Write(data[:100])
		net.Crash(2)
		_, err := w.Write(data)
		return err
	})
	if !errors.Is(err, transport.ErrUnknown) && !errors.Is(err, transport.ErrNotSent) {
		t.Errorf("got %v from a node that crashed in the middle", err)
	}
}

func TestNothingArrivesOfACrashedNode(t *testing.T) {
	s, net, l, tr := scheduled(t, Config{Delay: 3})
	for range 10 {
		if !tr[1].Send(1, []byte("late")) {
			t.Fatal("there is a session")
		}
	}
	net.Crash(2)
	s.Until(l[0].sees(2, false))
	if got := l[0].of(2); !slices.Equal(got, []string{"up", "down"}) {
		t.Errorf("told: %v", got)
	}
	if saw := net.Counts(); saw.Crashes != 1 || saw.Dropped != 10 {
		t.Errorf("counted: %+v", saw)
	}
	again := listen(2)
	net.Join(2, again)
	s.Until(l[0].sees(2, true))
	tr[0].Send(2, []byte("welcome"))
	s.Until(func() bool { return slices.Contains(again.of(1), "welcome") })
}

// TestACallThatWasNotSentDoesNotRun has callers give up while the link is cut.
func TestACallThatWasNotSentDoesNotRun(t *testing.T) {
	s, net, l, tr := scheduled(t, Config{Silence: 1 << 20})
	ran := map[string]bool{}
	l[1].call = func(_ context.Context, _ event.NodeID, q []byte) ([]byte, error) {
		ran[string(q)] = true
		return nil, nil
	}
	net.Cut(1, 2)
	notSent, unknown := map[string]bool{}, map[string]bool{}
	for i := range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		s.Go(&group, cancel)
		q := fmt.Sprint(i)
		switch _, err := tr[0].Call(ctx, 2, []byte(q)); {
		case !errors.Is(err, context.Canceled):
			t.Errorf("got %v", err)
		case errors.Is(err, transport.ErrNotSent):
			notSent[q] = true
		case errors.Is(err, transport.ErrUnknown):
			unknown[q] = true
		}
	}
	net.Heal(1, 2)
	s.Until(func() bool { return len(ran) >= len(unknown) })
	if err := tr[1].Close(); err != nil {
		t.Error(err)
	}
	for q := range ran {
		if !unknown[q] {
			t.Errorf("call %s has run, and its caller was told that it was not sent", q)
		}
	}
	if len(unknown) == 0 || len(notSent) == 0 {
		t.Errorf("%d calls were not sent, the outcome of %d is unknown", len(notSent), len(unknown))
	}
}

func TestPeersThatAreLeftOutAreRefused(t *testing.T) {
	s, _, l, tr := scheduled(t, Config{})
	tr[1].Peers([]event.NodeID{1})
	tr[1].Peers(nil)
	s.Until(func() bool { return l[0].sees(2, false)() && l[1].sees(1, false)() })
	for range 100 {
		s.Yield()
	}
	if got := l[1].of(1); !slices.Equal(got, []string{"up", "down"}) {
		t.Errorf("told: %v", got)
	}
	tr[1].Peers([]event.NodeID{1})
	s.Until(func() bool { return l[0].sees(2, true)() && l[1].sees(1, true)() })
}

func TestAHungDiskIsHeardOf(t *testing.T) {
	_, net, _, tr := scheduled(t, Config{})
	if !tr[0].Heard(2).Progress {
		t.Error("the disk makes progress")
	}
	net.Hang(2, true)
	if tr[0].Heard(2).Progress || !tr[1].Heard(1).Progress {
		t.Error("the disk of node 2 hangs")
	}
}

// TestWithoutAScheduler has goroutines talk, for the race detector.
func TestWithoutAScheduler(t *testing.T) {
	net := New(Config{Rand: rand.New(rand.NewPCG(1, 1)), Delay: 2, Loss: 0.01})
	const count = 2000
	var all sync.WaitGroup
	arrived := make(chan struct{})
	a, b := listen(1), listen(2)
	next := uint64(0)
	b.on = func(_ event.NodeID, m []byte) {
		if got := binary.BigEndian.Uint64(m); got != next {
			t.Errorf("%d behind %d", got, next)
		}
		if next++; next == count {
			close(arrived)
		}
	}
	b.call = func(ctx context.Context, _ event.NodeID, q []byte) ([]byte, error) {
		if len(q) == 0 {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return q, nil
	}
	b.bulk = func(_ event.NodeID, _ []byte, r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	}
	ta, tb := net.Join(1, a), net.Join(2, b)
	ta.Peers([]event.NodeID{2})
	net.wait(t.Context(), func() bool { return net.nodes[1].present[2] != nil })
	all.Go(func() {
		for i := range uint64(count) {
			for !ta.Send(2, binary.BigEndian.AppendUint64(nil, i)) {
				continue
			}
		}
	})
	for range 8 {
		all.Go(func() {
			for range 20 {
				if got, err := ta.Call(t.Context(), 2, []byte("q")); string(got) != "q" || err != nil {
					t.Errorf("%s, %v", got, err)
				}
			}
			err := ta.Bulk(t.Context(), 2, nil, func(w io.Writer) error {
				_, err := w.Write(make([]byte, 10*pipeMax))
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	<-arrived
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := ta.Call(short, 2, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if err := tb.Close(); err != nil {
		t.Error(err)
	}
	net.Close()
}
