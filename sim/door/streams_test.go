package door

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

var streams = flag.Int("streams", 300, "how many streams TestIdleStreams opens")

// What bounds the time of a request does not end a stream, by HTTP/1.1 or HTTP/2: it lives as long as it shows signs of life.
func TestStreamsOutliveRequests(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(protocol, func(t *testing.T) {
			s := serve(t, httpdoor.Config{BeatMax: 20 * time.Millisecond})
			handler := s.Config.Handler
			const timeMax = time.Second // a handshake is no longer, whatever else the machine does
			s.Close()
			s.Server = httptest.NewUnstartedServer(handler)
			s.Config.ReadTimeout, s.Config.WriteTimeout = timeMax, timeMax
			if s.EnableHTTP2 = protocol == "HTTP/2.0"; s.EnableHTTP2 {
				s.StartTLS()
			} else {
				s.Start()
			}
			t.Cleanup(s.Close)
			c := s.begin(`"Ear"`)
			s.do("/v1/Shop/main/listen", `{"ear":"`+c.References["Ear"]+`"}`)
			st, a := s.connect(t.Context(), s.URL+c.Events)
			if a.Proto != protocol {
				t.Fatalf("it is %s", a.Proto)
			}
			began, beats := time.Now(), 0
			for time.Since(began) < 3*timeMax {
				line, err := st.lines.ReadString('\n')
				if err != nil {
					t.Fatalf("after %v: %v", time.Since(began), err)
				}
				if line == ":\n" {
					beats++
				}
			}
			if beats < 3 {
				t.Errorf("%d signs of life", beats)
			}
			s.do("/v1/Shop/main/say", `{"text":"x","times":1}`)
			st.want("", said(1, "x", "null"))
		})
	}
}

// A client that does not read ends its own stream alone.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	s := serve(t, httpdoor.Config{Config: gate.Config{SendMax: 200 * time.Millisecond}})
	c, other := s.begin(`"Ear"`), s.begin(`"Ear"`)
	s.do("/v1/Shop/main/listen", `{"ear":"`+c.References["Ear"]+`"}`)
	s.do("/v1/Shop/main/listen", `{"ear":"`+other.References["Ear"]+`"}`)
	slow, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	if err := slow.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(slow, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", c.Events); err != nil {
		t.Fatal(err)
	}
	s.untilFigure("aeon_http_streams", 1)
	st := s.follow(other, "")
	text := strings.Repeat("x", 1<<19)
	for n := 1; s.figure("aeon_http_streams") == 2; n++ {
		if n > 200 {
			t.Fatal("the stream of the slow client goes on")
		}
		s.do("/v1/Shop/main/say", fmt.Sprintf(`{"text":%q,"times":1}`, text))
		st.want("", said(n, text, "null"))
	}
	if n := s.figure("aeon_remote_callback_bytes"); n > 2<<20 {
		t.Errorf("callbacks take %d bytes", n)
	}
}

