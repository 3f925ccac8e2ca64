package httpdoor

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// A connection that was opened in advance does not hold a server up that is shut down; a request under way does.
func TestShutdownWaitsForRequestsAlone(t *testing.T) {
	var u Unused
	began, goOn := make(chan struct{}), make(chan struct{})
	s := &http.Server{ConnState: u.Note, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-goOn
		_, _ = io.WriteString(w, "done")
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	silent, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	answer := make(chan string, 1)
	go func() {
		r, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			answer <- err.Error()
			return
		}
		answer <- string(b)
	}()
	<-began
	ended := make(chan error, 1)
	start := time.Now()
	go func() { ended <- u.Shutdown(context.Background(), s) }()
	if err := <-served; err != http.ErrServerClosed {
		t.Error(err)
	}
	if _, err := silent.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the silent connection ends with %v", err)
	}
	select {
	case err := <-ended:
		t.Errorf("the server has ended with a request under way: %v", err)
	default:
	}
	close(goOn)
	if got := <-answer; got != "done" {
		t.Errorf("the request under way was answered by %q", got)
	}
	// Go's own Shutdown takes five seconds.
	if err := <-ended; err != nil || time.Since(start) > 4*time.Second {
		t.Errorf("the shutdown took %v: %v", time.Since(start), err)
	}
}
