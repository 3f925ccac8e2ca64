package door

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// BenchmarkHTTP measures the door beside a bare net/http handler with the same JSON, over 64 connections: the goal is 0.7
// of its rate.
func BenchmarkHTTP(b *testing.B) {
	const body, connections = `{"n":1}`, 64
	var mu sync.Mutex
	calls := 0
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var args struct{ N int }
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		if err := d.Decode(&args); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		mu.Lock()
		calls += args.N
		n := calls
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(n)
	}))
	defer bare.Close()
	s := serve(b, httpdoor.Config{})
	for _, of := range []struct{ name, url string }{{"bare", bare.URL + "/"}, {"door", s.URL + "/v1/Shop/main/add"}} {
		b.Run(of.name, func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
			defer client.CloseIdleConnections()
			var group sync.WaitGroup
			work := make(chan struct{}, connections)
			for range connections {
				group.Go(func() {
					for range work {
						if err := send(client, of.url, body); err != nil {
							b.Error(err)
						}
					}
				})
			}
			for range b.N {
				work <- struct{}{}
			}
			close(work)
			group.Wait()
		})
	}
}

func send(client *http.Client, url, body string) error {
	a, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if _, err := io.Copy(io.Discard, a.Body); err != nil || a.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %w", a.Status, err)
	}
	return nil
}