// When the server closes its streams end at once, and as they should.
func TestStreamsEndWithTheServer(t *testing.T) {
	s := serve(t, httpdoor.Config{})
	server, err := httpdoor.Listen("127.0.0.1:0", httpdoor.Config{Config: gate.Config{Door: s.door, Log: slog.New(slog.DiscardHandler)}, Program: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	for range 5 {
		c := s.begin(`"Ear"`)
		_, a := s.connect(t.Context(), "http://"+server.Address()+c.Events)
		open.Go(func() {
			if text, err := io.ReadAll(a.Body); err != nil || string(text) != "retry: 1000\n\n" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := server.Close(ctx); err != nil {
		t.Errorf("it took %v: %v", time.Since(began), err)
	}
	open.Wait()
}

// A stream that has resumed, and has not been given its callbacks yet, loses none of them to others that come.
func TestResumedStreamKeepsItsCallbacks(t *testing.T) {
	s := openWith(t, &shop.AeonPackage, door.RemoteLimits{KeptMax: 3}, runtime.RealClock{})
	s.listen(httpdoor.Config{})
	ear, err := s.door.ClientClass("Ear")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.door.Remotes.Begin("", []*door.ClientClass{ear})
	if err != nil {
		t.Fatal(err)
	}
	s.do("/v1/Shop/main/listen", `{"ear":"`+r.References[0]+`"}`)
	say := func() {
		s.do("/v1/Shop/main/say", `{"text":"x","times":1}`)
		s.sys.Client().Settle()
	}
	take := func(st *door.Stream, want ...uint64) {
		t.Helper()
		list, err := st.Take()
		if err != nil || len(list) != len(want) {
			t.Fatalf("%d callbacks, %v", len(list), err)
		}
		for i, d := range list {
			if d.Number != want[i] {
				t.Errorf("callback %d instead of %d", d.Number, want[i])
			}
		}
	}
	first, err := r.Stream(0)
	if err != nil {
		t.Fatal(err)
	}
	say()
	say()
	take(first, 1, 2)
	again, err := r.Stream(0)
	if err != nil {
		t.Fatal(err)
	}
	say()
	take(again, 1, 2, 3)
	third, err := r.Stream(0)
	if err != nil {
		t.Fatal(err)
	}
	say() // does not fit, as nothing can give way
	if _, err := third.Take(); err == nil || !strings.HasPrefix(err.Error(), "more than 3 callbacks") {
		t.Error(err)
	}
}

// pipes is a listener whose connections are pipes in memory, so that a process may have as many as it likes.
type pipes struct {
	made   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// Streams that are idle take little memory, and no goroutines but those of the connections.
func TestIdleStreams(t *testing.T) {
	s := serve(t, httpdoor.Config{})
	l := &pipes{made: make(chan net.Conn), closed: make(chan struct{})}
	server := http.Server{Handler: s.Config.Handler}
	var end sync.WaitGroup
	end.Go(func() { _ = server.Serve(l) }) // ends with Close
	memory := func() (bytes, goroutines int64) {
		goruntime.GC()
		var m goruntime.MemStats
		goruntime.ReadMemStats(&m)
		return int64(m.HeapInuse + m.StackInuse), int64(goruntime.NumGoroutine())
	}
	clients := make([]client, *streams)
	conns := make([]net.Conn, *streams)
	bytesBefore, goroutinesBefore := memory()
	for i := range clients {
		clients[i] = s.begin(`"Ear"`)
		s.do("/v1/Shop/main/listen", `{"ear":"`+clients[i].References["Ear"]+`"}`)
		ours, theirs := net.Pipe()
		l.made <- theirs
		if _, err := fmt.Fprintf(ours, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", clients[i].Events); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(ours)
		for line := ""; !strings.HasPrefix(line, "retry:"); {
			var err error
			if line, err = in.ReadString('\n'); err != nil || strings.HasPrefix(line, "HTTP/") && !strings.Contains(line, "200") {
				t.Fatalf("%q %v", line, err)
			}
		}
		if _, err := in.Discard(len("\n\r\n")); err != nil {
			t.Fatal(err)
		}
		conns[i] = ours
	}
	bytes, goroutines := memory()
	per := (bytes - bytesBefore) / int64(*streams)
	t.Logf("%d streams: %d bytes and %.2f goroutines for each", *streams, per, float64(goroutines-goroutinesBefore)/float64(*streams))
	if per > 64<<10 {
		t.Errorf("a stream takes %d bytes", per)
	}
	if goroutines-goroutinesBefore > 2*int64(*streams)+20 { // one serves the connection, one sees that the client goes away
		t.Errorf("%d goroutines for %d streams", goroutines-goroutinesBefore, *streams)
	}
	// Each gets what is said.
	var heard atomic.Int64
	for _, c := range conns {
		end.Go(func() {
			in := bufio.NewReader(c)
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if strings.HasPrefix(line, "data: ") {
					heard.Add(1)
				}
			}
		})
	}
	s.do("/v1/Shop/main/say", `{"text":"x","times":1}`)
	for deadline := time.Now().Add(time.Minute); heard.Load() < int64(*streams); {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d have heard it", heard.Load(), *streams)
		}
		goruntime.Gosched()
	}
	for _, c := range conns {
		c.Close()
	}
	s.untilFigure("aeon_http_streams", 0)
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	end.Wait()
}

// Over kills of the server each callback that arrives has happened, none comes twice, and they come in order. One that is
// missing was called when no client of the listener was there, or shortly before a kill.
func TestCallbacksThroughKills(t *testing.T) {
	t.Parallel()
	exe, dir := build(t), filepath.Join(t.TempDir(), "data")
	p := start(t, exe, dir)
	s := &served{t: t, Server: httptest.NewServer(nil)}
	defer s.Close()
	seen, heard := 0, 0
	for range *kills {
		s.URL = p.url
		c := s.begin(`"Ear"`)
		s.do("/v1/Shop/main/listen", `{"ear":"`+c.References["Ear"]+`"}`)
		st := s.follow(c, "")
		var end sync.WaitGroup
		end.Go(func() {
			for range 200 {
				r, err := http.Post(p.url+"/v1/Shop/main/say", "application/json", strings.NewReader(`{"text":"x","times":2}`))
				if err != nil {
					return // it was killed
				}
				r.Body.Close()
			}
		})
		for range 100 + heard%50 {
			_, data, err := st.next()
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			if _, err := fmt.Sscanf(data, `{"class":"Ear","method":"said","arguments":{"number":%d,`, &n); err != nil || n <= seen {
				t.Fatalf("behind number %d: %s", seen, data)
			}
			seen, heard = n, heard+1
		}
		_ = p.cmd.Process.Kill() // it may have ended
		_ = p.cmd.Wait()         // which says that it was killed
		for {                    // what was on its way
			_, data, err := st.next()
			if err != nil {
				break
			}
			n := 0
			if _, err := fmt.Sscanf(data, `{"class":"Ear","method":"said","arguments":{"number":%d,`, &n); err != nil || n <= seen {
				t.Fatalf("behind number %d: %s", seen, data)
			}
			seen, heard = n, heard+1
		}
		end.Wait()
		p = start(t, exe, dir)
		s.URL = p.url
		count := 0
		if _, err := fmt.Sscan(s.do("/v1/Shop/main/add", `{"n":0}`), &count); err != nil || count < seen {
			t.Fatalf("callback %d has arrived, and the shop has said %d (%v)", seen, count, err)
		}
		if got := s.ask("GET", c.Events, "", "Last-Event-ID", st.last); got.status != 404 {
			t.Errorf("the client of before: %d %s", got.status, got.body)
		}
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	t.Logf("%d callbacks, the last one was number %d", heard, seen)
}
