package door

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// endless is as many bytes as are left, all alike, behind a head.
type endless struct {
	head []byte
	left int64
	of   byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.head) > 0 {
		n := copy(p, e.head)
		e.head = e.head[n:]
		return n, nil
	}
	if e.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), e.left)]
	for i := range p {
		p[i] = e.of
	}
	e.left -= int64(len(p))
	return len(p), nil
}

// peak returns the most memory that a process has had so far, in bytes; 0 where Linux does not tell it.
func (p *process) peak(t *testing.T) (bytes int64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if os.IsNotExist(err) {
		return 0
	}
	_, peak, _ := strings.Cut(string(text), "VmHWM:")
	if _, scan := fmt.Sscan(peak, &bytes); err != nil || scan != nil {
		t.Fatal(err, scan)
	}
	return bytes << 10
}

// Bodies and messages of 1 GB, announced or not, of one piece or many, and those that would be as large when they are
// decompressed, are refused, and take a process no more memory than the limits say. It goes on serving.
func TestHugeRequests(t *testing.T) {
	t.Setenv("GOGC", "100") // the memory of the process is measured
	const huge = 1 << 30
	exe := build(t)
	p := start(t, exe, t.TempDir())
	defer func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}()
	s := &served{t: t}
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	byHTTP2 := &http.Client{Transport: &http.Transport{Protocols: &protocols}}
	defer byHTTP2.CloseIdleConnections()
	frame := func(flag byte, size uint32) []byte { return binary.BigEndian.AppendUint32([]byte{flag}, size) }
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := io.CopyN(z, &endless{left: huge}, 100<<20); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	// send sends a request, and returns what it is answered; "" if the server has ended the connection first.
	send := func(by *http.Client, path, media string, announced int64, body io.Reader, head ...string) string {
		r, err := http.NewRequestWithContext(t.Context(), "POST", p.url+path, body)
		if err != nil {
			t.Error(err)
			return ""
		}
		r.ContentLength = announced
		r.Header.Set("Content-Type", media)
		r.Header.Set("TE", "trailers")
		for i := 0; i < len(head); i += 2 {
			r.Header.Set(head[i], head[i+1])
		}
		a, err := by.Do(r)
		if err != nil {
			return ""
		}
		defer a.Body.Close()
		text, _ := io.ReadAll(a.Body) // it may be cut off, as the server does not wait for the rest of the request
		return fmt.Sprint(a.StatusCode, " ", a.Header.Get("Grpc-Status"), a.Trailer.Get("Grpc-Status"), " ", string(text))
	}
	const json, proto = "application/json", "application/grpc"
	kinds := map[string]func() string{
		"413 ": func() string {
			return send(http.DefaultClient, "/v1/Shop/main/find", json, huge, &endless{[]byte(`{"name":"`), huge - 9, 'x'})
		},
		"413 (chunks)": func() string {
			return send(http.DefaultClient, "/v1/Shop/main/find", json, -1, &endless{[]byte(`{"name":"`), huge, 'x'})
		},
		"413 (client)": func() string {
			return send(http.DefaultClient, "/v1/clients", json, -1, &endless{[]byte(`{"classes":["`), huge, 'x'})
		},
		"404 ": func() string { return send(http.DefaultClient, "/v1/nowhere", json, huge, &endless{left: huge}) },
		"400 (gzip)": func() string {
			return send(http.DefaultClient, "/v1/Shop/main/find", json, -1, bytes.NewReader(bomb.Bytes()), "Content-Encoding", "gzip")
		},
		"200 8": func() string { return send(byHTTP2, "/shop.Shop/find", proto, -1, &endless{frame(0, huge), huge, 0}) },
		"200 8 (begin)": func() string {
			return send(byHTTP2, "/shop.Clients/begin", proto, -1, &endless{frame(0, huge), huge, 0})
		},
		"200 5 (many)": func() string { return send(byHTTP2, "/shop.Shop/find", proto, -1, &endless{frame(0, 0), huge, 0}) },
		"200 12 (gzip)": func() string {
			return send(byHTTP2, "/shop.Shop/find", proto, -1, bytes.NewReader(append(frame(1, uint32(bomb.Len())), bomb.Bytes()...)), "Grpc-Encoding", "gzip")
		},
		"200 12 (nobody)": func() string {
			return send(byHTTP2, "/shop.Shop/nowhere", proto, -1, &endless{frame(0, huge), huge, 0})
		},
	}
	count := func() string {
		s.Server = serverAt(p.url)
		return s.do("/v1/Shop/main/count", "")
	}
	if got := count(); got != "1" {
		t.Fatal(got)
	}
	before := p.peak(t)
	var all sync.WaitGroup
	for want, kind := range kinds {
		for range 6 {
			all.Go(func() {
				status, _, _ := strings.Cut(want, "(")
				if got := kind(); got != "" && !strings.HasPrefix(got, strings.TrimSpace(status)+" ") {
					t.Errorf("%s is answered %.200s", want, got)
				}
			})
		}
	}
	all.Wait()
	if got := count(); got != "2" {
		t.Error(got)
	}
	after := p.peak(t)
	t.Logf("the process has had %d MB at most, %d before", after>>20, before>>20)
	if after-before > 128<<20 {
		t.Errorf("the process has had %d MB at most, and %d before", after>>20, before>>20)
	}
}

// Clients that announce bodies and send little of them take nothing from others, by HTTP or by gRPC.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	s := serve(t, httpdoor.Config{Config: gate.Config{BodyMax: 1 << 20, BodiesMax: 4 << 20}})
	for range 200 {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := fmt.Fprintf(c, "POST /v1/Shop/main/find HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{\"name\":"); err != nil {
			t.Fatal(err)
		}
	}
	s.untilFigure("aeon_http_calls", 200)
	if got := s.post("/v1/Shop/main/find", `{"name":"x"}`); got.status != 200 {
		t.Errorf("beside slow ones: %d %s", got.status, got.body)
	}
	r := s.dial(httpdoor.Config{})
	r.empty()
	slow, err := grpc.NewClient(strings.TrimPrefix(s.URL, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	by := &http.Client{Transport: &http.Transport{Protocols: &protocols}}
	var end sync.WaitGroup
	defer end.Wait()
	for range 100 {
		in, out := io.Pipe()
		defer out.Close()
		end.Go(func() {
			q, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/shop.Shop/find", in)
			if err != nil {
				t.Error(err)
				return
			}
			q.Header.Set("Content-Type", "application/grpc")
			if a, err := by.Do(q); err == nil {
				a.Body.Close()
			}
		})
		if _, err := out.Write(binary.BigEndian.AppendUint32([]byte{0}, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	for range 20 {
		if got, err := r.call("shop.Shop/find", `{"key":"main","name":"x"}`); err != nil || got != "{}" {
			t.Errorf("beside slow ones: %s (%v)", got, err)
		}
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("20 calls beside slow ones take %v", took)
	}
}

// What looks methods up by their names, as templates do, keeps the linker from leaving out those that are never called: a fifth of a program.
func TestProgramsHaveNoTemplates(t *testing.T) {
	exe, err := os.ReadFile(build(t))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(exe, []byte("google.golang.org/grpc.(*Server).Serve")) {
		t.Error("the names of functions are not in the program as they were")
	}
	if bytes.Contains(exe, []byte("text/template.(*state).evalField")) {
		t.Error("a program with gRPC has what executes templates")
	}
}
