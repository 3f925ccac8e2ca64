package door

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/grpcdoor"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/metrics"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

// A client that does not take its callbacks by gRPC ends alone, with its connection or by TLS with its stream, and what waits
// for it takes no more than it may.
func TestSlowReadersByGRPC(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		t.Run(map[bool]string{false: "plain", true: "TLS"}[secure], func(t *testing.T) {
			s := open(t, &shop.AeonPackage)
			streams := func(c *gate.Counts) (n int) {
				var w metrics.Writer
				c.Write(&w)
				var b strings.Builder
				_, err := w.WriteTo(&b)
				_, text, _ := strings.Cut(b.String(), "\naeon_http_streams ")
				if _, scan := fmt.Sscan(text, &n); err != nil || scan != nil {
					t.Fatal(err)
				}
				return n
			}
			cfg, creds := httpdoor.Config{Config: gate.Config{SendMax: 200 * time.Millisecond, Counts: &gate.Counts{}}}, insecure.NewCredentials()
			if secure {
				cert, key, trust := certificate(t)
				conf, err := httpdoor.Certificate(cert, key)
				if err != nil {
					t.Fatal(err)
				}
				cfg.TLS, creds = conf, credentials.NewTLS(&tls.Config{RootCAs: trust})
			}
			r := s.dial(cfg, grpc.WithTransportCredentials(creds))
			conn, err := grpc.NewClient(strings.TrimPrefix(s.URL, "http://"), grpc.WithTransportCredentials(creds))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			slow := &remote{t: t, conn: conn}
			c, other := slow.begin(`"Ear"`), r.begin(`"Ear"`)
			for _, c := range []client{c, other} {
				if _, err := r.call("shop.Shop/listen", `{"key":"main","ear":"`+c.References["Ear"]+`"}`); err != nil {
					t.Fatal(err)
				}
			}
			stuck := slow.follow(c.ID, 0)
			h := r.follow(other.ID, 0)
			text := strings.Repeat("x", 1<<19)
			if _, err := r.call("shop.Shop/say", `{"key":"main","text":"a","times":1}`); err != nil {
				t.Fatal(err)
			}
			for _, h := range []*heard{stuck, h} {
				h.want(`{"number":"1","Ear":{"said":{"number":"1","text":"a"}}}`)
			}
			for n := 2; streams(cfg.Counts) == 2; n++ {
				if n > 300 {
					t.Fatal("the stream of the slow client goes on")
				}
				if _, err := r.call("shop.Shop/say", `{"key":"main","text":"`+text+`","times":1}`); err != nil {
					t.Fatal(err)
				}
				if m, err := h.next(); err != nil || saying(m) != int64(n) {
					t.Fatalf("behind %d: %v", n-1, err)
				}
			}
			for err = nil; err == nil; { // what was on its way
				_, err = stuck.next()
			}
			most := uint64(1)
			if status.Code(err) == codes.NotFound { // it was not reset, but ends with a status, and what the transport has is sent before that
				most = 2
			}
			if stuck.last > most || status.Code(err) == codes.OK {
				t.Errorf("the slow client has got %d callbacks and is told %v", stuck.last, err)
			}
		})
	}
}

// When the server closes, streams by gRPC end at once, and say so.
func TestStreamsByGRPCEndWithTheServer(t *testing.T) {
	s := open(t, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{})
	var list []*heard
	for range 5 {
		list = append(list, r.follow(r.begin(`"Ear"`).ID, 0))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := r.server.Close(ctx); err != nil {
		t.Error(err)
	}
	for _, h := range list {
		h.wantEnd("Unavailable unavailable no  again: the program is ending, and its clients with it")
	}
}

// What bounds the time of a request over TLS does not end a stream of gRPC, nor one that watches the health.
func TestStreamsByGRPCOutliveRequests(t *testing.T) {
	t.Parallel()
	s := open(t, &shop.AeonPackage)
	services, err := grpcdoor.Of(s.door)
	if err != nil {
		t.Fatal(err)
	}
	served := httpdoor.New(httpdoor.Config{Config: gate.Config{Door: s.door, Log: discard}, Program: "shop", GRPC: func(g *gate.Gate) httpdoor.Peer { return services.Serve(g) }})
	s.Server = httptest.NewUnstartedServer(served.Handler())
	const timeMax = time.Second // no call is longer, whatever else the machine does
	s.Config.ReadTimeout, s.Config.WriteTimeout, s.EnableHTTP2 = timeMax, timeMax, true
	s.StartTLS()
	t.Cleanup(s.Close)
	trust := x509.NewCertPool()
	trust.AddCert(s.Certificate())
	conn, err := grpc.NewClient(strings.TrimPrefix(s.URL, "https://"), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: trust})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	r := &remote{t: t, conn: conn}
	c := r.begin(`"Ear"`)
	h := r.follow(c.ID, 0)
	watch, err := healthv1.NewHealthClient(conn).Watch(r.context(), &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if state, err := watch.Recv(); err != nil || state.Status != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("%v (%v)", state, err)
	}
	if _, err := r.call("shop.Shop/listen", `{"key":"main","ear":"`+c.References["Ear"]+`"}`); err != nil {
		t.Fatal(err)
	}
	began, n := time.Now(), 0
	next := time.NewTicker(timeMax / 50) // rather than all calls that the machine can make
	defer next.Stop()
	for ; time.Since(began) < 3*timeMax; n++ { // each call has its time
		<-next.C
		if _, err := r.call("shop.Shop/say", `{"key":"main","text":"x","times":1}`); err != nil {
			t.Fatal(err)
		}
		h.want(fmt.Sprintf(`{"number":"%d","Ear":{"said":{"number":"%d","text":"x"}}}`, n+1, n+1))
	}
	s.sys.Close()
	if state, err := watch.Recv(); err != nil || state.Status != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("after %v: %v (%v)", 3*timeMax, state, err)
	}
}

// Over kills of the server each callback that arrives by gRPC has happened, none comes twice, and they come in order.
func TestCallbacksByGRPCThroughKills(t *testing.T) {
	t.Parallel()
	exe, dir := build(t), filepath.Join(t.TempDir(), "data")
	p := start(t, exe, dir)
	seen, heard := int64(0), 0
	for range *kills {
		conn, err := grpc.NewClient(strings.TrimPrefix(p.url, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		r := &remote{t: t, conn: conn}
		c := r.begin(`"Ear"`)
		if _, err := r.call("shop.Shop/listen", `{"key":"main","ear":"`+c.References["Ear"]+`"}`); err != nil {
			t.Fatal(err)
		}
		h := r.follow(c.ID, 0)
		say := func() error {
			_, err := r.call("shop.Shop/say", `{"key":"main","text":"x","times":2}`)
			return err
		}
		var end sync.WaitGroup
		end.Go(func() {
			for range 200 {
				if say() != nil {
					return // it was killed
				}
			}
		})
		more := func() error {
			m, err := h.next()
			if err != nil {
				return err
			}
			n := saying(m)
			if n <= seen {
				t.Fatalf("behind number %d: %v", seen, m)
			}
			seen, heard = n, heard+1
			return nil
		}
		for range 100 + heard%50 {
			if err := more(); err != nil {
				t.Fatal(err)
			}
		}
		_ = p.cmd.Process.Kill() // it may have ended
		_ = p.cmd.Wait()         // which says that it was killed
		for err = nil; err == nil; {
			err = more() // what was on its way
		}
		end.Wait()
		conn.Close()
		p = start(t, exe, dir)
		if conn, err = grpc.NewClient(strings.TrimPrefix(p.url, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
			t.Fatal(err)
		}
		r = &remote{t: t, conn: conn}
		text, err := r.call("shop.Shop/add", `{"key":"main","n":0}`)
		count := int64(0)
		if _, scan := fmt.Sscanf(text, `{"result":"%d"}`, &count); err != nil || scan != nil || count < seen {
			t.Fatalf("callback %d has arrived, and the shop has said %s (%v)", seen, text, err)
		}
		if _, err := r.receive(r.context(), c.ID, h.last); status.Code(err) != codes.NotFound {
			t.Errorf("the client of before: %v", err)
		}
		conn.Close()
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	t.Logf("%d callbacks, the last one was number %d", heard, seen)
}
